// How near the measured rates came to what the hardware allows, held against the project's targets.
// Pure functions of a profile's mode: shares of theory are in its rows.
#pragma once

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/profile.h"
#include "base/text_table.h"

namespace ridgeline {

struct CheckedTarget {
  std::string kernel;        // "fma_fp32"; "copy_dram" for the best of DRAM
  std::string what;          // "GPU vector fp32", "GPU DRAM, best direction"
  double share = 0;          // of theory
  double least = 0;          // the target
  double low = 0, high = 0;  // of the share
  bool impossible = false;   // more than the hardware allows: a fault of the measurement
  bool met() const { return share >= least && !impossible; }
};

struct TargetCheck {
  static constexpr std::string_view schema = "ridgeline.targets/1";
  std::vector<CheckedTarget> targets;
  std::vector<std::string>
      without_theory;  // kernels that a target is for, but no number to divide by

  bool met() const;
};

TargetCheck check_targets(const ProfileMode& mode);

TextTable target_table(const TargetCheck& check);
std::string target_text(const TargetCheck& check, int width);  // the table and a last line
Json to_json(const TargetCheck& check);

}  // namespace ridgeline
