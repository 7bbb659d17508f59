// Looks up each coefficient by name. Names and defaults are in base/parameters.h; a runtime's own
// value ("tensorrt_…") takes precedence over that of all runtimes ("gpu_…").
#include "roofline/model/coefficients.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/text.h"
#include "roofline/model/familiarity.h"

namespace ridgeline {
namespace {

class Values {
 public:
  Values(const ParameterIndex& names, std::span<const double> values, Runtime runtime)
      : names_(names), values_(values), runtime_(runtime), library_(library_of(runtime)) {}

  Runtime runtime() const { return runtime_; }
  bool has(std::string_view name) const { return names_.find(name).has_value(); }

  std::optional<double> find(std::string_view name) const {
    const auto index = names_.find(name);
    return index ? std::optional(values_[*index]) : std::nullopt;
  }

  // Falls back to the declared default.
  double get(std::string_view name) const {
    if (const auto value = find(name)) return *value;
    const ParameterRow& row = parameter_row(name, names_.device());
    if (!row.if_absent) throw Error(names_.device(), "the model has no parameter " + quote(name));
    return *row.if_absent;
  }

  // The library's own "<library>_name", else "<processor>_name".
  std::optional<double> find(std::string_view processor, std::string_view name) const {
    if (!library_.empty())
      if (const auto own = find(joined(library_, name))) return own;
    return find(joined(processor, name));
  }
  double get(std::string_view processor, std::string_view name) const {
    const auto value = find(processor, name);
    return value ? *value : get(joined(processor, name));
  }

  // TensorRT times its kernels against those of the libraries and takes the fastest, so a value
  // that is better for all runtimes holds for it too. Otherwise as above.
  std::optional<double> find_best(std::string_view processor, std::string_view name,
                                  bool larger_is_faster) const {
    const auto own = find(processor, name);
    if (runtime_ != Runtime::tensorrt || !own) return own;
    const double general = find(joined(processor, name)).value_or(*own);
    return larger_is_faster ? std::max(*own, general) : std::min(*own, general);
  }
  double largest(std::string_view processor, std::string_view name) const {
    return find_best(processor, name, true).value_or(get(processor, name));
  }
  double smallest(std::string_view processor, std::string_view name) const {
    return find_best(processor, name, false).value_or(get(processor, name));
  }

  double of_library(std::string_view name) const { return get(joined(library_, name)); }

  // The runtime's own value, else the one for all runtimes.
  double of_runtime(std::string_view name) const {
    std::string word(to_string(runtime_));
    std::replace(word.begin(), word.end(), '-', '_');
    const auto own = find(joined(word, name));
    return own ? *own : get(name);
  }

  const ParameterIndex& names() const { return names_; }
  double at(std::size_t index) const { return values_[index]; }

 private:
  static std::string joined(std::string_view first, std::string_view second) {
    std::string name(first);
    (name += '_') += second;
    return name;
  }

