// Rounds: each runs every trial once, in an order that changes from round to round, so that a slow
// change of the machine touches all trials alike. Rounds under foreign load are set aside.
#include "kernels/sampler.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "base/random.h"
#include "base/statistics.h"

namespace ridgeline {
namespace {

constexpr double warm_up_share = 0.3;  // of the budget, at most

// Fisher–Yates with a generator of our own: the same order on every platform.
void shuffle(std::vector<std::size_t>& order, Random& random) {
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
}

// Runs a trial until its last five readings agree, or its time is up.
void warm_up(const Trial& trial, double limit_s, const SamplerOptions& options,
             const SamplerWorld& world) {
  constexpr std::size_t agreeing = 5;
  const double start = world.now_s();
  std::vector<double> rates;
  do {
    rates.push_back(trial.run().rate);
    if (rates.size() >= agreeing) {
      const auto [low, high] = std::minmax_element(rates.end() - agreeing, rates.end());
      if (*high - *low <= options.warm_up_spread * *high) return;
    }
  } while (world.now_s() - start < limit_s && !world.interrupted());
}

struct Round {
  std::vector<Reading> readings;  // by trial; fewer after an interruption
  std::vector<bool> taken;
  OtherLoad load;
};

bool quiet(const Round& round, const SamplerOptions& options) {
  return round.load.steal_fraction <= options.max_steal &&
         round.load.other_fraction <= options.max_other;
}

// Relative standard error of a median, as 1.2533 standard errors of the mean.
bool known_well(const std::vector<Round>& rounds, std::size_t trials,
                const SamplerOptions& options) {
  std::vector<double> rates;
  for (std::size_t trial = 0; trial < trials; ++trial) {
    rates.clear();
    for (const Round& round : rounds)
      if (quiet(round, options)) rates.push_back(round.readings[trial].rate);
    if (static_cast<int>(rates.size()) < options.min_rounds) return false;
    if (1.2533 * relative_standard_error(rates) > options.good_half_width) return false;
  }
  return true;
}

Sampling collect(const std::vector<Round>& rounds, std::size_t trials,
                 const SamplerOptions& options) {
  Sampling result;
  result.series.resize(trials);
  const auto quiet_rounds =
      std::ranges::count_if(rounds, [&](const Round& round) { return quiet(round, options); });
  // Half of the rounds must be quiet; a busy machine is measured as it is, and said so.
  result.disturbed = 2 * quiet_rounds < std::ssize(rounds);
  for (const Round& round : rounds) {
    if (!result.disturbed && !quiet(round, options)) {
      ++result.rejected_rounds;
      continue;
    }
    ++result.rounds;
    result.load.steal_fraction += round.load.steal_fraction;
    result.load.other_fraction += round.load.other_fraction;
    for (std::size_t trial = 0; trial < trials; ++trial) {
      if (!round.taken[trial]) continue;
      result.series[trial].rates.push_back(round.readings[trial].rate);
      if (round.readings[trial].clock_hz > 0)
        result.series[trial].clocks.push_back(round.readings[trial].clock_hz);
    }
  }
  if (result.rounds > 0) {
    result.load.steal_fraction /= result.rounds;
    result.load.other_fraction /= result.rounds;
  }
  return result;
}

}  // namespace

Sampling sample(const std::vector<Trial>& trials, const SamplerOptions& options,
                const SamplerWorld& world) {
  const double start = world.now_s();
  const double warm_up_s =
      std::min(options.warm_up_s, warm_up_share * options.budget_s /
                                      static_cast<double>(std::max<std::size_t>(trials.size(), 1)));
  for (const Trial& trial : trials) {
    if (world.interrupted()) break;
    warm_up(trial, warm_up_s, options, world);
    const double elapsed = world.now_s() - start;
    world.progress(elapsed / options.budget_s, std::max(0.0, options.budget_s - elapsed));
  }

  std::vector<std::size_t> order(trials.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random random{options.seed};
  std::vector<Round> rounds;
  const double rounds_start = world.now_s();
  world.other_load();
  double load_asked = rounds_start;
  std::size_t load_known = 0;  // rounds whose load is known
  bool interrupted = false;
  const auto ask_for_load = [&] {
    const OtherLoad load = world.other_load();
    for (; load_known < rounds.size(); ++load_known) rounds[load_known].load = load;
    load_asked = world.now_s();
  };
  while (!interrupted && std::ssize(rounds) < options.max_rounds) {
    shuffle(order, random);
    Round round{std::vector<Reading>(trials.size()), std::vector<bool>(trials.size(), false), {}};
    for (const std::size_t trial : order) {
      if (world.interrupted()) {
        interrupted = true;
        break;
      }
      round.readings[trial] = trials[trial].run();
      round.taken[trial] = true;
    }
    if (!interrupted || rounds.empty()) rounds.push_back(std::move(round));
    if (world.now_s() - load_asked >= options.load_window_s) ask_for_load();
    const double elapsed = world.now_s() - start;
    const double round_s = (world.now_s() - rounds_start) / static_cast<double>(rounds.size());
    world.progress(std::min(1.0, elapsed / options.budget_s),
                   std::max(0.0, options.budget_s - elapsed));
    // The next round must fit: a budget is a promise.
    if (elapsed + round_s > options.budget_s && std::ssize(rounds) >= 3) break;
    if (known_well(rounds, trials.size(), options)) {
      ask_for_load();  // rounds whose load is not known yet may turn out to be disturbed
      if (known_well(rounds, trials.size(), options)) break;
    }
  }
  if (load_known < rounds.size()) ask_for_load();
  Sampling result = collect(rounds, trials.size(), options);
  result.complete = !interrupted;
  return result;
}

double drift(const std::vector<double>& values) {
  const std::size_t third = values.size() / 3;
  if (third == 0) return 0;
  const double first = median(std::span(values).first(third));
  const double last = median(std::span(values).last(third));
  return (last - first) / median(values);
}

}  // namespace ridgeline
