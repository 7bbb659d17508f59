// The rule that chooses runs against other ways, on measurements of real machines
// (tests/support/measured_tables.h). Prints the tables of docs/validation.md.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/support/measured_tables.h"
#include "tests/validation/contest.h"

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

TEST(Contest, EnergyOverClocksOfAnA100) {
  const std::string table = measured_table("nvidia_gpus_dvfs.csv");
  if (table.empty()) GTEST_SKIP() << "RIDGELINE_DATA is not set, or has no nvidia_gpus_dvfs.csv";
  DecisionGoal goal;
  goal.energy = true;
  const auto cases = contest_cases(table, "energaizer-dvfs", goal);
  ASSERT_GE(cases.size(), 10u);
  held("A100, energy over clocks", cases);
}

TEST(Contest, TimeOverModesAndBatchesOfAnAgxOrin) {
  const std::string table = measured_table("orin_agx_nets.csv");
  if (table.empty()) GTEST_SKIP() << "RIDGELINE_DATA is not set, or has no orin_agx_nets.csv";
  const auto cases = contest_cases(table, "branes-batched", {});
  ASSERT_GE(cases.size(), 20u);
  held("AGX Orin, time over modes and batches", cases);
}

}  // namespace
}  // namespace ridgeline::testing
