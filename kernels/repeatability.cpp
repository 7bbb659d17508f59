// Matches rows by what was measured and compares medians and intervals.
#include "kernels/repeatability.h"

#include <fmt/format.h>

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
    add(fmt::format("{} {}{}{}, {}", to_string(row.level), to_string(row.direction),
                    row.allocation.empty() ? "" : " ", row.allocation, threads_text(row.threads)),
        row.status, row.bytes_per_s);
  for (const SweepRow& row : mode.sweep)
    add(row.kernel + ", " + threads_text(row.threads), row.status, row.bytes_per_s);
  for (const StorageRow& row : mode.storage)
    add(fmt::format("{} reads of {}, {} at once", row.pattern, row.filesystem, row.readers),
        row.status, row.bytes_per_s);
  for (const DecodeRow& row : mode.decode)
    add("time of decoding a " + row.format + ", " + threads_text(row.threads), row.status,
        row.time_s);
  for (const TransferRow& row : mode.transfer)
    add(row.kind + " " + row.host_memory, row.status, row.bytes_per_s);
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

void warn_of_differences(const Profile& before, Profile& after) {
  if (!comparable(before, after)) return;
  const auto rows = differing_rows(before.modes.front(), after.modes.front());
  if (rows.empty()) return;
  after.modes.front().conditions.warnings.push_back(
      {fmt::format("{} row{} by more than 2 % from the run of {}; most: {} ({:+.1f} %)",
                   rows.size(), rows.size() == 1 ? " differs" : "s differ",
                   before.modes.front().conditions.started, rows.front().row,
                   100 * rows.front().relative),
       "measure again; what other machines on this host do is not visible from here"});
}

}  // namespace ridgeline
