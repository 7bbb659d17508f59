// The word wrapper: indents, words that are too long, units other than columns.
#include "base/wrap.h"

#include <gtest/gtest.h>

namespace ridgeline::testing {
namespace {

TEST(Wrap, FillsLinesAndIndentsTheLaterOnes) {
  EXPECT_EQ(wrap("one two three four", 9), "one two\nthree\nfour");
  EXPECT_EQ(wrap("one two three four", 9, 2), "one two\n  three\n  four");
  EXPECT_EQ(wrap("one two three", 9, 4, 4), "one\n    two\n    three");
  EXPECT_EQ(wrap("  blanks \n and\tbreaks ", 80), "blanks and breaks");
  EXPECT_EQ(wrap("", 80), "");
  EXPECT_EQ(wrap("µ… µ… µ…", 5), "µ… µ…\nµ…");
}

TEST(Wrap, LongWordsStayAreElidedOrBroken) {
  EXPECT_EQ(wrap("a features.5.attn b", 8), "a\nfeatures.5.attn\nb");
  EXPECT_EQ(wrap("a features.5.attn b", 8, 0, 0, LongWord::elided), "a\nfeat…ttn\nb");
  EXPECT_EQ(wrap("a features.5.attn b", 8, 0, 0, LongWord::broken), "a\nfeatures\n.5.attn\nb");
  EXPECT_EQ(wrap("日本", 1, 0, 0, LongWord::broken), "日\n本");  // each wider than the line
  EXPECT_EQ(paragraph("one two three", 8), "one two\n  three\n");
}

TEST(Wrap, LinesInAnyUnit) {
  const auto half = [](std::string_view text) { return static_cast<double>(text.size()) / 2; };
  EXPECT_EQ(wrapped_lines("one two three", 4, half),
            (std::vector<std::string>{"one two", "three"}));
  EXPECT_TRUE(wrapped_lines("", 4, half).empty());
}

}  // namespace
}  // namespace ridgeline::testing
