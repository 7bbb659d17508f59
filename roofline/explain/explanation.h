// Explanation: why a network takes the time and energy that it is predicted to take: per layer the
// bound, its share of the whole and how far it is from each roof, and what would change it.
// Made of a Prediction; nothing is predicted here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ceilings.h"
#include "base/demand.h"
#include "base/estimate.h"
#include "base/json_fwd.h"
#include "base/operating_point.h"
#include "base/prediction.h"
#include "base/runtime.h"
#include "base/tokens.h"
#include "roofline/explain/advice.h"

namespace ridgeline {

// What is explained, in the words of the request.
struct ExplainedRun {
  std::string network;
  std::string task = "inference";
  std::string machine;  // its name for people
  std::int64_t batch = 1;
  DType dtype = DType::fp32;
  bool locked = true;
  double board_offset_w = 0;       // that was added to the prediction's power
  std::vector<std::string> notes;  // what a reader must know: fallbacks, what is not known
};

// How much of a roof a layer attains, if that roof were the only one.
struct RoofShare {
  std::string roof;  // "FP16 matrix", "DRAM"
  double share = 0;

  friend bool operator==(const RoofShare&, const RoofShare&) = default;
};

struct ExplainedLayer {
  std::string name;
  OpClass op = OpClass::other;
  BoundBy bound = BoundBy::memory;
  double time_s = 0;
  double time_share = 0;  // of the whole
  std::optional<double> energy_j;
  std::optional<double> energy_share;
  double operations = 0;             // FLOP and OP
  double bytes = 0;                  //
  std::optional<double> intensity;   // operations per byte; absent where nothing is moved
  std::optional<double> roof_share;  // attained over attainable at that intensity
  std::vector<RoofShare> roofs;      // each roof by itself, the nearest first
  std::vector<Term> terms;
};

struct Explanation {
  static constexpr std::string_view schema = "ridgeline.explanation/1";
  ExplainedRun run;
  std::string device;
  OperatingPoint point;
  Runtime runtime = Runtime::ideal;
  BoundBy bound = BoundBy::memory;
  // Share of the time in layers with that bound, the largest first; what is missing to one is
  // overheads.
  std::vector<std::pair<BoundBy, double>> bound_shares;
  Estimate time_s;
  std::optional<Estimate> energy_j;
  std::optional<Estimate> power_w;
  std::vector<Term> terms;  // of all layers together, and the overheads by name
  std::vector<Overhead> overheads;
  std::vector<ExplainedLayer> layers;  // in the order of execution
  Ceilings ceilings;                   // that the layers are compared with; not part of the JSON
  std::vector<Advice> advice;
};

// Rows of the prediction are the demands, in their order; `ceilings` are those of its operating
// point. Advice is the caller's to add.
Explanation explain(const Prediction& prediction, std::span<const Demand> demands,
                    const Ceilings& ceilings, ExplainedRun run);

// "bound by memory: 71 % of the time; compute 20 %, launch 9 %".
std::string verdict(const Explanation& explanation);

// Layers by time, the longest first.
std::vector<const ExplainedLayer*> longest_layers(const Explanation& explanation);

Json to_json(const Explanation& explanation);
std::string to_csv(const Explanation& explanation);  // one row per layer and overhead

}  // namespace ridgeline
