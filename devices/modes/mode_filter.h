// A choice among all modes of a device: gpu>=600MHz,emc=max or cores=4/8/12,gpu=306MHz/612MHz.
// The words and units are those of ModeRequest; with lists of values it is a user's own grid.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "devices/modes/mode_grid.h"

namespace ridgeline {

enum class ModeKnob { gpu, memory, cpu, cores, units };
enum class Comparison { equal, at_least, at_most, above, below };
enum class AxisEnd { lowest, highest };  // min, max

struct ModeCondition {
  ModeKnob knob = ModeKnob::gpu;
  Comparison comparison = Comparison::equal;
  std::vector<std::variant<double, AxisEnd>> values;  // more than one only with `equal`
  std::string text;                                   // as written
};

using ModeFilter = std::vector<ModeCondition>;  // all of them hold

// Failures are usage errors; `where` names the option.
ModeFilter parse_mode_filter(std::string_view text, const std::string& where = "--filter");

// The part of a grid that a filter leaves. `=` takes the nearest lockable step where the clock is
// none, with a note. Where nothing is left it says so: an Error with ExitCode::infeasible.
ModeGrid filtered(const catalog::Device& device, const ModeGrid& grid, const ModeFilter& filter,
                  const std::string& where = "--filter");

// Whether a mode satisfies the filter, on the grid or off it; `grid` is the full one.
bool matches(const ModeGrid& grid, const ModeFilter& filter, const OperatingPoint& point);

}  // namespace ridgeline
