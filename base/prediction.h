// Prediction: time, energy, power and bound per Demand and in total, with the terms that led there.
// The total is always the sum of the rows and the named overheads; nothing hides between them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/estimate.h"
#include "base/json_fwd.h"
#include "base/operating_point.h"
#include "base/runtime.h"
#include "base/tokens.h"

namespace ridgeline {

// What the time goes to: the term that, made faster, helps most.
// power_cap: the clock that the cap leaves; quantisation: tiles that do not fill the machine.
enum class BoundBy { compute, memory, launch, host, power_cap, quantisation };

template <>
struct TokenTable<BoundBy> {
  static constexpr std::string_view noun = "bound";
  static constexpr std::array<std::pair<BoundBy, std::string_view>, 6> rows{
      {{BoundBy::compute, "compute"},
       {BoundBy::memory, "memory"},
       {BoundBy::launch, "launch"},
       {BoundBy::host, "host"},
       {BoundBy::power_cap, "power_cap"},
       {BoundBy::quantisation, "quantisation"}}};
};

// A part of the formula by name. Terms may overlap in time, so they need not sum to the row.
struct Term {
  std::string name;  // "DRAM read", "fp16 matrix", "launch"
  double time_s = 0;
  std::optional<double> energy_j;

  friend bool operator==(const Term&, const Term&) = default;
};

// Energy and power are absent where the model knows no power.
struct PredictedDemand {
  std::string demand;  // its name
  Estimate time_s;
  std::optional<Estimate> energy_j;
  std::optional<Estimate> power_w;
  BoundBy bound = BoundBy::memory;
  std::vector<Term> terms;

  friend bool operator==(const PredictedDemand&, const PredictedDemand&) = default;
};

struct Overhead {
  std::string name;  // "graph launch"
  double time_s = 0;
  double energy_j = 0;

  friend bool operator==(const Overhead&, const Overhead&) = default;
};

// Time that no measurement covers: the interval allows for it.
struct Unfamiliar {
  std::string what;       // "window attention with torch-eager on Jetson boards"
  double time_share = 0;  // of the total
  double factor = 1;      // its time is within 1/factor and factor times the predicted (90 %)

  friend bool operator==(const Unfamiliar&, const Unfamiliar&) = default;
};

struct Prediction {
  static constexpr std::string_view schema = "ridgeline.prediction/1";
  std::string device;
  OperatingPoint point;
  Runtime runtime = Runtime::ideal;
  std::vector<PredictedDemand> demands;
  std::vector<Overhead> overheads;
  Estimate time_s;
  std::optional<Estimate> energy_j;
  std::optional<Estimate> power_w;
  BoundBy bound = BoundBy::memory;
  std::vector<Unfamiliar> unfamiliar;  // the largest share first

  friend bool operator==(const Prediction&, const Prediction&) = default;
};

Json to_json(const Unfamiliar& unfamiliar);
Json to_json(const Prediction& prediction);
Prediction prediction_from_json(const JsonCursor& cursor);  // checks that the totals are the sums

}  // namespace ridgeline
