// The goal of a plan: which quantity to minimise, and which limits must hold with which
// probability.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/tokens.h"

namespace ridgeline {

// energy: per sample, with its share of the idle time if samples arrive at a rate; per epoch of
// training. time: per sample, or the latency if samples arrive at a rate. power: the mean. edp:
// energy × latency, or × the time of an epoch.
enum class Goal { energy, time, power, edp };

template <>
struct TokenTable<Goal> {
  static constexpr std::string_view noun = "goal";
  static constexpr std::array<std::pair<Goal, std::string_view>, 4> rows{
      {{Goal::energy, "energy"}, {Goal::time, "time"}, {Goal::power, "power"}, {Goal::edp, "edp"}}};
};

// Each limit keeps a quantity at or below its bound, so a minimum throughput is a maximum time per
// sample. arrivals: a batch is done before the next one is complete.
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
  double bound = 0;  // s, s per sample, W, W, fraction, J, W, s, s, s
  double probability =
      0;                  // with which it must hold by itself; the objective's risk if that is more
  std::string text = "";  // as the user wrote it: "--latency 10ms"
};

// Samples that arrive one by one: evenly, as the frames of a camera, or as a Poisson process.
struct Arrivals {
  double per_s = 0;
  bool at_random = false;

  friend bool operator==(const Arrivals&, const Arrivals&) = default;
};

struct Objective {
  Goal goal = Goal::energy;
  std::vector<Limit> limits;  // at most one of each kind
  std::optional<Arrivals> arrivals;
  std::optional<double> latency_quantile;  // over the requests that queue; absent: the mean
  double risk = 0.9;                       // probability with which all limits hold together
};

// The probability with which one limit must hold.
double required_probability(const Limit& limit, const Objective& objective);

// The bound of the latency limit; infinite without one.
double latency_limit_s(const Objective& objective);

// A bound with its unit: "10 ms", "30 /s", "20 W", "5 %".
std::string limit_value_text(LimitKind kind, double bound);

}  // namespace ridgeline
