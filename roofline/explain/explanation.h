// Explanation: why a network takes its predicted time and energy: per layer the bound, its share of
// the total and its distance from each roof, and what would change it. Computed from a Prediction;
// predicts nothing itself.
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
#include "base/machine_model.h"
#include "base/operating_point.h"
#include "base/prediction.h"
#include "base/runtime.h"
#include "base/tokens.h"
#include "roofline/explain/advice.h"
#include "roofline/model/memory.h"

namespace ridgeline {

// The run that is explained, as requested.
struct ExplainedRun {
  std::string network;
  std::string task = "inference";
  std::string machine;  // display name
  std::int64_t batch = 1;
  DType dtype = DType::fp32;
  bool locked = true;
  double board_offset_w = 0;       // added to the predicted power
  std::vector<std::string> notes;  // fallbacks and unknowns that the reader must see
};

// Share of a roof that a layer attains, as if that roof were the only one.
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
  double time_share = 0;  // of the total
  std::optional<double> energy_j;
  std::optional<double> energy_share;
  double operations = 0;             // FLOP and OP
  double bytes = 0;                  //
  std::optional<double> intensity;   // operations per byte; absent if no bytes are moved
  std::optional<double> roof_share;  // attained over attainable at that intensity
  std::vector<RoofShare> roofs;      // each roof alone, the nearest first
  std::vector<Term> terms;
  // If its time was measured, elsewhere: mean of one run, and the same share for it.
  std::optional<double> measured_s = {};
  std::optional<double> measured_roof_share = {};
};

// A measured time below what the machine needs at least.
struct Contradiction {
  std::string layer;
  double measured_s = 0, least_s = 0;
  std::string roof;  // that makes it impossible

  friend bool operator==(const Contradiction&, const Contradiction&) = default;
};

// The run that the measured times are of.
struct MeasuredRun {
  double total_s = 0;           // of all layers
  std::optional<double> run_s;  // of a whole run without profiling
  std::optional<std::int64_t> runs;
  std::string device;  // as the files name it; may be empty
  std::vector<std::string> files;
  std::vector<Contradiction> contradictions = {};  // the worst first
  std::string suspect = {};                        // what explains them best; empty if none
};

// How much of a machine's arithmetic a measured run used, as model FLOP utilisation (MFU): the
// least time of the network's arithmetic on the fastest units for its types, by the datasheet at
// the clocks of the mode, over the measured time.
struct Utilization {
  double time_s = 0;            // measured
  double operations_per_s = 0;  // FLOP and OP
  double bytes_per_s = 0;       // as counted, whether they come from memory or from a cache
  double share = 0;             // MFU
  std::string roof;             // "FP16 matrix"
};

struct Explanation {
  static constexpr std::string_view schema = "ridgeline.explanation/1";
  ExplainedRun run;
  std::string device;
  OperatingPoint point;
  Runtime runtime = Runtime::ideal;
  BoundBy bound = BoundBy::memory;
  // Share of the time in layers with that bound, the largest first; overheads are the rest.
  std::vector<std::pair<BoundBy, double>> bound_shares;
  Estimate time_s;
  std::optional<Estimate> energy_j;
  std::optional<Estimate> power_w;
  std::optional<MemoryFit> memory;  // absent if the size of the machine's memory is unknown
  std::vector<Term> terms;          // of all layers together, plus the overheads by name
  std::vector<Overhead> overheads;
  std::vector<ExplainedLayer> layers;  // in execution order
  Ceilings ceilings;                   // that the layers are compared with; not in the JSON
  std::vector<Advice> advice;
  std::vector<Unfamiliar> unfamiliar;  // also in the notes
  std::optional<MeasuredRun> measured;
  std::optional<Utilization> utilization;  // if the time of a run was measured
  std::vector<ExplainedLayer> groups;      // the layers by module, if that was asked for
};

// The prediction's rows must match the demands in order; `ceilings` must be those of its operating
// point. The caller adds memory and advice.
Explanation explain(const Prediction& prediction, std::span<const Demand> demands,
                    const Ceilings& ceilings, ExplainedRun run);

// Bytes of a layer that reach memory, by the prediction: the others stay in caches.
double memory_bytes(const ExplainedLayer& layer, const Explanation& explanation);

// Sums of the layers with the same name in `names`, one per layer; by first appearance.
std::vector<ExplainedLayer> grouped_layers(const Explanation& explanation,
                                           std::span<const std::string> names);

// "bound by memory: 71 % of the time; compute 20 %, launch 9 %".
std::string verdict(const Explanation& explanation);

// Layers, or groups if there are any, by time, measured if it is known: the longest first.
std::vector<const ExplainedLayer*> longest_layers(const Explanation& explanation);

// Absent if the machine has no peak for the arithmetic.
std::optional<Utilization> utilization(std::span<const Demand> demands, double time_s,
                                       const MachineModel& model, const OperatingPoint& point);

// "measured: 12.0 ms: 3.02 TOP/s, 41.5 GB/s, MFU 34.0 % of FP16 matrix (datasheet)".
std::string to_text(const Utilization& used);
Json to_json(const Utilization& used);

Json to_json(const Explanation& explanation);
std::string to_csv(const Explanation& explanation);  // one row per layer and overhead

}  // namespace ridgeline
