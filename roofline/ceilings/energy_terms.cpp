// Closed forms, except for half efficiency under a cap. Energy is the direct sum ε_f + ε_m/I +
// π₀·t; the tests check that the arch form with B̂ gives the same number.
#include "roofline/ceilings/energy_terms.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ridgeline {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Energy per FLOP of arithmetic and traffic, without the constant power.
double dynamic_j(const EnergyTerms& terms, double flop_per_byte) {
  return terms.joule_per_flop + terms.joule_per_byte / flop_per_byte;
}

double uncapped_time_s(const EnergyTerms& terms, double flop_per_byte) {
  return std::max(1 / terms.flops_per_s, 1 / (terms.bytes_per_s * flop_per_byte));
}

// What the cap leaves for arithmetic and traffic.
double allowance_w(const EnergyTerms& terms) {
  return terms.cap_w ? *terms.cap_w - terms.constant_power_w : infinity;
}

double uncapped_peak_w(const EnergyTerms& terms) {
  return terms.joule_per_flop * terms.flops_per_s + terms.joule_per_byte * terms.bytes_per_s +
         terms.constant_power_w;
}

// ε_f + π₀/F: a FLOP at full speed.
double full_speed_j(const EnergyTerms& terms) {
  return terms.joule_per_flop + terms.constant_power_w / terms.flops_per_s;
}

// Energy per FLOP falls with intensity, so bisection finds where it is twice its limit.
double capped_half_efficiency(const EnergyTerms& terms) {
  const double wanted = 2 / limit_flop_per_joule(terms);
  double low = 1e-12 * time_balance(terms), high = 1e12 * time_balance(terms);
  constexpr int halvings = 100;
  for (int i = 0; i < halvings; ++i) {
    const double middle = std::sqrt(low * high);
    (energy_per_flop_j(terms, middle) > wanted ? low : high) = middle;
  }
  return high;
}

}  // namespace

double time_per_flop_s(const EnergyTerms& terms, double flop_per_byte) {
  return std::max(uncapped_time_s(terms, flop_per_byte),
                  dynamic_j(terms, flop_per_byte) / allowance_w(terms));
}

double energy_per_flop_j(const EnergyTerms& terms, double flop_per_byte) {
  return dynamic_j(terms, flop_per_byte) +
         terms.constant_power_w * time_per_flop_s(terms, flop_per_byte);
}

double power_w(const EnergyTerms& terms, double flop_per_byte) {
  return terms.constant_power_w +
         dynamic_j(terms, flop_per_byte) / time_per_flop_s(terms, flop_per_byte);
}

double time_balance(const EnergyTerms& terms) { return terms.flops_per_s / terms.bytes_per_s; }

std::optional<double> energy_balance(const EnergyTerms& terms) {
  if (!(terms.joule_per_flop > 0)) return std::nullopt;
  return terms.joule_per_byte / terms.joule_per_flop;
}

// η·β_ε = ε_m/(ε_f + π₀/F), which is also right where ε_f is 0.
double effective_balance(const EnergyTerms& terms, double flop_per_byte) {
  const double full = full_speed_j(terms);
  if (!(full > 0)) return 0;
  const double idle_share = terms.constant_power_w / terms.flops_per_s / full;  // 1 − η
  return terms.joule_per_byte / full +
         idle_share * std::max(0.0, time_balance(terms) - flop_per_byte);
}

double half_efficiency_balance(const EnergyTerms& terms) {
  if (capped_range(terms)) return capped_half_efficiency(terms);
  const double ridge = time_balance(terms);
  const double at_ridge = effective_balance(terms, ridge);
  if (at_ridge >= ridge) return at_ridge;
  const double full = full_speed_j(terms);
  const double idle_share = full > 0 ? terms.constant_power_w / terms.flops_per_s / full : 0;
  return (at_ridge + idle_share * ridge) / (1 + idle_share);
}

double limit_flop_per_joule(const EnergyTerms& terms) {
  const double time_s = std::max(1 / terms.flops_per_s, terms.joule_per_flop / allowance_w(terms));
  return 1 / (terms.joule_per_flop + terms.constant_power_w * time_s);
}

double peak_power_w(const EnergyTerms& terms) {
  return std::min(uncapped_peak_w(terms), terms.cap_w.value_or(infinity));
}

std::optional<double> race_to_halt_ratio(const EnergyTerms& terms) {
  const double memory_w = terms.joule_per_byte * terms.bytes_per_s;
  if (!(memory_w > 0)) return std::nullopt;
  return (terms.joule_per_flop * terms.flops_per_s + terms.constant_power_w) / memory_w;
}

std::optional<CappedRange> capped_range(const EnergyTerms& terms) {
  if (!terms.cap_w || uncapped_peak_w(terms) <= *terms.cap_w) return std::nullopt;
  const double allowance = allowance_w(terms);
  // Left of the ridge the power is ε_f·B·I + ε_m·B, right of it ε_f·F + ε_m·F/I, each + π₀.
  const double memory_w = terms.joule_per_byte * terms.bytes_per_s;
  const double compute_w = terms.joule_per_flop * terms.flops_per_s;
  CappedRange range{0, infinity};
  if (memory_w < allowance)
    range.low = (allowance - memory_w) / (terms.joule_per_flop * terms.bytes_per_s);
  if (compute_w < allowance)
    range.high = terms.joule_per_byte * terms.flops_per_s / (allowance - compute_w);
  return range;
}

}  // namespace ridgeline
