// Ceilings: what a machine can do at one OperatingPoint, by one MachineModel.
// Plain doubles for the model to compute with; intervals come from drawing models, not from here.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/operating_point.h"
#include "base/tokens.h"

namespace ridgeline {

struct Peak {
  Processor processor = Processor::cpu;
  Unit unit = Unit::vector;
  DType dtype = DType::fp32;
  DType accumulate = DType::fp32;
  double flops_per_s = 0;  // OP/s for integer dtypes
  Source source = Source::assumed;
  bool sparse = false;  // with 2:4 structured sparsity, zeros counted

  friend bool operator==(const Peak&, const Peak&) = default;
};

struct Bandwidth {
  Processor processor = Processor::cpu;
  Level level = Level::dram;
  Direction direction = Direction::read;
  double bytes_per_s = 0;
  Source source = Source::assumed;

  friend bool operator==(const Bandwidth&, const Bandwidth&) = default;
};

struct LaunchCost {
  Processor processor = Processor::cpu;
  double time_s = 0;  // of one launch
  Source source = Source::assumed;

  friend bool operator==(const LaunchCost&, const LaunchCost&) = default;
};

struct ConstantPower {
  double power_w = 0;
  Source source = Source::assumed;

  friend bool operator==(const ConstantPower&, const ConstantPower&) = default;
};

struct FlopEnergy {
  Processor processor = Processor::cpu;
  Unit unit = Unit::vector;
  DType dtype = DType::fp32;
  double joule_per_flop = 0;
  Source source = Source::assumed;

  friend bool operator==(const FlopEnergy&, const FlopEnergy&) = default;
};

struct ByteEnergy {
  Processor processor = Processor::cpu;
  Level level = Level::dram;
  double joule_per_byte = 0;
  Source source = Source::assumed;

  friend bool operator==(const ByteEnergy&, const ByteEnergy&) = default;
};

struct Ceilings {
  static constexpr std::string_view schema = "ridgeline.ceilings/1";
  std::string device;
  OperatingPoint point;
  std::vector<Peak> peaks;
  std::vector<Bandwidth> bandwidths;
  std::vector<LaunchCost> launch_costs;
  std::optional<ConstantPower> idle_power;  // absent = unknown, as are missing rows below
  std::optional<ConstantPower> busy_power;  // while a kernel runs, whatever it does: Choi's π₀
  std::vector<FlopEnergy> flop_energies;
  std::vector<ByteEnergy> byte_energies;

  friend bool operator==(const Ceilings&, const Ceilings&) = default;
};

Json to_json(const Ceilings& ceilings);
Ceilings ceilings_from_json(const JsonCursor& cursor);

}  // namespace ridgeline
