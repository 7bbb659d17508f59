// Rates, bandwidth and launch cost have closed forms. Power is fitted by fit(), each row of a sweep
// with power being a run of one kernel in one mode.
#include "roofline/model/sweep_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/estimate.h"
#include "base/parameters.h"
#include "roofline/model/coefficients.h"
#include "roofline/model/fit.h"
#include "roofline/model/kernel_time.h"
#include "roofline/model/network_load.h"
#include "roofline/model/step.h"

namespace ridgeline {
namespace {

constexpr double least_sigma = 0.005;  // relative: sensors and clocks are no better
constexpr std::size_t most_groups = 5;

bool is_usable(Status status) { return status == Status::ok || status == Status::throttled; }

using RateKey = std::tuple<Unit, DType, DType, bool>;

// Per SM and clock; the clock is the one that was counted while it ran.
std::map<RateKey, double> rates_per_clock(const ProfileMode& mode) {
  std::map<RateKey, double> rates;
  if (!mode.mode.gpu_units) return rates;
  for (const ComputeRow& row : mode.compute) {
    if (row.processor != Processor::gpu || !is_usable(row.status) || !row.flops_per_s) continue;
    const std::optional<double> hz =
        row.clock_hz ? std::optional(row.clock_hz->value) : mode.mode.gpu_hz;
    if (!hz || *hz <= 0) continue;
    double& slot = rates[{row.unit, row.dtype, row.accumulate, row.sparse}];
    slot = std::max(slot, row.flops_per_s->value / (*mode.mode.gpu_units * *hz));
  }
  return rates;
}

std::optional<double> best_bandwidth(const ProfileMode& mode) {
  std::optional<double> best;
  for (const MemoryRow& row : mode.memory)
    if (row.processor == Processor::gpu && row.level == Level::dram && is_usable(row.status) &&
        row.bytes_per_s && row.direction == Direction::read)
      best = std::max(best.value_or(0), row.bytes_per_s->value);
  if (best) return best;
  for (const SweepRow& row : mode.sweep)
    if (row.processor == Processor::gpu && is_usable(row.status) && row.bytes_per_s &&
        row.fma_per_element == 0)
      best = std::max(best.value_or(0), row.bytes_per_s->value);
  return best;
}

std::optional<double> launch_clocks(const ProfileMode& mode) {
  for (const LaunchRow& row : mode.launch)
    if (row.processor == Processor::gpu && row.kind == "async_launch" && row.time_s &&
        is_usable(row.status)) {
      if (row.clock_hz) return row.time_s->value * row.clock_hz->value;
      if (!mode.mode.cpu_hz.empty()) return row.time_s->value * mode.mode.cpu_hz.front();
    }
  return std::nullopt;
}

struct Spread {
  double mean = 0, sigma = 0;
};

Spread geometric(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  const double mean = sum / static_cast<double>(values.size());
  double square = 0;
  for (const double value : values) square += (std::log(value) - mean) * (std::log(value) - mean);
  const auto count = static_cast<double>(values.size());
  const double sigma = count > 1 ? std::sqrt(square / (count - 1) / count) : 0;
  return {std::exp(mean), std::max(least_sigma, sigma) * std::exp(mean)};
}

void set_fitted(MachineModel& model, const std::string& name, const Spread& value) {
  set_parameter(model, {name, value.mean, Source::fitted}, value.sigma);
}

// A mode's bandwidth with the two things that can limit it.
struct BandwidthPoint {
  double bytes_per_s = 0, peak = 0, gpu_hz = 0;
};

// BW = min(e · peak, c · f): the modes whose clock is lowest for their memory are limited by the
// clock. Every way to cut them in two is tried.
void fit_bandwidth(MachineModel& model, std::vector<BandwidthPoint> points) {
  if (points.empty()) return;
  std::ranges::sort(points, {}, [](const BandwidthPoint& p) { return p.gpu_hz / p.peak; });
  double best = -1;
  std::optional<Spread> by_clock, by_memory;
  for (std::size_t cut = 0; cut <= points.size(); ++cut) {
    std::vector<double> clocks, shares;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (i < cut)
        clocks.push_back(points[i].bytes_per_s / points[i].gpu_hz);
      else
        shares.push_back(points[i].bytes_per_s / points[i].peak);
    }
    std::optional<Spread> clock, share;
    if (!clocks.empty()) clock = geometric(clocks);
    if (!shares.empty()) share = geometric(shares);
    double error = 0;
    for (const BandwidthPoint& point : points) {
      double expected = 1e300;
      if (clock) expected = std::min(expected, clock->mean * point.gpu_hz);
      if (share) expected = std::min(expected, share->mean * point.peak);
      const double off = std::log(expected / point.bytes_per_s);
      error += off * off;
    }
    if (best >= 0 && error >= best) continue;
    best = error;
    by_clock = clock;
    by_memory = share;
  }
  if (by_memory) set_fitted(model, "gpu_dram_efficiency", *by_memory);
  if (by_clock) {
    set_fitted(model, "gpu_dram_bytes_per_clock", *by_clock);
  } else if (const auto at = find_parameter(model, "gpu_dram_bytes_per_clock")) {
    // No mode was limited by the clock: the limit is at least what passed.
    double least = 0;
    for (const BandwidthPoint& point : points)
      least = std::max(least, point.bytes_per_s / point.gpu_hz);
    const double mean = model.parameters[*at].mean;
    if (mean > 0 && mean < least)
      set_parameter(model, {"gpu_dram_bytes_per_clock", least, Source::fitted},
                    sigma_of(model, *at));
  }
}

bool is_used(const std::vector<bool>& left_out, std::size_t i) {
  return i >= left_out.size() || !left_out[i];
}

double bus_bandwidth(const MachineModel& model, const OperatingPoint& point) {
  const auto value = [&](const char* name) {
    const auto at = find_parameter(model, name);
    return at ? model.parameters[*at].mean : 0.0;
  };
  return value("memory_bus_bytes") * value("memory_transfers_per_clock") *
         point.memory_hz.value_or(0);
}

bool is_found_by_sweeps(std::string_view name) {
  constexpr auto names = std::to_array<std::string_view>(
      {"soc_static_w", "memory_static_w", "board_w", "idle_w", "memory_static_joule_per_peak_byte",
       "soc_voltage_floor_ratio", "gpu_idle_joule_per_sm_clock", "gpu_busy_joule_per_sm_clock",
       "gpu_fp32_joule_per_flop", "dram_joule_per_byte", "gpu_voltage_floor_ratio",
       "gpu_voltage_knee_hz", "cpu_idle_joule_per_core_clock", "board_offset_w"});
  return std::ranges::find(names, name) != names.end() ||
         family_words(families::idle_at_clock, name).has_value() ||
         family_words(families::voltage_at_clock, name).has_value();
}

// A kernel with its power: a point of a sweep, or a peak of arithmetic.
struct PowerRow {
  std::string kernel;
  double flops_per_s = 0, bytes_per_s = 0, power_w = 0;
};

std::vector<PowerRow> power_rows(const ProfileMode& mode) {
  std::vector<PowerRow> rows;
  if (!mode.mode.gpu_units || !mode.mode.gpu_hz || !mode.mode.memory_hz) return rows;
  const auto add = [&](const auto& row, double bytes_per_s) {
    if (row.processor == Processor::gpu && row.dtype == DType::fp32 && is_usable(row.status) &&
        row.power_w && row.power_w->value > 0)
      rows.push_back({row.kernel, row.flops_per_s ? row.flops_per_s->value : 0, bytes_per_s,
                      row.power_w->value});
  };
  for (const SweepRow& row : mode.sweep)
    if (row.bytes_per_s) add(row, row.bytes_per_s->value);
  for (const ComputeRow& row : mode.compute) add(row, 0);
  return rows;
}

// A second of such a kernel as a network of one kernel.
NetworkLoad load_of(const PowerRow& row) {
  NetworkLoad load;
  KernelLoad kernel;
  kernel.name = row.kernel;
  kernel.kind = KernelKind::linear;
  kernel.dtype = DType::fp32;
  kernel.matrix_ops = row.flops_per_s;
  kernel.weight_bytes = row.bytes_per_s;
  load.kernels.push_back(std::move(kernel));
  return load;
}

Observation observation_of(const ProfileMode& mode, const PowerRow& row) {
  Observation observation;
  observation.network = row.kernel;
  observation.dtype = DType::fp32;
  observation.conditions.point = mode.mode;
  observation.conditions.point.cap_w.reset();
  observation.time_s = 1;
  observation.power_w = row.power_w;
  return observation;
}

// The voltage of each clock with power is free but that of the highest, which keeps the energies
// apart from it: a board's curve is not straight above its knee, and the best mode is where it
// bends.
MachineModel with_voltages(MachineModel model, const Profile& profile,
                           const std::vector<bool>& left_out) {
  std::set<double> mhz;
  for (std::size_t i = 0; i < profile.modes.size(); ++i)
    if (is_used(left_out, i) && !power_rows(profile.modes[i]).empty())
      mhz.insert(std::round(1e-6 * *profile.modes[i].mode.gpu_hz));
  constexpr std::size_t least_clocks = 3;
  if (mhz.size() < least_clocks) return model;
  const Power power = coefficients(model, Runtime::ideal).power;
  if (!power.known || !power.voltage_by_clock.empty()) return model;
  constexpr double sigma = 0.1;  // relative, as of the floor
  for (const double clock : mhz) {
    const double ratio = relative_voltage(power, 1e6 * clock);
    set_parameter(model,
                  {fmt::format("gpu_voltage_at_{:.0f}_mhz_ratio", clock), ratio, Source::assumed},
                  clock == *mhz.rbegin() ? 0 : sigma * ratio);
  }
  return model;
}

MachineModel fit_power(const MachineModel& known, const Profile& profile,
                       const std::vector<bool>& left_out) {
  const MachineModel model = with_voltages(known, profile, left_out);
  std::vector<Observation> observations;
  std::vector<NetworkLoad> loads;
  for (std::size_t i = 0; i < profile.modes.size(); ++i) {
    if (!is_used(left_out, i)) continue;
    for (const PowerRow& row : power_rows(profile.modes[i])) {
      observations.push_back(observation_of(profile.modes[i], row));
      loads.push_back(load_of(row));
    }
  }
  if (observations.empty()) return model;
  std::vector<const NetworkLoad*> pointers;
  for (const NetworkLoad& load : loads) pointers.push_back(&load);
  // Only power is free: the rest is known from the rates, or not touched by these runs.
  const std::size_t n = model.parameters.size();
  MachineModel free = model;
  for (std::size_t i = 0; i < n; ++i)
    if (!is_found_by_sweeps(model.parameters[i].name))
      for (std::size_t j = 0; j < n; ++j)
        free.covariance[i * n + j] = free.covariance[j * n + i] = 0;
  FitOptions options;
  options.time_noise = options.time_misfit = 0.02;
  options.power_noise = 0.015;
  options.refuse_outliers = false;
  MachineModel fitted = as_fitted(fit(free, observations, pointers, options).model);
  for (std::size_t i = 0; i < n; ++i)
    if (!is_found_by_sweeps(model.parameters[i].name))
      for (std::size_t j = 0; j < n; ++j) {
        fitted.covariance[i * n + j] = model.covariance[i * n + j];
        fitted.covariance[j * n + i] = model.covariance[j * n + i];
      }
  fitted.transfer = {};
  fitted.networks.clear();
  return fitted;
}

}  // namespace

