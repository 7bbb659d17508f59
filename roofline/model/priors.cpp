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
  {"GA100", "gpu_busy_joule_per_sm_clock",  0.42e-9,  0.2, fitted, "A100 power over clocks"},
  {"GA100", "gpu_fp16_joule_per_flop",      1.06e-12, 0.2, fitted, "A100 power over clocks"},
  {"GA100", "gpu_int8_joule_per_flop",      0.32e-12, 0.5, assumed, "0.3 of fp16: 0.17 by arithmetic (Dally, Hot Chips 2023), 0.5 by operand bytes"},
  {"GA100", "gpu_tf32_joule_per_flop",      2.9e-12,  0.4, fitted, "A100 power over clocks, ResNet-101 only"},
  {"GA100", "gpu_fp32_joule_per_flop",      9.3e-12,  0.2, fitted, "A100 power over clocks"},
  {"GA100", "gpu_batch_norm_elements_per_sm_clock", 0.75, 0.24, fitted, "A100, ResNet-101, MobileViT in bf16 and fp32"},
  {"GA100", "gpu_depthwise_taps_per_sm_clock", 8, 0.24, fitted, "A100, MobileViT"},
  {"GA100", "gpu_other_joule_per_flop",     250e-12,  0.3, fitted, "A100: element-wise work with its instructions and cache traffic"},
  {"GA100", "dram_joule_per_byte",          67e-12,   0.2, fitted, "A100 power over clocks (HBM2)"},
  {"GA100", "gpu_leakage_heating",          1.25,     0.3, fitted, "A100 power above 1 GHz, beyond that of idle clocks"},

  // Tensor cores of half the A100's rate per SM are fed with the same bandwidth of registers and
  // shared memory, so products come closer to their peak. GeForce cards stop at fp32 sums before.
  {"GA102", "gpu_matmul_fp16_efficiency",   0.80, 0.1, assumed, "A100's 0.70 at half the rate per SM"},
  {"Ada",   "gpu_matmul_fp16_efficiency",   0.80, 0.1, assumed, "as GA102"},

  // AGX Orin (GA10B, Samsung 8 nm); the catalog has the values of each module.
  {"GA10B", "gpu_busy_joule_per_sm_clock",  1.0e-9,   0.3, fitted, "AGX Orin, eager networks and rails of LLMs"},
  {"GA10B", "gpu_fp16_joule_per_flop",      0.9e-12,  0.4, fitted, "AGX Orin, a long prefill"},
  {"GA10B", "gpu_int8_joule_per_flop",      0.45e-12, 0.5, assumed, "half of fp16"},
  {"GA10B", "gpu_tf32_joule_per_flop",      5.3e-12,  0.3, fitted, "AGX Orin, eager networks"},
  {"GA10B", "gpu_fp32_joule_per_flop",      5.3e-12,  0.3, fitted, "AGX Orin, eager networks"},

  // Without tensor cores, half precision is two numbers in a register of 32 bits, and kernels for
  // CUDA cores come closer to the peak: their tiles are small, and 3x3 windows need fewer products
  // (Winograd). On Jetson Nano, TensorRT runs ResNet-50 36 times per second, Inception-v4 11 and
  // VGG-19 10 times (NVIDIA's published benchmarks, batch 1): 62, 57 and 83 % of the peak.
  {"GP10B", "gpu_fp16_joule_per_flop",      4.8e-12,  0.4, assumed, "half of fp32"},
  {"GM20B", "gpu_fp16_joule_per_flop",      8e-12,    0.4, assumed, "half of fp32"},
  {"GP10B", "tensorrt_convolution_fp16_efficiency", 0.9, 0.2, assumed, "as Jetson Nano"},
  {"GM20B", "tensorrt_convolution_fp16_efficiency", 0.9, 0.15, fitted, "Jetson Nano, published benchmarks"},
  {"GP10B", "tensorrt_convolution_fp32_efficiency", 0.9, 0.2, assumed, "as Jetson Nano"},
  {"GM20B", "tensorrt_convolution_fp32_efficiency", 0.9, 0.2, assumed, "as in fp16"},

  // Voltage of Jetson chips without a curve in the catalog. The top clock is the chip's own, not
  // that of a module which stops below it. NVIDIA's most efficient clocks sit at the knee: MaxQ of
  // TX2 ("optimal perf/Watt", DRIVE OS 5.0 guide, power profiles), MaxQ submissions to MLPerf 1.1
  // on AGX Xavier (829 to 1033 MHz).
  {"GP10B", "gpu_voltage_top_hz",           1300.5e6, 0,   datasheet, "top clock of TX2"},
  {"GP10B", "gpu_voltage_knee_hz",          850e6,    0.2, assumed, "MaxQ of TX2"},
  {"GP10B", "gpu_voltage_floor_ratio",      0.77,     0.1, assumed, "A100 0.776, Tegra X1 0.78, Orin 0.73"},
  {"GV11B", "gpu_voltage_top_hz",           1377e6,   0,   datasheet, "top clock of AGX Xavier"},
  {"GV11B", "gpu_voltage_knee_hz",          829e6,    0.2, assumed, "MaxQ submissions to MLPerf 1.1"},
  {"GV11B", "gpu_voltage_floor_ratio",      0.77,     0.1, assumed, "A100 0.776, Tegra X1 0.78, Orin 0.73"},

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
  {"jetson", "gpu_idle_joule_per_sm_clock",   0.1e-9, 0.5, assumed, "as AGX Orin"},
  {"jetson", "dram_joule_per_byte",           50e-12, 0.3, assumed, "as AGX Orin"},
  {"jetson", "soc_static_w",                  2.0,  0.5, assumed, "less than AGX Orin's 2.85"},
  {"jetson", "memory_static_w",               0.8,  0.5, assumed, "less than AGX Orin's 1.5"},
  {"jetson", "memory_static_joule_per_peak_byte", 14.6e-12, 0.5, assumed, "as AGX Orin"},
  {"jetson", "soc_voltage_floor_ratio",       0.82, 0.06, assumed, "as Tegra X1: 1.0 of 1.225 V"},
  {"jetson", "wall_loss_share",               0.12, 0.25, assumed, "the plug reads 10 to 15 % above the rails (10.5281/zenodo.21848837)"},
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
  {"gpu", "host_slow_share",               0.25, 0, fitted, "A100 servers: 10 of 40 runs that wait for the host"},
  {"gpu", "host_slow_factor",              1.22, 0, fitted, "A100 servers: 9.9 against 7.9 ms, 15.8 against 13.2 ms, 16.2 against 13.2 ms"},
  {"gpu", "mode_time_error",               0.02, 0, fitted, "A100: slowdown between two of 11 clocks, after a fit to the lowest and the highest"},
  {"gpu", "power_cap_share",               0.964, 0.01, fitted, "A100: capped runs take 238 to 243 W of 250"},
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
  {"gpu", "tensorrt_matrix_kernel_clocks", 9e3,  0.25, fitted, "MobileNet v2 on TITAN RTX; MLPerf 0.7 and 1.0 at batch 1 on A100, A10, T4"},
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
  {"gpu", "dram_joule_per_byte",           70e-12, 0.4, assumed, "as A100"},

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
  {"", "tensorrt_activation_elements_per_sm_clock", 2, 0.5, assumed, "SiLU kernels in public layer times: 0.5 on Jetson Nano, 1 to 2 on Orin"},
  {"", "tensorrt_reformat_elements_per_sm_clock", 0.5, 0.4, fitted, "image to fp16 or int8: A100, ResNet-18 engines 0.4 to 0.6"},
  {"", "tensorrt_cache_share",               0.5,  0, assumed, "half of L2 holds activations"},
  {"", "tensorrt_cached_traffic",            0.5,  0.18, assumed, "as A100"},
  {"", "tensorrt_launch_clocks",             6e3,  0.3, assumed, "enqueue from a captured graph"},
  {"", "pipeline_exponent",                  4,    0.2, fitted, "AGX Orin, host and GPU nearly equal: neither hides the other in full"},
  {"", "onnxruntime_launch_clocks",          25e3, 0.5, assumed, "session loop and launch"},
  {"", "torch_compiled_launch_clocks",       20e3, 0.5, assumed, "generated wrapper and launch"},
  {"", "torch_compiled_step_clocks",         100e3, 0.5, assumed, "guards"},
  {"", "cuda_graph_s",                       15e-6, 0.3, measured, "RTX 5070 Ti laptop: 15 µs and 0.58 µs per node"},
  {"", "cuda_graph_node_s",                  0.6e-6, 0.3, measured, "RTX 5070 Ti laptop: 15 µs and 0.58 µs per node"},
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

