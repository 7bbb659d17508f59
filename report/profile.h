// A measured mode as tables: for people, and every row as CSV.
// Formats what the profile says; decides nothing.
#pragma once

#include <string>

#include "base/profile.h"

namespace ridgeline {

// The verdict on the run, its conditions and warnings, then rows with value, interval and share of
// theory, latency and launch cost.
std::string profile_text(const Profile& profile, int width);

// "disturbed: other processes took 38 % of the CPU; close them and measure again" and a newline;
// empty in profiles of older versions.
std::string verdict_text(const MeasuringConditions& conditions, int width);

// Rounds, load and warnings, folded to the width; no newline at the end.
std::string conditions_text(const MeasuringConditions& conditions, int width);

// All rows of all modes in one table.
std::string profile_csv(const Profile& profile);

}  // namespace ridgeline
