// Knobs are compared as numbers; a mode that differs in exactly one of them is on that knob's line.
#include "planner/one_step.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace ridgeline {
namespace {

constexpr std::array<std::string_view, 5> knobs{"gpu", "emc", "cpu", "cores", "sm"};

std::array<double, 5> values_of(const OperatingPoint& point) {
  const double cpu =
      point.cpu_hz.empty() ? 0 : *std::max_element(point.cpu_hz.begin(), point.cpu_hz.end());
  return {point.gpu_hz.value_or(0), point.memory_hz.value_or(0), cpu,
          static_cast<double>(point.cpu_cores.value_or(0)),
          static_cast<double>(point.gpu_units.value_or(0))};
}

}  // namespace

std::vector<OneStep> one_step_away(const PlanProblem& problem, const Sweep& sweep,
                                   std::size_t row) {
  const auto& modes = problem.modes.modes;
  const auto here = values_of(modes[sweep.mode_of(row)].point);
  struct Nearest {
    std::optional<std::size_t> mode;
    double value = 0;
  };
  std::array<std::array<Nearest, 2>, knobs.size()> nearest;  // down, up
  for (std::size_t mode = 0; mode < modes.size(); ++mode) {
    const auto there = values_of(modes[mode].point);
    std::optional<std::size_t> differs;
    int differences = 0;
    for (std::size_t knob = 0; knob < knobs.size(); ++knob)
      if (there[knob] != here[knob]) {
        differs = knob;
        ++differences;
      }
    if (differences != 1) continue;
    const bool up = there[*differs] > here[*differs];
    Nearest& known = nearest[*differs][up];
    const bool closer = up ? there[*differs] < known.value : there[*differs] > known.value;
    if (!known.mode || closer) known = {mode, there[*differs]};
  }
  std::vector<OneStep> steps;
  for (std::size_t knob = 0; knob < knobs.size(); ++knob)
    for (const bool up : {false, true})
      if (const auto mode = nearest[knob][up].mode)
        steps.push_back({sweep.row(sweep.variant_of(row), *mode), std::string(knobs[knob]), up});
  return steps;
}

}  // namespace ridgeline
