// The misfit is a Gaussian process over the knobs, drawn with random numbers of its own.
#include "validation/setting_draws.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/random.h"
#include "roofline/model/draws.h"
#include "roofline/model/linear_algebra.h"
#include "roofline/model/step.h"

namespace ridgeline {
namespace {

constexpr std::uint64_t misfit_seed = 21, power_misfit_seed = 22;
constexpr double other_type = 1;  // distance of two types, as of a knob
// Of power that no model knows: one sigma of what all settings share, and between them.
constexpr double unknown_power = 1, power_between_settings = 0.2;
// Of the correlation of two settings: what makes each of them one of a kind.
constexpr double own_share = 0.05;

double squared_ratio(double a, double b) {
  if (!(a > 0) || !(b > 0)) return 0;
  const double distance = std::log(a / b);
  return distance * distance;
}

double squared_distance(const SettingPlace& a, const SettingPlace& b) {
  const OperatingPoint &p = a.point, &q = b.point;
  const auto cpu_hz = [](const OperatingPoint& point) {
    return point.cpu_hz.empty() ? 0 : *std::max_element(point.cpu_hz.begin(), point.cpu_hz.end());
  };
  return squared_ratio(p.gpu_hz.value_or(0), q.gpu_hz.value_or(0)) +
         squared_ratio(p.memory_hz.value_or(0), q.memory_hz.value_or(0)) +
         squared_ratio(cpu_hz(p), cpu_hz(q)) +
         squared_ratio(p.gpu_units.value_or(0), q.gpu_units.value_or(0)) +
         squared_ratio(p.cpu_cores.value_or(0), q.cpu_cores.value_or(0)) +
         squared_ratio(a.batch, b.batch) + (a.dtype != b.dtype ? other_type * other_type : 0);
}

// Draws of the misfit of one quantity with a sigma of 1, by setting.
std::vector<std::vector<double>> misfit_draws(std::span<const SettingPlace> places, double length,
                                              std::size_t draws, std::uint64_t seed) {
  const std::size_t count = places.size();
  Matrix correlation(count, count);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < count; ++j)
      correlation(i, j) =
          i == j ? 1
                 : (1 - own_share) *
                       std::exp(-squared_distance(places[i], places[j]) / (2 * length * length));
  const std::optional<Matrix> spread = root(correlation);
  if (!spread) throw Error({}, "the settings cannot be compared");
  std::vector<std::vector<double>> result(count, std::vector<double>(draws));
  Random random{seed};
  Vector shocks(count);
  for (std::size_t draw = 0; draw < draws; ++draw) {
    for (double& shock : shocks) shock = normal(random);
    const Vector values = product(*spread, shocks);
    for (std::size_t i = 0; i < count; ++i) result[i][draw] = values[i];
  }
  return result;
}

std::vector<double> logarithms(const std::vector<double>& values) {
  std::vector<double> result;
  for (const double value : values) result.push_back(std::log(value));
  return result;
}

}  // namespace

StepDraws step_draws(const MachineModel& model, const NetworkLoad& load,
                     const Conditions& conditions, int draws) {
  const Step means = StepModel(load, coefficients(model, conditions.runtime)).at(conditions, false);
  StepDraws result;
  for (const CoefficientDraw& draw : coefficient_draws(model, conditions.runtime, draws, 1)) {
    const Step step = StepModel(load, draw.values).at(conditions, false);
    result.time_s.push_back(step.time_s * draw.time_scale);
    if (step.power_w) result.power_w.push_back(*step.power_w * draw.power_scale);
  }
  centre_on(means.time_s, result.time_s);
  if (means.power_w) centre_on(*means.power_w, result.power_w);
  return result;
}

std::vector<SettingDraws> setting_draws(std::span<const StepDraws> steps,
                                        std::span<const SettingPlace> places, bool assumed_power,
                                        const Misfit& misfit) {
  const std::size_t draws = steps.front().time_s.size();
  const auto has_power = [](const StepDraws& step) { return !step.power_w.empty(); };
  const bool known_power = std::all_of(steps.begin(), steps.end(), has_power);
  const auto time = misfit_draws(places, misfit.length, draws, misfit_seed);
  const auto power = misfit_draws(places, misfit.length, draws, power_misfit_seed);
  std::vector<double> shared(draws);
  Random random{power_misfit_seed + 1};
  for (double& each : shared) each = unknown_power * normal(random);
  std::vector<SettingDraws> settings;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    SettingDraws setting;
    setting.samples = places[i].batch;
    setting.time = logarithms(steps[i].time_s);
    for (std::size_t draw = 0; draw < draws; ++draw)
      setting.time[draw] += misfit.time * time[i][draw];
    if (known_power) {
      setting.power = logarithms(steps[i].power_w);
      for (std::size_t draw = 0; draw < draws; ++draw)
        setting.power[draw] += misfit.power * power[i][draw];
    } else if (assumed_power) {
      for (std::size_t draw = 0; draw < draws; ++draw)
        setting.power.push_back(shared[draw] + power_between_settings * power[i][draw]);
    }
    settings.push_back(std::move(setting));
  }
  return settings;
}

}  // namespace ridgeline
