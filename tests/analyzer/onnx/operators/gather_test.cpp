// Elements read and written by index: shapes, which part of a table is read, folded values.
// Known indices outside an axis are errors.
#include <gtest/gtest.h>

#include "tests/analyzer/onnx/operators/folded.h"
#include "tests/analyzer/onnx/operators/one_node.h"

namespace ridgeline::testing {
namespace {

TEST(GatherRule, ReadsRowsNotTheTable) {
  const OneNode node = OneNode("Gather").weight({30000, 768}).input({2, 5}, ElementType::int64);
  EXPECT_EQ(node.shapes(), "2x5x768");
  EXPECT_EQ(node.op<Gather>().elements, 7680);
  EXPECT_EQ(node.work().weight_bytes_read, 4 * 7680);
  EXPECT_EQ(node.work().bytes_read, 8 * 10);
}

TEST(GatherRule, Shapes) {
  EXPECT_EQ(OneNode("Gather").input({2, 3, 4}).integer(1).with("axis", 1).shapes(), "2x4");
  EXPECT_EQ(OneNode("Gather").input({2, 3}).integers({0, 1, 0}).with("axis", -1).shapes(), "2x3");
  EXPECT_EQ(OneNode("GatherElements")
                .input({2, 3})
                .input({2, 5}, ElementType::int64)
                .with("axis", 1)
                .shapes(),
            "2x5");
  EXPECT_EQ(OneNode("GatherND").input({2, 3, 4}).input({5, 2}, ElementType::int64).shapes(), "5x4");
  EXPECT_EQ(OneNode("GatherND")
                .input({2, 3, 4})
                .input({2, 1}, ElementType::int64)
                .with("batch_dims", 1)
                .shapes(),
            "2x4");
  EXPECT_NE(OneNode("GatherND").input({2, 3}).input({5, 3}, ElementType::int64).error(),
            "no error");
  EXPECT_EQ(OneNode("ArrayFeatureExtractor", 3)
                .domain("ai.onnx.ml")
                .input({4, 9})
                .integers({1, 2})
                .shapes(),
            "4x2");
}

TEST(GatherRule, ElementsFollow) {
  EXPECT_EQ(Folded("Gather", {whole({7, 8, 9}), whole({-1, 0})}).text(), "109x107");
  EXPECT_EQ(Folded("Gather", {{ElementType::int64, {2, 2}, {1, 2, 3, 4}}, whole({1})})
                .with("axis", 1)
                .text(),
            "102x104");
  EXPECT_EQ(Folded("GatherElements", {{ElementType::int64, {2, 2}, {1, 2, 3, 4}},
                                      {ElementType::int64, {1, 2}, {1, 0}}})
                .text(),
            "103x102");
  EXPECT_EQ(Folded("GatherND", {{ElementType::int64, {2, 2}, {1, 2, 3, 4}},
                                {ElementType::int64, {1, 2}, {1, 0}}})
                .text(),
            "103");
  EXPECT_NE(OneNode("Gather").integers({7, 8}).integers({2}).error(), "no error");
}

TEST(GatherRule, PackedTables) {
  const OneNode node = OneNode::contrib("GatherBlockQuantized")
                           .weight({100, 16}, ElementType::uint8)
                           .input({3}, ElementType::int64)
                           .weight({100, 2}, ElementType::fp16)
                           .with("bits", 4)
                           .with("block_size", 16);
  EXPECT_EQ(node.shapes(), "3x32 fp16");
  EXPECT_EQ(node.op<Gather>().elements, 48);
}

TEST(ScatterRule, UpdatesIntoACopy) {
  const OneNode node =
      OneNode("ScatterND").input({4, 5}).input({2, 1}, ElementType::int64).input({2, 5});
  EXPECT_EQ(node.shapes(), "4x5");
  EXPECT_EQ(node.op<Scatter>().updates, 10);
  EXPECT_FALSE(node.op<Scatter>().reduces);
  EXPECT_NE(
      OneNode("ScatterND").input({4, 5}).input({2, 1}, ElementType::int64).input({2, 4}).error(),
      "no error");
  EXPECT_TRUE(OneNode("ScatterElements", 18)
                  .input({4, 5})
                  .input({2, 5}, ElementType::int64)
                  .input({2, 5})
                  .with("reduction", "add")
                  .op<Scatter>()
                  .reduces);
  EXPECT_EQ(OneNode("TensorScatter", 24)
                .input({2, 3, 16, 8})
                .input({2, 3, 1, 8})
                .input({2}, ElementType::int64)
                .op<Scatter>()
                .updates,
            48);
}

TEST(ScatterRule, ElementsFollow) {
  EXPECT_EQ(
      Folded("ScatterND", {whole({1, 2, 3}), {ElementType::int64, {2, 1}, {2, 0}}, whole({8, 9})})
          .text(),
      "109x102x108");
  EXPECT_EQ(Folded("ScatterElements", {whole({1, 2, 3}), whole({-1}), whole({9})}).text(),
            "101x102x109");
  EXPECT_EQ(Folded("Scatter", {whole({1, 2, 3}), whole({0}), whole({9})}, 9).text(), "109x102x103");
}

}  // namespace
}  // namespace ridgeline::testing
