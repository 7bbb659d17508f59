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
constexpr int least_rounds = 3;        // fewer readings have no interval
constexpr double stretch = 1.1;        // of the budget, for the least rounds
// A line of a pointer chain takes longer to place the more caches the chain has outgrown. Measured
// on a two-core AMD EPYC guest with 32 MiB of L3: 15 ns at 8 MiB, 29 to 37 ns at 128 MiB, 64 to
// 100 ns at 1 GiB; steps of the quick ladder are that far apart.
constexpr double preparation_growth = 4;

// Where slow trials leave time for few rounds, quick ones are read several times in each: those
// that take less than the first share of a round, so often that all together add the second.
constexpr double quick_share = 0.01, repeated_share = 0.1;
constexpr double most_repeats = 25;
constexpr int enough_rounds = 8;  // in those that a good interval takes at least

// Fisher–Yates with a generator of our own: the same order on every platform.
void shuffle(std::vector<std::size_t>& order, Random& random) {
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
}

constexpr std::size_t agreeing = 5;  // readings that end a warm-up

struct WarmUp {
  std::vector<Reading> last;  // readings
  double run_s = 0;           // of one run, without the preparation that the first one may do
};

// Runs a trial until its last readings agree or its time is up, and at least twice.
WarmUp warm_up(const Trial& trial, double limit_s, const SamplerOptions& options,
               const SamplerWorld& world) {
  WarmUp result;
  const double start = world.now_s();
  double prepared = start;
  for (int runs = 1;; ++runs) {
    if (result.last.size() == agreeing) result.last.erase(result.last.begin());
    result.last.push_back(trial.run());
    const double now = world.now_s();
    result.run_s = runs == 1 ? now - start : (now - prepared) / (runs - 1);
    if (runs == 1) prepared = now;
    if (world.interrupted()) return result;
    if (result.last.size() == agreeing) {
      const auto [low, high] = std::ranges::minmax_element(result.last, {}, &Reading::rate);
      if (high->rate - low->rate <= options.warm_up_spread * high->rate) return result;
    }
    if (runs > 1 && now - start >= limit_s) return result;
  }
}

// How often each trial is read in a round, from the times of one run: once, if there is time for
// several times the rounds that a good interval takes at least.
std::vector<int> repeats_of(const std::vector<WarmUp>& warm, double round_s, double left_s,
                            const SamplerOptions& options) {
  std::vector<int> repeats(warm.size(), 1);
  if (left_s >= enough_rounds * options.min_rounds * round_s) return repeats;
  const auto is_quick = [&](const WarmUp& trial) { return trial.run_s <= quick_share * round_s; };
  double quick_s = 0;
  for (const WarmUp& trial : warm)
    if (is_quick(trial)) quick_s += trial.run_s;
  if (!(quick_s > 0)) return repeats;
  const int often =
      static_cast<int>(std::min(1 + repeated_share * round_s / quick_s, most_repeats));
  for (std::size_t trial = 0; trial < warm.size(); ++trial)
    if (is_quick(warm[trial])) repeats[trial] = often;
  return repeats;
}

// The one in the middle.
Reading repeated(const Trial& trial, int repeats) {
  std::vector<Reading> readings;
  for (int i = 0; i < repeats; ++i) readings.push_back(trial.run());
  const auto middle = readings.begin() + std::ssize(readings) / 2;
  std::ranges::nth_element(readings, middle, {}, &Reading::rate);
  return *middle;
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
  // Half of the rounds must be quiet; a busy machine is measured as it is and reported as
  // disturbed.
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

// Readings of the warm-up where an interruption left no whole round: better few than none.
void add_warm_up(Sampling& result, const std::vector<WarmUp>& warm_ups) {
  for (std::size_t trial = 0; trial < warm_ups.size(); ++trial) {
    SampleSeries& series = result.series[trial];
    series.warm_up = !warm_ups[trial].last.empty();
    std::vector<double> rates, clocks;
    for (const Reading& reading : warm_ups[trial].last) {
      rates.push_back(reading.rate);
      if (reading.clock_hz > 0) clocks.push_back(reading.clock_hz);
    }
    series.rates.insert(series.rates.begin(), rates.begin(), rates.end());
    series.clocks.insert(series.clocks.begin(), clocks.begin(), clocks.end());
  }
}

}  // namespace

