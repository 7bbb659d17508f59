// Plan → Figure: energy against latency of every mode (against the time of an epoch; beside
// inference, trained samples against power), the front, where limits forbid, the stock modes and
// the choice. No drawing: that is done in
// plots/renderers.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "base/tokens.h"
#include "planner/planner.h"
#include "plots/figure.h"

namespace ridgeline {

// Which knob colours the modes.
enum class ColourKnob { gpu, memory };

template <>
struct TokenTable<ColourKnob> {
  static constexpr std::string_view noun = "knob";
  static constexpr std::array<std::pair<ColourKnob, std::string_view>, 2> rows{
      {{ColourKnob::gpu, "gpu"}, {ColourKnob::memory, "memory"}}};
};

// Needs power: an Error where the model knows none.
Figure plan_figure(const PlanProblem& problem, const PlanResult& result,
                   ColourKnob knob = ColourKnob::gpu);

}  // namespace ridgeline
