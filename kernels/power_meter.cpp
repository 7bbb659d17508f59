// A sensor that counts joules gives power as the slope of its count, others as the mean of their
// readings. Readings closer together than the lag repeat each other: the interval counts them once.
// A load that is steadier than a step reads the same all the time, however long, so half a step
// belongs to the interval in any case.
#include "kernels/power_meter.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/estimate.h"
#include "base/statistics.h"

namespace ridgeline {
namespace {

// exp(−3.5) = 3 % of a change is left of a first-order lag, and decays during what is counted.
constexpr double lags_to_settle = 3.5;
constexpr double least_settle_s = 0.5;  // clocks and regulators have a lag of their own
constexpr double least_count_s = 0.5;
constexpr double idle_burst_s = 0.05;

struct Series {
  std::vector<double> times_s, values;
};

double variance_around(const std::vector<double>& values, const auto& expected) {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double off = values[i] - expected(i);
    sum += off * off;
  }
  return sum / static_cast<double>(values.size() - 1);
}

double mean_over_time(const Series& series) {
  double area = 0;
  for (std::size_t i = 1; i < series.values.size(); ++i)
    area +=
        (series.values[i] + series.values[i - 1]) / 2 * (series.times_s[i] - series.times_s[i - 1]);
  return area / (series.times_s.back() - series.times_s.front());
}

struct Mean {
  double value = 0, sigma = 0;
};

Mean of_power(const Series& series, const SensorFacts& facts) {
  const double mean = mean_over_time(series);
  const double seconds = series.times_s.back() - series.times_s.front();
  const auto readings = static_cast<double>(series.values.size());
  const double independent =
      facts.lag_s > 0 ? std::clamp(seconds / (2 * facts.lag_s), 1.0, readings) : readings;
  const double variance = variance_around(series.values, [&](std::size_t) { return mean; });
  return {mean, std::sqrt(variance / independent)};
}

Mean of_energy(const Series& series) {
  const FittedLine line = theil_sen(series.times_s, series.values);
  const double variance = variance_around(series.values, [&](std::size_t i) {
    return line.intercept + line.slope * series.times_s[i];
  });
  const double seconds = series.times_s.back() - series.times_s.front();
  const auto readings = static_cast<double>(series.values.size());
  return {line.slope, std::sqrt(12 * variance / readings) / seconds};
}

}  // namespace

PowerMeter::PowerMeter(PowerSensor& sensor, World world)
    : sensor_(sensor), world_(std::move(world)) {}

double PowerMeter::settle_s() const {
  return std::max(least_settle_s, lags_to_settle * facts().lag_s);
}

std::optional<PowerMeter::Metered> PowerMeter::measure(const Burst& burst, double count_s) {
  const double start_s = world_.now_s();
  const double from_s = start_s + settle_s();
  Series power, energy;
  const auto look = [&] {
    const double before_s = world_.now_s();
    const PowerReading reading = sensor_.read();
    // A reading takes its time: it is of the middle of that.
    const double time_s = (before_s + world_.now_s()) / 2;
    if (before_s < from_s) return;
    const std::optional<double>& value = reading.energy_j ? reading.energy_j : reading.power_w;
    if (!value) throw SensorError(facts().name, "gave neither power nor energy");
    Series& series = reading.energy_j ? energy : power;
    series.times_s.push_back(time_s);
    series.values.push_back(*value);
  };
  double work = 0, counted_s = 0;
  while (counted_s < count_s) {
    if (world_.interrupted()) return std::nullopt;
    const double begin_s = world_.now_s();
    const double done = burst(look);
    if (begin_s < from_s) continue;
    work += done;
    counted_s += world_.now_s() - begin_s;
  }
  const Series& series = energy.values.empty() ? power : energy;
  if (series.values.size() < 3)
    throw SensorError(facts().name, "takes too long to answer: fewer than three readings");
  const Mean mean = energy.values.empty() ? of_power(series, facts()) : of_energy(series);
  if (!(mean.value > 0)) throw SensorError(facts().name, "reads no power while something runs");
  const double half = sigma_of_90 * mean.sigma + (energy.values.empty() ? facts().step_w / 2 : 0);
  return Metered{
      {mean.value, std::max(0.0, mean.value - half), mean.value + half, Source::measured},
      work / counted_s};
}

std::optional<Estimate> PowerMeter::measure_idle(double count_s) {
  const auto metered = measure(
      [&](const std::function<void()>& look) {
        world_.wait(idle_burst_s);
        look();
        return 0.0;
      },
      count_s);
  return metered ? std::optional(metered->power_w) : std::nullopt;
}

std::optional<double> count_seconds(double settle_s, int points, double point_s, double most_s) {
  const double counted_s = std::min(point_s, most_s / points) - settle_s;
  return counted_s >= least_count_s ? std::optional(counted_s) : std::nullopt;
}

}  // namespace ridgeline
