// Suggestions for mistyped words, and none if no word is near.
#include "base/nearest.h"

#include <gtest/gtest.h>

namespace ridgeline::testing {
namespace {

std::string guess(std::string_view word) {
  return nearest(word, {"measure", "roofline", "explain", "plan", "AGX-Orin"}).value_or("-");
}

TEST(Nearest, FindsTypingErrors) {
  EXPECT_EQ(guess("roofine"), "roofline");
  EXPECT_EQ(guess("measrue"), "measure");
  EXPECT_EQ(guess("plam"), "plan");
  EXPECT_EQ(guess("agx-orin"), "AGX-Orin");
  EXPECT_EQ(guess("roof"), "roofline");
}

TEST(Nearest, IsSilentWhenNothingIsNear) {
  for (const char* word : {"", "x", "zzz", "benchmark", "pl"}) EXPECT_EQ(guess(word), "-") << word;
  EXPECT_EQ(guess(std::string(100000, 'a')), "-");
  EXPECT_FALSE(nearest("plan", {}));
}

}  // namespace
}  // namespace ridgeline::testing
