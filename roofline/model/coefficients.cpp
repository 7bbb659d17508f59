// Finds each coefficient under its name. Names and what they start from are listed in
// docs/model.md; a runtime's own value ("tensorrt_…") goes before that of all runtimes ("gpu_…").
#include "roofline/model/coefficients.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>

#include "devices/catalog/model.h"

namespace ridgeline {
namespace {

std::string prefix_of(Runtime runtime) {
  switch (runtime) {
    case Runtime::torch_eager:
    case Runtime::torch_eager_hooks:
    case Runtime::cuda_graph:
      return "torch_";
    case Runtime::torch_compiled:
      return "torch_compiled_";
    case Runtime::tensorrt:
      return "tensorrt_";
    case Runtime::onnxruntime:
      return "onnxruntime_";
    case Runtime::ideal:
      break;
  }
  return "ideal_";
}

class Values {
 public:
  Values(const MachineModel& model, std::span<const double> values, Runtime runtime)
      : runtime_(runtime), own_(prefix_of(runtime)) {
    by_name_.reserve(model.parameters.size());
    for (std::size_t i = 0; i < model.parameters.size(); ++i)
      by_name_.emplace(model.parameters[i].name, values[i]);
  }

  Runtime runtime() const { return runtime_; }
  bool has(std::string_view name) const { return by_name_.contains(name); }

  double get(std::string_view name, double fallback = 0) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? fallback : found->second;
  }

  // The runtime's own value of "<own>name", else of "<processor>_name".
  double of(std::string_view processor, std::string_view name, double fallback) const {
    const auto own = by_name_.find(own_ + std::string(name));
    if (own != by_name_.end()) return own->second;
    return get(fmt::format("{}_{}", processor, name), fallback);
  }

  double own(std::string_view name, double fallback) const {
    return get(own_ + std::string(name), fallback);
  }

  template <class Visit>
  void each(Visit&& visit) const {
    for (const auto& [name, value] : by_name_) visit(name, value);
  }

