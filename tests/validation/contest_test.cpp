// The rule that chooses runs against other ways, on measurements of real machines
// (tests/support/measured_tables.h). Prints the tables of docs/validation.md.
#include "tests/validation/contest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/support/measured_tables.h"

namespace ridgeline::testing {
namespace {

constexpr double limit = 0.03;

struct Held {
  std::vector<ContestRow> rows;
  std::vector<TunedCase> tuned;
};

Held held(const std::string& title, const std::vector<ContestCase>& cases) {
  Held result{contest(cases, limit), tuned_cases(cases, limit)};
  std::fputs(contest_text(title + ": " + std::to_string(cases.size()) + " cases", result.rows,
                          result.tuned)
                 .c_str(),
             stdout);
  return result;
}

// The rule needs no more runs than any other way, and no more than `runs` on average.
void expect_fewest(const Held& held, double runs) {
  EXPECT_LE(held.rows.front().mean(), runs);
  for (const ContestRow& row : held.rows)
    EXPECT_LE(held.rows.front().mean(), row.mean()) << row.name;
}

double within(const Held& held, double regret) {
  double count = 0;
  for (const TunedCase& each : held.tuned) count += each.real <= regret ? 1 : 0;
  return count / static_cast<double>(held.tuned.size());
}

TEST(Contest, EnergyOverClocksOfAnA100) {
  const std::string table = measured_table("nvidia_gpus_dvfs.csv");
  if (table.empty()) GTEST_SKIP() << "RIDGELINE_DATA is not set, or has no nvidia_gpus_dvfs.csv";
  const auto cases = contest_cases(table, "energaizer-dvfs", "", true);
  const Held free = held("A100, energy over clocks", cases);
  const Held hurried =
      held("A100, energy over clocks, at most 1.2 times the least time", with_deadline(cases, 1.2));
  EXPECT_GE(free.tuned.size(), 12u);
  expect_fewest(free, 0.5);
  expect_fewest(hurried, 1.5);
  // One network waits for the host, and its repeats differ by a quarter.
  EXPECT_GE(within(free, limit), 0.9);
  EXPECT_GE(within(hurried, limit), 0.9);
}

TEST(Contest, TimeOverModesAndBatchesOfAnAgxOrin) {
  const std::string table = measured_table("orin_agx_nets.csv");
  if (table.empty()) GTEST_SKIP() << "RIDGELINE_DATA is not set, or has no orin_agx_nets.csv";
  const auto cases = contest_cases(table, "branes-batched", "fp16", false);
  const Held free = held("AGX Orin, time over modes and batches", cases);
  const Held hurried =
      held("AGX Orin, time over modes and batches, a batch within 3 times the least time",
           with_deadline(cases, 3));
  EXPECT_GE(free.tuned.size(), 7u);
  expect_fewest(free, 0.5);
  expect_fewest(hurried, 1);
  EXPECT_EQ(within(free, limit), 1);
  EXPECT_EQ(within(hurried, limit), 1);
}

}  // namespace
}  // namespace ridgeline::testing
