// Rooflines of many shapes for picture tests: tiny, crowded, extreme, one-sided.
// All values are made up.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "roofline/ceilings/roofline.h"
#include "tests/roofline/made_up_mode.h"
#include "tests/support/paths.h"

namespace ridgeline::testing {

inline Roofline example_roofline(bool all = false, bool points = true) {
  const Profile profile = load_profile(source_file("tests/data/profiles/example_cpu.json"));
  RooflineOptions options;
  options.profile = "example_cpu.json";
  options.all = all;
  if (points) options.points = {{"gemm", 2e9, 48e6, 3.1e-3}, {"softmax", 3e6, 8e6, {}}};
  return roofline_of(profile.modes[0], profile.machine, options);
}

// 14 roofs within one decade, 5 slopes of which two pairs nearly coincide, 20 points in a row.
inline Roofline crowded_roofline() {
  ProfileMode mode = made_up_mode();
  double rate = 3e11;
  for (const DType dtype :
       {DType::fp64, DType::fp32, DType::tf32, DType::fp16, DType::bf16, DType::fp8, DType::int8})
    for (const Unit unit : {Unit::vector, Unit::matrix}) {
      mode.compute.push_back(compute_row(dtype, unit, "avx512f", rate));
      rate *= 1.15;
    }
  mode.memory = {memory_row(Level::l1, Direction::read, 9e11),
                 memory_row(Level::shared, Direction::read, 8.2e11),
                 memory_row(Level::l2, Direction::read, 3e11),
                 memory_row(Level::l3, Direction::read, 1.2e11),
                 memory_row(Level::dram, Direction::read, 1e11)};
  RooflineOptions options;
  for (int i = 0; i < 20; ++i)
    options.points.push_back(
        {"kernel_" + std::to_string(i), 1e7 * (i * i + 5), 1e8, 0.01 + 0.001 * (i % 5)});
  return roofline_of(mode, made_up_machine(), options);
}

inline Roofline coinciding_roofline() {
  ProfileMode mode = made_up_mode();
  for (const DType dtype : {DType::fp64, DType::fp32, DType::fp16, DType::bf16})
    mode.compute.push_back(compute_row(dtype, Unit::vector, "avx512f", 1e11));
  for (const Level level : {Level::l1, Level::l2, Level::l3, Level::dram})
    mode.memory.push_back(memory_row(level, Direction::read, 1e10));
  RooflineOptions options;
  for (int i = 0; i < 6; ++i) options.points.push_back({"same" + std::to_string(i), 1e9, 1e8, {}});
  return roofline_of(mode, made_up_machine(), options);
}

inline Roofline extreme_roofline() {
  ProfileMode mode = made_up_mode();
  mode.compute = {compute_row(DType::fp64, Unit::vector, "baseline", 1e3),
                  compute_row(DType::fp32, Unit::vector, "avx2_fma", 1e9),
                  compute_row(DType::bf16, Unit::matrix, "amx_bf16", 1e18)};
  mode.memory = {memory_row(Level::l1, Direction::read, 1e15),
                 memory_row(Level::dram, Direction::read, 1e3)};
  RooflineOptions options;
  options.points = {{"tiny", 1, 1e18, {}}, {"huge", 1e18, 1, {}}};
  return roofline_of(mode, made_up_machine(), options);
}

inline Roofline one_sided_roofline(bool roofs) {
  ProfileMode mode = simple_mode();
  if (roofs)
    mode.memory.clear();
  else
    mode.compute.clear();
  return roofline_of(mode, made_up_machine(), {});
}

inline Roofline hostile_roofline() {
  Machine machine;
  machine.name = "<CPU> & \"co\" \x01 " + std::string(200, 'W');
  ProfileMode mode = simple_mode();
  mode.compute.push_back(compute_row(DType::fp64, Unit::vector, std::string(80, 'x'), 2e11));
  RooflineOptions options;
  options.profile = "a]]>b.json";
  options.points = {{"<script>alert(1)</script>" + std::string(100, 'n'), 1e9, 1e9, {}}};
  return roofline_of(mode, machine, options);
}

inline std::vector<std::pair<std::string, Roofline>> sample_rooflines() {
  return {{"example", example_roofline()},
          {"example, all", example_roofline(true)},
          {"tiny", roofline_of(simple_mode(), made_up_machine(), {})},
          {"crowded", crowded_roofline()},
          {"coinciding", coinciding_roofline()},
          {"extreme", extreme_roofline()},
          {"roofs only", one_sided_roofline(true)},
          {"slopes only", one_sided_roofline(false)},
          {"hostile names", hostile_roofline()}};
}

}  // namespace ridgeline::testing
