// The reasons for a choice: how it keeps the limits and what each limit costs, what it saves, what
// the next setting of each knob would change, and why another mode was not chosen.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "planner/choice.h"
#include "planner/plan.h"

namespace ridgeline {

// How the choice keeps each limit, and what could be gained without it.
std::vector<PlannedLimit> planned_limits(Chooser& chooser, const Objective& objective,
                                         const Choice& choice);

// A sentence for each limit that, moved by 1 %, would lead to quite another choice.
std::vector<std::string> close_calls(Chooser& chooser, const Objective& objective,
                                     const Choice& choice);

// Against another row; nullopt if that mode cannot run or, beside inference, never trains.
std::optional<Saving> saving_against(Chooser& chooser, const Objective& objective,
                                     const Choice& choice, std::size_t row);

// The next setting of each knob, up and down, with all other knobs as chosen. It shows that every
// knob is where it should be.
std::vector<KnobChange> knob_changes(Chooser& chooser, const Objective& objective,
                                     const Choice& choice);

// Limits that break at the means, and limits that hold too seldom, one sentence each.
std::vector<std::string> broken_limits(Chooser& chooser, const Objective& objective,
                                       std::size_t row);

// The variant with which the mode does best: one that keeps the limits if there is one.
std::size_t best_row(Chooser& chooser, const Objective& objective, std::size_t mode);

struct WhyNot {
  std::size_t row = 0;     // the mode with the variant that suits it best
  double probability = 0;  // that all limits hold there
  std::vector<std::string> reasons;
};

WhyNot why_not(Chooser& chooser, const Objective& objective, const Choice& choice,
               std::size_t mode);

}  // namespace ridgeline
