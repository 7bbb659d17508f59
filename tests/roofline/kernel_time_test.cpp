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

Demand int8_convolution(std::uint64_t in, std::uint64_t out, int launches) {
  Demand demand = made_up_convolution(KernelKind::convolution, 1, launches);
  demand.work.flop = {{Unit::matrix, DType::int8, 1e12}};
  demand.gemm = Gemm{1u << 20, out, in, 1, 1};
  return demand;
}

// The second launch of a convolution in an engine is its activation function.
TEST(KernelTime, AnActivationFunctionOfItsOwnReadsAndWritesTheResultAgain) {
  Coefficients machine = ten_sms();
  const Demand demand = made_up_convolution(KernelKind::convolution, 9, 2);
  EXPECT_DOUBLE_EQ(timed(demand, machine, Runtime::tensorrt).helper_s, 2 * 0.4e9 / 100e9);
  machine.engine.activations_per_clock = 1;  // 0.2e9 elements of two bytes
  EXPECT_DOUBLE_EQ(timed(demand, machine, Runtime::tensorrt).helper_s, 0.2e9 / (10 * 1e9));
}

TEST(KernelTime, TensorRtTakesFp16WhereInt8IsSlower) {
  Coefficients machine = ten_sms();
  machine.engine.matrix_rate[index_of(DType::int8)] = 2000;
  EXPECT_EQ(timed(int8_convolution(64, 64, 1), machine, Runtime::tensorrt).dtype, DType::int8);
  // 0.4e9 elements at one per clock and SM cost 0.04 s, less than the 0.1 s that int8 saves …
  machine.engine.activations_per_clock = 1;
  EXPECT_EQ(timed(int8_convolution(64, 64, 2), machine, Runtime::tensorrt).dtype, DType::int8);
  // … and at a fifth of that more.
  machine.engine.activations_per_clock = 0.2;
  const KernelTime wide = timed(int8_convolution(64, 64, 2), machine, Runtime::tensorrt);
  EXPECT_EQ(wide.dtype, DType::fp16);
  EXPECT_EQ(wide.helper_s, 0);
  EXPECT_DOUBLE_EQ(wide.memory_s, 2e9 / 100e9);
}

TEST(KernelTime, Int8ChannelsLieInVectorsOf32) {
  const auto bytes = [](std::uint64_t in, std::uint64_t out) {
    return network_load(std::vector{int8_convolution(in, out, 1)}, Runtime::tensorrt)
        .kernels.front()
        .activation_bytes;
  };
  EXPECT_DOUBLE_EQ(bytes(64, 64), 0.6e9 + 0.4e9);
  EXPECT_DOUBLE_EQ(bytes(16, 64), 2 * 0.6e9 + 0.4e9);
  EXPECT_DOUBLE_EQ(bytes(64, 24), 0.6e9 + 0.4e9 * 32 / 24);
  EXPECT_DOUBLE_EQ(bytes(3, 64), 0.6e9 * 4 / 3 + 0.4e9);
}

// A network's image is fp32 with its channels first.
TEST(KernelTime, TensorRtConvertsTheImage) {
  Coefficients machine = ten_sms();
  machine.engine.reformats_per_clock = 0.5;
  Demand demand = made_up_convolution(KernelKind::convolution, 9);
  demand.gemm = Gemm{1u << 20, 64, 3 * 9, 1, 9};
  demand.reads = {{"image", 0.6e9, ""}};
  EXPECT_DOUBLE_EQ(timed(demand, machine, Runtime::tensorrt).helper_s,
                   0.3e9 / (10 * 1e9 * 0.5));  // 0.3e9 elements
  demand.reads = {{"conv0", 0.6e9, "conv0"}};
  EXPECT_EQ(timed(demand, machine, Runtime::tensorrt).helper_s, 0);
}

TEST(KernelTime, KernelsWithoutAnInt8VersionComputeInFp16) {
  Demand softmax;
  softmax.name = "softmax";
  softmax.kind = KernelKind::softmax;
  softmax.work.flop = {{Unit::vector, DType::int8, 1e6}};
  softmax.work.bytes_read = softmax.work.bytes_written = 0.1e9;
  const NetworkLoad load = network_load(std::vector{softmax}, Runtime::tensorrt);
  EXPECT_EQ(load.kernels.front().dtype, DType::fp16);
  EXPECT_DOUBLE_EQ(load.kernels.front().activation_bytes, 2 * 0.2e9);
  EXPECT_EQ(network_load(std::vector{softmax}, Runtime::onnxruntime).kernels.front().dtype,
            DType::int8);
}

