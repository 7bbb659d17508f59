// EnergyRoofline: the compute roofs and the DRAM slope of one mode with the energy of a FLOP, a
// byte and a second: balance points, efficiency, power. A view for drawing and printing; the
// formulas are in energy_terms.h. It predicts no networks.
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
  EnergyTerms terms;  // values for drawing the lines
  Estimate flops_per_s;
  Estimate joule_per_flop;
  Estimate time_balance;                   // β_τ
  std::optional<Estimate> energy_balance;  // β_ε; none if a FLOP is free
  Estimate half_efficiency_balance;        // B̂
  Estimate limit_flop_per_joule;           // at high intensity
  Estimate peak_power_w;                   //
  std::optional<CappedRange> capped;       // intensities that the cap slows down
  std::optional<Estimate> race_to_halt;    // ratio; above 1 the fastest run takes the least energy
};

// What the catalog's model had expected of a mode that was measured, for the main roof.
struct ExpectedEnergy {
  double flops_per_s = 0, bytes_per_s = 0;
  double joule_per_flop = 0, joule_per_byte = 0;
  double constant_power_w = 0;
  std::optional<double> idle_power_w;
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
  std::vector<EnergyRoof> roofs;                // fastest first, at least one
  std::size_t main = 0;                         // index of the roof of the requested dtype
  std::optional<ExpectedEnergy> expected = {};  // of a profile of a device that the catalog knows

  const EnergyRoof& main_roof() const { return roofs[main]; }
};

struct EnergyRooflineOptions {
  std::string machine;         // display name
  std::string profile;         // name for the caption
  std::optional<DType> dtype;  // of the main roof; absent = fp32 if there is one
  std::string disturbed = {};  // what disturbed the machine while it was measured
};

// Dense roofs of the main processor with known energy, the fastest of each data type. `draws` are
// the same ceilings at draws of the model's parameters and give the intervals; without draws there
// are none. Throws an Error that names missing inputs.
EnergyRoofline energy_roofline_of(const Ceilings& ceilings, std::span<const Ceilings> draws,
                                  const EnergyRooflineOptions& options);

// The numbers of another roofline of the same machine that stand beside those of `measured`; none
// if it lacks the roof.
std::optional<ExpectedEnergy> expected_beside(const EnergyRoofline& measured,
                                              const EnergyRoofline& expected);

// A point of a curve. Intensities are spaced logarithmically and include the corners.
struct EnergySample {
  double flop_per_byte = 0;
  double flops_per_s = 0;
  double flop_per_joule = 0;
  double power_w = 0;
};
std::vector<EnergySample> energy_curve(const EnergyTerms& terms, double low_flop_per_byte,
                                       double high_flop_per_byte);

// The intensities that the picture shows: whole decades around the balance points.
struct IntensityRange {
  double low = 0;
  double high = 0;
};
IntensityRange intensity_range(std::span<const EnergyRoofline> rooflines);

Json to_json(const EnergyRoofline& roofline);

// One row per quantity and per value of a curve; columns that do not apply are empty.
std::string to_csv(const EnergyRoofline& roofline);

}  // namespace ridgeline
