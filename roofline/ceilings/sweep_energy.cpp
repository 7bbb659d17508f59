// Groups the sweep and hands each group to the fit.
#include "roofline/ceilings/sweep_energy.h"

#include <map>
#include <tuple>

#include "base/error.h"
#include "roofline/ceilings/measured_energy.h"

namespace ridgeline {
namespace {

// "sweep_avx2_fp32" of "sweep_avx2_fp32_16": the name without its count of FMA.
std::string family(const std::string& kernel) { return kernel.substr(0, kernel.find_last_of('_')); }

EnergyFitRow fit_of(const std::vector<SweepRow>& rows, const std::string& sensor) {
  const SweepRow& first = rows.front();
  EnergyFitRow row;
  row.processor = first.processor;
  row.kernel = family(first.kernel);
  row.dtype = first.dtype;
  row.sensor = sensor;
  try {
    const EnergyFit fit = fit_sweep(rows, "sweep");
    row.joule_per_flop = fit.joule_per_flop;
    row.joule_per_byte = fit.joule_per_byte;
    row.constant_power_w = fit.constant_power_w;
  } catch (const Error& error) {
    row.status = Status::unsupported;
    row.note = error.what();
  }
  return row;
}

}  // namespace

std::vector<EnergyFitRow> fitted_energy(const ProfileMode& mode, const std::string& sensor) {
  std::map<std::tuple<Processor, DType, int>, std::vector<SweepRow>> groups;
  for (const SweepRow& row : mode.sweep)
    if (has_power(row)) groups[{row.processor, row.dtype, row.threads}].push_back(row);
  std::vector<EnergyFitRow> fits;
  for (const auto& [key, rows] : groups) fits.push_back(fit_of(rows, sensor));
  return fits;
}

}  // namespace ridgeline
