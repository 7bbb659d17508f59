// A run is looked ahead to by taking draws as its outcome, one after the other. What the draws are
// then is linear in the outcome, so costs are products of two tables and no draw is made twice.
#include "validation/decision.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.h"
#include "roofline/model/draws.h"

namespace ridgeline {
namespace {

constexpr double broken_limit_loss = 1;
constexpr std::size_t most_outcomes = 128;  // of a run, that are looked at
// Less than this is the randomness of the draws.
constexpr double worth_a_run = 1e-4;

// Quantities of all settings in one list: times, then powers.
std::size_t quantities(std::span<const SettingDraws> settings) {
  return settings.front().power.empty() ? settings.size() : 2 * settings.size();
}

std::size_t draw_count(std::span<const SettingDraws> settings) {
  return settings.front().time.size();
}

double mean_of_draws(std::span<const double> draws) {
  return std::accumulate(draws.begin(), draws.end(), 0.0) / static_cast<double>(draws.size());
}

using Ensemble = std::vector<std::vector<double>>;  // by quantity

Ensemble ensemble_of(std::span<const SettingDraws> settings) {
  Ensemble ensemble;
  for (const SettingDraws& setting : settings) ensemble.push_back(setting.time);
  if (quantities(settings) > settings.size())
    for (const SettingDraws& setting : settings) ensemble.push_back(setting.power);
  return ensemble;
}

// Errors of a measurement, one per draw: normal quantiles would do, but must not go with the draws.
std::vector<double> error_draws(std::size_t count, double sigma, std::uint64_t seed) {
  Random random{seed};
  std::vector<double> errors(count);
  for (double& error : errors) error = normal(random);
  const double mean = mean_of_draws(errors);
  for (double& error : errors) error = sigma * (error - mean);
  return errors;
}

// Covariance of every quantity with a measured one, over the variance of its reading.
std::vector<double> gains(const Ensemble& ensemble, std::size_t measured, double sigma) {
  const std::vector<double>& x = ensemble[measured];
  const double count = static_cast<double>(x.size());
  const double mean_x = mean_of_draws(x);
  double variance = 0;
  for (const double value : x) variance += (value - mean_x) * (value - mean_x);
  const double reading = variance + count * sigma * sigma;
  std::vector<double> result;
  for (const std::vector<double>& y : ensemble) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += (x[i] - mean_x) * y[i];
    result.push_back(reading > 0 ? sum / reading : 0);
  }
  return result;
}

// What the draws are after a reading of one quantity: `base` plus gain × reading.
struct Conditioned {
  Ensemble base;
  std::vector<double> gain;
};

Conditioned conditioned(const Ensemble& ensemble, std::size_t measured, double sigma,
                        std::uint64_t seed) {
  Conditioned result{ensemble, gains(ensemble, measured, sigma)};
  const std::vector<double> errors = error_draws(ensemble.front().size(), sigma, seed);
  for (std::size_t q = 0; q < ensemble.size(); ++q)
    for (std::size_t i = 0; i < errors.size(); ++i)
      result.base[q][i] -= result.gain[q] * (ensemble[measured][i] + errors[i]);
  return result;
}

constexpr std::uint64_t time_seed = 11, power_seed = 12, outcome_seed = 13;

// After a run: time is read, then power if it is known.
struct AfterRun {
  Ensemble base;
  std::vector<double> by_time, by_power;  // coefficients of the readings; by_power may be empty
};

AfterRun after_run(std::span<const SettingDraws> settings, std::size_t run, bool reads_power,
                   const RunNoise& noise) {
  Conditioned time = conditioned(ensemble_of(settings), run, noise.time, time_seed);
  if (!reads_power) return {std::move(time.base), std::move(time.gain), {}};
  const std::size_t at = settings.size() + run;
  Conditioned power = conditioned(time.base, at, noise.power, power_seed);
  AfterRun after{std::move(power.base), time.gain, power.gain};
  for (std::size_t q = 0; q < after.by_time.size(); ++q)
    after.by_time[q] -= power.gain[q] * time.gain[at];
  return after;
}

// Breaches of the limits in one draw of one setting: the largest value over its bound.
double breach(double time_s, double power_w, const DecisionGoal& goal) {
  double worst = 0;
  if (goal.latency_s) worst = std::max(worst, time_s / *goal.latency_s);
  if (goal.power_w) worst = std::max(worst, power_w / *goal.power_w);
  return worst;
}

// Adds the losses of one draw, given time and power of each setting, to `sums`.
void add_losses(std::span<const double> time_s, std::span<const double> power_w,
                std::span<const SettingDraws> settings, const DecisionGoal& goal,
                std::span<double> sums) {
  const std::size_t count = settings.size();
  const bool is_limited = goal.latency_s || goal.power_w;
  const auto cost = [&](std::size_t i) {
    return (goal.energy ? time_s[i] * power_w[i] : time_s[i]) / settings[i].samples;
  };
  const auto excess = [&](std::size_t i) {
    return breach(time_s[i], power_w.empty() ? 0 : power_w[i], goal);
  };
  double best = INFINITY, least_breach = INFINITY;
  for (std::size_t i = 0; i < count; ++i) {
    if (is_limited) {
      const double worst = excess(i);
      least_breach = std::min(least_breach, worst);
      if (worst > 1) continue;
    }
    best = std::min(best, cost(i));
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_limited)
      sums[i] += cost(i) / best - 1;
    else if (least_breach > 1)
      sums[i] += excess(i) / least_breach - 1;
    else
      sums[i] += excess(i) > 1 ? broken_limit_loss : cost(i) / best - 1;
  }
}

}  // namespace

