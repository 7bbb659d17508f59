// Ticks: round values, as many labels as fit, readable prefixes and powers.
// The renderers place them.
#include "plots/ticks.h"

#include <gtest/gtest.h>

namespace ridgeline::testing {
namespace {

std::string labels(const Axis& axis, double length, double gap, bool utf8 = true) {
  std::string out;
  for (const Tick& tick : ticks_of(axis, length, gap, utf8))
    if (!tick.label.empty()) out += (out.empty() ? "" : ", ") + tick.label;
  return out;
}

TEST(Ticks, DecadesWithPrefixes) {
  EXPECT_EQ(labels({"", "", Scale::log, 5e8, 2e12, true}, 400, 26), "1 G, 10 G, 100 G, 1 T");
  EXPECT_EQ(labels({"", "", Scale::log, 1, 1e18, true}, 400, 60),
            "1, 1 k, 1 M, 1 G, 1 T, 1 P, 1 E");
}

TEST(Ticks, PlainNumbersOrPowersButNotBoth) {
  EXPECT_EQ(labels({"", "", Scale::log, 0.005, 5000, false}, 500, 40),
            "0.01, 0.1, 1, 10, 100, 1000");
  EXPECT_EQ(labels({"", "", Scale::log, 1e-6, 1e6, false}, 500, 100), "10⁻⁶, 10⁻³, 1, 10³, 10⁶");
  EXPECT_EQ(labels({"", "", Scale::log, 1e-6, 1e6, false}, 500, 100, false),
            "1e-6, 1e-3, 1, 1e3, 1e6");
}

TEST(Ticks, ShortRangesHaveTwoAndFive) {
  EXPECT_EQ(labels({"", "", Scale::log, 1, 20, false}, 500, 40), "1, 2, 5, 10, 20");
}

TEST(Ticks, AnAxisOfLessThanADecadeHasRoundSteps) {
  EXPECT_EQ(labels({"", "", Scale::log, 0.12, 0.19, false}, 400, 26),
            "0.12, 0.13, 0.14, 0.15, 0.16, 0.17, 0.18, 0.19");
  EXPECT_EQ(labels({"", "", Scale::log, 6, 9, false}, 100, 26), "6, 7, 8, 9");
}

TEST(Ticks, SecondsAreShownInTheUnitThatSuits) {
  Axis axis{"", "s", Scale::log, 0.002, 0.05, true};
  choose_prefix(axis);
  EXPECT_EQ(axis.unit, "ms");
  EXPECT_EQ(labels(axis, 400, 40), "2, 5, 10, 20, 50");
}

TEST(Ticks, Linear) {
  EXPECT_EQ(labels({"", "", Scale::linear, 0, 10, false}, 100, 20), "0, 2, 4, 6, 8, 10");
}

}  // namespace
}  // namespace ridgeline::testing