// Energies of chips without measurements: those of the measured chip of their kind (A100 for
// graphics cards, AGX Orin for Jetsons) times these ratios, which follow from the process.
// Foundries publish power at equal speed: TSMC N5 0.7 of N7, N7 0.38 of 16FF+, 12FFN about 0.8 of
// 16FF+, 16FF+ 0.4 of 20SoC, Samsung 8LPP 0.9 of its 10 nm, which is 1 / 0.6 of N7. Wider products
// (wgmma of Hopper, tcgen05 of Blackwell) fetch fewer operands per FLOP. Each card is checked
// against its board power (tests/roofline/card_power_test.cpp).
struct Process {
  std::string_view architecture;  // part of its name in the catalog
  std::string_view node;
  double sm;       // energy per SM and clock, relative to the measured chip
  double product;  // energy per FLOP
  double sigma;    // of both, relative
};

constexpr Process processes[] = {
    {"Turing", "TSMC 12FFN", 1.8, 1.8, 0.3},
    {"GA102", "Samsung 8N", 1.5, 1.5, 0.3},
    {"GA106", "Samsung 8N", 1.5, 1.5, 0.3},
    {"Ada", "TSMC 4N", 0.65, 0.65, 0.35},
    {"Hopper", "TSMC 4N", 0.65, 0.65, 0.35},
    {"GB100", "TSMC 4NP", 0.65, 0.4, 0.4},
    {"GB202", "TSMC 4N", 0.65, 0.65, 0.4},
    // Jetsons, relative to Samsung 8N.
    {"GM20B", "TSMC 20SoC", 3.0, 3.0, 0.5},
    {"GP10B", "TSMC 16FF", 1.8, 1.8, 0.4},
    {"GV11B", "TSMC 12FFN", 1.2, 1.2, 0.4},
    {"GB10B", "TSMC 4N", 0.6, 0.43, 0.5},
};

