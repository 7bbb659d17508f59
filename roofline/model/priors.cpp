// The table. Rows for an architecture take precedence over rows for a kind of device, and these
// over rows for all; values stated by the catalog are never overwritten. docs/accuracy.md describes
// how the fitted values were obtained.
#include "roofline/model/priors.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "devices/catalog/catalog.h"
#include "devices/modes/mode_space.h"
#include "roofline/model/familiarity.h"

namespace ridgeline {
namespace {

using enum Source;

// clang-format off
constexpr PriorRow rows[] = {
  // NVIDIA A100 (GA100, TSMC 7 nm): fitted on A100-40GB-PCIe at 510 to 1410 MHz, seven networks.
  {"GA100", "gpu_busy_joule_per_sm_clock",  0.395e-9, 0.2, fitted, "A100 power over clocks"},
  {"GA100", "gpu_fp16_joule_per_flop",      1.06e-12, 0.2, fitted, "A100 power over clocks"},
  {"GA100", "gpu_tf32_joule_per_flop",      2.9e-12,  0.4, fitted, "A100 power over clocks, ResNet-101 only"},
  {"GA100", "gpu_fp32_joule_per_flop",      9.3e-12,  0.2, fitted, "A100 power over clocks"},
  {"GA100", "gpu_batch_norm_elements_per_sm_clock", 0.75, 0.24, fitted, "A100, ResNet-101, MobileViT in bf16 and fp32"},
  {"GA100", "gpu_depthwise_taps_per_sm_clock", 8, 0.24, fitted, "A100, MobileViT"},
  {"GA100", "dram_joule_per_byte",          67e-12,   0.2, fitted, "A100 power over clocks (HBM2)"},

  // GA102: same process as Orin's GA10B (Samsung 8 nm), so Orin's energies.
  {"GA102", "gpu_busy_joule_per_sm_clock",  0.9e-9,   0.3, assumed, "as AGX Orin, same process"},
  {"GA102", "gpu_fp16_joule_per_flop",      0.9e-12,  0.3, assumed, "as AGX Orin, same process"},
  {"GA102", "gpu_tf32_joule_per_flop",      5.3e-12,  0.4, assumed, "as AGX Orin, same process"},
  {"GA102", "gpu_fp32_joule_per_flop",      5.3e-12,  0.4, assumed, "as AGX Orin, same process"},

  // Jetson: fitted on AGX Orin, one node at a time; host costs are clocks of a Cortex-A78AE.
  {"jetson", "torch_host_function_clocks",    3e3, 0.3, fitted, "AGX Orin, torch.fx nodes"},
  {"jetson", "torch_host_module_clocks",      80e3, 0.2, fitted, "AGX Orin, torch.fx nodes"},
  {"jetson", "torch_host_elementwise_clocks", 120e3, 0.1, fitted, "AGX Orin, torch.fx nodes"},
  {"jetson", "torch_host_normalize_clocks",   240e3, 0.1, fitted, "AGX Orin, torch.fx nodes"},
  {"jetson", "torch_host_matrix_clocks",      290e3, 0.1, fitted, "AGX Orin, torch.fx nodes"},
  {"jetson", "torch_host_attention_clocks",   920e3, 0.7, fitted, "AGX Orin, vit_b_32 only: 600e3 to 2000e3 fit it as well"},
  {"jetson", "torch_host_further_launch",     0.1,  0.5, assumed, "a launch is a small part of an eager call"},
  {"jetson", "torch_eager_hooks_node_clocks", 80e3, 0.1, fitted, "AGX Orin: interpreter and two events per node"},
  {"jetson", "torch_eager_hooks_before_launch", 0.65, 0.1, fitted, "AGX Orin"},
  {"jetson", "torch_eager_hooks_stall_s",     0.39e-3, 0.2, fitted, "AGX Orin; inferred mechanism"},
  {"jetson", "torch_eager_hooks_stall_gap_s", 0.23e-3, 0.05, fitted, "AGX Orin; inferred mechanism"},
  {"jetson", "torch_eager_hooks_stall_spread_s", 0.011e-3, 0.3, fitted, "AGX Orin; inferred mechanism"},
  {"jetson", "torch_eager_hooks_governor_load", 0.3333, 0.05, fitted, "AGX Orin; inferred mechanism"},
  {"jetson", "torch_eager_hooks_untimed_s",   0.30e-3, 0.1, fitted, "AGX Orin; inferred mechanism"},
  {"jetson", "gpu_governor_floor_hz",         306e6, 0, measured, "AGX Orin, idle clock of the governor"},
  {"jetson", "gpu_dram_efficiency",           0.90, 0.05, assumed, "between Orin's 0.93 and older boards"},
  {"jetson", "gpu_convolution_tf32_efficiency", 0.54, 0.15, assumed, "as AGX Orin"},
  {"jetson", "gpu_convolution_fp32_efficiency", 0.60, 0.2, assumed, "as fp32 products"},
  {"jetson", "gpu_convolution_fp16_efficiency", 0.36, 0.15, assumed, "as AGX Orin"},
  {"jetson", "gpu_matmul_fp32_efficiency",    0.60, 0.15, assumed, "as AGX Orin"},
  {"jetson", "gpu_matmul_fp16_efficiency",    0.53, 0.15, assumed, "as AGX Orin"},
  {"jetson", "gpu_matmul_int8_efficiency",    0.6,  0.25, assumed, "as AGX Orin"},
  {"jetson", "gpu_matrix_kernel_clocks",      20e3, 0.2, assumed, "as AGX Orin"},
  {"jetson", "gpu_other_kernel_clocks",       3.7e3, 0.2, assumed, "as AGX Orin"},
  {"jetson", "gpu_depthwise_taps_per_sm_clock", 4.85, 0.2, assumed, "as AGX Orin"},
  {"jetson", "gpu_pool_taps_per_sm_clock",    2.7,  0.2, assumed, "as AGX Orin"},
  {"jetson", "gpu_normalize_elements_per_sm_clock", 1.75, 0.2, assumed, "as AGX Orin"},
  {"jetson", "gpu_broadcast_elements_per_sm_clock", 1.46, 0.2, assumed, "as AGX Orin"},
  {"jetson", "gpu_depthwise_gradient_taps_per_sm_clock", 0.6, 0.4, assumed, "as RTX 3090, less as AGX Orin's forward pass"},
  {"jetson", "gpu_gradient_efficiency",       0.68, 0.15, assumed, "as RTX 3090"},
  {"jetson", "gpu_kernel_overlap",            1e-3, 0, fitted, "AGX Orin: arithmetic and traffic add up"},
  {"jetson", "gpu_convolution_padding",       50,   0, fitted, "AGX Orin: whole tiles"},
  {"jetson", "gpu_matmul_padding",            1.2,  0.1, assumed, "libraries choose tiles that fit"},
  {"jetson", "gpu_busy_joule_per_sm_clock",   0.9e-9, 0.3, assumed, "as AGX Orin"},
  {"jetson", "gpu_idle_joule_per_sm_clock",   0.1e-9, 0.5, assumed, "as AGX Orin"},
  {"jetson", "gpu_fp32_joule_per_flop",       5.3e-12, 0.3, assumed, "as AGX Orin"},
  {"jetson", "gpu_tf32_joule_per_flop",       5.3e-12, 0.3, assumed, "as AGX Orin"},
  {"jetson", "gpu_fp16_joule_per_flop",       0.9e-12, 0.4, assumed, "as AGX Orin"},
  {"jetson", "gpu_int8_joule_per_flop",       0.45e-12, 0.5, assumed, "as AGX Orin"},
  {"jetson", "dram_joule_per_byte",           50e-12, 0.3, assumed, "as AGX Orin"},
  {"jetson", "soc_static_w",                  2.0,  0.5, assumed, "less than AGX Orin's 2.85"},
  {"jetson", "memory_static_w",               0.8,  0.5, assumed, "less than AGX Orin's 1.5"},
  {"jetson", "memory_static_joule_per_peak_byte", 14.6e-12, 0.5, assumed, "as AGX Orin"},
  {"jetson", "cpu_idle_joule_per_core_clock", 60e-12, 0.5, assumed, "as AGX Orin"},
  {"jetson", "cpu_busy_joule_per_core_clock", 540e-12, 0.4, assumed, "as AGX Orin"},
  {"jetson", "cpu_voltage_floor_ratio",       0.55, 0.1, fitted, "AGX Orin stress rails"},
  {"jetson", "host_hz",                       1.5e9, 0.3, assumed, "where a mode states no CPU clock"},

  // Graphics cards: fitted on A100-40GB-PCIe, PyTorch eager; host clocks are for an unnamed server
  // CPU, assumed to run at 3 GHz.
  {"gpu", "torch_host_function_clocks",    30e3, 0.18, assumed, "A100 servers"},
  {"gpu", "torch_host_module_clocks",      45e3, 0.18, assumed, "A100 servers"},
  {"gpu", "torch_host_elementwise_clocks", 75e3, 0.18, assumed, "A100 servers"},
  {"gpu", "torch_host_normalize_clocks",   100e3, 0.18, assumed, "A100 servers"},
  {"gpu", "torch_host_matrix_clocks",      80e3, 0.18, assumed, "A100 servers"},
  {"gpu", "torch_host_attention_clocks",   180e3, 0.18, assumed, "A100 servers"},
  {"gpu", "torch_host_further_launch",     0.4,  0.18, assumed, "A100 servers"},
  {"gpu", "host_hz",                       3.0e9, 0, assumed, "server CPUs under load"},
  {"gpu", "gpu_dram_efficiency",           0.92, 0.05, fitted, "A100"},
  {"gpu", "gpu_convolution_tf32_efficiency", 0.9, 0.12, fitted, "A100, ResNet-101, MobileViT"},
  {"gpu", "gpu_convolution_fp16_efficiency", 0.70, 0.12, fitted, "A100, ResNet-101, MobileViT"},
  {"gpu", "gpu_convolution_fp32_efficiency", 0.7, 0.12, assumed, "as fp32 products, less"},
  {"gpu", "gpu_matmul_fp32_efficiency",    0.95, 0.06, fitted, "A100"},
  {"gpu", "gpu_matmul_fp16_efficiency",    0.70, 0.09, fitted, "A100"},
  {"gpu", "gpu_matmul_int8_efficiency",    0.60, 0.18, assumed, "as 16-bit products, less"},
  {"gpu", "gpu_attention_fp16_efficiency", 0.4,  0.4, assumed, "FlashAttention-2: half to three quarters on A100, less where texts are short"},
  {"gpu", "gpu_attention_fp32_efficiency", 0.4,  0.4, assumed, "as of 16 bits"},
  {"gpu", "gpu_matrix_kernel_clocks",      15e3, 0.24, fitted, "A100"},
  {"gpu", "gpu_other_kernel_clocks",       2.5e3, 0.24, fitted, "A100"},
  {"gpu", "gpu_depthwise_taps_per_sm_clock", 14, 0.24, fitted, "RTX 3090 and 4090, eleven networks"},
  {"gpu", "gpu_pool_taps_per_sm_clock",    2.7,  0.24, assumed, "as AGX Orin"},
  {"gpu", "gpu_normalize_elements_per_sm_clock", 0.9, 0.18, fitted, "A100"},
  {"gpu", "gpu_softmax_elements_per_sm_clock", 0.8, 0.18, fitted, "A100"},
  {"gpu", "gpu_broadcast_elements_per_sm_clock", 4, 0.18, fitted, "A100"},
  {"gpu", "gpu_elementwise_elements_per_sm_clock", 17, 0.18, fitted, "A100"},
  {"gpu", "gpu_batch_norm_elements_per_sm_clock", 3.5, 0.3, fitted, "RTX 3090 and 4090, eleven networks"},
  {"gpu", "gpu_depthwise_gradient_taps_per_sm_clock", 0.87, 0.24, fitted, "RTX 3090, training"},
  {"gpu", "gpu_gradient_efficiency",       0.68, 0.12, fitted, "RTX 3090, training"},
  {"gpu", "gpu_wide_sum_efficiency",       1.0,  0.06, fitted, "RTX 3090 and 4090: all of the peak at the nominal boost clock"},
  {"gpu", "torch_layout_conversion",       0.8,  0.12, fitted, "RTX 3090 and 4090, eleven networks"},
  {"gpu", "onnxruntime_layout_conversion", 0.8,  0.3, assumed, "cuDNN with channels first, as PyTorch"},
  {"gpu", "torch_compiled_kernel_overlap", 0.98, 0, fitted, "RTX 4090: channels last, generated kernels"},
  {"gpu", "gpu_kernel_overlap",            0.5,  0, fitted, "A100"},
  {"gpu", "gpu_cache_share",               0.5,  0, assumed, "half of L2 holds activations"},
  {"gpu", "gpu_cached_traffic",            0.35, 0.12, fitted, "A100"},
  {"gpu", "gpu_convolution_padding",       8,    0, fitted, "A100"},
  {"gpu", "gpu_matmul_padding",            1.2,  0.05, fitted, "A100"},
  {"gpu", "gpu_busy_joule_per_sm_clock",   0.5e-9, 0.4, assumed, "as A100, older or newer process"},
  {"gpu", "gpu_fp16_joule_per_flop",       1.0e-12, 0.4, assumed, "as A100"},
  {"gpu", "gpu_tf32_joule_per_flop",       3.0e-12, 0.4, assumed, "as A100"},
  {"gpu", "gpu_fp32_joule_per_flop",       8e-12, 0.4, assumed, "as A100"},
  {"gpu", "gpu_int8_joule_per_flop",       0.5e-12, 0.5, assumed, "half of fp16"},
  {"gpu", "gpu_other_joule_per_flop",      250e-12, 0.3, fitted, "A100: element-wise work with its instructions and cache traffic"},
  {"gpu", "dram_joule_per_byte",           70e-12, 0.4, assumed, "as A100"},
  {"gpu", "gpu_voltage_floor_ratio",       0.776, 0.05, assumed, "as A100"},

  // Processors: host work and kernels take turns on the same cores.
  {"cpu", "torch_host_function_clocks",    6e3,  0.4, assumed, "a few microseconds per call"},
  {"cpu", "torch_host_module_clocks",      12e3, 0.4, assumed, "a few microseconds per call"},
  {"cpu", "torch_host_elementwise_clocks", 40e3, 0.4, fitted, "PyTorch and onnxruntime on one Emerald Rapids guest"},
  {"cpu", "torch_host_normalize_clocks",   80e3, 0.4, fitted, "PyTorch and onnxruntime on one Emerald Rapids guest"},
  {"cpu", "torch_host_matrix_clocks",      120e3, 0.4, fitted, "PyTorch and onnxruntime on one Emerald Rapids guest"},
  {"cpu", "torch_host_attention_clocks",   160e3, 0.4, fitted, "PyTorch and onnxruntime on one Emerald Rapids guest"},
  {"cpu", "torch_host_further_launch",     0.4,  0.3, assumed, "as of graphics cards"},
  {"cpu", "cpu_convolution_fp32_efficiency", 0.6, 0.2, fitted, "PyTorch and onnxruntime on one Emerald Rapids guest"},
  {"cpu", "cpu_matmul_fp32_efficiency",    0.75, 0.15, fitted, "PyTorch and onnxruntime on one Emerald Rapids guest"},
  {"cpu", "cpu_attention_fp32_efficiency", 0.5,  0.3, assumed, "oneDNN, MKL"},
  {"cpu", "cpu_dram_efficiency",           0.85, 0.1, assumed, "of the fastest measured direction"},
  {"cpu", "cpu_depthwise_taps_per_core_clock", 2, 0.4, fitted, "PyTorch and onnxruntime on one Emerald Rapids guest"},
  {"cpu", "cpu_pool_taps_per_core_clock",  2,    0.5, fitted, "PyTorch and onnxruntime on one Emerald Rapids guest"},
  {"cpu", "cpu_normalize_elements_per_core_clock", 1, 0.5, fitted, "PyTorch and onnxruntime on one Emerald Rapids guest"},
  {"cpu", "cpu_softmax_elements_per_core_clock", 0.5, 0.5, assumed, "PyTorch"},
  {"cpu", "cpu_elementwise_elements_per_core_clock", 3, 0.5, fitted, "PyTorch and onnxruntime on one Emerald Rapids guest"},
  {"cpu", "onnxruntime_convolution_fp32_efficiency", 0.85, 0.15, fitted, "PyTorch and onnxruntime on one Emerald Rapids guest"},
  {"cpu", "onnxruntime_matmul_fp32_efficiency", 0.85, 0.15, fitted, "PyTorch and onnxruntime on one Emerald Rapids guest"},
  {"cpu", "onnxruntime_convolution_padding", 1.1, 0.1, fitted, "PyTorch and onnxruntime on one Emerald Rapids guest"},
  {"cpu", "onnxruntime_depthwise_taps_per_core_clock", 8, 0.4, fitted, "PyTorch and onnxruntime on one Emerald Rapids guest"},
  {"cpu", "onnxruntime_pool_taps_per_core_clock", 8, 0.4, fitted, "PyTorch and onnxruntime on one Emerald Rapids guest"},
  {"cpu", "onnxruntime_broadcast_elements_per_core_clock", 8, 0.4, fitted, "PyTorch and onnxruntime on one Emerald Rapids guest"},
  {"cpu", "onnxruntime_elementwise_elements_per_core_clock", 8, 0.4, fitted, "PyTorch and onnxruntime on one Emerald Rapids guest"},
  {"cpu", "cpu_cache_share",               0.5,  0, assumed, "half of the last cache holds activations"},
  {"cpu", "cpu_cached_traffic",            0.3,  0.4, assumed, "the rest comes from the last cache"},
  {"cpu", "cpu_convolution_padding",       1.5,  0.2, fitted, "PyTorch and onnxruntime on one Emerald Rapids guest"},
  {"cpu", "cpu_matmul_padding",            1.2,  0.1, assumed, "small blocks"},

  // Every device.
  {"", "tensorrt_convolution_int8_efficiency", 0.85, 0.09, fitted, "MLPerf, AGX Orin and Xavier"},
  {"", "tensorrt_matmul_int8_efficiency",    0.75, 0.12, fitted, "MLPerf, AGX Orin and Xavier"},
  {"", "tensorrt_convolution_fp16_efficiency", 0.60, 0.15, assumed, "as int8"},
  {"", "tensorrt_matmul_fp16_efficiency",    0.60, 0.15, assumed, "as int8"},
  {"", "tensorrt_matrix_kernel_clocks",      6e3,  0.18, fitted, "MLPerf, AGX Orin and Xavier"},
  {"", "tensorrt_other_kernel_clocks",       3e3,  0.18, fitted, "MLPerf, AGX Orin and Xavier"},
  {"", "tensorrt_convolution_padding",       3,    0.18, assumed, "TensorRT chooses tiles by timing them"},
  {"", "tensorrt_matmul_padding",            1.2,  0.08, assumed, "TensorRT chooses tiles by timing them"},
  {"", "tensorrt_depthwise_taps_per_sm_clock", 25, 0.18, fitted, "MLPerf, SSD MobileNet"},
  {"", "tensorrt_pool_taps_per_sm_clock",    12,   0.5, assumed, "vectors of channels, unlike eager pooling"},
  {"", "tensorrt_normalize_elements_per_sm_clock", 8, 0.5, assumed, "vectors of channels, unlike eager kernels"},
  {"", "tensorrt_broadcast_elements_per_sm_clock", 8, 0.5, assumed, "vectors of channels, unlike eager kernels"},
  {"", "tensorrt_cache_share",               0.5,  0, assumed, "half of L2 holds activations"},
  {"", "tensorrt_cached_traffic",            0.5,  0.18, assumed, "as A100"},
  {"", "tensorrt_launch_clocks",             6e3,  0.3, assumed, "enqueue from a captured graph"},
  {"", "pipeline_exponent",                  4,    0.2, fitted, "AGX Orin, host and GPU nearly equal: neither hides the other in full"},
  {"", "onnxruntime_launch_clocks",          25e3, 0.5, assumed, "session loop and launch"},
  {"", "torch_compiled_launch_clocks",       20e3, 0.5, assumed, "generated wrapper and launch"},
  {"", "torch_compiled_step_clocks",         100e3, 0.5, assumed, "guards"},
  {"", "cuda_graph_s",                       15e-6, 0.3, measured, "RTX 5070 Ti laptop: 15 µs and 0.58 µs per node"},
  {"", "cuda_graph_node_s",                  0.6e-6, 0.3, measured, "RTX 5070 Ti laptop: 15 µs and 0.58 µs per node"},
  {"", "wall_offset_w",                      8,    0.4, fitted, "MLPerf rigs: 5.5 and 11.4 W above the module"},
  {"", "torch_eager_hooks_kernel_time_scale", 1, 0.10, fitted, "networks left out of the fit"},
  {"", "torch_eager_hooks_host_time_scale",   1, 0.06, fitted, "networks left out of the fit"},
  {"", "torch_eager_hooks_time_error",       0.06, 0, measured, "repeated runs differ by 10 %"},
  {"", "kernel_time_scale",                  1,    0.17, fitted, "networks left out of the fit"},
  {"", "host_time_scale",                    1,    0.14, fitted, "networks left out of the fit"},
  {"", "time_error",                         0.03, 0, assumed, "repeated runs with locked clocks"},
  {"", "power_error",                        0.05, 0, fitted, "networks left out of the fit"},
};
// clang-format on

class Priors {
 public:
  explicit Priors(MachineModel model) : parameters_(std::move(model)) {}

