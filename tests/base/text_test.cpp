// Splitting, trimming and comparing words: edge cases.
#include "base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ridgeline {
namespace {

using ::testing::ElementsAre;

TEST(Text, SplitKeepsEmptyPieces) {
  EXPECT_THAT(split("a,b", ','), ElementsAre("a", "b"));
  EXPECT_THAT(split("a,,b,", ','), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(split("", ','), ElementsAre(""));
  EXPECT_THAT(split("a,b", '\t'), ElementsAre("a,b"));
}

TEST(Text, TrimmedHasNoBlanksAroundIt) {
  EXPECT_EQ(trimmed(" \t a b\r\n"), "a b");
  EXPECT_EQ(trimmed(std::string_view("Jetson\0", 7)), "Jetson") << "as a device tree ends it";
  EXPECT_EQ(trimmed(" \n"), "");
}

TEST(Text, SameWordIgnoresCase) {
  EXPECT_TRUE(same_word("MODE_30W", "mode_30w"));
  EXPECT_FALSE(same_word("30W", "30"));
  EXPECT_FALSE(same_word("ä", "Ä")) << "ASCII only";
  EXPECT_EQ(lower("Cortex-A78AE"), "cortex-a78ae");
}

}  // namespace
}  // namespace ridgeline