std::vector<double> losses(std::span<const SettingDraws> settings, const DecisionGoal& goal) {
  const std::size_t count = draw_count(settings);
  std::vector<double> result(settings.size() * count);
  std::vector<double> time_s(settings.size()), power_w, one(settings.size());
  if (quantities(settings) > settings.size()) power_w.resize(settings.size());
  for (std::size_t draw = 0; draw < count; ++draw) {
    for (std::size_t i = 0; i < settings.size(); ++i) {
      time_s[i] = std::exp(settings[i].time[draw]);
      if (!power_w.empty()) power_w[i] = std::exp(settings[i].power[draw]);
    }
    std::fill(one.begin(), one.end(), 0.0);
    add_losses(time_s, power_w, settings, goal, one);
    for (std::size_t i = 0; i < settings.size(); ++i) result[i * count + draw] = one[i];
  }
  return result;
}

std::vector<double> expected_losses(std::span<const SettingDraws> settings,
                                    const DecisionGoal& goal) {
  const std::vector<double> all = losses(settings, goal);
  const std::size_t count = draw_count(settings);
  std::vector<double> means;
  for (std::size_t i = 0; i < settings.size(); ++i)
    means.push_back(mean_of_draws({&all[i * count], count}));
  return means;
}

Decision decide(std::span<const SettingDraws> settings, const DecisionGoal& goal) {
  const std::vector<double> means = expected_losses(settings, goal);
  const auto least = std::min_element(means.begin(), means.end());
  return {static_cast<std::size_t>(least - means.begin()), *least};
}

double limits_hold(const SettingDraws& setting, const DecisionGoal& goal) {
  std::size_t holds = 0;
  for (std::size_t draw = 0; draw < setting.time.size(); ++draw) {
    const double power_w = setting.power.empty() ? 0 : std::exp(setting.power[draw]);
    holds += breach(std::exp(setting.time[draw]), power_w, goal) <= 1 ? 1 : 0;
  }
  return static_cast<double>(holds) / static_cast<double>(setting.time.size());
}

std::vector<SettingDraws> given_run(std::span<const SettingDraws> settings, std::size_t run,
                                    const MeasuredSetting& measured, const RunNoise& noise) {
  const bool reads_power = measured.power_w && !settings.front().power.empty();
  const AfterRun after = after_run(settings, run, reads_power, noise);
  const double time = std::log(measured.time_s);
  const double power = reads_power ? std::log(*measured.power_w) : 0;
  std::vector<SettingDraws> result(settings.begin(), settings.end());
  for (std::size_t q = 0; q < after.base.size(); ++q) {
    SettingDraws& setting = result[q % settings.size()];
    std::vector<double>& draws = q < settings.size() ? setting.time : setting.power;
    const double shift = after.by_time[q] * time + (reads_power ? after.by_power[q] * power : 0);
    for (std::size_t i = 0; i < draws.size(); ++i) draws[i] = after.base[q][i] + shift;
  }
  return result;
}

