// Objective: what is to be least, and which limits must hold with which probability.
// The question alone; which mode answers it is choice.h's.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/tokens.h"

namespace ridgeline {

// energy: per sample, with its share of the idle time where work comes at a rate; per epoch of
// training. time: per sample, or the latency where work comes at a rate. power: the mean. edp:
// energy × latency, or × the time of an epoch.
enum class Goal { energy, time, power, edp };

template <>
struct TokenTable<Goal> {
  static constexpr std::string_view noun = "goal";
  static constexpr std::array<std::pair<Goal, std::string_view>, 4> rows{
      {{Goal::energy, "energy"}, {Goal::time, "time"}, {Goal::power, "power"}, {Goal::edp, "edp"}}};
};

// What may be limited; each is a quantity that must stay at or below its bound, so a throughput is
// limited as the time per sample. arrivals: a batch is done before the next one is complete.
enum class LimitKind {
  latency,
  throughput,
  power,
  peak_power,
  slowdown,
  energy,
  battery,
  arrivals,
  epoch_time,
  training_time
};

template <>
struct TokenTable<LimitKind> {
  static constexpr std::string_view noun = "limit";
  static constexpr std::array<std::pair<LimitKind, std::string_view>, 10> rows{
      {{LimitKind::latency, "latency"},
       {LimitKind::throughput, "throughput"},
       {LimitKind::power, "power"},
       {LimitKind::peak_power, "peak-power"},
       {LimitKind::slowdown, "max-slowdown"},
       {LimitKind::energy, "energy"},
       {LimitKind::battery, "battery"},
       {LimitKind::arrivals, "rate"},
       {LimitKind::epoch_time, "epoch-time"},
       {LimitKind::training_time, "training-time"}}};
};

struct Limit {
  LimitKind kind = LimitKind::latency;
  double bound = 0;        // s, s per sample, W, W, fraction, J, W, s, s, s
  double probability = 0;  // with which it must hold; 0: the objective's risk alone counts
  std::string text = "";   // as it was asked for: "--latency 10ms"
};

// Samples that come one after the other: evenly, as frames of a camera do, or at random.
struct Arrivals {
  double per_s = 0;
  bool at_random = false;

  friend bool operator==(const Arrivals&, const Arrivals&) = default;
};

struct Objective {
  Goal goal = Goal::energy;
  std::vector<Limit> limits;  // one of a kind at most
  std::optional<Arrivals> arrivals;
  std::optional<double> latency_quantile;  // of the requests, where they queue; absent: the mean
  double risk = 0.9;                       // probability with which all limits hold together
};

// A bound as people write it: "10 ms", "30 /s", "20 W", "5 %".
std::string limit_value_text(LimitKind kind, double bound);

}  // namespace ridgeline