  const ParameterIndex& names_;
  std::span<const double> values_;
  Runtime runtime_;
  std::string_view library_;
};

// Dense rates. If a type has two accumulators, the faster counts: that predicts consumer cards
// better, whose tensor cores are twice as fast with a narrow accumulator.
void read_rates(const Values& values, std::string_view processor, Engine& engine) {
  for (const auto& [rate, index] : values.names().rates()) {
    if (rate.processor != processor || rate.sparse || rate.unit == Unit::scalar) continue;
    double& slot =
        (rate.unit == Unit::matrix ? engine.matrix_rate : engine.vector_rate)[index_of(rate.dtype)];
    slot = std::max(slot, values.at(index));
    if (rate.unit == Unit::matrix && rate.accumulate == DType::fp32)
      engine.wide_sum_rate[index_of(rate.dtype)] = values.at(index);
  }
}

bool is_narrower_than_int16(DType dtype) {
  return dtype == DType::int8 || dtype == DType::fp8 || dtype == DType::fp4 || dtype == DType::int4;
}

// "fp16" covers both 16-bit types, "int8" all narrower ones without a value of their own.
std::optional<double> efficiency_of(const Values& values, std::string_view processor,
                                    std::string_view what, DType dtype) {
  const auto named = [&](std::string_view word) {
    return values.find_best(processor, fmt::format("{}_{}_efficiency", what, word), true);
  };
  if (const auto own = named(to_string(dtype))) return own;
  if (dtype == DType::bf16) return named("fp16");
  if (is_narrower_than_int16(dtype)) return named("int8");
  return std::nullopt;
}

void read_ideal(Engine& engine) {
  engine.convolution_efficiency.fill(1);
  engine.matmul_efficiency.fill(1);
  engine.attention_efficiency.fill(1);
  engine.overlap = 1;
  engine.wide_sum_rate = {};
}

void read_kernels(const Values& values, std::string_view processor, Engine& engine) {
  for (std::size_t i = 0; i < dtype_count; ++i) {
    const auto dtype = static_cast<DType>(i);
    const auto of = [&](std::string_view what) {
      return efficiency_of(values, processor, what, dtype);
    };
    const auto matmul = of("matmul");
    engine.matmul_efficiency[i] =
        matmul ? *matmul
               : values.get(fmt::format("{}_matmul_{}_efficiency", processor, to_string(dtype)));
    engine.convolution_efficiency[i] = of("convolution").value_or(engine.matmul_efficiency[i]);
    engine.attention_efficiency[i] = of("attention").value_or(engine.matmul_efficiency[i]);
  }
  const std::string_view unit = processor == "gpu" ? "sm" : "core";
  const auto rate = [&](KernelKind kind, std::string_view name, std::string_view noun) {
    engine.elements_per_clock[index_of(kind)] =
        values.largest(processor, fmt::format("{}_{}_per_{}_clock", name, noun, unit));
  };
  rate(KernelKind::depthwise, "depthwise", "taps");
  rate(KernelKind::depthwise_gradient, "depthwise_gradient", "taps");
  rate(KernelKind::pool, "pool", "taps");
  rate(KernelKind::batch_norm, "batch_norm", "elements");
  rate(KernelKind::normalize, "normalize", "elements");
  rate(KernelKind::reduce, "normalize", "elements");
  rate(KernelKind::softmax, "softmax", "elements");
  rate(KernelKind::broadcast, "broadcast", "elements");
  rate(KernelKind::elementwise, "elementwise", "elements");
  rate(KernelKind::other, "elementwise", "elements");
  // Kinds without a rate of their own run like their nearest relative.
  const auto as = [&](KernelKind kind, KernelKind relative) {
    double& own = engine.elements_per_clock[index_of(kind)];
    if (own <= 0) own = engine.elements_per_clock[index_of(relative)];
  };
  as(KernelKind::batch_norm, KernelKind::normalize);
  as(KernelKind::depthwise_gradient, KernelKind::depthwise);

  const double matrix = values.smallest(processor, "matrix_kernel_clocks");
  const double other = values.smallest(processor, "other_kernel_clocks");
  engine.kernel_clocks.fill(other);
  engine.further_kernel_clocks = values.runtime() == Runtime::torch_eager_hooks ? 0 : other;
  for (const KernelKind kind : {KernelKind::convolution, KernelKind::depthwise,
                                KernelKind::convolution_gradient, KernelKind::depthwise_gradient,
                                KernelKind::linear, KernelKind::product, KernelKind::recurrent})
    engine.kernel_clocks[index_of(kind)] = matrix;
  constexpr double kernels_of_attention = 4;
  engine.kernel_clocks[index_of(KernelKind::attention)] =
      values.runtime() == Runtime::torch_eager_hooks ? kernels_of_attention * matrix : matrix;
  engine.kernel_clocks[index_of(KernelKind::none)] = 0;

  const double l2 = values.get(fmt::format("{}_l2_bytes", processor));
  engine.cache_bytes = values.get(processor, "cache_share") *
                       std::max(l2, values.get(fmt::format("{}_l3_bytes", processor)));
  engine.cached_traffic = values.smallest(processor, "cached_traffic");
  engine.overlap = std::min(1.0, values.get(processor, "kernel_overlap"));
  engine.gradient_efficiency = values.get(processor, "gradient_efficiency");
  // TensorRT may sum 16-bit products in 16 bits; cuDNN and cuBLAS are asked for fp32 sums.
  if (values.runtime() == Runtime::tensorrt)
    engine.wide_sum_rate = {};
  else
    engine.wide_sum_efficiency = values.get(processor, "wide_sum_efficiency");
  engine.layout_conversion = values.get(processor, "layout_conversion");
  const auto of_clock = [&](std::string_view what) {
    return values.get(processor, fmt::format("{}_elements_per_{}_clock", what, unit));
  };
  engine.activations_per_clock = of_clock("activation");
  engine.reformats_per_clock = of_clock("reformat");
  engine.matmul_padding = values.smallest(processor, "matmul_padding");
  engine.convolution_padding = values.smallest(processor, "convolution_padding");
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
  for (const KernelKind kind :
       {KernelKind::batch_norm, KernelKind::normalize, KernelKind::pool, KernelKind::reduce})
    host.node_clocks[index_of(kind)] = normalize + node;
  host.node_clocks[index_of(KernelKind::attention)] = clocks("attention") + node;
  host.function_clocks = clocks("function") + node;
  host.module_clocks = clocks("module") + node;
  host.further_launch = values.get("torch_host_further_launch");
}

void read_host(const Values& values, Host& host) {
  host.default_hz = values.get("host_hz");
  host.pipeline_exponent = values.get("pipeline_exponent");
  host.slow_share = values.get("host_slow_share");
  host.slow_factor = values.get("host_slow_factor");
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
      host.node_clocks.fill(values.of_library("launch_clocks"));
      host.further_launch = 1;
      host.step_clocks = values.of_library("step_clocks");
      break;
  }
  host.node_clocks[index_of(KernelKind::none)] = 0;
  if (values.runtime() != Runtime::torch_eager_hooks) return;
  host.before_launch = values.get("torch_eager_hooks_before_launch");
  host.stall_s = values.get("torch_eager_hooks_stall_s");
  host.stall_gap_s = values.get("torch_eager_hooks_stall_gap_s");
  host.stall_spread_s = values.get("torch_eager_hooks_stall_spread_s");
  host.target_load = values.get("torch_eager_hooks_governor_load");
  host.untimed_s = values.get("torch_eager_hooks_untimed_s");
  host.floor_hz = values.get("gpu_governor_floor_hz");
}

using ClockTable = std::vector<std::pair<double, double>>;

ClockTable clock_table(const Values& values,
                       const std::vector<std::pair<double, std::size_t>>& rows) {
  ClockTable table;
  for (const auto& [hz, index] : rows) table.emplace_back(hz, values.at(index));
  std::sort(table.begin(), table.end());
  return table;
}

void read_power(const Values& values, Power& power) {
  power.known = values.has("gpu_busy_joule_per_sm_clock");
  if (!power.known) return;
  if (values.has("soc_static_w")) {
    power.soc_w = values.get("soc_static_w");
    power.static_w = values.get("memory_static_w") + values.get("board_w");
  } else {
    power.idle_by_clock = clock_table(values, values.names().idle_hz());
  }
  if (!values.has("soc_static_w") && power.idle_by_clock.empty())
    power.static_w = values.get("idle_w");
  power.joule_per_peak_byte = values.get("memory_static_joule_per_peak_byte");
  power.soc_voltage_floor = values.get("soc_voltage_floor_ratio");
  power.memory_top_hz = values.get("memory_top_hz");
  power.cpu_idle_joule = values.get("cpu_idle_joule_per_core_clock");
  power.cpu_busy_joule = values.get("cpu_busy_joule_per_core_clock");
  power.cpu_voltage_floor = values.get("cpu_voltage_floor_ratio");
  power.cpu_top_hz = values.get("cpu_top_hz");
  power.idle_joule = values.get("gpu_idle_joule_per_sm_clock");
  power.busy_joule = values.get("gpu_busy_joule_per_sm_clock");
  for (std::size_t i = 0; i < dtype_count; ++i) {
    std::string_view word = to_string(static_cast<DType>(i));
    if (static_cast<DType>(i) == DType::bf16) word = "fp16";
    if (is_narrower_than_int16(static_cast<DType>(i))) word = "int8";
    power.matrix_joule[i] = values.get(fmt::format("gpu_{}_joule_per_flop", word));
  }
  power.other_joule = values.get("gpu_other_joule_per_flop");
  power.byte_joule = values.get("dram_joule_per_byte");
  power.voltage_floor = values.get("gpu_voltage_floor_ratio");
  power.knee_hz = values.get("gpu_voltage_knee_hz");
  power.top_hz = values.get("gpu_voltage_top_hz");
  power.voltage_by_clock = clock_table(values, values.names().voltage_hz());
  power.offset_w = values.get("board_offset_w");
  power.wall_offset_w = values.get("wall_offset_w");
  power.wall_loss = values.get("wall_loss_share");
  power.cap_w = values.find("power_cap_w");
  power.cap_share = values.get("power_cap_share");
  power.leakage_heating = values.get("gpu_leakage_heating");
}

// A chip or runtime that is unfamiliar as a whole scales every kernel.
void read_unfamiliar(const Values& values, Coefficients& result) {
  const Familiarity& here = familiarity(values.names().device(), values.runtime());
  const auto scale = [&](Subject subject) {
    return values.find(unfamiliar_parameter(subject)).value_or(1);
  };
  for (std::size_t i = 0; i < subject_count; ++i)
    if (here.unfamiliar[i]) result.unfamiliar.subject[i] = scale(static_cast<Subject>(i));
  for (std::size_t i = 0; i < dtype_count; ++i)
    if (here.unfamiliar_dtype[i]) result.unfamiliar.dtype[i] = scale(Subject::dtype);
  result.kernel_scale *= result.unfamiliar.subject[index_of(Subject::runtime)] *
                         result.unfamiliar.subject[index_of(Subject::device)];
  result.host_scale *= result.unfamiliar.subject[index_of(Subject::host)];
}

}  // namespace

