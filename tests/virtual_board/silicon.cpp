// Invented numbers of a plausible size. None equals the catalog's: bandwidth by GPU clock is 13 to
// 23 % below or above it, energies 20 to 30 %, and voltage and leakage have other shapes than the
// model's.
#include "tests/virtual_board/silicon.h"

#include <algorithm>

namespace ridgeline::testing {

double on_curve(const Curve& curve, double x) {
  if (x <= curve.front().first) return curve.front().second;
  for (std::size_t i = 1; i < curve.size(); ++i) {
    const auto [x0, y0] = curve[i - 1];
    const auto [x1, y1] = curve[i];
    if (x <= x1) return y0 + (y1 - y0) * (x - x0) / (x1 - x0);
  }
  return curve.back().second;
}

double Silicon::flops_per_s(const Clocks& at) const {
  return flop_per_cycle * multiprocessors * at.gpu_hz;
}

double Silicon::bytes_per_s(const Clocks& at) const {
  return std::min(bus_share * bus_bytes_per_cycle * at.memory_hz,
                  fabric_bytes_per_cycle * at.gpu_hz);
}

double Silicon::joule_per_flop(const Clocks& at) const {
  const double volt = on_curve(gpu_volt, at.gpu_hz);
  return flop_farad * volt * volt;
}

double Silicon::joule_per_byte(const Clocks& at) const {
  return on_curve(byte_joule, at.memory_hz);
}

double Silicon::memory_rail_w(const Clocks& at) const { return on_curve(memory_w, at.memory_hz); }

double Silicon::cpu_rail_w(const Clocks& at, bool busy) const {
  const double volt = on_curve(cpu_volt, at.cpu_hz);
  return (core_idle_farad * at.cores + (busy ? core_busy_farad : 0)) * at.cpu_hz * volt * volt;
}

double Silicon::gpu_rail_w(const Clocks& at, bool busy) const {
  const double volt = on_curve(gpu_volt, at.gpu_hz);
  const double toggling = multiprocessors * at.gpu_hz * (idle_farad + (busy ? busy_farad : 0));
  return chip_w + leak_w * volt * volt * volt + toggling * volt * volt;
}

double Silicon::constant_w(const Clocks& at) const {
  return memory_rail_w(at) + cpu_rail_w(at, true) + gpu_rail_w(at, true);
}

double Silicon::idle_w(const Clocks& at) const {
  return memory_rail_w(at) + cpu_rail_w(at, false) + gpu_rail_w(at, false);
}

Ran Silicon::run(std::span<const Work> kernels, const Clocks& at) const {
  Ran ran;
  for (const Work& work : kernels) {
    ran.time_s += std::max(work.flop / flops_per_s(at), work.bytes / bytes_per_s(at));
    ran.energy_j += work.flop * joule_per_flop(at) + work.bytes * joule_per_byte(at);
  }
  ran.energy_j += constant_w(at) * ran.time_s;
  return ran;
}

Silicon agx_orin_silicon() {
  Silicon chip;
  chip.name = "agx-orin";
  chip.multiprocessors = 16;
  chip.bus_bytes_per_cycle = 64;
  chip.bus_share = 0.905;
  chip.fabric_bytes_per_cycle = 181;
  chip.launch_cycles = 14e3;
  chip.start_s = 2.2e-6;
  chip.gpu_volt = {{300e6, 0.61}, {560e6, 0.62}, {820e6, 0.70}, {1070e6, 0.81}, {1300.5e6, 0.94}};
  chip.flop_farad = 4.6e-12;
  chip.busy_farad = 0.85e-9;
  chip.idle_farad = 0.16e-9;
  chip.leak_w = 2.3;
  chip.chip_w = 2.2;
  chip.memory_w = {{204e6, 1.9}, {665.6e6, 2.3}, {2133e6, 4.2}, {3199e6, 6.1}};
  chip.byte_joule = {{204e6, 64e-12}, {2133e6, 61e-12}, {3199e6, 63e-12}};
  chip.cpu_volt = {{700e6, 0.6}, {2201.6e6, 0.95}};
  chip.core_idle_farad = 55e-12;
  chip.core_busy_farad = 400e-12;
  return chip;
}

Silicon orin_nano_silicon() {
  Silicon chip;
  chip.name = "orin-nano";
  chip.multiprocessors = 8;
  chip.bus_bytes_per_cycle = 32;
  chip.bus_share = 0.92;
  chip.fabric_bytes_per_cycle = 118;
  chip.launch_cycles = 17e3;
  chip.start_s = 3.4e-6;
  chip.gpu_volt = {{300e6, 0.6}, {510e6, 0.6}, {720e6, 0.69}, {920e6, 0.80}, {1020e6, 0.87}};
  chip.flop_farad = 6.6e-12;
  chip.busy_farad = 1.25e-9;
  chip.idle_farad = 0.1e-9;
  chip.leak_w = 0.9;
  chip.chip_w = 1.3;
  chip.memory_w = {{204e6, 0.7}, {665.6e6, 0.9}, {2133e6, 1.7}, {3199e6, 2.4}};
  chip.byte_joule = {{204e6, 43e-12}, {2133e6, 40e-12}, {3199e6, 41e-12}};
  chip.cpu_volt = {{700e6, 0.6}, {1728e6, 0.9}};
  chip.core_idle_farad = 60e-12;
  chip.core_busy_farad = 420e-12;
  return chip;
}

Silicon tx2_silicon() {
  Silicon chip;
  chip.name = "tx2";
  chip.multiprocessors = 2;
  chip.bus_bytes_per_cycle = 32;
  chip.bus_share = 0.84;
  chip.fabric_bytes_per_cycle = 58;
  chip.launch_cycles = 26e3;
  chip.start_s = 5e-6;
  chip.gpu_volt = {{114e6, 0.72}, {620e6, 0.75}, {930e6, 0.88}, {1130e6, 0.99}, {1300.5e6, 1.11}};
  chip.flop_farad = 8.8e-12;
  chip.busy_farad = 1.3e-9;
  chip.idle_farad = 0.25e-9;
  chip.leak_w = 0.5;
  chip.chip_w = 1.1;
  chip.memory_w = {{204e6, 0.5}, {665.6e6, 0.7}, {1331.2e6, 1.1}, {1600e6, 1.35}, {1866e6, 1.7}};
  chip.byte_joule = {{204e6, 66e-12}, {1331.2e6, 62e-12}, {1866e6, 64e-12}};
  chip.cpu_volt = {{345e6, 0.7}, {2035.2e6, 1.1}};
  chip.core_idle_farad = 70e-12;
  chip.core_busy_farad = 500e-12;
  return chip;
}

}  // namespace ridgeline::testing