bool has_gpu_rates(const Profile& profile) {
  return std::ranges::any_of(profile.modes, [](const ProfileMode& mode) {
    return mode.mode.gpu_units && std::ranges::any_of(mode.compute, [](const ComputeRow& row) {
             return row.processor == Processor::gpu && is_usable(row.status) && row.flops_per_s;
           });
  });
}

MachineModel fit_modes(const MachineModel& prior, const Profile& profile,
                       const std::vector<bool>& left_out) {
  MachineModel model = prior;
  std::map<RateKey, std::vector<double>> rates;
  std::vector<BandwidthPoint> bandwidths;
  std::vector<double> launches;
  for (std::size_t i = 0; i < profile.modes.size(); ++i) {
    const ProfileMode& mode = profile.modes[i];
    if (!is_used(left_out, i)) continue;
    for (const auto& [key, rate] : rates_per_clock(mode)) rates[key].push_back(rate);
    if (const auto clocks = launch_clocks(mode)) launches.push_back(*clocks);
    const double peak = bus_bandwidth(prior, mode.mode);
    if (const auto bytes = best_bandwidth(mode); bytes && peak > 0 && mode.mode.gpu_hz)
      bandwidths.push_back({*bytes, peak, *mode.mode.gpu_hz});
  }
  for (const auto& [key, values] : rates) {
    const auto& [unit, dtype, accumulate, sparse] = key;
    set_fitted(model, rate_parameter({"gpu", unit, dtype, accumulate, sparse}), geometric(values));
  }
  fit_bandwidth(model, std::move(bandwidths));
  if (!launches.empty()) set_fitted(model, "gpu_launch_cpu_clocks", geometric(launches));
  return fit_power(model, profile, left_out);
}

