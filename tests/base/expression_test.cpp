// Arithmetic in text: precedence, functions, symbols with a place, and faults with theirs.
#include "base/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace ridgeline::testing {
namespace {

std::optional<double> symbol(std::string_view name) {
  if (name == "in0[1]") return 7;
  if (name == "in0[-1]") return 5;
  if (name == "attr.heads") return 4;
  return std::nullopt;
}

double value(std::string_view text) { return evaluate_expression(text, symbol); }

ExpressionFault fault(std::string_view text) {
  try {
    ADD_FAILURE() << text << " gives " << value(text);
  } catch (const ExpressionFault& found) {
    return found;
  }
  return {};
}

TEST(Expression, FollowsTheUsualPrecedence) {
  EXPECT_EQ(value("1 + 2 * 3"), 7);
  EXPECT_EQ(value("(1 + 2) * 3"), 9);
  EXPECT_EQ(value("-2 ** 2"), -4);
  EXPECT_EQ(value("2 ** 3 ** 2"), 512);
  EXPECT_EQ(value("2 * -3"), -6);
  EXPECT_EQ(value("7 // 2 + 7 % 4 + 7 / 2"), 9.5);
  EXPECT_EQ(value("8 - 3 - 2"), 3);
}

TEST(Expression, KnowsFunctionsAndSymbols) {
  EXPECT_EQ(value("max(1, in0[1], 3) - min(in0[-1], attr.heads)"), 3);
  EXPECT_EQ(value("ceil(in0[1] / 2) + floor(1.5) + abs(-2) + sqrt(9) + log2(8)"), 13);
}

TEST(Expression, FaultsSayWhere) {
  EXPECT_EQ(fault("1 + foo").at, 4U);
  EXPECT_THAT(fault("1 + foo").what, ::testing::HasSubstr("\"foo\" is not known"));
  EXPECT_EQ(fault("in0[9]").what, "\"in0[9]\" is not known");
  EXPECT_EQ(fault("in0[").what, "a number is missing in the brackets");
  EXPECT_EQ(fault("in0[1").what, "']' is missing");
  EXPECT_EQ(fault("(1").at, 2U);
  EXPECT_EQ(fault("1 2").what, "\"2\" does not belong here");
  EXPECT_EQ(fault("").at, 0U);
  EXPECT_THAT(fault("twice(3)").what, ::testing::HasSubstr("is not a function of 1 number"));
  EXPECT_FALSE(fault("1 +").is_of_value);
}

TEST(Expression, NumbersStayFinite) {
  for (const char* text : {"1 / 0", "1 % (2 - 2)", "10 ** 400", "sqrt(0 - 1)", "log2(0)"})
    EXPECT_TRUE(fault(text).is_of_value) << text;
  EXPECT_TRUE(fault(std::string(400, '9')).is_of_value);
}

TEST(Expression, NestingIsLimited) {
  EXPECT_THAT(fault(std::string(100'000, '(')).what, ::testing::HasSubstr("deeper than 64"));
  EXPECT_THAT(fault(std::string(100'000, '-') + "1").what, ::testing::HasSubstr("deeper"));
}

}  // namespace
}  // namespace ridgeline::testing
