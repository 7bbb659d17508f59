// Energy terms of made-up machines, from a phone to a data-centre card, for property tests.
// Drawn on a logarithmic scale; nothing here was measured.
#pragma once

#include <rapidcheck.h>

#include <cmath>

#include "roofline/ceilings/energy_terms.h"

namespace ridgeline::testing {

inline bool nearly_equal(double a, double b, double tolerance = 1e-9) {
  return std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b));
}

// Log-uniform in [low, high].
inline rc::Gen<double> log_uniform(double low, double high) {
  constexpr int steps = 1'000'000;
  return rc::gen::map(rc::gen::inRange(0, steps + 1), [=](int step) {
    return low * std::pow(high / low, static_cast<double>(step) / steps);
  });
}

inline rc::Gen<EnergyTerms> made_up_terms() {
  return rc::gen::exec([] {
    EnergyTerms terms;
    terms.flops_per_s = *log_uniform(1e9, 1e15);
    terms.bytes_per_s = *log_uniform(1e9, 1e13);
    terms.joule_per_flop = *log_uniform(1e-13, 1e-9);
    terms.joule_per_byte = *log_uniform(1e-12, 1e-8);
    terms.constant_power_w = *log_uniform(0.1, 500);
    return terms;
  });
}

// From a thousandth of the ridge to a thousand times the ridge.
inline rc::Gen<double> made_up_intensity(const EnergyTerms& terms) {
  const double ridge = time_balance(terms);
  return log_uniform(ridge / 1000, ridge * 1000);
}

}  // namespace ridgeline::testing