Sampling sample(const std::vector<Trial>& trials, const SamplerOptions& options,
                const SamplerWorld& world) {
  const double start = world.now_s();
  const auto show_progress = [&] {
    const double elapsed = world.now_s() - start;
    world.progress(std::min(1.0, elapsed / options.budget_s),
                   std::max(0.0, options.budget_s - elapsed));
  };
  const double warm_up_s =
      std::min(options.warm_up_s, warm_up_share * options.budget_s /
                                      static_cast<double>(std::max<std::size_t>(trials.size(), 1)));
  std::vector<WarmUp> warm_ups;
  double round_s = 0;  // of one round of the trials that are warm
  bool interrupted = false;
  for (const Trial& trial : trials) {
    interrupted = world.interrupted();
    const double elapsed = world.now_s() - start;
    const bool short_of_time = elapsed + least_rounds * round_s >= options.budget_s;
    if (interrupted || (short_of_time && !warm_ups.empty() && !options.keep_all)) break;
    WarmUp warm = warm_up(trial, warm_up_s, options, world);
    round_s += warm.run_s;
    warm_ups.push_back(std::move(warm));
    show_progress();
  }
  const std::size_t taken = warm_ups.size();
  const std::vector<int> repeats =
      repeats_of(warm_ups, round_s, options.budget_s - (world.now_s() - start), options);

  std::vector<std::size_t> order(taken);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random random{options.seed};
  std::vector<Round> rounds;
  const double rounds_start = world.now_s();
  world.other_load();
  double load_asked = rounds_start;
  std::size_t load_known = 0;  // rounds whose load is known
  bool any_whole_round = false;
  const auto ask_for_load = [&] {
    const OtherLoad load = world.other_load();
    for (; load_known < rounds.size(); ++load_known) rounds[load_known].load = load;
    load_asked = world.now_s();
  };
  while (!interrupted && taken > 0 && std::ssize(rounds) < options.max_rounds) {
    shuffle(order, random);
    Round round{std::vector<Reading>(taken), std::vector<bool>(taken, false), {}};
    for (const std::size_t trial : order) {
      if (world.interrupted()) {
        interrupted = true;
        break;
      }
      round.readings[trial] = repeated(trials[trial], repeats[trial]);
      round.taken[trial] = true;
    }
    any_whole_round = any_whole_round || !interrupted;
    if (!interrupted || rounds.empty()) rounds.push_back(std::move(round));
    if (world.now_s() - load_asked >= options.load_window_s) ask_for_load();
    const double elapsed = world.now_s() - start;
    round_s = (world.now_s() - rounds_start) / static_cast<double>(rounds.size());
    show_progress();
    // The next round must fit: a budget is a promise. Rounds that turn out longer than the warm-up
    // said may exceed it a little for the sake of three readings, but not without end.
    const bool overlong = !options.keep_all && elapsed + round_s > stretch * options.budget_s;
    if (elapsed + round_s > options.budget_s && (std::ssize(rounds) >= least_rounds || overlong))
      break;
    if (known_well(rounds, taken, options)) {
      ask_for_load();  // rounds whose load is not known yet may turn out to be disturbed
      if (known_well(rounds, taken, options)) break;
    }
  }
  if (load_known < rounds.size()) ask_for_load();
  Sampling result = collect(rounds, taken, options);
  result.watched_s = world.now_s() - rounds_start;
  result.complete = !interrupted;
  if (interrupted && !any_whole_round) add_warm_up(result, warm_ups);
  result.series.resize(trials.size());
  if (!interrupted) result.left_out = static_cast<int>(trials.size() - taken);
  return result;
}

std::vector<Sampling> sample_alone(const std::vector<LoneTrial>& trials,
                                   const SamplerOptions& options, const SamplerWorld& world) {
  const double start = world.now_s();
  std::vector<Sampling> results(trials.size());
  double prepared_s = 0, prepared_size = 0;  // of the trial before
  bool ended = false;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    Sampling& result = results[i];
    result.series.resize(1);
    if (!trials[i].runs) continue;
    const double left_s = options.budget_s - (world.now_s() - start);
    const double growth = prepared_size > 0 ? trials[i].size / prepared_size : 1;
    ended = ended || left_s <= 0 || preparation_growth * growth * prepared_s > left_s;
    if (world.interrupted()) {
      result.complete = false;
      continue;
    }
    if (ended) {
      result.left_out = 1;
      continue;
    }
    const double began = world.now_s();
    if (trials[i].prepare) trials[i].prepare();
    prepared_s = world.now_s() - began;
    prepared_size = trials[i].size;
    SamplerOptions own = options;
    own.budget_s = std::max(0.0, left_s - prepared_s) /
                   static_cast<double>(trials.size() - i);  // equal shares
    result = sample({trials[i].trial}, own, world);
    if (trials[i].release) trials[i].release();
  }
  return results;
}

Sampling joined(const std::vector<Sampling>& parts) {
  Sampling whole;
  double disturbed_s = 0;
  for (const Sampling& part : parts) {
    whole.rounds += part.rounds;
    whole.rejected_rounds += part.rejected_rounds;
    whole.left_out += part.left_out;
    whole.complete = whole.complete && part.complete;
    whole.watched_s += part.watched_s;
    whole.load.steal_fraction += part.load.steal_fraction * part.watched_s;
    whole.load.other_fraction += part.load.other_fraction * part.watched_s;
    if (part.disturbed) disturbed_s += part.watched_s;
  }
  if (whole.watched_s > 0) {
    whole.load.steal_fraction /= whole.watched_s;
    whole.load.other_fraction /= whole.watched_s;
  }
  whole.disturbed = 2 * disturbed_s > whole.watched_s;
  return whole;
}

double drift(const std::vector<double>& values) {
  const std::size_t third = values.size() / 3;
  if (third == 0) return 0;
  const double first = median(std::span(values).first(third));
  const double last = median(std::span(values).last(third));
  return first > 0 ? last / first - 1 : 0;
}

}  // namespace ridgeline