  void add(std::string_view name, double mean, double relative_sigma, Source source) {
    if (parameters_.has(name)) return;
    parameters_.add({std::string(name), mean, source},
                    relative_sigma * (mean != 0 ? std::abs(mean) : 1));
  }

  MachineModel take() { return parameters_.take(); }

 private:
  ParameterCollector parameters_;
};

std::optional<double> top_gpu_hz(const catalog::Device& device) {
  const OperatingPoint point = default_mode(device, device.configurations.front()).point;
  std::optional<double> top = point.gpu_hz;
  for (const DeviceMode& mode : stock_modes(device, device.configurations.front()))
    if (mode.point.gpu_hz && mode.point.gpu_hz > top) top = mode.point.gpu_hz;
  return top;
}

// Values that follow from the device's own facts.
void add_derived(Priors& priors, const catalog::Device& device) {
  constexpr double idle_share = 0.2;  // of the power cap, with clocks up: A100 0.19, H100 0.21
  for (const catalog::Cap& cap : device.power_caps) {
    if (device.kind != catalog::Kind::gpu) break;
    priors.add("power_cap_w", cap.value.value, 0, Source::datasheet);
    priors.add("idle_w", idle_share * cap.value.value, 0.25, Source::assumed);
    break;
  }
  if (const auto top = top_gpu_hz(device)) {
    priors.add("gpu_voltage_top_hz", *top, 0, Source::datasheet);
    constexpr double knee_share = 0.6;  // A100 0.72, AGX Orin 0.47
    priors.add("gpu_voltage_knee_hz", knee_share * *top, 0.15, Source::assumed);
    priors.add("gpu_voltage_floor_ratio", 0.75, 0.05, Source::assumed);  // A100 0.776, Orin 0.73
  }
  double cpu_top = 0;
  for (const DeviceMode& mode : stock_modes(device, device.configurations.front()))
    for (const double hz : mode.point.cpu_hz) cpu_top = std::max(cpu_top, hz);
  if (cpu_top > 0) priors.add("cpu_top_hz", cpu_top, 0, Source::datasheet);
}

// A machine outside the catalog was measured, and only CPUs are measured without a catalog entry.
bool holds_for(const PriorRow& row, const std::optional<catalog::Device>& device) {
  if (row.device.empty()) return true;
  if (row.device == to_string(device ? device->kind : catalog::Kind::cpu)) return true;
  return device && device->gpu && device->gpu->architecture.find(row.device) != std::string::npos;
}

}  // namespace

std::span<const PriorRow> prior_rows() { return rows; }

MachineModel with_priors(MachineModel model) {
  std::optional<catalog::Device> device;
  if (catalog::find(model.device)) device = catalog::load(model.device);
  const std::vector<UnfamiliarRow> unfamiliar = unfamiliar_on(model.device);
  Priors priors(std::move(model));
  // Zero on a rig that measures power as the model counts it; calibration moves it.
  priors.add("board_offset_w", 0, 1.0, Source::assumed);
  for (const PriorRow& row : rows)
    if (holds_for(row, device)) priors.add(row.name, row.mean, row.sigma, row.source);
  if (device) add_derived(priors, *device);
  for (const UnfamiliarRow& row : unfamiliar)
    priors.add(unfamiliar_parameter(row.subject), 1, row.sigma, Source::assumed);
  return priors.take();
}

}  // namespace ridgeline