Process process_of(const catalog::GpuSpec& gpu) {
  for (const Process& row : processes)
    if (gpu.architecture.find(row.architecture) != std::string::npos) return row;
  return {"", "unknown", 1, 1, 0.6};
}

void add_energies(Priors& priors, const catalog::Device& device) {
  if (!device.gpu || device.kind == catalog::Kind::cpu) return;
  const std::string_view measured = device.kind == catalog::Kind::jetson ? "GA10B" : "GA100";
  const Process process = process_of(*device.gpu);
  constexpr double idle_of_busy = 1.0 / 6;  // of an SM that waits; AGX Orin 1/9
  for (const PriorRow& row : rows) {
    if (row.device != measured) continue;
    const bool per_product =
        row.name.ends_with("_joule_per_flop") && row.name != "gpu_other_joule_per_flop";
    const bool per_sm = row.name.starts_with("gpu_") && !per_product;
    if (per_product || per_sm)
      priors.add(row.name, row.mean * (per_product ? process.product : process.sm),
                 std::hypot(row.sigma, process.sigma), Source::assumed);
    if (row.name == "gpu_busy_joule_per_sm_clock" && device.idle.empty())
      priors.add("gpu_idle_joule_per_sm_clock", idle_of_busy * row.mean * process.sm, 0.5,
                 Source::assumed);
  }
}

// Power of a card that waits with its clocks up: a share of the board power, SMs that toggle
// without work, and the interfaces of GDDR memory, which never rest at full clock. Readings at P0
// without load: T4 25 to 30 W, L4 27 to 28 W, A10 42 to 64 W (nvidia-smi in public logs), A40 110 W
// (NVIDIA/open-gpu-kernel-modules#874), GA102 with 50 SMs 53 to 85 W (xrip/cmp50hx-unlock#11),
// RTX 3090 Ti above 100 W (xor2k/gpu_undervolt#2). A100 and H100 have idle tables in the catalog.
void add_card_power(Priors& priors, const catalog::Device& device) {
  if (device.kind != catalog::Kind::gpu) return;
  if (!device.power_caps.empty())
    priors.add("power_cap_w", device.power_caps.front().value.value, 0, Source::datasheet);
  if (!device.idle.empty()) return;
  constexpr double idle_share = 0.15, gddr_joule_per_byte = 24e-12;
  if (!device.power_caps.empty())
    priors.add("idle_w", idle_share * device.power_caps.front().value.value, 0.3, Source::assumed);
  if (device.memory && device.memory->technology.starts_with("GDDR"))
    priors.add("memory_static_joule_per_peak_byte", gddr_joule_per_byte, 0.5, Source::assumed);
}

