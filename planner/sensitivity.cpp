// The choice is made again for each change of a limit; draws are kept, so it costs little.
#include "planner/sensitivity.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"

namespace ridgeline {
namespace {

constexpr double small_change = 0.01;
constexpr double worth_saying = 1e-3;

std::string name_of(const Chooser& chooser, std::size_t row) {
  const OperatingPoint& point = chooser.problem().modes.modes[chooser.swept().mode_of(row)].point;
  const PlanVariant& variant = chooser.problem().variants[chooser.swept().variant_of(row)];
  return fmt::format("{}, {}", point.label.empty() ? request_text(point) : point.label,
                     text_of(variant));
}

}  // namespace

std::vector<BindingLimit> binding_limits(Chooser& chooser, const Objective& objective,
                                         const Choice& chosen) {
  std::vector<BindingLimit> result;
  for (std::size_t i = 0; i < objective.limits.size(); ++i) {
    Objective without = objective;
    without.limits.erase(without.limits.begin() + static_cast<std::ptrdiff_t>(i));
    const auto better = chooser.best(without);
    if (better.empty()) continue;
    const double gain = 1 - better.front().score / chosen.score;
    if (gain > worth_saying) result.push_back({objective.limits[i], gain});
  }
  std::sort(result.begin(), result.end(),
            [](const BindingLimit& a, const BindingLimit& b) { return a.gain > b.gain; });
  return result;
}

std::vector<std::string> flips(Chooser& chooser, const Objective& objective, const Choice& chosen) {
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < objective.limits.size(); ++i)
    for (const double change : {-small_change, small_change}) {
      Objective moved = objective;
      moved.limits[i].bound *= 1 + change;
      const auto other = chooser.best(moved);
      if (!other.empty() && chooser.is_near(chosen.row, other.front().row)) continue;
      notes.push_back(fmt::format(
          "close call: with {} at {} {}", to_string(moved.limits[i].kind),
          limit_value_text(moved.limits[i].kind, moved.limits[i].bound),
          other.empty() ? "no mode would be left"
                        : "the choice would be " + name_of(chooser, other.front().row)));
    }
  return notes;
}

}  // namespace ridgeline
