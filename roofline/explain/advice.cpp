// Tries each choice separately, one knob at a time, and keeps those that help.
#include "roofline/explain/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"

namespace ridgeline {
namespace {

// Smaller gains may come from rounded clocks.
constexpr double least_gain = 0.01;
// A larger batch must bring the saving to this share of the best one to be worth its latency.
constexpr double enough_of_the_best = 0.9;

struct Candidate {
  Advice advice;
  double merit = 0;  // fall of the product of time and energy, as a logarithm
};

class Adviser {
 public:
  Adviser(const Setting& now, const CostOf& cost_of) : now_(now), cost_of_(cost_of) {
    base_ = cost_of(now);
  }

  bool knows_now() const { return base_ && base_->time_s > 0; }

  std::optional<Candidate> candidate(const Setting& other, std::string change) const {
    const std::optional<Cost> cost = cost_of_(other);
    if (!cost || !(cost->time_s > 0)) return std::nullopt;
    const double samples = static_cast<double>(other.batch) / static_cast<double>(now_.batch);
    const double time = cost->time_s / base_->time_s / samples;
    Candidate found{{std::move(change), 1 - time, std::nullopt}, -std::log(time)};
    if (cost->energy_j && base_->energy_j && *cost->energy_j > 0 && *base_->energy_j > 0) {
      const double energy = *cost->energy_j / *base_->energy_j / samples;
      found.advice.energy_gain = 1 - energy;
      found.merit -= std::log(energy);
    }
    return found;
  }

  void add(const std::optional<Candidate>& found) {
    if (!found || gain(found->advice) < least_gain || !(found->merit > 0)) return;
    for (const Candidate& other : kept_)
      if (other.advice.change == found->advice.change) return;
    kept_.push_back(*found);
  }

  void add_best(const std::vector<Candidate>& tried) {
    const auto best =
        std::max_element(tried.begin(), tried.end(),
                         [](const Candidate& a, const Candidate& b) { return a.merit < b.merit; });
    if (best != tried.end()) add(*best);
  }

  // By gain: the largest is the best reason for a change.
  std::vector<Advice> sorted() {
    std::stable_sort(kept_.begin(), kept_.end(), [](const Candidate& a, const Candidate& b) {
      return gain(a.advice) > gain(b.advice);
    });
    std::vector<Advice> all;
    for (const Candidate& each : kept_)
      if (all.size() < most_advice) all.push_back(each.advice);
    return all;
  }

  static double gain(const Advice& advice) {
    return std::max(advice.time_gain, advice.energy_gain.value_or(advice.time_gain));
  }

  const Setting& now() const { return now_; }