// Developer kits: network, USB and fan take a watt and more on boards that are built for more.
void add_carrier_power(Priors& priors, const catalog::Device& device) {
  if (device.kind != catalog::Kind::jetson || device.power_caps.empty()) return;
  constexpr double least_w = 1, share_of_cap = 0.05;
  priors.add("wall_offset_w", least_w + share_of_cap * device.power_caps.front().value.value, 0.5,
             Source::assumed);
}

double top_memory_hz(const catalog::Device& device) {
  double top = 0;
  for (const catalog::Configuration& configuration : device.configurations) {
    const catalog::ClockDomain& memory = configuration.memory;
    if (memory.ceiling_hz) top = std::max(top, memory.ceiling_hz->value);
    for (const catalog::ClockStep& step : memory.steps) top = std::max(top, step.hz);
  }
  return top;
}

std::optional<double> top_gpu_hz(const catalog::Device& device) {
  const OperatingPoint point = default_mode(device, device.configurations.front()).point;
  std::optional<double> top = point.gpu_hz;
  for (const DeviceMode& mode : stock_modes(device, device.configurations.front()))
    if (mode.point.gpu_hz && mode.point.gpu_hz > top) top = mode.point.gpu_hz;
  return top;
}

// Values that follow from the device's own facts.
void add_derived(Priors& priors, const catalog::Device& device) {
  add_energies(priors, device);
  add_card_power(priors, device);
  add_carrier_power(priors, device);
  if (const auto top = top_gpu_hz(device)) {
    priors.add("gpu_voltage_top_hz", *top, 0, Source::datasheet);
    // Known curves: knee at 0.72 (A100), 0.55 (Tegra X1), 0.47 (AGX Orin); floor at 0.776, 0.78,
    // 0.73.
    constexpr double knee_share = 0.6, floor_ratio = 0.77;
    priors.add("gpu_voltage_knee_hz", knee_share * *top, 0.2, Source::assumed);
    priors.add("gpu_voltage_floor_ratio", floor_ratio, 0.07, Source::assumed);
  }
  if (const double top = top_memory_hz(device); top > 0)
    priors.add("memory_top_hz", top, 0, Source::datasheet);
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

// Modules without one sensor for all of their input: power is a sum of rails, and tools differ in
// which. On AGX Orin two sources are 0 to 1 W and about 6 W above the model's own terms.
bool sums_rails(const std::optional<catalog::Device>& device) {
  return device && std::count_if(device->rails.begin(), device->rails.end(),
                                 [](const catalog::Rail& rail) { return rail.in_sum; }) > 1;
}

}  // namespace

std::span<const PriorRow> prior_rows() { return rows; }

MachineModel with_priors(MachineModel model) {
  std::optional<catalog::Device> device;
  if (catalog::find(model.device)) device = catalog::load(model.device);
  const std::vector<UnfamiliarRow> unfamiliar = unfamiliar_on(model.device);
  Priors priors(std::move(model));
  // Zero on a rig that measures power as the model counts it; calibration moves it. On Jetsons
  // tools sum different rails: some count the memory's twice, an eighth of the total.
  const bool rails = device && device->kind == catalog::Kind::jetson && !device->power_caps.empty();
  constexpr double least_w = 1;
  const double share_of_cap = sums_rails(device) ? 0.08 : 0.05;
  const double rig_w = rails ? share_of_cap * device->power_caps.front().value.value : 0;
  priors.add("board_offset_w", 0, std::max(least_w, rig_w), Source::assumed);
  for (const PriorRow& row : rows)
    if (holds_for(row, device)) priors.add(row.name, row.mean, row.sigma, row.source);
  if (device) add_derived(priors, *device);
  for (const UnfamiliarRow& row : unfamiliar)
    priors.add(unfamiliar_parameter(row.subject), 1, row.sigma, Source::assumed);
  return priors.take();
}

}  // namespace ridgeline
