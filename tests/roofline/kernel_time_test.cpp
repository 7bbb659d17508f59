// Time of one kernel, by hand: what the library's own kernels around a convolution add, gradients,
// sums in fp32, and TensorRT's choice of arithmetic. Machines and kernels are made up.
#include "roofline/model/kernel_time.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "roofline/model/network_load.h"
#include "tests/roofline/modelled.h"

namespace ridgeline::testing {
namespace {

constexpr DevicePoint point{
    .units = 10, .hz = 1e9, .bytes_per_s = 100e9, .peak_bytes_per_s = 100e9};

// Ten SMs of 1000 fp16 operations per clock, 500 with fp32 sums; half of that is reached.
Coefficients ten_sms() {
  Coefficients machine;
  Engine& engine = machine.engine;
  engine.matrix_rate[index_of(DType::fp16)] = 1000;
  engine.vector_rate[index_of(DType::fp32)] = 100;
  engine.convolution_efficiency.fill(0.5);
  engine.matmul_efficiency.fill(0.5);
  engine.overlap = 1;
  return machine;
}

// 1e12 operations take 0.2 s at half of the peak, 1e9 bytes 0.01 s.
Demand made_up_convolution(KernelKind kind, std::uint64_t taps, int launches = 1) {
  Demand demand;
  demand.name = "conv";
  demand.kind = kind;
  demand.work.macs = 0.5e12;
  demand.work.flop = {{Unit::matrix, DType::fp16, 1e12}};
  demand.work.bytes_read = 0.6e9;
  demand.work.bytes_written = 0.4e9;
  demand.gemm = Gemm{1u << 20, 64, 64 * taps, 1, taps};
  demand.launches = launches;
  return demand;
}

KernelTime timed(const Demand& demand, const Coefficients& machine, Runtime runtime) {
  const NetworkLoad load = network_load(std::vector{demand}, runtime);
  return kernel_time(load.kernels.front(), machine, point, runtime);
}

TEST(KernelTime, ChannelsFirstAreConvertedAroundWindowsAndGradients) {
  Coefficients machine = ten_sms();
  machine.engine.layout_conversion = 0.5;
  const auto helper_s = [&](KernelKind kind, std::uint64_t taps) {
    return timed(made_up_convolution(kind, taps), machine, Runtime::torch_eager).helper_s;
  };
  // Half of 1e9 bytes, read and written once more, at 100 GB/s.
  EXPECT_DOUBLE_EQ(helper_s(KernelKind::convolution, 9), 0.5 * 2 * 1e9 / 100e9);
  EXPECT_EQ(helper_s(KernelKind::convolution, 1), 0);  // a plain product in either layout
  EXPECT_DOUBLE_EQ(helper_s(KernelKind::convolution_gradient, 1), 0.5 * 2 * 1e9 / 100e9);
  EXPECT_EQ(helper_s(KernelKind::depthwise, 9), 0);
  EXPECT_EQ(
      timed(made_up_convolution(KernelKind::convolution, 9), machine, Runtime::ideal).helper_s, 0);
}

TEST(KernelTime, HelpersComeAfterTheKernelAndCountAsTraffic) {
  Coefficients machine = ten_sms();
  const Demand demand = made_up_convolution(KernelKind::convolution, 9);
  const KernelTime without = timed(demand, machine, Runtime::torch_eager);
  machine.engine.layout_conversion = 1;
  const KernelTime with = timed(demand, machine, Runtime::torch_eager);
  EXPECT_DOUBLE_EQ(with.total_s, without.total_s + with.helper_s);
  EXPECT_DOUBLE_EQ(with.bytes, without.bytes + 2e9);
}

// PyTorch's second launch of a convolution adds the bias: the result is read and written again.
TEST(KernelTime, ABiasIsAKernelOfItsOwnInEagerMode) {
  const Demand demand = made_up_convolution(KernelKind::convolution, 1, 2);
  const Coefficients machine = ten_sms();
  EXPECT_DOUBLE_EQ(timed(demand, machine, Runtime::torch_eager).helper_s, 2 * 0.4e9 / 100e9);
  EXPECT_EQ(timed(demand, machine, Runtime::torch_compiled).helper_s, 0);
}

TEST(KernelTime, GradientsReachAShareOfTheForwardEfficiency) {
  Coefficients machine = ten_sms();
  machine.engine.gradient_efficiency = 0.5;
  const auto compute_s = [&](KernelKind kind) {
    return timed(made_up_convolution(kind, 1), machine, Runtime::torch_eager).compute_s;
  };
  EXPECT_DOUBLE_EQ(compute_s(KernelKind::convolution), 1e12 / (10 * 1e9 * 1000 * 0.5));
  EXPECT_DOUBLE_EQ(compute_s(KernelKind::convolution_gradient), 2 * 1e12 / (10 * 1e9 * 1000 * 0.5));
}

// Feeding limits to 500 of 1000 operations per clock; with fp32 sums at 300 per clock, these limit.
TEST(KernelTime, SlowSumsInFp32LimitProducts) {
  Coefficients machine = ten_sms();
  machine.engine.wide_sum_rate[index_of(DType::fp16)] = 300;
  const Demand demand = made_up_convolution(KernelKind::convolution, 1);
  EXPECT_DOUBLE_EQ(timed(demand, machine, Runtime::torch_eager).compute_s, 1e12 / (10 * 1e9 * 300));
  machine.engine.wide_sum_rate[index_of(DType::fp16)] = 800;
  EXPECT_DOUBLE_EQ(timed(demand, machine, Runtime::torch_eager).compute_s, 1e12 / (10 * 1e9 * 500));
}

TEST(KernelTime, ConsumerCardsSumInFp32AtHalfTheRate) {
  const auto wide = [](std::string_view device, Runtime runtime) {
    const Engine engine = coefficients(model_of(device), runtime).engine;
    return engine.wide_sum_rate[index_of(DType::fp16)] / engine.matrix_rate[index_of(DType::fp16)];
  };
  EXPECT_DOUBLE_EQ(wide("rtx-3090-24gb", Runtime::torch_eager), 0.5);
  EXPECT_DOUBLE_EQ(wide("a100-40gb-pcie", Runtime::torch_eager), 1);
  EXPECT_EQ(wide("rtx-3090-24gb", Runtime::tensorrt), 0);  // may sum in 16 bits
}

TEST(KernelTime, TensorRtTakesTheFasterArithmetic) {
  Coefficients machine = ten_sms();
  machine.engine.matrix_rate[index_of(DType::tf32)] = 120;
  machine.engine.matmul_efficiency[index_of(DType::tf32)] = 0.5;  // 60, against 100 · 0.9
  machine.engine.matmul_efficiency[index_of(DType::fp32)] = 0.9;
  Demand demand = made_up_convolution(KernelKind::linear, 1);
  demand.work.flop = {{Unit::matrix, DType::fp32, 1e12}};
  const NetworkLoad load = network_load(std::vector{demand}, Runtime::tensorrt);
  EXPECT_EQ(arithmetic_of(machine.engine, load.kernels.front(), Runtime::tensorrt).unit,
            Unit::vector);
  machine.engine.matmul_efficiency[index_of(DType::tf32)] = 0.9;
  EXPECT_EQ(arithmetic_of(machine.engine, load.kernels.front(), Runtime::tensorrt).dtype,
            DType::tf32);
}

TEST(KernelTime, TensorRtHasNoSlowerKernelThanTheLibraries) {
  for (const char* device : {"a100-40gb-pcie", "rtx-4090-24gb", "jetson-agx-orin-64gb"}) {
    const Engine torch = coefficients(model_of(device), Runtime::torch_eager).engine;
    const Engine engine = coefficients(model_of(device), Runtime::tensorrt).engine;
    for (std::size_t i = 0; i < dtype_count; ++i) {
      EXPECT_GE(engine.matmul_efficiency[i], torch.matmul_efficiency[i]) << device;
      EXPECT_GE(engine.convolution_efficiency[i], torch.convolution_efficiency[i]) << device;
    }
    EXPECT_LE(engine.cached_traffic, torch.cached_traffic) << device;
  }
}

}  // namespace
}  // namespace ridgeline::testing
