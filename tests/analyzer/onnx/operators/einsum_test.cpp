// Einsum: shapes of explicit and implicit outputs, products on the cheapest path, refusals.
// MACs are the product of all index sizes, contraction by contraction.
#include <gtest/gtest.h>

#include "tests/analyzer/onnx/operators/one_node.h"

namespace ridgeline::testing {
namespace {

OneNode einsum(const char* equation, const std::vector<std::vector<std::int64_t>>& operands) {
  OneNode node("Einsum");
  for (const auto& operand : operands) node.input(operand);
  return node.with("equation", equation);
}

TEST(EinsumRule, MapsLabelsToAProduct) {
  struct Row {
    const char* equation;
    std::vector<std::vector<std::int64_t>> operands;
    std::string shape;
    std::int64_t batch, m, n, k;
  };
  const Row rows[] = {
      {"ij,jk->ik", {{2, 3}, {3, 4}}, "2x4", 1, 2, 4, 3},
      {"ij , jk", {{2, 3}, {3, 4}}, "2x4", 1, 2, 4, 3},
      {"bij,bjk->bik", {{5, 2, 3}, {5, 3, 4}}, "5x2x4", 5, 2, 4, 3},
      {"bhqd,bhkd->bhqk", {{2, 3, 4, 5}, {2, 3, 6, 5}}, "2x3x4x6", 6, 4, 6, 5},
      {"...ij,jk->...ik", {{7, 2, 3}, {3, 4}}, "7x2x4", 1, 14, 4, 3},
      {"...ij,...jk->...ik", {{7, 1, 2, 3}, {5, 3, 4}}, "7x5x2x4", 1, 14, 20, 3},
      {"i,i", {{8}, {8}}, "scalar", 1, 1, 1, 8},
      {"Ba,aC", {{2, 3}, {3, 4}}, "2x4", 1, 2, 4, 3},
      {"kc,kb->bc", {{3, 4}, {3, 2}}, "2x4", 1, 4, 2, 3},
  };
  for (const Row& row : rows) {
    const OneNode node = einsum(row.equation, row.operands);
    EXPECT_EQ(node.shapes(), row.shape) << row.equation;
    const auto op = node.op<MatMul>();
    EXPECT_EQ(op.batch, row.batch) << row.equation;
    EXPECT_EQ(op.m, row.m) << row.equation;
    EXPECT_EQ(op.n, row.n) << row.equation;
    EXPECT_EQ(op.k, row.k) << row.equation;
  }
}

TEST(EinsumRule, OneOperandIsReducedOrCopied) {
  EXPECT_EQ(einsum("ij->ji", {{2, 3}}).shapes(), "3x2");
  EXPECT_EQ(einsum("ij->ji", {{2, 3}}).op<Copy>().elements_read, 6);
  EXPECT_EQ(einsum("ii->i", {{4, 4}}).shapes(), "4");
  EXPECT_EQ(einsum("ii->i", {{4, 4}}).op<Copy>().elements_read, 4);
  EXPECT_EQ(einsum("ij->i", {{2, 3}}).op<Reduce>().in_elements, 6);
  EXPECT_EQ(einsum("ij->i", {{2, 3}}).op<Reduce>().out_elements, 2);
  EXPECT_EQ(einsum("ii", {{4, 4}}).shapes(), "scalar");
}

TEST(EinsumRule, WithoutASumItIsElementwise) {
  const OneNode node = einsum("ij,ij->ij", {{2, 3}, {2, 3}});
  EXPECT_EQ(node.op<Elementwise>().function, Function::multiply);
  EXPECT_EQ(node.op<Elementwise>().elements, 6);
  EXPECT_EQ(einsum("i,j->ij", {{2}, {3}}).op<Elementwise>().elements, 6);
}

TEST(EinsumRule, TakesTheCheapestPath) {
  // (ab·bc)·cd costs 1000·10 + 1000·10·1; ab·(bc·cd) only 100·10 + 1000·10.
  const OneNode node = einsum("ab,bc,cd->ad", {{100, 10}, {10, 100}, {100, 1}});
  EXPECT_EQ(node.shapes(), "100x1");
  EXPECT_EQ(node.macs(), 10 * 100 + 100 * 10);
  // A label of a single operand is summed before the contraction.
  const OneNode summed = einsum("abx,bc->ac", {{2, 3, 50}, {3, 4}});
  EXPECT_EQ(summed.op<Reduce>(0).in_elements, 300);
  EXPECT_EQ(summed.macs(), 2 * 3 * 4);
}

TEST(EinsumRule, ManyOperandsGoGreedily) {
  std::vector<std::vector<std::int64_t>> operands(9, {4, 4});
  const OneNode node = einsum("ab,bc,cd,de,ef,fg,gh,hi,ij->aj", operands);
  EXPECT_EQ(node.shapes(), "4x4");
  EXPECT_EQ(node.macs(), 8 * 64);
}

TEST(EinsumRule, Refusals) {
  EXPECT_NE(einsum("ij,jk->ik", {{2, 3}, {4, 5}}).error().find("is 4, its subscript is 3"),
            std::string::npos);
  EXPECT_NE(einsum("ij->k", {{2, 3}}).error().find("'k' is in no operand"), std::string::npos);
  EXPECT_NE(einsum("ij->ii", {{2, 3}}).error().find("occurs twice"), std::string::npos);
  EXPECT_NE(einsum("ijk->i", {{2, 3}}).error().find("name 3 axes"), std::string::npos);
  EXPECT_NE(einsum("ij,jk->ik", {{2, 3}}).error().find("2 operands"), std::string::npos);
  EXPECT_NE(einsum("i1->i", {{2, 3}}).error().find("not a subscript"), std::string::npos);
  EXPECT_NE(einsum("......->", {{2, 3}}).error().find("two ellipses"), std::string::npos);
}

}  // namespace
}  // namespace ridgeline::testing
