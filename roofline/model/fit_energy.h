// Fits energy per FLOP, energy per byte and constant power to rows of measured energy:
// E = ε_f·W + ε_m·Q + π₀·T, weighted least squares, no coefficient below zero.
// Works for any sweep over intensities on any processor; one unit and data type per fit.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>

#include "base/estimate.h"

namespace ridgeline {

// Work of one kernel while its energy was measured.
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
  // What is known of it apart from the rows; one more row in the fit.
  std::optional<Estimate> joule_per_byte = {};
};

struct EnergyFit {
  Estimate joule_per_flop;
  Estimate joule_per_byte;
  Estimate constant_power_w;
  // Row by row, in the order and units of the three above.
  std::array<double, 9> covariance{};
  double relative_residual = 0;  // root mean square of (fit − measured) / measured
  std::size_t rows = 0;
};

// Throws an Error that names the coefficients if the rows cannot separate all three.
EnergyFit fit_energy(std::span<const EnergyRow> rows, const FitEnergyOptions& options = {});

}  // namespace ridgeline
