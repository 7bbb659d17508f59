// Groups the sweep rows by processor, data type and thread count and fits each group, together with
// the peaks of arithmetic whose power was measured. A row is fitted as one second of work:
// W = FLOP/s, Q = B/s, E = power.
#include "roofline/ceilings/measured_energy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>

#include "base/error.h"
#include "base/estimate.h"
#include "base/random.h"
#include "devices/modes/clock_table.h"
#include "roofline/model/draws.h"
#include "roofline/model/linear_algebra.h"

namespace ridgeline {
namespace {

constexpr int draws = 200;
constexpr std::uint64_t seed = 1;

// Whether a row can be fitted.
bool has_power(const SweepRow& row) {
  return (row.status == Status::ok || row.status == Status::throttled) && row.bytes_per_s &&
         row.power_w && row.power_w->value > 0;
}

// Relative noise of a reading: the widest interval of the rows, at least the accuracy of a sensor.
double noise_of(const std::vector<SweepRow>& rows) {
  double noise = 0.01;
  for (const SweepRow& row : rows)
    noise = std::max(
        noise, (row.power_w->high - row.power_w->low) / (2 * sigma_of_90 * row.power_w->value));
  return noise;
}

// Rows of one processor, data type and thread count, all with power; `where` is for messages.
EnergyFit fit_sweep(const std::vector<SweepRow>& rows, const std::vector<ComputeRow>& peaks,
                    const std::string& where, const std::optional<Estimate>& byte_j = {}) {
  std::vector<EnergyRow> energies;
  const SweepRow& like = rows.front();
  for (const ComputeRow& peak : peaks)
    if (peak.power_w && peak.power_w->value > 0 && peak.flops_per_s &&
        peak.processor == like.processor && peak.dtype == like.dtype &&
        peak.threads == like.threads)
      energies.push_back({peak.flops_per_s->value, 0, 1, peak.power_w->value});
  for (const SweepRow& row : rows)
    energies.push_back({row.flops_per_s ? row.flops_per_s->value : 0, row.bytes_per_s->value, 1,
                        row.power_w->value});
  return fit_energy(energies, {where, noise_of(rows), 0, byte_j});
}

// "sweep_avx2_fp32" for "sweep_avx2_fp32_16": the name without its count of FMA.
std::string kernel_family(const std::string& kernel) {
  return kernel.substr(0, kernel.find_last_of('_'));
}

EnergyFitRow fit_of(const std::vector<SweepRow>& rows, const std::vector<ComputeRow>& peaks,
                    const std::string& sensor, const std::optional<Estimate>& byte_j = {}) {
  const SweepRow& first = rows.front();
  EnergyFitRow row;
  row.processor = first.processor;
  row.kernel = kernel_family(first.kernel);
  row.dtype = first.dtype;
  row.sensor = sensor;
  try {
    const EnergyFit fit = fit_sweep(rows, peaks, "sweep", byte_j);
    row.joule_per_flop = fit.joule_per_flop;
    row.joule_per_byte = fit.joule_per_byte;
    row.constant_power_w = fit.constant_power_w;
  } catch (const Error& error) {
    row.status = Status::unsupported;
    row.note = error.what();
  }
  return row;
}

using SweepKey = std::tuple<Processor, DType, int>;

std::map<SweepKey, std::vector<SweepRow>> sweeps_of(const ProfileMode& mode) {
  std::map<SweepKey, std::vector<SweepRow>> sweeps;
  for (const SweepRow& row : mode.sweep)
    if (has_power(row)) sweeps[{row.processor, row.dtype, row.threads}].push_back(row);
  return sweeps;
}

// A quarter on either side: traffic that draws a few percent of the power is not known any better.
constexpr double hardly_seen = 0.25;
// What the traffic of one byte may differ by between modes of one memory clock, one sigma: part of
// its way is at the GPU's voltage.
constexpr double between_modes = 0.05;

double half_width(const Estimate& estimate) { return estimate.high - estimate.value; }

bool is_hardly_seen(const EnergyFitRow& row) {
  return row.joule_per_byte &&
         half_width(*row.joule_per_byte) > hardly_seen * row.joule_per_byte->value;
}

// What the other modes say of it, each by itself, weighted by how well it knows.
std::optional<Estimate> byte_energy_of_others(const std::vector<ProfileMode>& modes,
                                              const ProfileMode& mode, const SweepKey& key) {
  if (std::get<Processor>(key) != Processor::gpu || !mode.mode.memory_hz) return std::nullopt;
  double weights = 0, sum = 0;
  for (const ProfileMode& other : modes) {
    if (other.mode == mode.mode || !other.mode.memory_hz ||
        !same_clock(*other.mode.memory_hz, *mode.mode.memory_hz))
      continue;
    const auto sweeps = sweeps_of(other);
    const auto rows = sweeps.find(key);
    if (rows == sweeps.end()) continue;
    const EnergyFitRow alone = fit_of(rows->second, other.compute, "");
    if (!alone.joule_per_byte || !(half_width(*alone.joule_per_byte) > 0)) continue;
    const double weight = 1 / std::pow(half_width(*alone.joule_per_byte), 2);
    weights += weight;
    sum += weight * alone.joule_per_byte->value;
  }
  if (!(sum > 0)) return std::nullopt;
  const double value = sum / weights;
  const double half = std::hypot(1 / std::sqrt(weights), sigma_of_90 * between_modes * value);
  return Estimate{value, value - half, value + half, Source::fitted};
}

// The rows of the requested sweep, all of one processor, data type and thread count.
std::vector<SweepRow> chosen_rows(const ProfileMode& mode, const RooflineOptions& options) {
  std::vector<SweepRow> rows;
  std::copy_if(mode.sweep.begin(), mode.sweep.end(), std::back_inserter(rows), has_power);
  const auto keep = [&rows](const auto& wanted) {
    rows.erase(
        std::remove_if(rows.begin(), rows.end(), [&](const SweepRow& row) { return !wanted(row); }),
        rows.end());
  };
  if (options.threads)
    keep([&](const SweepRow& row) {
      return row.processor != Processor::cpu || row.threads == *options.threads;
    });
  if (options.dtype) keep([&](const SweepRow& row) { return row.dtype == *options.dtype; });
  if (rows.empty()) return rows;
  const auto best =
      std::max_element(rows.begin(), rows.end(), [](const SweepRow& a, const SweepRow& b) {
        return std::pair(a.dtype == DType::fp32, a.threads) <
               std::pair(b.dtype == DType::fp32, b.threads);
      });
  const SweepRow like = *best;
  keep([&](const SweepRow& row) {
    return row.processor == like.processor && row.dtype == like.dtype &&
           row.threads == like.threads;
  });
  return rows;
}

const Roof* roof_of(const Roofline& roofline, const SweepRow& like) {
  for (const Roof& roof : roofline.roofs)  // fastest first
    if (roof.chosen && roof.processor == like.processor && roof.dtype == like.dtype &&
        roof.unit == Unit::vector)
      return &roof;
  return nullptr;
}

const Slope* slope_of(const Roofline& roofline, const SweepRow& like) {
  for (const Slope& slope : roofline.slopes)
    if (slope.processor == like.processor && slope.level == Level::dram &&
        slope.direction == Direction::read && is_usual(slope))
      return &slope;
  return nullptr;
}

Ceilings ceilings_with(const Ceilings& base, double flops_per_s, double bytes_per_s,
                       const std::array<double, 3>& coefficients) {
  Ceilings ceilings = base;
  ceilings.peaks.front().flops_per_s = flops_per_s;
  ceilings.bandwidths.front().bytes_per_s = bytes_per_s;
  ceilings.flop_energies.front().joule_per_flop = coefficients[0];
  ceilings.byte_energies.front().joule_per_byte = coefficients[1];
  ceilings.busy_power->power_w = coefficients[2];
  return ceilings;
}

std::vector<Ceilings> drawn(const Ceilings& base, const Estimate& flops, const Estimate& bytes,
                            const EnergyFit& fit) {
  Random random{seed};
  const auto rate = [&](const Estimate& estimate) {
    const double sigma = std::log(estimate.high / estimate.low) / (2 * sigma_of_90);
    return estimate.value * std::exp(sigma * normal(random));
  };
  const std::array<double, 3> mean{fit.joule_per_flop.value, fit.joule_per_byte.value,
                                   fit.constant_power_w.value};
  // The coefficients span ten decades, so take the root of their correlations instead.
  const auto covariance = [&](std::size_t r, std::size_t c) { return fit.covariance[3 * r + c]; };
  const auto sigma = [&](std::size_t i) { return std::sqrt(covariance(i, i)); };
  Matrix correlation(3, 3);
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t c = 0; c < 3; ++c)
      correlation(r, c) = covariance(r, c) / (sigma(r) * sigma(c));
  const Matrix spread = root(correlation).value_or(Matrix(3, 3));
  std::vector<Ceilings> result;
  for (int i = 0; i < draws; ++i) {
    const double flops_per_s = rate(flops), bytes_per_s = rate(bytes);
    const Vector noise{normal(random), normal(random), normal(random)};
    const Vector shock = product(spread, noise);
    std::array<double, 3> coefficients;
    for (std::size_t c = 0; c < 3; ++c)
      coefficients[c] = std::max(0.0, mean[c] + sigma(c) * shock[c]);
    result.push_back(ceilings_with(base, flops_per_s, bytes_per_s, coefficients));
  }
  return result;
}

}  // namespace

