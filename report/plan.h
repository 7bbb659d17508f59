// A plan for people: the answer first, then what it saves, what limits it, what else was near; and
// as CSV. Training plans add epochs and their input, or turns beside inference.
#pragma once

#include <string>

#include "planner/plan.h"
#include "planner/planner.h"

namespace ridgeline {

// `explain` adds what a step of each knob would do.
// "least energy per sample"; of a language model per request.
std::string goal_text(const PlannedRun& run, bool generates);

std::string plan_text(const Plan& plan, bool explain, int width);

// Every mode, batch and type, one line each.
std::string plan_csv(const PlanProblem& problem, const PlanResult& result);

// Epochs of training and their input.
std::string training_text(const PlannedTraining& training, int width);

// The runs that would make the plan sure, as a table of measured runs with empty times and powers,
// and how to measure each: `calibrate` reads it back. `options`: of the network, as in such tables.
std::string probe_sheet(const Plan& plan, const std::string& model, const std::string& options);

}  // namespace ridgeline