std::vector<LeftOutError> left_out_errors(const MachineModel& prior, const Profile& profile) {
  const std::size_t count = profile.modes.size();
  if (count < 3) return {};
  const std::size_t groups = std::min(most_groups, count);
  std::map<std::string, std::vector<double>> off;
  const RateKey fp32{Unit::vector, DType::fp32, DType::fp32, false};
  for (std::size_t group = 0; group < groups; ++group) {
    std::vector<bool> left_out(count, false);
    for (std::size_t i = group; i < count; i += groups) left_out[i] = true;
    const MachineModel model = fit_modes(prior, profile, left_out);
    const Coefficients means = coefficients(model, Runtime::ideal);
    for (std::size_t i = group; i < count; i += groups) {
      const ProfileMode& mode = profile.modes[i];
      const auto add = [&](const char* quantity, double predicted, double measured) {
        if (measured > 0 && predicted > 0)
          off[quantity].push_back(std::abs(predicted / measured - 1));
      };
      const auto rates = rates_per_clock(mode);
      if (const auto rate = rates.find(fp32); rate != rates.end())
        add("fp32 peak", means.engine.vector_rate[index_of(DType::fp32)], rate->second);
      const double peak = bus_bandwidth(model, mode.mode);
      if (const auto bytes = best_bandwidth(mode); bytes && mode.mode.gpu_hz && peak > 0)
        add("DRAM bandwidth", usable_bytes_per_s(means, peak, *mode.mode.gpu_hz), *bytes);
      if (const auto clocks = launch_clocks(mode))
        add("launch", mean_of(model, "gpu_launch_cpu_clocks"), *clocks);
      if (!means.power.known) continue;
      for (const PowerRow& row : power_rows(mode)) {
        const NetworkLoad load = load_of(row);
        const Step step = StepModel(load, means).at(observation_of(mode, row).conditions, false);
        if (step.power_w) add("power", *step.power_w, row.power_w);
      }
    }
  }
  std::vector<LeftOutError> errors;
  for (const auto& [quantity, values] : off) {
    LeftOutError error{quantity, 0, 0, values.size()};
    for (const double value : values) {
      error.mean += value / static_cast<double>(values.size());
      error.worst = std::max(error.worst, value);
    }
    errors.push_back(error);
  }
  return errors;
}

}  // namespace ridgeline
