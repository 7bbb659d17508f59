// Roofline: the compute ceilings (roofs), memory ceilings (slopes), their ridges and the points
// of one mode, measured or from the datasheet. A view for drawing and printing; it predicts no
// networks.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ceilings.h"
#include "base/estimate.h"
#include "base/json_fwd.h"
#include "base/operating_point.h"
#include "base/prediction.h"
#include "base/profile.h"
#include "base/tokens.h"
#include "roofline/ceilings/given_point.h"

namespace ridgeline {

enum class PointKind { sweep, given, layer };  // layers are drawn by plots/figures/layers.h

template <>
struct TokenTable<PointKind> {
  static constexpr std::string_view noun = "kind of point";
  static constexpr std::array<std::pair<PointKind, std::string_view>, 3> rows{
      {{PointKind::sweep, "sweep"}, {PointKind::given, "given"}, {PointKind::layer, "layer"}}};
};

// A compute ceiling; OP/s for integer dtypes.
struct Roof {
  std::string name;  // "FP32 AVX-512", unique within a roofline
  Processor processor = Processor::cpu;
  Unit unit = Unit::vector;
  DType dtype = DType::fp32;
  DType accumulate = DType::fp32;
  std::string isa;
  std::string kernel;
  int threads = 1;
  Status status = Status::ok;  // ok or throttled
  std::string note;
  bool chosen = true;  // the fastest of its processor, unit and types
  Estimate flops_per_s;
  bool sparse = false;     // with 2:4 structured sparsity, zeros counted
  bool sustained = false;  // held for seconds, where that differs from the burst
  bool is_ceiling = true;  // false: another instruction of the processor is faster
};

// A memory ceiling: attainable FLOP/s = bytes_per_s × FLOP per byte.
struct Slope {
  std::string name;  // "DRAM read", unique within a roofline
  Processor processor = Processor::cpu;
  Level level = Level::dram;
  Direction direction = Direction::read;
  std::string isa;
  std::string kernel;
  int threads = 1;
  Status status = Status::ok;  // ok or throttled
  std::string note;
  bool chosen = true;  // the fastest direction of its processor and level
  Estimate bytes_per_s;
  std::string allocation{};  // of a GPU's DRAM: "device", "pinned" or "managed"; else empty
  bool sustained = false;    // held for seconds, where that differs from the burst
};

// Where a roof meets a slope of the same processor; both are indices.
struct Ridge {
  std::size_t roof = 0;
  std::size_t slope = 0;
  Estimate flop_per_byte;
};

// A kernel on the picture, compared with one roof and one DRAM slope.
struct Point {
  std::string name;
  PointKind kind = PointKind::sweep;
  Processor processor = Processor::cpu;
  DType dtype = DType::fp32;
  std::string kernel;                   // empty for a given point
  Status status = Status::ok;           //
  std::string note;                     //
  Estimate flop_per_byte;               //
  std::optional<Estimate> flops_per_s;  // absent if no time was given
  std::optional<std::size_t> roof;      // index; absent if the profile has no such row
  std::optional<std::size_t> slope;     //
  std::optional<Estimate> attainable_flops_per_s;
  std::optional<BoundBy> bound;
  std::optional<Estimate> fraction_of_roof;  // flops_per_s ÷ attainable
};

// A measured row that is faster than the ceiling of its kind but was not taken as the ceiling.
struct LeftOut {
  std::string name;  // "FP64 AVX2" or "DRAM read"
  Processor processor = Processor::cpu;
  std::string kernel;
  int threads = 1;
  Status status = Status::throttled;    // why it was left out
  std::string note;                     // of the row
  std::string instead;                  // name of the ceiling of its kind; empty if there is none
  std::optional<Estimate> flops_per_s;  // OP/s for integer dtypes; of a compute row
  std::optional<Estimate> bytes_per_s;  // of a memory row
  std::optional<DType> dtype;           // of a compute row
};

struct Roofline {
  static constexpr std::string_view schema = "ridgeline.roofline/1";
  std::string machine;
  OperatingPoint mode;
  std::string date;           // when the measurement started, ISO 8601; empty for a datasheet
  std::string profile;        // file name of the profile; empty for a datasheet
  bool complete = true;       // false if the measurement was stopped early
  std::string disturbed;      // what disturbed the machine meanwhile; empty if it was quiet
  std::vector<Roof> roofs;    // fastest first
  std::vector<Slope> slopes;  // fastest first
  std::vector<Ridge> ridges;
  std::vector<Point> points;
  std::vector<LeftOut> left_out;
  // The pair that given points are compared with and that separates memory from compute bound.
  std::optional<std::size_t> main_roof;
  std::optional<std::size_t> main_slope;
};

// A CPU's memory or a GPU's default allocation; other allocations are compared with it.
inline bool is_usual(const Slope& slope) {
  return slope.allocation.empty() || slope.allocation == "device";
}

// From a catalog entry, not from measurements.
inline bool is_datasheet(const Roofline& roofline) { return roofline.date.empty(); }

struct RooflineOptions {
  std::string profile;         // name for the caption
  std::optional<int> threads;  // of CPU rows; absent = the largest measured count
  std::optional<DType> dtype;  // of the main roof; absent = fp32 if measured
  bool all = false;            // every kernel and direction, not only the fastest
  std::vector<GivenPoint> points;
};

// min(F, B · I)
double attainable_flops_per_s(double roof_flops_per_s, double slope_bytes_per_s,
                              double flop_per_byte);

// Unsupported and impossible rows are left out. Throttled rows stay, with their note, unless there
// is an undisturbed one of their kind. left_out names every row that is faster than the one in its
// place. Sweep points above their roof on a disturbed machine have the status impossible. Sparse
// peaks and GPU memory other than the default appear only with options.all and are never chosen.
Roofline roofline_of(const ProfileMode& mode, const Machine& machine,
                     const RooflineOptions& options);

// The same for ceilings that were not measured; `usable` is the interval of a fitted bandwidth.
// Dense roofs of the main processor only, unless options.all is set.
Roofline roofline_of(const Ceilings& ceilings, const std::optional<Estimate>& usable,
                     const std::string& machine, const RooflineOptions& options);

// "FP64 AVX2 96.6 GFLOP/s (throttled: the clock fell by 9 %); instead FP64 SSE4".
std::string left_out_text(const LeftOut& row);

Json to_json(const Roofline& roofline);

// One row per roof, slope, ridge, point and left-out row; columns that do not apply are empty.
std::string to_csv(const Roofline& roofline);

}  // namespace ridgeline
