// Rows of a made-up machine, for tests that need a specific shape of roofline.
// Values are round on purpose; nothing here was measured.
#pragma once

#include <string>

#include "base/profile.h"

namespace ridgeline::testing {

inline Estimate around(double value, double relative = 0.01) {
  return {value, value * (1 - relative), value * (1 + relative), Source::measured};
}

inline ComputeRow compute_row(DType dtype, Unit unit, const std::string& isa, double flops_per_s,
                              int threads = 4) {
  ComputeRow row;
  row.kernel = "k_" + isa + "_" + std::string(to_string(dtype));
  row.unit = unit;
  row.dtype = row.accumulate = dtype;
  row.isa = isa;
  row.threads = threads;
  row.flops_per_s = around(flops_per_s);
  return row;
}

inline MemoryRow memory_row(Level level, Direction direction, double bytes_per_s, int threads = 4) {
  MemoryRow row;
  row.kernel = std::string(to_string(direction)) + "_avx512";
  row.level = level;
  row.direction = direction;
  row.isa = "avx512f";
  row.threads = threads;
  row.bytes_per_s = around(bytes_per_s);
  row.working_set_bytes = 1 << 20;
  return row;
}

inline SweepRow sweep_row(int fma, double flop_per_byte, double flops_per_s, int threads = 4) {
  SweepRow row;
  row.kernel = "sweep_" + std::to_string(fma);
  row.threads = threads;
  row.fma_per_element = fma;
  row.flop_per_byte = flop_per_byte;
  row.flops_per_s = around(flops_per_s, 0.02);
  row.bytes_per_s = around(flop_per_byte > 0 ? flops_per_s / flop_per_byte : 1, 0.02);
  return row;
}

inline Machine made_up_machine() {
  Machine machine;
  machine.name = "Made-up CPU";
  return machine;
}

inline ProfileMode made_up_mode() {
  ProfileMode mode;
  mode.mode.label = "as found";
  mode.conditions.started = "2026-01-02T03:04:05Z";
  return mode;
}

// 100 GFLOP/s FP32 and 10 GB/s: the ridge is at 10 FLOP/byte.
inline ProfileMode simple_mode() {
  ProfileMode mode = made_up_mode();
  mode.compute = {compute_row(DType::fp32, Unit::vector, "avx512f", 100e9)};
  mode.memory = {memory_row(Level::dram, Direction::read, 10e9)};
  return mode;
}

}  // namespace ridgeline::testing
