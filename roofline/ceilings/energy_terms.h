// The energy roofline's formulas for one compute roof over one memory slope: time, energy and power
// by arithmetic intensity, and where the bounds change. Plain doubles in and out; for the roofs of
// a machine see energy_roofline.h.
//
// Choi, Bedard, Fowler, Vuduc: A roofline model of energy (IPDPS 2013); the cap: Choi, Dukhan, Liu,
// Vuduc: Algorithmic time, energy and power on candidate HPC compute building blocks (IPDPS 2014).
#pragma once

#include <optional>

namespace ridgeline {

struct EnergyTerms {
  double flops_per_s = 0;       // F > 0
  double bytes_per_s = 0;       // B > 0
  double joule_per_flop = 0;    // ε_f ≥ 0
  double joule_per_byte = 0;    // ε_m ≥ 0
  double constant_power_w = 0;  // π₀ ≥ 0, while a kernel runs, whatever it does
  std::optional<double> cap_w;  // above π₀

  friend bool operator==(const EnergyTerms&, const EnergyTerms&) = default;
};

// Per FLOP of a kernel with this intensity (FLOP/byte, above 0).
double time_per_flop_s(const EnergyTerms& terms, double flop_per_byte);  // max(1/F, 1/(B·I), cap)
double energy_per_flop_j(const EnergyTerms& terms, double flop_per_byte);  // ε_f + ε_m/I + π₀·time
double power_w(const EnergyTerms& terms, double flop_per_byte);            // energy / time

// Intensities at which a bound changes; the first three are those of the uncapped form.
double time_balance(const EnergyTerms& terms);                   // β_τ = F/B
std::optional<double> energy_balance(const EnergyTerms& terms);  // β_ε = ε_m/ε_f; none for ε_f = 0
// B̂(I) = η·β_ε + (1−η)·max(0, β_τ−I), with η = ε_f/(ε_f + π₀/F): the energy of everything but
// arithmetic, in FLOP/byte, so that E/W = (ε_f + π₀/F)·(1 + B̂(I)/I).
double effective_balance(const EnergyTerms& terms, double flop_per_byte);
// Where the efficiency is half of its limit; without a cap that is where B̂(I) = I.
double half_efficiency_balance(const EnergyTerms& terms);

// FLOP/J that the efficiency approaches for I → ∞.
double limit_flop_per_joule(const EnergyTerms& terms);

// The highest power at any intensity: that at β_τ, or the cap if it is lower.
double peak_power_w(const EnergyTerms& terms);

// (ε_f·F + π₀) / (ε_m·B). Above 1 (the same as B̂ < β_τ) the fastest way to run a kernel also takes
// the least energy: race to halt. None if bytes are free.
std::optional<double> race_to_halt_ratio(const EnergyTerms& terms);

// Where the cap, not arithmetic or memory, limits the time. `low` may be 0 and `high` infinite.
struct CappedRange {
  double low = 0;
  double high = 0;
};
std::optional<CappedRange> capped_range(const EnergyTerms& terms);

}  // namespace ridgeline