// Half of the SMs have no tile, and none works while the kernel starts.
TEST(KernelTime, UnitsWithoutATileAreIdle) {
  Coefficients machine = ten_sms();
  machine.engine.convolution_padding = 100;
  machine.engine.kernel_clocks.fill(1e6);
  Demand demand = made_up_convolution(KernelKind::convolution, 1);
  demand.gemm = Gemm{128, 5 * 64, 64, 1, 1};
  demand.work.macs = 128 * 5 * 64 * 64;
  const KernelTime time = timed(demand, machine, Runtime::torch_eager);
  EXPECT_DOUBLE_EQ(time.padding, 2);
  EXPECT_DOUBLE_EQ(time.busy_s, (time.total_s - 1e-3) / 2);
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

// What fits in the last cache was written by the kernel before: a share of it comes from DRAM.
TEST(KernelTime, SmallActivationsComeFromTheCache) {
  Coefficients machine = ten_sms();
  machine.engine.cache_bytes = 2e9;
  machine.engine.cached_traffic = 0.25;
  const Demand demand = made_up_convolution(KernelKind::convolution, 9);  // 1e9 bytes
  EXPECT_DOUBLE_EQ(timed(demand, machine, Runtime::torch_eager).memory_s, 0.25 * 1e9 / 100e9);
  machine.engine.cache_bytes = 0.5e9;
  EXPECT_DOUBLE_EQ(timed(demand, machine, Runtime::torch_eager).memory_s, 1e9 / 100e9);
}

// The library splits a product further before five of ten SMs would idle: two thirds work if tiles
// may cost no more than 1.5 times the product.
TEST(KernelTime, SplitProductsKeepMoreUnitsBusy) {
  Coefficients machine = ten_sms();
  machine.engine.convolution_padding = 1.5;
  Demand demand = made_up_convolution(KernelKind::convolution, 1);
  demand.gemm = Gemm{128, 5 * 64, 64, 1, 1};
  demand.work.macs = 128 * 5 * 64 * 64;
  const KernelTime time = timed(demand, machine, Runtime::torch_eager);
  EXPECT_DOUBLE_EQ(time.padding, 1.5);
  EXPECT_DOUBLE_EQ(time.busy_s, time.total_s / 1.5);
}

// What a kernel asks for: products apart from other arithmetic, weights from activations.
TEST(KernelTime, ALoadHoldsTheCountsOfItsDemand) {
  Demand demand = made_up_convolution(KernelKind::convolution, 9);
  demand.work.flop.push_back({Unit::vector, DType::fp32, 3e9});
  demand.work.weight_bytes_read = 2e6;
  demand.work.weight_bytes_written = 1e6;
  const KernelLoad load = network_load(std::vector{demand}, Runtime::torch_eager).kernels.front();
  EXPECT_EQ(load.name, "conv");
  EXPECT_EQ(load.dtype, DType::fp16);  // of most of its arithmetic
  EXPECT_DOUBLE_EQ(load.matrix_ops, 1e12);
  EXPECT_DOUBLE_EQ(load.vector_ops, 3e9);
  EXPECT_DOUBLE_EQ(load.activation_bytes, 1e9);
  EXPECT_DOUBLE_EQ(load.weight_bytes, 3e6);
  EXPECT_DOUBLE_EQ(load.elements, 0.4e9 / 2);  // outputs of two bytes
  // A depthwise convolution and a pool work tap by tap; without launches there is no kernel.
  demand.kind = KernelKind::depthwise;
  EXPECT_DOUBLE_EQ(network_load(std::vector{demand}, Runtime::ideal).kernels[0].elements, 0.5e12);
  demand.kind = KernelKind::pool;
  EXPECT_DOUBLE_EQ(network_load(std::vector{demand}, Runtime::ideal).kernels[0].elements, 1.003e12);
  demand.launches = 0;
  demand.host_calls = {3, 2};
  const KernelLoad none = network_load(std::vector{demand}, Runtime::ideal).kernels[0];
  EXPECT_EQ(none.kind, KernelKind::none);
  EXPECT_FALSE(none.subject);
}

// The roofline counts all arithmetic of a product; a library's efficiency covers its epilogue.
TEST(KernelTime, TheIdealCountsTheEpilogueToo) {
  Coefficients machine = ten_sms();
  Demand demand = made_up_convolution(KernelKind::linear, 1);
  demand.work.flop.push_back({Unit::vector, DType::fp32, 1e12});
  EXPECT_DOUBLE_EQ(timed(demand, machine, Runtime::ideal).compute_s,
                   2 * timed(demand, machine, Runtime::torch_eager).compute_s);
}

}  // namespace
}  // namespace ridgeline::testing