double surprise(std::span<const SettingDraws> settings, std::size_t run,
                const MeasuredSetting& measured, const RunNoise& noise) {
  const auto sigmas = [](const std::vector<double>& draws, double reading, double sigma) {
    const double mean = mean_of_draws(draws);
    double variance = 0;
    for (const double draw : draws) variance += (draw - mean) * (draw - mean);
    variance /= static_cast<double>(draws.size());
    return std::abs(std::log(reading) - mean) / std::hypot(std::sqrt(variance), sigma);
  };
  const double time = sigmas(settings[run].time, measured.time_s, noise.time);
  if (!measured.power_w || settings[run].power.empty()) return time;
  return std::max(time, sigmas(settings[run].power, *measured.power_w, noise.power));
}

std::vector<SettingDraws> widened_draws(std::vector<SettingDraws> settings, double factor) {
  for (SettingDraws& setting : settings)
    for (std::vector<double>* draws : {&setting.time, &setting.power}) {
      if (draws->empty()) continue;
      const double mean = mean_of_draws(*draws);
      for (double& draw : *draws) draw = mean + factor * (draw - mean);
    }
  return settings;
}

double expected_regret_after(std::span<const SettingDraws> settings, const DecisionGoal& goal,
                             std::size_t run, const RunNoise& noise) {
  const bool reads_power = !settings.front().power.empty();
  const AfterRun after = after_run(settings, run, reads_power, noise);
  const std::size_t draws = draw_count(settings), count = settings.size();
  Ensemble base = after.base;
  for (std::vector<double>& quantity : base)
    for (double& value : quantity) value = std::exp(value);
  const std::vector<double> time_errors = error_draws(draws, noise.time, outcome_seed);
  const std::vector<double> power_errors = error_draws(draws, noise.power, outcome_seed + 1);
  const std::size_t outcomes = std::min(draws, most_outcomes);
  std::vector<double> time_factor(count), power_factor(reads_power ? count : 0);
  std::vector<double> time_s(count), power_w(power_factor.size()), sums(count);
  double total = 0;
  for (std::size_t o = 0; o < outcomes; ++o) {
    const std::size_t at = o * draws / outcomes;
    const double time = settings[run].time[at] + time_errors[at];
    const double power = reads_power ? settings[run].power[at] + power_errors[at] : 0;
    const auto factor = [&](std::size_t q) {
      return std::exp(after.by_time[q] * time + (reads_power ? after.by_power[q] * power : 0));
    };
    for (std::size_t i = 0; i < count; ++i) {
      time_factor[i] = factor(i);
      if (reads_power) power_factor[i] = factor(count + i);
    }
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::size_t draw = 0; draw < draws; ++draw) {
      for (std::size_t i = 0; i < count; ++i) {
        time_s[i] = base[i][draw] * time_factor[i];
        if (reads_power) power_w[i] = base[count + i][draw] * power_factor[i];
      }
      add_losses(time_s, power_w, settings, goal, sums);
    }
    total += *std::min_element(sums.begin(), sums.end()) / static_cast<double>(draws);
  }
  return total / static_cast<double>(outcomes);
}

std::optional<NextRun> choose_run(std::span<const SettingDraws> settings, const DecisionGoal& goal,
                                  const std::vector<bool>& measured, const RunNoise& noise) {
  const double now = decide(settings, goal).regret;
  std::optional<NextRun> next;
  for (std::size_t i = 0; i < settings.size(); ++i) {
    if (measured[i]) continue;
    const double after = expected_regret_after(settings, goal, i, noise);
    if (!next || after < next->regret_after) next = NextRun{i, now, after};
  }
  if (!next || next->regret_after < now - worth_a_run) return next;
  const std::vector<double> all = losses(settings, goal);
  const std::size_t count = draw_count(settings);
  std::size_t most = 0;
  for (std::size_t i = 0; i < settings.size(); ++i) {
    if (measured[i]) continue;
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(i * count);
    const auto best = static_cast<std::size_t>(
        std::count(begin, begin + static_cast<std::ptrdiff_t>(count), 0.0));
    if (best <= most) continue;
    most = best;
    next = NextRun{i, now, expected_regret_after(settings, goal, i, noise)};
  }
  return next;
}

}  // namespace ridgeline
