// Ceilings with energy of a made-up board in three modes, for tests of energy rooflines.
// Rates and energies fall with the clock; nothing here was measured.
#pragma once

#include <string>
#include <vector>

#include "roofline/ceilings/energy_roofline.h"

namespace ridgeline::testing {

// `factor` scales the energies, as a draw of the parameters would.
inline Ceilings made_up_board(const std::string& label, int units, double gpu_hz,
                              double factor = 1) {
  Ceilings ceilings;
  ceilings.device = "made-up";
  ceilings.point.label = label;
  ceilings.point.gpu_units = units;
  ceilings.point.gpu_hz = gpu_hz;
  ceilings.point.memory_hz = 3.2e9;
  const double volt = 0.6 + 0.4 * gpu_hz / 1.3e9;
  const auto peak = [&](Unit unit, DType dtype, DType sums, double per_clock, double picojoule) {
    ceilings.peaks.push_back(
        {Processor::gpu, unit, dtype, sums, units * per_clock * gpu_hz, Source::datasheet, false});
    if (picojoule > 0)
      ceilings.flop_energies.push_back(
          {Processor::gpu, unit, dtype, factor * volt * volt * picojoule * 1e-12, Source::assumed});
  };
  peak(Unit::vector, DType::fp64, DType::fp64, 4, 0);
  peak(Unit::vector, DType::fp32, DType::fp32, 256, 5);
  peak(Unit::vector, DType::fp16, DType::fp16, 512, 1);
  peak(Unit::matrix, DType::fp16, DType::fp32, 2048, 1);
  peak(Unit::matrix, DType::bf16, DType::fp32, 2048, 1);
  peak(Unit::matrix, DType::int8, DType::int32, 4096, 0.5);
  ceilings.bandwidths = {{Processor::gpu, Level::dram, Direction::read, 200e9, Source::datasheet},
                         {Processor::gpu, Level::dram, Direction::read,
                          std::min(190e9, 200 * gpu_hz), Source::fitted}};
  ceilings.byte_energies = {{Processor::gpu, Level::dram, factor * 60e-12, Source::fitted}};
  ceilings.idle_power = ConstantPower{5, Source::measured};
  ceilings.busy_power = ConstantPower{5 + units * gpu_hz * volt * volt * 1e-9, Source::assumed};
  return ceilings;
}

inline EnergyRoofline made_up_energy(const std::string& label, int units, double gpu_hz,
                                     std::optional<double> cap_w = {},
                                     std::optional<DType> dtype = {}) {
  std::vector<Ceilings> draws;
  for (int i = 0; i <= 20; ++i)
    draws.push_back(made_up_board(label, units, gpu_hz, 0.8 + 0.02 * i));
  Ceilings ceilings = made_up_board(label, units, gpu_hz);
  ceilings.point.cap_w = cap_w;
  for (Ceilings& draw : draws) draw.point.cap_w = cap_w;
  return energy_roofline_of(ceilings, draws, {"Made-up <board> & \"more\"", "", dtype});
}

inline std::vector<EnergyRoofline> made_up_energies() {
  return {made_up_energy("MAXN", 16, 1.3e9), made_up_energy("30W", 8, 612e6),
          made_up_energy("15W", 6, 408e6, 15)};
}

}  // namespace ridgeline::testing
