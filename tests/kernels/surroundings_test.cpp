// Warnings about the conditions of a run: each for its cause, and none without one.
#include <gtest/gtest.h>

#include "kernels/run_verdict.h"

namespace ridgeline {
namespace {

std::string warning_of(const MeasuringConditions& seen, const std::string& busiest = "",
                       std::optional<double> quota = std::nullopt) {
  MeasuringConditions conditions = seen;
  warn_of_surroundings(busiest, quota, 4, conditions);
  if (conditions.warnings.empty()) return "";
  EXPECT_EQ(conditions.warnings.size(), 1u);
  EXPECT_NE(conditions.warnings[0].fix, "");
  return conditions.warnings[0].text;
}

TEST(Surroundings, AQuietMachineHasNoWarning) {
  EXPECT_EQ(warning_of({}), "");
  MeasuringConditions conditions;
  conditions.other_fraction = 0.02;
  conditions.steal_fraction = 0.005;
  conditions.governor = "performance";
  EXPECT_EQ(warning_of(conditions, "'idle' (pid 1)", 4.0), "");
}

TEST(Surroundings, OtherLoadIsNamed) {
  MeasuringConditions conditions;
  conditions.other_fraction = 0.3;
  EXPECT_EQ(warning_of(conditions, "'stress' (pid 7)"),
            "other load: 'stress' (pid 7) ran beside the measurement (30.0 % of the measured "
            "cores' time)");
  conditions.other_fraction = 0.018;
  conditions.disturbed = true;
  EXPECT_NE(warning_of(conditions).find("other processes"), std::string::npos);
}

TEST(Surroundings, StealQuotaAndGovernorAreSaid) {
  MeasuringConditions conditions;
  conditions.steal_fraction = 0.02;
  EXPECT_NE(warning_of(conditions).find("hypervisor took 2.0 %"), std::string::npos);
  EXPECT_NE(warning_of({}, "", 1.5).find("1.5 of 4 cores"), std::string::npos);
  conditions = {};
  conditions.governor = "powersave";
  EXPECT_NE(warning_of(conditions).find("'powersave'"), std::string::npos);
}

}  // namespace
}  // namespace ridgeline
