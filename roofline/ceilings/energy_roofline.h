// EnergyRoofline: of one mode, each compute roof over the DRAM slope with what a FLOP, a byte and a
// second cost: balance points, efficiency, power. A view for drawing and printing; the formulas are
// in energy_terms.h and it predicts no networks.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ceilings.h"
#include "base/estimate.h"
#include "base/json_fwd.h"
#include "base/operating_point.h"
#include "base/tokens.h"
#include "roofline/ceilings/energy_terms.h"

namespace ridgeline {

// One compute roof; OP instead of FLOP for integer dtypes. Intensities are FLOP/byte.
struct EnergyRoof {
  std::string name;  // "FP16 tensor cores", unique within an energy roofline
  Unit unit = Unit::vector;
  DType dtype = DType::fp32;
  DType accumulate = DType::fp32;
  EnergyTerms terms;  // the values that the lines are drawn with
  Estimate flops_per_s;
  Estimate joule_per_flop;
  Estimate time_balance;                   // β_τ
  std::optional<Estimate> energy_balance;  // β_ε; none where a FLOP is free
  Estimate half_efficiency_balance;        // B̂
  Estimate limit_flop_per_joule;           // of high intensities
  Estimate peak_power_w;                   //
  std::optional<CappedRange> capped;       // intensities that the cap slows down
  std::optional<Estimate> race_to_halt;    // ratio; above 1 the fastest is also the cheapest
};

struct EnergyRoofline {
  static constexpr std::string_view schema = "ridgeline.energy_roofline/1";
  std::string machine;
  OperatingPoint mode;
  std::string profile;    // file name of the profile; empty for a datasheet
  std::string disturbed;  // what disturbed the machine meanwhile; empty if it was quiet
  Processor processor = Processor::gpu;
  Estimate bytes_per_s;  // DRAM
  Estimate joule_per_byte;
  Estimate constant_power_w;  // while a kernel runs: π₀
  std::optional<Estimate> idle_power_w;
  std::vector<EnergyRoof> roofs;  // fastest first, at least one
  std::size_t main = 0;           // the roof that is asked for

  const EnergyRoof& main_roof() const { return roofs[main]; }
};

struct EnergyRooflineOptions {
  std::string machine;         // name for people
  std::string profile;         // name for the caption
  std::optional<DType> dtype;  // of the main roof; absent = fp32 where there is one
  std::string disturbed = {};  // what disturbed the machine while it was measured
};

// Dense roofs of the main processor whose energy is known, of each data type the fastest. `draws`
// are the same ceilings for other draws of the model's parameters: the intervals come from them;
// none, no intervals. What is missing is an Error that names it.
EnergyRoofline energy_roofline_of(const Ceilings& ceilings, std::span<const Ceilings> draws,
                                  const EnergyRooflineOptions& options);

// A curve of the picture, on a logarithmic scale of intensities, with the corners on it.
struct EnergySample {
  double flop_per_byte = 0;
  double flops_per_s = 0;
  double flop_per_joule = 0;
  double power_w = 0;
};
std::vector<EnergySample> energy_curve(const EnergyTerms& terms, double low_flop_per_byte,
                                       double high_flop_per_byte);

// Whole decades around the balance points: what the picture shows.
struct IntensityRange {
  double low = 0;
  double high = 0;
};
IntensityRange intensity_range(std::span<const EnergyRoofline> rooflines);

Json to_json(const EnergyRoofline& roofline);

// One row per roof and one per sample of its curve; columns that do not apply are empty.
std::string to_csv(const EnergyRoofline& roofline);

}  // namespace ridgeline
