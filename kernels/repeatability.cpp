// Matches rows by what was measured and compares medians and intervals.
#include "kernels/repeatability.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace ridgeline {
namespace {

using Rates = std::map<std::string, Estimate>;

std::string threads_text(int threads) {
  return std::to_string(threads) + (threads == 1 ? " thread" : " threads");
}

Rates rates_of(const ProfileMode& mode) {
  Rates rates;
  const auto add = [&](const std::string& name, Status status, const auto& rate) {
    if (status == Status::ok && rate) rates.emplace(name, *rate);
  };
  for (const ComputeRow& row : mode.compute)
    add(row.kernel + ", " + threads_text(row.threads), row.status, row.flops_per_s);
  for (const MemoryRow& row : mode.memory)
    add(std::string(to_string(row.level)) + " " + std::string(to_string(row.direction)) + ", " +
            threads_text(row.threads),
        row.status, row.bytes_per_s);
  for (const SweepRow& row : mode.sweep)
    add(row.kernel + ", " + threads_text(row.threads), row.status, row.bytes_per_s);
  return rates;
}

}  // namespace

std::vector<RowDifference> differing_rows(const ProfileMode& before, const ProfileMode& after,
                                          double limit) {
  const Rates old_rates = rates_of(before);
  std::vector<RowDifference> differences;
  for (const auto& [row, rate] : rates_of(after)) {
    const auto old_rate = old_rates.find(row);
    if (old_rate == old_rates.end() || old_rate->second.value <= 0) continue;
    const Estimate& old = old_rate->second;
    const double relative = rate.value / old.value - 1;
    if (std::abs(relative) <= limit) continue;
    differences.push_back({row, relative});
  }
  std::ranges::sort(differences, [](const RowDifference& a, const RowDifference& b) {
    return std::abs(a.relative) > std::abs(b.relative);
  });
  return differences;
}

bool comparable(const Profile& before, const Profile& after) {
  return before.machine == after.machine && !before.modes.empty() && !after.modes.empty() &&
         before.modes.front().mode == after.modes.front().mode;
}

}  // namespace ridgeline
