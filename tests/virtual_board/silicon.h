// The truth about a board that exists only here: what its chip can do and what that costs, at any
// clocks, from parameters of its own. Nothing of roofline/ or kernels/ is used: a measurement must
// find these numbers, and a plan the mode that run() says is best.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ridgeline::testing {

// A curve through points, straight between them and flat beyond the ends.
using Curve = std::vector<std::pair<double, double>>;
double on_curve(const Curve& curve, double x);

struct Clocks {
  double gpu_hz = 0, memory_hz = 0, cpu_hz = 0;
  int cores = 1;
};

// A kernel whose arithmetic and traffic overlap.
struct Work {
  double flop = 0, bytes = 0;
};

struct Ran {
  double time_s = 0, energy_j = 0;
};

struct Silicon {
  std::string name;
  int multiprocessors = 8;
  double flop_per_cycle = 256;          // fp32, of one multiprocessor
  double bus_bytes_per_cycle = 64;      // both edges
  double bus_share = 0.9;               // of the bus that reads reach
  double fabric_bytes_per_cycle = 200;  // of the GPU's clock, on the way to memory
  double launch_cycles = 12e3;          // of the CPU
  double start_s = 2e-6;

  Curve gpu_volt;         // by hertz
  double flop_farad = 0;  // energy of one FLOP per square volt
  double busy_farad = 0;  // of a multiprocessor that works, per cycle
  double idle_farad = 0;  // of one that waits
  double leak_w = 0;      // at one volt; grows with the cube
  double chip_w = 0;      // fabric, always on
  Curve memory_w;         // background of memory and its interface, by hertz
  Curve byte_joule;       // by hertz of the memory
  Curve cpu_volt;
  double core_idle_farad = 0, core_busy_farad = 0;  // per core and cycle

  double flops_per_s(const Clocks& at) const;
  double bytes_per_s(const Clocks& at) const;
  double joule_per_flop(const Clocks& at) const;
  double joule_per_byte(const Clocks& at) const;

  // By rail; kernels keep one core busy, which waits for them.
  double memory_rail_w(const Clocks& at) const;
  double cpu_rail_w(const Clocks& at, bool busy) const;
  double gpu_rail_w(const Clocks& at, bool busy) const;
  double suspended_gpu_rail_w() const { return chip_w; }  // no leakage, no clock

  double constant_w(const Clocks& at) const;  // while a kernel runs, without its work
  double idle_w(const Clocks& at) const;      // clocks as they are, nothing to do
  Ran run(std::span<const Work> kernels, const Clocks& at) const;
};

Silicon agx_orin_silicon();
Silicon orin_nano_silicon();
Silicon tx2_silicon();

}  // namespace ridgeline::testing
