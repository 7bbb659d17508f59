// Which modes a sweep goes through: all stock modes, a grid over some knobs, or a list. Modes that
// this machine cannot enter now are listed with the reason and, where one helps, the command.
#pragma once

#include <string>
#include <vector>

#include "base/mode_request.h"
#include "devices/catalog/catalog.h"
#include "devices/control/changes.h"

namespace ridgeline::control {

struct SweepMode {
  std::string label;                // "15W", "gpu=612MHz,emc=2133MHz"
  ModeRequest request;              //
  std::optional<int> threads = {};  // cores to measure with by affinity; none are switched off
};

struct SkippedMode {
  std::string label, why, command;
};

struct SweepPlan {
  std::vector<SweepMode> modes;  // shuffled, always in the same way
  std::vector<SkippedMode> skipped;
  std::vector<std::string> notes;
};

struct SweepSettings {
  bool cores_by_affinity = false;  // of CPU kernels, which need no CPU to be switched off
  int cores = 0;                   // that affinity has
};

// `text` is "stock", "grid:gpu=5,emc=all,cores=2/4", or modes between commas (labels) or
// semicolons. A knob of a grid takes a number of steps, all, max, or values between slashes; knobs
// that it does not name stay as they are. Steps above the cap of the present mode are left out,
// with a note.
SweepPlan plan_sweep(const std::string& text, const World& world, const Knobs& knobs,
                     const catalog::Device& device, const catalog::Configuration& configuration,
                     const SweepSettings& settings, const std::string& where);

}  // namespace ridgeline::control
