// Advice: changes to how a network is run that would help, each with its computed gain.
// Who computes a run's cost is handed in; what can be changed on a machine is the caller's to list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/operating_point.h"
#include "base/runtime.h"
#include "base/tokens.h"

namespace ridgeline {

// One way to run a network.
struct Setting {
  OperatingPoint point;
  std::int64_t batch = 1;
  DType dtype = DType::fp32;
  Runtime runtime = Runtime::ideal;
};

// Of one run, all samples of the batch.
struct Cost {
  double time_s = 0;
  std::optional<double> energy_j;
};

// Absent where the network cannot be run so.
using CostOf = std::function<std::optional<Cost>(const Setting&)>;

// What may be tried instead; values that stand already are skipped.
struct Choices {
  std::vector<OperatingPoint> modes;
  std::vector<double> gpu_hz, memory_hz, cpu_hz;
  std::vector<int> cpu_cores;
  std::vector<std::int64_t> batches;  // ascending
  std::vector<DType> dtypes;
  std::vector<Runtime> runtimes;
};

// Gains are the fraction that is saved per sample: 0.61 = 61 % less, negative = more.
struct Advice {
  std::string change;  // "batch 8 instead of 1"
  double time_gain = 0;
  std::optional<double> energy_gain;

  friend bool operator==(const Advice&, const Advice&) = default;
};

inline constexpr std::size_t most_advice = 8;

// The best of every kind of change, the largest gain first. A change helps if it saves time or
// energy and does not cost more of the one than it saves of the other: their product falls.
std::vector<Advice> advise(const Setting& now, const Choices& choices, const CostOf& cost_of);

// "batch 8 instead of 1: −61 % energy, −55 % time per sample".
std::string to_text(const Advice& advice);

}  // namespace ridgeline
