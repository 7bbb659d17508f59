// A profile of several power modes side by side: what each mode reached, and how well a model of
// all of them predicts modes that it did not see.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/profile.h"
#include "devices/control/sweep_plan.h"
#include "roofline/model/sweep_model.h"

namespace ridgeline {

struct ModeSweep {
  const Profile& profile;
  std::vector<control::SkippedMode> skipped;
  std::vector<LeftOutError> errors;
};

std::string mode_sweep_text(const ModeSweep& sweep, int width);

// One line while a sweep runs: "3 of 12  gpu=612MHz: 2.5 TFLOP/s fp32, 130 GB/s, 12.3 W".
std::string mode_line(const ProfileMode& mode, std::size_t number, std::size_t count);

}  // namespace ridgeline
