// With three coefficients, the non-negative fit is the best of the seven unconstrained fits to a
// subset of them. Rows are weighted by the accuracy of the sensor.
#include "roofline/model/fit_energy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/error.h"
#include "base/estimate.h"
#include "base/units.h"
#include "roofline/model/linear_algebra.h"

namespace ridgeline {
namespace {

constexpr std::size_t unknowns = 3;
using Vector3 = std::array<double, unknowns>;
constexpr std::array<const char*, unknowns> names{"energy per FLOP", "energy per byte",
                                                  "constant power"};
// A coefficient is unknown if the sigma of its energy is more than half of all energy.
constexpr double least_known_share = 0.5;
constexpr double same_ratio = 1.1;  // largest over smallest: too similar to fit
constexpr int reweightings = 4;
constexpr double least_expected = 0.1;  // of a row's reading, for its weight

double energy_of(const EnergyRow& row, const Vector3& solution) {
  return row.flop * solution[0] + row.bytes * solution[1] + row.time_s * solution[2];
}

struct System {
  Matrix design;  // W, Q, T of each row over its sigma
  Vector energy;  // E over its sigma
};

void check_rows(std::span<const EnergyRow> rows, const FitEnergyOptions& options) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const EnergyRow& row = rows[i];
    const auto fail = [&](const char* what) {
      throw Error(fmt::format("{}: row {}", options.where, i + 1), what);
    };
    if (!(std::isfinite(row.flop) && row.flop >= 0)) fail("FLOP is not a number from 0 on");
    if (!(std::isfinite(row.bytes) && row.bytes >= 0)) fail("bytes is not a number from 0 on");
    if (!(std::isfinite(row.time_s) && row.time_s > 0)) fail("time is not a positive number");
    if (!(std::isfinite(row.energy_j) && row.energy_j > 0)) fail("energy is not a positive number");
  }
  if (rows.size() < unknowns)
    throw Error(options.where,
                fmt::format("{} coefficients need at least {} rows with energy, there {}", unknowns,
                            unknowns,
                            rows.empty()       ? "are none"
                            : rows.size() == 1 ? "is one"
                                               : "are two"),
                "measure a sweep of intensities", ExitCode::incomplete);
}

// sigma follows `expected_j`, not the reading, or noisy low readings would weigh most.
System weighted(std::span<const EnergyRow> rows, const std::vector<double>& expected_j,
                const FitEnergyOptions& options) {
  const std::size_t known = options.joule_per_byte ? 1 : 0;
  System system{Matrix(rows.size() + known, unknowns), Vector(rows.size() + known)};
  if (known) {
    const Estimate& byte_j = *options.joule_per_byte;
    const double sigma = (byte_j.high - byte_j.low) / (2 * sigma_of_90);
    for (std::size_t c = 0; c < unknowns; ++c)
      system.design(rows.size(), c) = c == 1 ? 1 / sigma : 0;
    system.energy[rows.size()] = byte_j.value / sigma;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const EnergyRow& row = rows[i];
    const double sigma = std::hypot(options.relative_noise * expected_j[i],
                                    options.power_step_w / std::sqrt(12.0) * row.time_s);
    system.design(i, 0) = row.flop / sigma;
    system.design(i, 1) = row.bytes / sigma;
    system.design(i, 2) = row.time_s / sigma;
    system.energy[i] = row.energy_j / sigma;
  }
  return system;
}

// W, Q and T span twenty decades: columns of length one keep the algebra exact.
Vector3 column_scales(const Matrix& design) {
  Vector3 scales;
  for (std::size_t c = 0; c < unknowns; ++c) {
    const double length = std::sqrt(dot(design.column(c), design.column(c)));
    scales[c] = length > 0 ? length : 1;
  }
  return scales;
}

// These columns of the design, each over its scale.
Matrix scaled(const Matrix& design, const Vector3& scales,
              const std::vector<std::size_t>& columns) {
  Matrix part(design.rows(), columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i)
    for (std::size_t r = 0; r < design.rows(); ++r)
      part(r, i) = design(r, columns[i]) / scales[columns[i]];
  return part;
}

double squared_misfit(const Matrix& design, const Vector& solution, const Vector& energy) {
  Vector misfit = product(design, solution);
  for (std::size_t i = 0; i < misfit.size(); ++i) misfit[i] -= energy[i];
  return dot(misfit, misfit);
}

Vector3 non_negative_fit(const System& system) {
  const Vector3 scales = column_scales(system.design);
  Vector3 best{};
  double least = dot(system.energy, system.energy);
  for (unsigned subset = 1; subset < 1U << unknowns; ++subset) {
    std::vector<std::size_t> columns;
    for (std::size_t c = 0; c < unknowns; ++c)
      if ((subset >> c & 1U) != 0) columns.push_back(c);
    const Matrix part = scaled(system.design, scales, columns);
    const std::optional<Vector> solution = least_squares(part, system.energy);
    if (!solution || *std::ranges::min_element(*solution) < 0) continue;
    const double residual = squared_misfit(part, *solution, system.energy);
    if (!(residual < least)) continue;
    least = residual;
    best = {};
    for (std::size_t i = 0; i < columns.size(); ++i)
      best[columns[i]] = (*solution)[i] / scales[columns[i]];
  }
  return best;
}

