// Energy per FLOP, energy per byte and constant power from rows of measured energy:
// E = ε_f·W + ε_m·Q + π₀·T, weighted least squares, no coefficient below zero.
// Any sweep over intensities will do, of any processor; one unit and data type per fit.
#pragma once

#include <array>
#include <span>
#include <string>

#include "base/estimate.h"

namespace ridgeline {

// What one kernel did while its energy was read.
struct EnergyRow {
  double flop = 0;      // W; 0 for pure traffic
  double bytes = 0;     // Q
  double time_s = 0;    // T
  double energy_j = 0;  // E
};

struct FitEnergyOptions {
  std::string where = "energy rows";  // for messages: a file, a profile's mode
  double relative_noise = 0.03;       // of a row's energy, one sigma
  double power_step_w = 0;            // resolution of the sensor
};

struct EnergyFit {
  Estimate joule_per_flop;
  Estimate joule_per_byte;
  Estimate constant_power_w;
  // In the order and units of the three above, row by row.
  std::array<double, 9> covariance{};
  double relative_residual = 0;  // root mean square of (fit − measured) / measured
  std::size_t rows = 0;
};

// Rows that cannot tell the three coefficients apart are an Error that says which and why.
EnergyFit fit_energy(std::span<const EnergyRow> rows, const FitEnergyOptions& options = {});

}  // namespace ridgeline
