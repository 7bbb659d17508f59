// The formulas of docs/model.md, "The step" and "Power". Single kernels are in kernel_time.h.
#include "roofline/model/step.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"

namespace ridgeline {
namespace {

// Bisection steps that give the clock to a millionth.
constexpr int halvings = 20;

double host_clocks_of(const KernelLoad& kernel, const Host& host) {
  double clocks =
      kernel.host_functions * host.function_clocks + kernel.host_modules * host.module_clocks;
  if (kernel.kind == KernelKind::none) return clocks;
  // An activation function may be part of its kernel instead (kernel_time decides).
  const int further = kernel.launches - (kernel.pointwise_bytes > 0 ? 2 : 1);
  return clocks +
         host.node_clocks[index_of(kernel.kind)] * (1 + host.further_launch * std::max(0, further));
}

double operations_joule(const KernelLoad& kernel, const KernelTime& time, const Power& power) {
  if (kernel.kind == KernelKind::none) return 0;
  // An epilogue works on what a product has in registers; other kernels fetch and store it.
  const double vector_joule =
      kernel.gemm ? std::min(power.other_joule, power.matrix_joule[index_of(DType::fp32)])
                  : power.other_joule;
  return kernel.matrix_ops * power.matrix_joule[index_of(time.dtype)] +
         kernel.vector_ops * vector_joule;
}

double idle_at(const Power& power, double hz) {
  const auto& table = power.idle_by_clock;
  if (table.empty()) return power.static_w;
  const auto above = std::lower_bound(table.begin(), table.end(), std::pair(hz, 0.0));
  if (above == table.begin()) return table.front().second;
  if (above == table.end()) return table.back().second;
  const auto below = above - 1;
  const double share = (hz - below->first) / (above->first - below->first);
  return below->second + share * (above->second - below->second);
}

// Leakage of a warm chip above that of an idle one. The temperature follows the power, so the power
// with it is the solution of P = cool + heating · P / cap.
double warm_leakage(const Power& power, double hz, double cool_w) {
  if (!(power.leakage_heating > 0) || !power.cap_w || power.idle_by_clock.empty()) return 0;
  const double by_voltage = std::max(0.0, idle_at(power, hz) - idle_at(power, power.knee_hz));
  const double share = power.leakage_heating * by_voltage / *power.cap_w;
  return share < 1 ? cool_w * share / (1 - share) : 0;
}

// Time lost when host and device are nearly balanced and sometimes wait for each other: what the
// p-norm of the time without waiting and of the shorter of the two adds.
double jitter(double without_s, double shorter_s, double exponent) {
  if (exponent <= 1 || without_s <= 0) return 0;
  return without_s * (std::pow(1 + std::pow(shorter_s / without_s, exponent), 1 / exponent) - 1);
}

double cpu_voltage(const Power& power, double hz) {
  if (power.cpu_top_hz <= 0 || hz >= power.cpu_top_hz) return 1;
  constexpr double slope_per_ghz = 0.40;  // of AGX Orin's CPU rail under stress in four modes
  return std::max(power.cpu_voltage_floor, 1 - slope_per_ghz * (power.cpu_top_hz - hz) * 1e-9);
}

// Traffic and operations keep their energy at any clock. If it is too much even at the lowest one,
// the board skips clocks until the power fits: everything takes longer by the same factor.
void skip_clocks(Step& step, double cap_w) {
  const double spare_w = cap_w - *step.constant_w;
  if (!(spare_w > 0)) return;
  const double factor = (*step.power_w - *step.constant_w) / spare_w;
  for (double* time_s : {&step.time_s, &step.kernel_s, &step.tail_s, &step.jitter_s})
    *time_s *= factor;
  for (StepRow& row : step.rows)
    for (double* time_s : {&row.time_s, &row.stall_s, &row.host_begin_s, &row.kernel_begin_s,
                           &row.kernel.compute_s, &row.kernel.memory_s, &row.kernel.fixed_s,
                           &row.kernel.helper_s, &row.kernel.total_s, &row.kernel.busy_s})
      *time_s *= factor;
  step.power_w = cap_w;
}

}  // namespace

DevicePoint device_point(const Coefficients& coefficients, const OperatingPoint& point) {
  DevicePoint device;
  if (coefficients.processor == Processor::gpu) {
    if (!point.gpu_hz)
      throw Error(point.label, "the operating point has no GPU clock", "give one: --mode gpu=…MHz");
    if (!point.gpu_units)
      throw Error(point.label, "the operating point has no number of SMs", "give it: --mode sm=…");
    device.units = *point.gpu_units;
    device.hz = *point.gpu_hz;
  } else {
    if (point.cpu_hz.empty())
      throw Error(point.label, "the operating point has no CPU clock",
                  "give one (--mode cpu=…GHz), or a profile of 'ridgeline measure'");
    if (!point.cpu_cores)
      throw Error(point.label, "the operating point has no number of cores",
                  "give it: --mode cores=…");
    device.units = *point.cpu_cores;
    device.hz = *std::max_element(point.cpu_hz.begin(), point.cpu_hz.end());
  }
  device.peak_bytes_per_s = coefficients.memory_bytes_per_s;
  if (point.memory_hz && coefficients.bus_bytes_per_clock > 0)
    device.peak_bytes_per_s = coefficients.bus_bytes_per_clock * *point.memory_hz;
  if (device.peak_bytes_per_s <= 0)
    throw Error(point.label, "neither the operating point nor the model has a memory bandwidth");
  device.bytes_per_s = usable_bytes_per_s(coefficients, device.peak_bytes_per_s, device.hz);
  return device;
}

double host_hz_of(const OperatingPoint& point, const Host& host) {
  if (point.cpu_hz.empty()) return host.default_hz;
  return *std::max_element(point.cpu_hz.begin(), point.cpu_hz.end());
}

double host_share(const Step& step, const Host& host) {
  if (!(step.host_s > 0) || !(step.kernel_s > 0)) return step.host_s > 0 ? 1 : 0;
  if (host.pipeline_exponent <= 1) return step.host_s > step.kernel_s ? 1 : 0;
  return 1 / (1 + std::pow(step.kernel_s / step.host_s, host.pipeline_exponent));
}

double host_run_error(const Host& host) {
  return std::abs(std::log(host.slow_factor)) * std::sqrt(host.slow_share * (1 - host.slow_share));
}

double host_run_factor(const Host& host, bool slow) {
  return std::pow(host.slow_factor, (slow ? 1 : 0) - host.slow_share);
}

double constant_power(const Coefficients& coefficients, const DevicePoint& device,
                      const OperatingPoint& point, double device_busy, double host_busy) {
  const Power& power = coefficients.power;
  const double volt = relative_voltage(power, device.hz);
  const double host_hz = host_hz_of(point, coefficients.host);
  const double cpu_volt = cpu_voltage(power, host_hz);
  const double soc_volt = point.memory_hz ? soc_voltage(power, *point.memory_hz) : 1;
  double watt =
      idle_at(power, device.hz) + power.offset_w +
      (power.soc_w + power.joule_per_peak_byte * device.peak_bytes_per_s) * soc_volt * soc_volt;
  watt += (power.cpu_idle_joule * point.cpu_cores.value_or(1) + power.cpu_busy_joule * host_busy) *
          host_hz * cpu_volt * cpu_volt;
  watt +=
      device.units * device.hz * volt * volt * (power.idle_joule + power.busy_joule * device_busy);
  return std::max(0.0, watt);
}

double wall_power(const Power& power, double module_w) {
  return module_w + power.wall_loss * std::max(0.0, module_w - power.offset_w) +
         power.wall_offset_w;
}

StepModel::StepModel(const NetworkLoad& load, const Coefficients& coefficients)
    : load_(load), coefficients_(coefficients) {
  double sum = coefficients.host.step_clocks;
  for (const KernelLoad& kernel : load.kernels) {
    host_clocks_.push_back(coefficients.host_scale * host_clocks_of(kernel, coefficients.host));
    host_clocks_sum_.push_back(sum += host_clocks_.back());
  }
}

StepModel::DeviceTimes StepModel::device_times(const DevicePoint& point) const {
  DeviceTimes times;
  times.kernels = kernel_times(load_, coefficients_, point);
  times.after.resize(times.kernels.size());
  for (std::size_t i = times.kernels.size(); i-- > 0;) {
    times.sum_s += times.kernels[i].total_s;
    times.busy_s += times.kernels[i].busy_s;
    times.bytes += times.kernels[i].bytes;
    times.dynamic_j += operations_joule(load_.kernels[i], times.kernels[i], coefficients_.power);
    times.after[i] = times.sum_s;
  }
  return times;
}

const StepModel::DeviceTimes& StepModel::kept_times(const DevicePoint& point) const {
  const std::tuple key{point.units, point.hz, point.peak_bytes_per_s};
  const auto found = kept_.find(key);
  return found != kept_.end() ? found->second
                              : kept_.emplace(key, device_times(point)).first->second;
}

// The governor raises the clock until the load meets its target; time between nodes is idle.
double StepModel::governed_hz(const DevicePoint& point, double host_hz) const {
  const Host& host = coefficients_.host;
  double nodes = 0, clocks = 0;
  for (std::size_t i = 0; i < host_clocks_.size(); ++i) {
    clocks += host_clocks_[i];
    nodes += load_.kernels[i].host_functions + load_.kernels[i].host_modules;
    if (load_.kernels[i].kind != KernelKind::none) nodes += 1;
  }
  const double idle_s = clocks / host_hz + nodes * host.untimed_s;
  const double busy_s = host.target_load / (1 - host.target_load) * idle_s;
  const auto enough = [&](double hz) {
    DevicePoint at = point;
    at.hz = hz;
    at.bytes_per_s = usable_bytes_per_s(coefficients_, at.peak_bytes_per_s, hz);
    double sum = 0;
    for (const KernelLoad& kernel : load_.kernels)
      sum += kernel_time(kernel, coefficients_, at, load_.runtime).total_s;
    return sum <= busy_s;
  };
  double low = std::min(host.floor_hz, point.hz), high = point.hz;
  if (low <= 0 || !enough(high)) return high;
  if (enough(low)) return low;
  for (int i = 0; i < halvings; ++i) {
    const double middle = (low + high) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

// Each node waits for the previous one: host work before the launch, the kernel, and a stall if the
// device waited long.
void StepModel::run_one_by_one(Step& step, const DeviceTimes& device, double host_hz,
                               bool rows) const {
  const Host& host = coefficients_.host;
  const double scale = coefficients_.host_scale;
  for (std::size_t i = 0; i < device.kernels.size(); ++i) {
    const KernelLoad& load = load_.kernels[i];
    // Calls that launch nothing are nodes of their own.
    double time_s = load.host_functions * host.function_clocks * scale / host_hz;
    double before_kernel_s = 0;
    const double module_s = host.module_clocks * scale / host_hz;
    const auto stall_after = [&](double gap_s) {
      return host.stall_s / (1 + std::exp(-(gap_s - host.stall_gap_s) / host.stall_spread_s));
    };
    double stall_s = load.host_modules * stall_after(module_s);
    time_s += load.host_modules * module_s;
    if (load.kind != KernelKind::none) {
      const double node_s = host.node_clocks[index_of(load.kind)] * scale / host_hz;
      before_kernel_s = time_s + host.before_launch * node_s;
      time_s += std::max(node_s, host.before_launch * node_s + device.kernels[i].total_s);
      stall_s += stall_after(node_s);
    }
    if (rows)
      step.rows.push_back({time_s + stall_s, host_clocks_[i] / host_hz, stall_s, 0,
                           device.kernels[i], step.time_s, step.time_s + before_kernel_s});
    step.host_s += host_clocks_[i] / host_hz;
    step.time_s += time_s + stall_s;
  }
}

// The cores that call the operators also execute them.
void StepModel::run_in_line(Step& step, const DeviceTimes& device, double host_hz,
                            bool rows) const {
  for (std::size_t i = 0; i < device.kernels.size(); ++i) {
    const double host_s = host_hz > 0 ? host_clocks_[i] / host_hz : 0;
    if (rows)
      step.rows.push_back({host_s + device.kernels[i].total_s, host_s, 0, 0, device.kernels[i],
                           step.time_s, step.time_s + host_s});
    step.host_s += host_s;
    step.time_s += host_s + device.kernels[i].total_s;
  }
  step.tail_s = host_hz > 0 ? coefficients_.host.step_clocks / host_hz : 0;
  step.time_s += step.tail_s;
}

// The host runs ahead and the device works off the queue: a kernel starts once it was launched and
// the previous one has ended.
void StepModel::run_asynchronously(Step& step, const DeviceTimes& device, double host_hz,
                                   bool rows) const {
  const Host& host = coefficients_.host;
  const double per_clock = host_hz > 0 ? 1 / host_hz : 0;
  step.host_s = host_clocks_sum_.empty() ? 0 : host_clocks_sum_.back() * per_clock;
  if (host.graph_s > 0) step.host_s = host.graph_s;  // one launch of the whole graph
  if (!rows && host.graph_s <= 0) {
    double end = step.host_s;
    for (std::size_t i = 0; i < device.after.size(); ++i)
      end = std::max(end, host_clocks_sum_[i] * per_clock + device.after[i]);
    step.jitter_s = jitter(end, std::min(step.host_s, device.sum_s), host.pipeline_exponent);
    step.time_s = end + step.jitter_s;
    return;
  }
  double end = host.graph_s;
  for (std::size_t i = 0; i < device.kernels.size(); ++i) {
    const double start = host.graph_s > 0 ? end : std::max(end, host_clocks_sum_[i] * per_clock);
    const bool launches = load_.kernels[i].kind != KernelKind::none;
    const double node_s = launches ? host.graph_node_s : 0;
    const double next = launches ? start + device.kernels[i].total_s + node_s : end;
    const double before = i == 0 ? 0 : end;
    const double host_begin_s =
        host.graph_s > 0 ? start : (host_clocks_sum_[i] - host_clocks_[i]) * per_clock;
    if (rows)
      step.rows.push_back({next - before, host_clocks_[i] * per_clock + node_s, 0, 0,
                           device.kernels[i], host_begin_s, start});
    end = next;
  }
  step.tail_s = std::max(0.0, step.host_s - end);
  step.jitter_s =
      jitter(end + step.tail_s, std::min(step.host_s, device.sum_s), host.pipeline_exponent);
  step.time_s = end + step.tail_s + step.jitter_s;
}

double StepModel::power(const Step& step, const DevicePoint& point, const DeviceTimes& device,
                        const Conditions& conditions, double* constant_w) const {
  const Power& power = coefficients_.power;
  const double busy = step.time_s > 0 ? std::min(1.0, device.busy_s / step.time_s) : 0;
  const double host_busy = step.time_s > 0 ? std::min(1.0, step.host_s / step.time_s) : 0;
  *constant_w = constant_power(coefficients_, point, conditions.point, busy, host_busy);
  const double volt = relative_voltage(power, point.hz);
  const double dynamic_j = device.dynamic_j * volt * volt + device.bytes * power.byte_joule;
  const double dynamic_w = step.time_s > 0 ? dynamic_j / step.time_s : 0;
  *constant_w += warm_leakage(power, point.hz, *constant_w + dynamic_w);
  // What a plug meter reads beside the kernels counts as constant, so that energies add up.
  if (conditions.power_kind == PowerKind::wall)
    *constant_w = wall_power(power, *constant_w + dynamic_w) - dynamic_w;
  return *constant_w + dynamic_w;
}

Step StepModel::run(const Conditions& conditions, const DevicePoint& point,
                    const DeviceTimes& device, double host_hz, bool rows) const {
  Step step;
  step.gpu_hz = point.hz;
  step.kernel_s = device.sum_s;
  if (load_.runtime == Runtime::torch_eager_hooks)
    run_one_by_one(step, device, host_hz, rows);
  else if (coefficients_.processor == Processor::cpu)
    run_in_line(step, device, host_hz, rows);
  else
    run_asynchronously(step, device, host_hz, rows);
  const Power& power = coefficients_.power;
  if (!power.known) return step;
  double constant_w = 0;
  step.power_w = this->power(step, point, device, conditions, &constant_w);
  step.constant_w = constant_w;
  const double volt = relative_voltage(power, point.hz);
  for (std::size_t i = 0; i < step.rows.size(); ++i)
    step.rows[i].dynamic_j =
        operations_joule(load_.kernels[i], device.kernels[i], power) * volt * volt +
        device.kernels[i].bytes * power.byte_joule;
  return step;
}

Step StepModel::at(const Conditions& conditions, bool rows) const {
  DevicePoint point = device_point(coefficients_, conditions.point);
  const Host& host = coefficients_.host;
  const double host_hz = host_hz_of(conditions.point, host);
  if (host_hz <= 0 && !host_clocks_sum_.empty() && host_clocks_sum_.back() > 0)
    throw Error(conditions.point.label, "the operating point has no CPU clock",
                "give one: --mode cpu=…GHz");
  const auto set_clock = [&](double hz) {
    point.hz = hz;
    point.bytes_per_s = usable_bytes_per_s(coefficients_, point.peak_bytes_per_s, hz);
  };
  if (!conditions.locked && load_.runtime == Runtime::torch_eager_hooks &&
      coefficients_.processor == Processor::gpu)
    set_clock(governed_hz(point, host_hz));

  Step step = run(conditions, point, kept_times(point), host_hz, rows);
  // The board's own cap, or a lower one set by the mode.
  std::optional<double> cap = coefficients_.power.cap_w;
  if (conditions.point.cap_w)
    cap = std::min(cap.value_or(*conditions.point.cap_w), *conditions.point.cap_w);
  if (cap) *cap *= coefficients_.power.cap_share;
  if (!cap || !step.power_w || *step.power_w <= *cap) return step;

  // Fixed point of power and clock: the highest clock that keeps the power within the cap.
  constexpr double lowest_share = 0.1;
  const double top_hz = coefficients_.power.top_hz > 0 ? coefficients_.power.top_hz : point.hz;
  double low = std::min(point.hz, lowest_share * top_hz), high = point.hz;
  for (int i = 0; i < halvings; ++i) {
    const double middle = (low + high) / 2;
    set_clock(middle);
    (*run(conditions, point, device_times(point), host_hz, false).power_w > *cap ? high : low) =
        middle;
  }
  set_clock(low);
  step = run(conditions, point, device_times(point), host_hz, rows);
  step.capped = true;
  if (*step.power_w > *cap) skip_clocks(step, *cap);
  return step;
}

BoundBy bound_of(const StepRow& row) {
  const KernelTime& kernel = row.kernel;
  const double waiting = row.time_s - kernel.total_s;  // for the host
  if (waiting > kernel.total_s) return BoundBy::host;
  const double memory_s = kernel.memory_s + kernel.helper_s;
  const double most = std::max({kernel.compute_s, memory_s, kernel.fixed_s});
  if (most == kernel.fixed_s) return BoundBy::launch;
  if (most == memory_s) return BoundBy::memory;
  return kernel.padding > 2 ? BoundBy::quantisation : BoundBy::compute;
}

BoundBy bound_of(const Step& step) {
  std::array<double, TokenTable<BoundBy>::rows.size()> time{};
  for (const StepRow& row : step.rows) time[static_cast<std::size_t>(bound_of(row))] += row.time_s;
  time[static_cast<std::size_t>(BoundBy::host)] += step.tail_s + step.jitter_s;
  const auto most = std::max_element(time.begin(), time.end());
  const auto bound = static_cast<BoundBy>(most - time.begin());
  if (step.capped && bound != BoundBy::host) return BoundBy::power_cap;
  return bound;
}

}  // namespace ridgeline