 private:
  Runtime runtime_;
  std::string own_;
  std::unordered_map<std::string_view, double> by_name_;
};

// Dense rates; where a type can be accumulated in two, the wider counts, as libraries use it.
void read_rates(const Values& values, std::string_view processor, Engine& engine) {
  values.each([&](std::string_view name, double value) {
    if (!name.ends_with("_clock")) return;
    const auto rate = catalog::parse_rate_parameter(name);
    if (!rate || rate->processor != processor || rate->sparse) return;
    if (rate->unit == Unit::scalar) return;
    const bool narrow =
        rate->dtype == DType::fp16 && rate->accumulate == DType::fp16 && rate->unit == Unit::matrix;
    double& slot = (rate->unit == Unit::matrix ? engine.matrix_rate
                                               : engine.vector_rate)[index_of(rate->dtype)];
    if (narrow && slot > 0) return;
    slot = narrow ? value : std::max(slot, value);
  });
}

// "fp16" stands for both 16-bit types, "int8" for all narrower ones that have no value of their
// own.
double of_dtype(const Values& values, std::string_view processor, std::string_view what,
                DType dtype, double fallback) {
  const auto named = [&](std::string_view word, double otherwise) {
    return values.of(processor, fmt::format("{}_{}_efficiency", what, word), otherwise);
  };
  switch (dtype) {
    case DType::bf16:
      return named("bf16", named("fp16", fallback));
    case DType::fp8:
      return named("fp8", named("int8", fallback));
    case DType::int4:
      return named("int4", named("int8", fallback));
    default:
      return named(to_string(dtype), fallback);
  }
}

void read_ideal(Engine& engine) {
  engine.convolution_efficiency.fill(1);
  engine.matmul_efficiency.fill(1);
  engine.attention_efficiency.fill(1);
  engine.overlap = 1;
}

void read_kernels(const Values& values, std::string_view processor, Engine& engine) {
  constexpr double unknown_efficiency = 0.5;
  for (std::size_t i = 0; i < dtype_count; ++i) {
    const auto dtype = static_cast<DType>(i);
    engine.matmul_efficiency[i] = of_dtype(values, processor, "matmul", dtype, unknown_efficiency);
    engine.convolution_efficiency[i] =
        of_dtype(values, processor, "convolution", dtype, engine.matmul_efficiency[i]);
    engine.attention_efficiency[i] =
        of_dtype(values, processor, "attention", dtype, engine.matmul_efficiency[i]);
  }
  const std::string_view unit = processor == "gpu" ? "sm" : "core";
  const auto rate = [&](KernelKind kind, std::string_view name, std::string_view noun) {
    engine.elements_per_clock[index_of(kind)] =
        values.of(processor, fmt::format("{}_{}_per_{}_clock", name, noun, unit), 0);
  };
  rate(KernelKind::depthwise, "depthwise", "taps");
  rate(KernelKind::pool, "pool", "taps");
  rate(KernelKind::normalize, "normalize", "elements");
  rate(KernelKind::reduce, "normalize", "elements");
  rate(KernelKind::softmax, "softmax", "elements");
  rate(KernelKind::broadcast, "broadcast", "elements");
  rate(KernelKind::elementwise, "elementwise", "elements");
  rate(KernelKind::other, "elementwise", "elements");

  const double matrix = values.of(processor, "matrix_kernel_clocks", 0);
  const double other = values.of(processor, "other_kernel_clocks", 0);
  engine.kernel_clocks.fill(other);
  engine.further_kernel_clocks = values.runtime() == Runtime::torch_eager_hooks ? 0 : other;
  for (const KernelKind kind : {KernelKind::convolution, KernelKind::depthwise, KernelKind::linear,
                                KernelKind::product, KernelKind::recurrent})
    engine.kernel_clocks[index_of(kind)] = matrix;
  constexpr double kernels_of_attention = 4;
  engine.kernel_clocks[index_of(KernelKind::attention)] =
      values.runtime() == Runtime::torch_eager_hooks ? kernels_of_attention * matrix : matrix;
  engine.kernel_clocks[index_of(KernelKind::none)] = 0;

  const double l2 = values.get(fmt::format("{}_l2_bytes", processor));
  engine.cache_bytes = values.of(processor, "cache_share", 0) *
                       std::max(l2, values.get(fmt::format("{}_l3_bytes", processor)));
  engine.cached_traffic = values.of(processor, "cached_traffic", 1);
  engine.overlap = std::min(1.0, values.of(processor, "kernel_overlap", 0));
  engine.matmul_padding = values.of(processor, "matmul_padding", 1);
  engine.convolution_padding = values.of(processor, "convolution_padding", 1);
}

void read_torch_host(const Values& values, Host& host) {
  const auto clocks = [&](std::string_view name) {
    return values.get(fmt::format("torch_host_{}_clocks", name));
  };
  const double node = values.runtime() == Runtime::torch_eager_hooks
                          ? values.get("torch_eager_hooks_node_clocks")
                          : 0;
  const double elementwise = clocks("elementwise"), normalize = clocks("normalize");
  host.node_clocks.fill(clocks("matrix") + node);
  for (const KernelKind kind :
       {KernelKind::elementwise, KernelKind::broadcast, KernelKind::other, KernelKind::gather,
        KernelKind::resize, KernelKind::copy, KernelKind::softmax})
    host.node_clocks[index_of(kind)] = elementwise + node;
  for (const KernelKind kind : {KernelKind::normalize, KernelKind::pool, KernelKind::reduce})
    host.node_clocks[index_of(kind)] = normalize + node;
  host.node_clocks[index_of(KernelKind::attention)] = clocks("attention") + node;
  host.function_clocks = clocks("function") + node;
  host.module_clocks = clocks("module") + node;
  host.further_launch = values.get("torch_host_further_launch");
}

void read_host(const Values& values, Host& host) {
  host.default_hz = values.get("host_hz");
  host.pipeline_exponent = values.get("pipeline_exponent");
  switch (values.runtime()) {
    case Runtime::ideal:
      return;
    case Runtime::torch_eager:
    case Runtime::torch_eager_hooks:
      read_torch_host(values, host);
      break;
    case Runtime::cuda_graph:
      host.graph_s = values.get("cuda_graph_s");
      host.graph_node_s = values.get("cuda_graph_node_s");
      break;
    case Runtime::torch_compiled:
    case Runtime::tensorrt:
    case Runtime::onnxruntime:
      host.node_clocks.fill(values.own("launch_clocks", 0));
      host.further_launch = 1;
      host.step_clocks = values.own("step_clocks", 0);
      break;
  }
  host.node_clocks[index_of(KernelKind::none)] = 0;
  if (values.runtime() != Runtime::torch_eager_hooks) return;
  const auto hooks = [&](std::string_view name, double fallback) {
    return values.get(fmt::format("torch_eager_hooks_{}", name), fallback);
  };
  host.before_launch = hooks("before_launch", 1);
  host.stall_s = hooks("stall_s", 0);
  host.stall_gap_s = hooks("stall_gap_s", 0);
  host.stall_spread_s = hooks("stall_spread_s", 1);
  host.target_load = hooks("governor_load", 1);
  host.untimed_s = hooks("untimed_s", 0);
  host.floor_hz = values.get("gpu_governor_floor_hz");
}

// "idle_at_1110_mhz_w"
void read_idle_table(const Values& values, Power& power) {
  constexpr std::string_view head = "idle_at_", tail = "_mhz_w";
  values.each([&](std::string_view name, double value) {
    if (!name.starts_with(head) || !name.ends_with(tail)) return;
    const std::string_view digits =
        name.substr(head.size(), name.size() - head.size() - tail.size());
    double mhz = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), mhz).ec == std::errc{})
      power.idle_by_clock.emplace_back(mhz * 1e6, value);
  });
  std::sort(power.idle_by_clock.begin(), power.idle_by_clock.end());
}

