// Advice: changes to how a network is run that would help, each with its computed gain.
// The caller passes in the cost of a run and the list of possible changes.
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

// Of one run, for all samples of the batch.
struct Cost {
  double time_s = 0;
  std::optional<double> energy_j;
};

// Absent if the network cannot run that way.
using CostOf = std::function<std::optional<Cost>(const Setting&)>;

// Alternatives to try; the present values are skipped.
struct Choices {
  std::vector<OperatingPoint> modes;
  std::vector<double> gpu_hz, memory_hz, cpu_hz;
  std::vector<int> cpu_cores;
  std::vector<std::int64_t> batches;  // ascending
  std::vector<DType> dtypes;
  std::vector<Runtime> runtimes;
};

// Gains are fractions saved per sample: 0.61 = 61 % less, negative = more.
struct Advice {
  std::string change;  // "batch 8 instead of 1"
  double time_gain = 0;
  std::optional<double> energy_gain;

  friend bool operator==(const Advice&, const Advice&) = default;
};

inline constexpr std::size_t most_advice = 8;

// The best change of each kind, the largest gain first. A change helps if it saves time or energy
// and the product of both falls.
std::vector<Advice> advise(const Setting& now, const Choices& choices, const CostOf& cost_of);

// "batch 8 instead of 1: −61 % energy, −55 % time per sample".
std::string to_text(const Advice& advice);

}  // namespace ridgeline