// (AᵀA)⁻¹ of all three coefficients, even if the fit holds one at zero; none if the rows leave a
// combination of them undetermined.
std::optional<Matrix> covariance_of(const Matrix& design) {
  const Vector3 scales = column_scales(design);
  std::optional<Matrix> covariance = inverse_gram(scaled(design, scales, {0, 1, 2}));
  if (!covariance) return std::nullopt;
  for (std::size_t r = 0; r < unknowns; ++r)
    for (std::size_t c = 0; c < unknowns; ++c) (*covariance)(r, c) /= scales[r] * scales[c];
  return covariance;
}

// Whether a / b is nearly the same in all rows; false if a row has a but no b.
template <class A, class B>
bool one_ratio(std::span<const EnergyRow> rows, const A& a, const B& b) {
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (const EnergyRow& row : rows) {
    const double ratio = a(row) / b(row);
    least = std::min(least, ratio);
    most = std::max(most, ratio);
  }
  return std::isfinite(most) && most < same_ratio * least;
}

[[noreturn]] void fail_unidentified(std::span<const EnergyRow> rows,
                                    const FitEnergyOptions& options) {
  const auto flop = [](const EnergyRow& row) { return row.flop; };
  const auto bytes = [](const EnergyRow& row) { return row.bytes; };
  const auto time = [](const EnergyRow& row) { return row.time_s; };
  const auto none = [&](const auto& amount) {
    return std::all_of(rows.begin(), rows.end(),
                       [&](const EnergyRow& row) { return amount(row) == 0; });
  };
  const auto error = [&](const std::string& what, const char* fix) {
    return Error(options.where, what, fix, ExitCode::incomplete);
  };
  const auto apart = [](int a, int b) {
    return fmt::format("{} and {} cannot be told apart", names[static_cast<std::size_t>(a)],
                       names[static_cast<std::size_t>(b)]);
  };
  if (none(flop))
    throw error("no row does arithmetic: energy per FLOP is unknown", "add rows that do");
  if (none(bytes))
    throw error("no row moves bytes: energy per byte is unknown", "add rows that do");
  if (one_ratio(rows, flop, bytes))
    throw error(fmt::format("all rows have about {} FLOP/byte: {}",
                            format_number(rows.front().flop / rows.front().bytes), apart(0, 1)),
                "measure a sweep of intensities");
  if (one_ratio(rows, time, bytes))
    throw error("all rows move bytes at one rate, bound by memory: " + apart(1, 2),
                "add rows that are bound by arithmetic");
  if (one_ratio(rows, time, flop))
    throw error("all rows compute at one rate, bound by arithmetic: " + apart(0, 2),
                "add rows that are bound by memory");
  throw error(fmt::format("{} rows differ too little to tell {}, {} and {} apart", rows.size(),
                          names[0], names[1], names[2]),
              "add rows of other intensities, on both sides of the ridge");
}

// Whether the rows determine each coefficient's share of the energy, at the sensor's own noise.
bool identified(std::span<const EnergyRow> rows, const Matrix& covariance) {
  Vector3 amounts{};
  double energy = 0;
  for (const EnergyRow& row : rows) {
    amounts[0] += row.flop;
    amounts[1] += row.bytes;
    amounts[2] += row.time_s;
    energy += row.energy_j;
  }
  for (std::size_t c = 0; c < unknowns; ++c) {
    if (!(amounts[c] > 0)) return false;
    if (!(std::sqrt(covariance(c, c)) * amounts[c] < least_known_share * energy)) return false;
  }
  return true;
}

Estimate fitted_estimate(double value, double variance) {
  const double half = sigma_of_90 * std::sqrt(variance);
  return {value, std::max(0.0, value - half), value + half, Source::fitted};
}

}  // namespace

EnergyFit fit_energy(std::span<const EnergyRow> rows, const FitEnergyOptions& options) {
  check_rows(rows, options);
  std::vector<double> expected;
  for (const EnergyRow& row : rows) expected.push_back(row.energy_j);
  System system = weighted(rows, expected, options);
  const std::optional<Matrix> open = covariance_of(system.design);
  if (!open || !identified(rows, *open)) fail_unidentified(rows, options);

  Vector3 solution = non_negative_fit(system);
  for (int i = 0; i < reweightings; ++i) {
    for (std::size_t r = 0; r < rows.size(); ++r)
      expected[r] = std::max(least_expected * rows[r].energy_j, energy_of(rows[r], solution));
    system = weighted(rows, expected, options);
    solution = non_negative_fit(system);
  }

  // Rows that scatter beyond their noise widen the intervals; less scatter does not narrow them.
  const double misfit =
      squared_misfit(system.design, {solution.begin(), solution.end()}, system.energy);
  const auto freedom = static_cast<double>(rows.size()) - static_cast<double>(unknowns);
  const double widening = freedom > 0 ? std::max(1.0, misfit / freedom) : 1.0;
  const Matrix covariance = covariance_of(system.design).value_or(*open);

  EnergyFit fit;
  fit.joule_per_flop = fitted_estimate(solution[0], widening * covariance(0, 0));
  fit.joule_per_byte = fitted_estimate(solution[1], widening * covariance(1, 1));
  fit.constant_power_w = fitted_estimate(solution[2], widening * covariance(2, 2));
  for (std::size_t r = 0; r < unknowns; ++r)
    for (std::size_t c = 0; c < unknowns; ++c)
      fit.covariance[r * unknowns + c] = widening * covariance(r, c);
  fit.rows = rows.size();
  double squares = 0;
  for (const EnergyRow& row : rows)
    squares += std::pow(energy_of(row, solution) / row.energy_j - 1, 2);
  fit.relative_residual = std::sqrt(squares / static_cast<double>(rows.size()));
  return fit;
}

}  // namespace ridgeline