std::string_view library_of(Runtime runtime) {
  switch (runtime) {
    case Runtime::torch_eager:
    case Runtime::torch_eager_hooks:
    case Runtime::cuda_graph:
      return "torch";
    case Runtime::torch_compiled:
      return "torch_compiled";
    case Runtime::tensorrt:
      return "tensorrt";
    case Runtime::onnxruntime:
      return "onnxruntime";
    case Runtime::ideal:
      break;
  }
  return "";
}

ParameterIndex::ParameterIndex(const MachineModel& model) : device_(&model.device) {
  by_name_.reserve(model.parameters.size());
  for (std::size_t i = 0; i < model.parameters.size(); ++i) {
    const std::string& name = model.parameters[i].name;
    by_name_.emplace(name, i);
    if (auto rate = parse_rate_parameter(name)) rates_.emplace_back(std::move(*rate), i);
    for (const auto& [family, rows] : {std::pair(families::idle_at_clock, &idle_hz_),
                                       std::pair(families::voltage_at_clock, &voltage_hz_)}) {
      const auto mhz = family_words(family, name);
      if (!mhz) continue;
      double clock = 0;
      std::from_chars(mhz->front().data(), mhz->front().data() + mhz->front().size(), clock);
      rows->emplace_back(clock * 1e6, i);
    }
  }
}

