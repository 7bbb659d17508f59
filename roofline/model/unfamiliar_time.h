// The part of a step that no measurement covers, by subject: what an answer must name.
#pragma once

#include <string>
#include <vector>

#include "base/conditions.h"
#include "base/machine_model.h"
#include "base/prediction.h"
#include "roofline/model/network_load.h"
#include "roofline/model/step.h"

namespace ridgeline {

// Subjects with at least 1 % of the time whose rate is still uncertain, the largest share first. A
// subject that the model was fitted to is left out. `step` must have rows.
std::vector<Unfamiliar> unfamiliar_time(const MachineModel& model, const NetworkLoad& load,
                                        const Conditions& conditions, const Step& step);

// "no measurement covers the rate of window attention …: 18 % of the time, uncertain by a factor of
// 1.9".
std::string to_text(const Unfamiliar& unfamiliar);
std::vector<std::string> texts(const std::vector<Unfamiliar>& unfamiliar);

}  // namespace ridgeline
