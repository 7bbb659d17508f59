// Parameters that the power of a machine depends on. They belong to its chips and its rig, so what
// the rows of one network say about them holds for all.
#pragma once

#include <cmath>

#include "base/parameters.h"

namespace ridgeline {

// Whether it is a row of the table's section "Power and energy": no time depends on it.
bool is_of_power(const ParameterRow& row);

// Share of the prior's variance of an energy that other networks keep, since the operations and
// bytes of each network are counted with errors of their own. Assumed; offsets keep nothing.
constexpr double energy_between_networks = 0.5;
// Of what a fit says of the logarithm's spread, so that an energy without rows keeps its prior.
inline double energy_spread_share() { return std::sqrt(1 - energy_between_networks); }

}  // namespace ridgeline