 private:
  const Setting& now_;
  const CostOf& cost_of_;
  std::optional<Cost> base_;
  std::vector<Candidate> kept_;
};

// The fastest mode and the mode with the least energy: two pieces of advice if they differ.
void advise_modes(Adviser& adviser, const std::vector<OperatingPoint>& modes) {
  std::optional<Candidate> fastest, thriftiest;
  for (const OperatingPoint& mode : modes) {
    Setting other = adviser.now();
    if (mode == other.point) continue;
    other.point = mode;
    const auto tried = adviser.candidate(
        other, fmt::format("mode {} instead of {}", mode.label, adviser.now().point.label));
    if (!tried) continue;
    if (!fastest || tried->advice.time_gain > fastest->advice.time_gain) fastest = tried;
    if (tried->advice.energy_gain &&
        (!thriftiest || *tried->advice.energy_gain > *thriftiest->advice.energy_gain))
      thriftiest = tried;
  }
  adviser.add(fastest);
  adviser.add(thriftiest);
}

// One knob of the operating point; `set` changes it, `name` prints its value.
template <class Value, class Set, class Name>
void advise_knob(Adviser& adviser, const std::vector<Value>& values,
                 const std::optional<Value>& present, const char* what, Set set, Name name) {
  if (!present) return;
  std::vector<Candidate> tried;
  for (const Value& value : values) {
    if (value == *present) continue;
    Setting other = adviser.now();
    set(other.point, value);
    other.point.label.clear();
    if (auto found = adviser.candidate(
            other, fmt::format("{}{} instead of {}", what, name(value), name(*present))))
      tried.push_back(std::move(*found));
  }
  adviser.add_best(tried);
}

void advise_knobs(Adviser& adviser, const Choices& choices) {
  const OperatingPoint& point = adviser.now().point;
  const auto clock = [](double hz) { return format_hz(hz, 4); };
  const auto count = [](int cores) {
    return fmt::format("{} core{}", cores, cores == 1 ? "" : "s");
  };
  advise_knob(
      adviser, choices.gpu_hz, point.gpu_hz, "GPU clock ",
      [](OperatingPoint& other, double hz) { other.gpu_hz = hz; }, clock);
  advise_knob(
      adviser, choices.memory_hz, point.memory_hz, "memory clock ",
      [](OperatingPoint& other, double hz) { other.memory_hz = hz; }, clock);
  const std::optional<double> cpu_hz =
      point.cpu_hz.empty() ? std::nullopt : std::optional(point.cpu_hz.front());
  advise_knob(
      adviser, choices.cpu_hz, cpu_hz, "CPU clock ",
      [](OperatingPoint& other, double hz) {
        std::fill(other.cpu_hz.begin(), other.cpu_hz.end(), hz);
      },
      clock);
  advise_knob(
      adviser, choices.cpu_cores, point.cpu_cores, "",
      [](OperatingPoint& other, int cores) { other.cpu_cores = cores; }, count);
}

// The smallest batch that saves nearly as much as the best one.
void advise_batch(Adviser& adviser, const std::vector<std::int64_t>& batches) {
  std::vector<Candidate> tried;
  double best = 0;
  for (const std::int64_t batch : batches) {
    if (batch == adviser.now().batch) continue;
    Setting other = adviser.now();
    other.batch = batch;
    if (auto found = adviser.candidate(
            other, fmt::format("batch {} instead of {}", batch, adviser.now().batch))) {
      best = std::max(best, found->merit);
      tried.push_back(std::move(*found));
    }
  }
  for (const Candidate& candidate : tried)
    if (candidate.merit >= enough_of_the_best * best) return adviser.add(candidate);
}

void advise_dtype(Adviser& adviser, const std::vector<DType>& dtypes) {
  for (const DType dtype : dtypes) {
    if (dtype == adviser.now().dtype) continue;
    Setting other = adviser.now();
    other.dtype = dtype;
    adviser.add(adviser.candidate(
        other, fmt::format("{} instead of {}", to_string(dtype), to_string(adviser.now().dtype))));
  }
}

void advise_runtime(Adviser& adviser, const std::vector<Runtime>& runtimes) {
  for (const Runtime runtime : runtimes) {
    if (runtime == adviser.now().runtime) continue;
    Setting other = adviser.now();
    other.runtime = runtime;
    adviser.add(adviser.candidate(other, fmt::format("{} instead of {}", to_string(runtime),
                                                     to_string(adviser.now().runtime))));
  }
}

std::string change_text(double gain) {
  constexpr double shown_as_nothing = 0.005;
  if (std::abs(gain) < shown_as_nothing) return "±0 %";
  return (gain >= 0 ? "−" : "+") + format_percent(std::abs(gain));
}

}  // namespace

std::vector<Advice> advise(const Setting& now, const Choices& choices, const CostOf& cost_of) {
  Adviser adviser(now, cost_of);
  if (!adviser.knows_now()) return {};
  advise_modes(adviser, choices.modes);
  advise_knobs(adviser, choices);
  advise_batch(adviser, choices.batches);
  advise_dtype(adviser, choices.dtypes);
  advise_runtime(adviser, choices.runtimes);
  return adviser.sorted();
}

std::string to_text(const Advice& advice) {
  const std::string time = change_text(advice.time_gain) + " time";
  if (!advice.energy_gain) return fmt::format("{}: {} per sample", advice.change, time);
  const std::string energy = change_text(*advice.energy_gain) + " energy";
  const bool energy_first = *advice.energy_gain >= advice.time_gain;
  return fmt::format("{}: {}, {} per sample", advice.change, energy_first ? energy : time,
                     energy_first ? time : energy);
}

}  // namespace ridgeline