void read_power(const Values& values, Power& power) {
  power.known = values.has("gpu_busy_joule_per_sm_clock");
  if (!power.known) return;
  if (values.has("soc_static_w"))
    power.static_w =
        values.get("soc_static_w") + values.get("memory_static_w") + values.get("board_w");
  else
    read_idle_table(values, power);
  if (!values.has("soc_static_w") && power.idle_by_clock.empty())
    power.static_w = values.get("idle_w");
  power.joule_per_peak_byte = values.get("memory_static_joule_per_peak_byte");
  power.cpu_idle_joule = values.get("cpu_idle_joule_per_core_clock");
  power.cpu_busy_joule = values.get("cpu_busy_joule_per_core_clock");
  power.cpu_voltage_floor = values.get("cpu_voltage_floor_ratio", 1);
  power.cpu_top_hz = values.get("cpu_top_hz");
  power.idle_joule = values.get("gpu_idle_joule_per_sm_clock");
  power.busy_joule = values.of("gpu", "busy_joule_per_sm_clock", 0);
  for (std::size_t i = 0; i < dtype_count; ++i) {
    std::string_view word = to_string(static_cast<DType>(i));
    if (static_cast<DType>(i) == DType::bf16) word = "fp16";
    if (static_cast<DType>(i) == DType::fp8 || static_cast<DType>(i) == DType::int4) word = "int8";
    power.matrix_joule[i] = values.get(fmt::format("gpu_{}_joule_per_flop", word));
  }
  power.other_joule = values.get("gpu_other_joule_per_flop");
  power.byte_joule = values.get("dram_joule_per_byte");
  power.voltage_floor = values.get("gpu_voltage_floor_ratio", 1);
  power.knee_hz = values.get("gpu_voltage_knee_hz");
  power.top_hz = values.get("gpu_voltage_top_hz");
  power.offset_w = values.get("board_offset_w");
  power.wall_offset_w = values.get("wall_offset_w");
  if (values.has("power_cap_w")) power.cap_w = values.get("power_cap_w");
}

}  // namespace

Coefficients coefficients(const MachineModel& model, std::span<const double> means,
                          Runtime runtime) {
  const Values values(model, means, runtime);
  Coefficients result;
  const bool gpu = values.has("gpu_multiprocessors");
  result.processor = gpu ? Processor::gpu : Processor::cpu;
  read_rates(values, gpu ? "gpu" : "cpu0", result.engine);
  const std::string_view processor = gpu ? "gpu" : "cpu";
  if (runtime == Runtime::ideal)
    read_ideal(result.engine);
  else
    read_kernels(values, processor, result.engine);
  read_host(values, result.host);
  read_power(values, result.power);
  result.bus_bytes_per_clock =
      values.get("memory_bus_bytes") * values.get("memory_transfers_per_clock");
  result.memory_bytes_per_s = values.get(fmt::format("{}_dram_bytes_per_s", processor));
  result.dram_efficiency = values.get(fmt::format("{}_dram_efficiency", processor), 1);
  result.dram_bytes_per_clock = gpu ? values.get("gpu_dram_bytes_per_clock") : 0;
  std::string word(to_string(runtime));
  std::replace(word.begin(), word.end(), '-', '_');
  const auto of_runtime = [&](std::string_view name, double fallback) {
    return values.get(fmt::format("{}_{}", word, name), values.get(name, fallback));
  };
  if (runtime != Runtime::ideal) {
    result.kernel_scale = of_runtime("kernel_time_scale", 1);
    result.host_scale = of_runtime("host_time_scale", 1);
  }
  result.time_error = of_runtime("time_error", 0);
  result.power_error = values.get("power_error");
  return result;
}

Coefficients coefficients(const MachineModel& model, Runtime runtime) {
  std::vector<double> means;
  means.reserve(model.parameters.size());
  for (const Parameter& parameter : model.parameters) means.push_back(parameter.mean);
  return coefficients(model, means, runtime);
}

double relative_voltage(const Power& power, double hz) {
  if (hz <= power.knee_hz) return power.voltage_floor;
  if (power.top_hz <= power.knee_hz) return 1;
  return power.voltage_floor +
         (1 - power.voltage_floor) * (hz - power.knee_hz) / (power.top_hz - power.knee_hz);
}

}  // namespace ridgeline
