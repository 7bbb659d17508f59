// Expressions of symbolic sizes in both notations of sympy.
#include "analyzer/torch/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace ridgeline::testing {
namespace {

std::optional<std::int64_t> with_s0(std::string_view expression, std::int64_t s0) {
  return pytorch::evaluate(expression, [&](std::string_view name) {
    return name == "s0" ? std::optional(s0) : std::nullopt;
  });
}

TEST(SizeExpressions, BothNotationsGiveTheSame) {
  EXPECT_EQ(with_s0("s0", 7), 7);
  EXPECT_EQ(with_s0("2*s0 + 1", 7), 15);
  EXPECT_EQ(with_s0("((s0 - 1)//2) + 1", 8), 4);
  EXPECT_EQ(with_s0("s0**2 - s0 % 4", 7), 46);
  EXPECT_EQ(with_s0("Symbol('s0', positive=True, integer=True)", 7), 7);
  EXPECT_EQ(with_s0("Add(Mul(Integer(2), Symbol('s0', integer=True)), Integer(1))", 7), 15);
  EXPECT_EQ(with_s0("Add(FloorDiv(Add(Symbol('s0'), Integer(-1)), Integer(2)), Integer(1))", 8), 4);
  EXPECT_EQ(with_s0("Max(Integer(1), Symbol('s0'))", 0), 1);
}

TEST(SizeExpressions, WhatHasNoValueIsNothing) {
  EXPECT_EQ(with_s0("s1", 7), std::nullopt);
  EXPECT_EQ(with_s0("s0//0", 7), std::nullopt);
  EXPECT_EQ(with_s0("s0 +", 7), std::nullopt);
  EXPECT_EQ(with_s0("Strange(s0)", 7), std::nullopt);
  EXPECT_EQ(with_s0("s0**s0", 1000), std::nullopt);
  EXPECT_EQ(with_s0(std::string(100'000, '('), 7), std::nullopt);
  EXPECT_EQ(with_s0(std::string(100'000, '-') + "s0", 7), std::nullopt);
}

TEST(SizeExpressions, SymbolsAreFound) {
  EXPECT_THAT(pytorch::symbols_in("s0*s1 + s0"), ::testing::ElementsAre("s0", "s1"));
  EXPECT_THAT(pytorch::symbols_in("s0//(s1 - 1) + s2"), ::testing::ElementsAre("s0", "s1", "s2"));
  EXPECT_EQ(pytorch::lone_symbol("Symbol('s77', integer=True)"), "s77");
  EXPECT_EQ(pytorch::lone_symbol("2*s0"), std::nullopt);
  EXPECT_EQ(pytorch::lone_symbol("s0 + s1"), std::nullopt);
}

}  // namespace
}  // namespace ridgeline::testing