std::optional<std::size_t> ParameterIndex::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  if (found != by_name_.end()) return found->second;
  parameter_row(name, *device_);
  return std::nullopt;
}

Coefficients coefficients(const ParameterIndex& names, std::span<const double> means,
                          Runtime runtime) {
  const Values values(names, means, runtime);
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
  result.dram_efficiency = values.get(fmt::format("{}_dram_efficiency", processor));
  result.dram_bytes_per_clock = gpu ? values.get("gpu_dram_bytes_per_clock") : 0;
  if (runtime != Runtime::ideal) {
    result.kernel_scale = values.of_runtime("kernel_time_scale");
    result.host_scale = values.of_runtime("host_time_scale");
    read_unfamiliar(values, result);
  }
  result.time_error = values.of_runtime("time_error");
  result.mode_error = values.get("mode_time_error");
  result.power_error = values.get("power_error");
  return result;
}

Coefficients coefficients(const MachineModel& model, Runtime runtime) {
  std::vector<double> means;
  means.reserve(model.parameters.size());
  for (const Parameter& parameter : model.parameters) means.push_back(parameter.mean);
  return coefficients(ParameterIndex(model), means, runtime);
}

double relative_voltage(const Power& power, double hz) {
  if (const auto& table = power.voltage_by_clock; table.size() > 1) {
    if (hz <= table.front().first) return table.front().second;
    std::size_t above = 1;
    while (above + 1 < table.size() && table[above].first < hz) ++above;
    const auto [low_hz, low] = table[above - 1];
    const auto [high_hz, high] = table[above];
    const auto slope = [&](std::size_t i) {
      return (table[i].second - table[i - 1].second) / (table[i].first - table[i - 1].first);
    };
    const double straight = low + slope(above) * (hz - low_hz);
    if (above + 1 == table.size()) return straight;
    // A knee lies between two measured clocks where the lines on both sides of them meet.
    const double from_below = low + (above > 1 ? slope(above - 1) : 0) * (hz - low_hz);
    const double from_above = high - slope(above + 1) * (high_hz - hz);
    return std::min(straight, std::max(from_below, from_above));
  }
  if (hz <= power.knee_hz) return power.voltage_floor;
  if (power.top_hz <= power.knee_hz) return 1;
  return power.voltage_floor +
         (1 - power.voltage_floor) * (hz - power.knee_hz) / (power.top_hz - power.knee_hz);
}

// The memory clock sets the voltage of the rail that feeds controller, fabric and caches of the
// chip: on Tegra X1 1.0 V up to 1.2 GHz and 1.225 V at 1.8 GHz (the "emc" row of NVIDIA's
// tegra21_dvfs.c).
double soc_voltage(const Power& power, double memory_hz) {
  constexpr double knee_share = 2.0 / 3;
  const double share = power.memory_top_hz > 0 ? memory_hz / power.memory_top_hz : 1;
  if (share >= 1) return 1;
  const double above_knee = std::max(0.0, share - knee_share) / (1 - knee_share);
  return power.soc_voltage_floor + (1 - power.soc_voltage_floor) * above_knee;
}

}  // namespace ridgeline
