// A sensor that counts joules gives power as the slope of its count, others as the mean of their
// readings. Readings closer together than the lag repeat each other: the interval counts them once.
// A load that is steadier than a step reads the same all the time, however long, so half a step
// belongs to the interval then. With pauses the load moves over several steps, and the mean of the
// readings is that of the load: 0.4 W steps of AGX Orin's rails made 8 % of the energy per byte in
// its slowest mode.
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
constexpr double longest_pause = 0.25;  // share of the time

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

// Readings that do not repeat each other.
double independent_readings(const Series& series, const SensorFacts& facts) {
  const double seconds = series.times_s.back() - series.times_s.front();
  const auto readings = static_cast<double>(series.values.size());
  return facts.lag_s > 0 ? std::clamp(seconds / (2 * facts.lag_s), 1.0, readings) : readings;
}

Mean of_power(const Series& series, const SensorFacts& facts) {
  const double mean = mean_over_time(series);
  const double variance = variance_around(series.values, [&](std::size_t) { return mean; });
  return {mean, std::sqrt(variance / independent_readings(series, facts))};
}

// The same of a load with pauses; `shares` are those that the sensor still saw at each reading.
// Changes that the pauses explain are not noise.
Mean of_paused_power(const Series& series, const std::vector<double>& shares,
                     const SensorFacts& facts) {
  const auto count = static_cast<double>(shares.size());
  double mean_share = 0, mean_value = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    mean_share += shares[i] / count;
    mean_value += series.values[i] / count;
  }
  double square = 0, product = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    square += (shares[i] - mean_share) * (shares[i] - mean_share);
    product += (shares[i] - mean_share) * (series.values[i] - mean_value);
  }
  const double slope = square > 0 ? product / square : 0;
  const double variance = variance_around(
      series.values, [&](std::size_t i) { return mean_value + slope * (shares[i] - mean_share); });
  return {mean_over_time(series), std::sqrt(variance / independent_readings(series, facts))};
}

// Falls and rises once in a period, between 0 and 1.
double triangle(double phase) {
  const double part = phase - std::floor(phase);
  return part < 0.5 ? 2 * part : 2 - 2 * part;
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

std::optional<PowerMeter::Metered> PowerMeter::measure(const Burst& burst, double count_s,
                                                       std::optional<double> idle_w) {
  const double start_s = world_.now_s();
  const double from_s = start_s + settle_s();
  Series power, energy;
  std::vector<double> shares;          // of pauses, at the readings of power
  double share = 0, seen_s = start_s;  // as a sensor with that lag sees them
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
    if (!reading.energy_j) shares.push_back(share);
  };
  double work = 0, busy_s = 0, counted_s = 0;
  while (counted_s < count_s) {
    if (world_.interrupted()) return std::nullopt;
    const double begin_s = world_.now_s();
    const double done = burst(look);
    const double end_s = world_.now_s();
    if (idle_w) {
      look();  // before a pause as after it, or readings would be of one side of the ripple
      // One period ends where counting does, and the sensor has seen the end of another before it.
      const double pause = longest_pause * triangle((end_s - from_s) / count_s);
      if (pause > 0) world_.wait((end_s - begin_s) * pause / (1 - pause));
      const double passed_s = world_.now_s() - seen_s;
      seen_s += passed_s;
      share += (pause - share) * (facts().lag_s > 0 ? 1 - std::exp(-passed_s / facts().lag_s) : 1);
    }
    if (begin_s < from_s) continue;
    work += done;
    busy_s += end_s - begin_s;
    counted_s += world_.now_s() - begin_s;
  }
  const Series& series = energy.values.empty() ? power : energy;
  if (series.values.size() < 3)
    throw SensorError(facts().name, "takes too long to answer: fewer than three readings");
  const bool counts = !energy.values.empty();
  Mean mean = counts   ? of_energy(series)
              : idle_w ? of_paused_power(series, shares, facts())
                       : of_power(series, facts());
  if (!(mean.value > 0)) throw SensorError(facts().name, "reads no power while something runs");
  if (idle_w) {
    const double duty = busy_s / counted_s;
    mean = {(mean.value - (1 - duty) * *idle_w) / duty, mean.sigma / duty};
  }
  const double half = sigma_of_90 * mean.sigma + (counts || idle_w ? 0 : facts().step_w / 2);
  return Metered{
      {mean.value, std::max(0.0, mean.value - half), mean.value + half, Source::measured},
      work / busy_s};
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
