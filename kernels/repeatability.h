// Two profiles of the same machine, row by row: what differs by more than noise explains.
// A run that is not like the last one says so; nothing is averaged over runs.
#pragma once

#include <string>
#include <vector>

#include "base/profile.h"

namespace ridgeline {

struct RowDifference {
  std::string row;      // "DRAM read, 2 threads"
  double relative = 0;  // new against old: −0.03 = 3 % less
};

// Rows of the same kernel, level and thread count in the first mode of both whose medians differ
// by more than `limit`, largest first. Rows that either run could not measure are left out.
std::vector<RowDifference> differing_rows(const ProfileMode& before, const ProfileMode& after,
                                          double limit = 0.02);

// Adds a warning to the first mode of `after` where rows of a comparable profile differ: a run that
// is not like the last one says so.
void warn_of_differences(const Profile& before, Profile& after);

// Whether two profiles are of one machine and mode, so that their rows may be compared.
bool comparable(const Profile& before, const Profile& after);

}  // namespace ridgeline