std::vector<EnergyFitRow> fitted_energy(const ProfileMode& mode, const std::string& sensor) {
  std::vector<EnergyFitRow> fits;
  for (const auto& [key, rows] : sweeps_of(mode))
    fits.push_back(fit_of(rows, mode.compute, sensor));
  return fits;
}

void share_byte_energies(std::vector<ProfileMode>& modes) {
  for (ProfileMode& mode : modes) {
    if (mode.energy.empty()) continue;
    std::vector<EnergyFitRow> fits = fitted_energy(mode, mode.energy.front().sensor);
    std::size_t next = 0;
    for (const auto& [key, rows] : sweeps_of(mode)) {
      EnergyFitRow& row = fits[next++];
      if (!is_hardly_seen(row)) continue;
      const auto byte_j = byte_energy_of_others(modes, mode, key);
      if (!byte_j) continue;
      row = fit_of(rows, mode.compute, row.sensor, byte_j);
      row.note = "energy per byte fitted with other modes of the same memory clock";
    }
    mode.energy = std::move(fits);
  }
}

MeasuredEnergy measured_energy(const ProfileMode& mode, const Machine& machine,
                               const RooflineOptions& options,
                               const std::vector<ProfileMode>& sweep) {
  const std::vector<SweepRow> rows = chosen_rows(mode, options);
  const std::string kind =
      options.dtype ? " of " + std::string(to_string(*options.dtype)) : std::string();
  if (rows.empty())
    throw Error(options.profile, "no energy roofline, since no sweep row" + kind + " has power",
                "measure where a power sensor can be read, or leave out --energy",
                ExitCode::incomplete);
  RooflineOptions every = options;  // the read slope may not be the fastest
  every.all = true;
  const Roofline roofline = roofline_of(mode, machine, every);
  const SweepRow& like = rows.front();
  const Roof* roof = roof_of(roofline, like);
  const Slope* slope = slope_of(roofline, like);
  if (!roof || !slope)
    throw Error(options.profile,
                std::string("no energy roofline, since it has no ") +
                    (roof ? "DRAM read row" : "compute row of the sweep's data type"),
                "run 'ridgeline measure' without --only", ExitCode::incomplete);

  MeasuredEnergy result;
  result.fit = fit_sweep(rows, mode.compute, options.profile);
  if (half_width(result.fit.joule_per_byte) > hardly_seen * result.fit.joule_per_byte.value)
    if (const auto byte_j =
            byte_energy_of_others(sweep, mode, {like.processor, like.dtype, like.threads}))
      result.fit = fit_sweep(rows, mode.compute, options.profile, byte_j);

  Ceilings& ceilings = result.ceilings;
  ceilings.device = roofline.machine;
  ceilings.point = mode.mode;
  ceilings.peaks = {{roof->processor, roof->unit, roof->dtype, roof->accumulate,
                     roof->flops_per_s.value, roof->flops_per_s.source, false}};
  ceilings.bandwidths = {{slope->processor, Level::dram, Direction::read, slope->bytes_per_s.value,
                          slope->bytes_per_s.source}};
  ceilings.flop_energies = {
      {roof->processor, roof->unit, roof->dtype, result.fit.joule_per_flop.value, Source::fitted}};
  ceilings.byte_energies = {
      {roof->processor, Level::dram, result.fit.joule_per_byte.value, Source::fitted}};
  ceilings.busy_power = ConstantPower{result.fit.constant_power_w.value, Source::fitted};
  if (mode.idle_power_w)
    ceilings.idle_power = ConstantPower{mode.idle_power_w->value, mode.idle_power_w->source};
  result.draws = drawn(ceilings, roof->flops_per_s, slope->bytes_per_s, result.fit);
  return result;
}

}  // namespace ridgeline
