// Operators that rearrange elements: shapes in every opset, what is read, what is folded.
// Elements of small constants are rearranged too.
#include <gtest/gtest.h>

#include <limits>

#include "tests/analyzer/onnx/operators/folded.h"
#include "tests/analyzer/onnx/operators/one_node.h"

namespace ridgeline::testing {
namespace {

const Operand matrix{ElementType::int64, {2, 3}, {1, 2, 3, 4, 5, 6}};

TEST(MovementRule, Transpose) {
  EXPECT_EQ(OneNode("Transpose").input({2, 3, 4}).shapes(), "4x3x2");
  EXPECT_EQ(OneNode("Transpose").input({2, 3, 4}).with("perm", {1, 0, 2}).shapes(), "3x2x4");
  EXPECT_EQ(Folded("Transpose", {matrix}).text(), "101x104x102x105x103x106");
  EXPECT_EQ(OneNode("Transpose").input({2, 3}).work().bytes_read, 24);
  EXPECT_NE(OneNode("Transpose").input({2, 3}).with("perm", {0, 0}).error(), "no error");
  EXPECT_NE(OneNode("Transpose").input({2, 3}).with("perm", {0}).error(), "no error");
}

TEST(MovementRule, Concat) {
  EXPECT_EQ(OneNode("Concat").input({2, 3}).input({2, 4}).with("axis", -1).shapes(), "2x7");
  EXPECT_EQ(OneNode("Concat", 1).input({2, 3}).input({2, 4}).shapes(), "2x7");
  EXPECT_EQ(Folded("Concat", {matrix, {ElementType::int64, {2, 1}, {8, 9}}}).with("axis", 1).text(),
            "101x102x103x108x104x105x106x109");
  EXPECT_NE(OneNode("Concat").input({2, 3}).input({3, 4}).with("axis", 1).error(), "no error");
  EXPECT_NE(OneNode("Concat").input({2, 3}).input({2, 3}).error(), "no error");
  EXPECT_EQ(
      OneNode::contrib("ConcatTraining").input({2}).input({3}).with("axis", 0).outputs(2).shapes(),
      "5, 2 int64");
}

TEST(MovementRule, SplitInEveryOpset) {
  EXPECT_EQ(OneNode("Split", 11).input({6, 2}).with("split", {1, 5}).outputs(2).shapes(),
            "1x2, 5x2");
  EXPECT_EQ(OneNode("Split", 13).input({6, 2}).integers({2, 4}).outputs(2).shapes(), "2x2, 4x2");
  EXPECT_EQ(OneNode("Split", 13).input({6, 2}).outputs(3).shapes(), "2x2, 2x2, 2x2");
  EXPECT_EQ(OneNode("Split", 18).input({7}).with("num_outputs", 3).outputs(3).shapes(), "3, 3, 1");
  EXPECT_NE(OneNode("Split", 13).input({7}).outputs(3).error(), "no error");
  EXPECT_NE(OneNode("Split", 13).input({6}).integers({2, 3}).outputs(2).error(), "no error");
  EXPECT_EQ(Folded("Split", {whole({7, 8, 9}), whole({3})}).text(), "107x108x109");
}

TEST(MovementRule, SliceAsNumpy) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  struct Row {
    std::int64_t start, end, step;
    const char* shape;
  };
  const Row rows[] = {
      {0, 10, 1, "10"},      {-3, most, 1, "3"},   {2, -2, 3, "2"},     {most, 0, 1, "0"},
      {-1, least, -1, "10"}, {-1, most, -1, "10"}, {8, 2, -4, "2"},     {0, 10, most, "1"},
      {9, -20, least, "1"},  {5, 5, 1, "0"},       {-100, 100, 2, "5"}, {5, 9, -1, "0"},
  };
  for (const Row& row : rows)
    EXPECT_EQ(OneNode("Slice")
                  .input({10})
                  .integers({row.start})
                  .integers({row.end})
                  .integers({0})
                  .integers({row.step})
                  .shapes(),
              row.shape)
        << row.start << ":" << row.end << ":" << row.step;
  EXPECT_EQ(OneNode("Slice", 1).input({10, 4}).with("starts", {1}).with("ends", {-1}).shapes(),
            "8x4");
  EXPECT_NE(OneNode("Slice").input({10}).integers({0}).integers({5, 6}).error(), "no error");
}

TEST(MovementRule, SliceReadsWhatItKeeps) {
  const OneNode node = OneNode("Slice").input({10, 4}).integers({0}).integers({2});
  EXPECT_EQ(node.work().bytes_read, 32);
  EXPECT_EQ(node.work().bytes_written, 32);
  EXPECT_EQ(Folded("Slice", {whole({1, 2, 3, 4}), whole({3}), whole({0}), whole({0}), whole({-2})})
                .text(),
            "104x102");
}

TEST(MovementRule, SliceToAnEndThatIsDataIsBounded) {
  const Graph graph = OneNode("Slice")
                          .input({10, 4})
                          .integers({3})
                          .input({1}, ElementType::int64)
                          .integers({0})
                          .graph();
  EXPECT_EQ(to_string(tensor_named(graph, "output0").shape), "7x4");
  EXPECT_EQ(tensor_named(graph, "output0").source, ShapeSource::bound);
}

TEST(MovementRule, PadInEveryOpset) {
  EXPECT_EQ(OneNode("Pad", 2).input({2, 3}).with("pads", {0, 1, 2, 0}).shapes(), "4x4");
  EXPECT_EQ(OneNode("Pad", 11).input({2, 3}).integers({0, 1, 2, -1}).shapes(), "4x3");
  EXPECT_EQ(OneNode("Pad", 18).input({2, 3}).integers({1, 1}).left_out().integers({-1}).shapes(),
            "2x5");
  EXPECT_EQ(Folded("Pad", {whole({7}), whole({1, 2}), {ElementType::int64, {}, {5}}}).text(),
            "105x107x105x105");
  EXPECT_NE(OneNode("Pad", 11).input({2, 3}).integers({1, 1}).error(), "no error");
  EXPECT_NE(OneNode("Pad", 11).input({2}).integers({-3, 0}).error(), "no error");
}

TEST(MovementRule, Repetition) {
  EXPECT_EQ(OneNode("Tile").input({2, 3}).integers({2, 1}).shapes(), "4x3");
  EXPECT_EQ(OneNode("Tile", 1).input({2, 3}).integer(4).integer(1).shapes(), "2x12");
  EXPECT_EQ(Folded("Tile", {whole({7, 8}), whole({2})}).text(), "107x108x107x108");
  EXPECT_EQ(OneNode("Expand").input({3, 1}).integers({2, 1, 4}).shapes(), "2x3x4");
  EXPECT_EQ(Folded("Expand", {whole({7}), whole({3})}).text(), "107x107x107");
  EXPECT_EQ(OneNode("Expand").input({3, 1}).integers({2, 1, 4}).work().bytes_read, 12);
  EXPECT_NE(OneNode("Expand").input({3}).integers({4}).error(), "no error");
  EXPECT_NE(OneNode("Tile").input({3}).integers({-1}).error(), "no error");
}

TEST(MovementRule, Blocks) {
  EXPECT_EQ(OneNode("DepthToSpace").input({1, 8, 2, 3}).with("blocksize", 2).shapes(), "1x2x4x6");
  EXPECT_EQ(OneNode("SpaceToDepth").input({1, 2, 4, 6}).with("blocksize", 2).shapes(), "1x8x2x3");
  EXPECT_NE(OneNode("DepthToSpace").input({1, 6, 2, 3}).with("blocksize", 2).error(), "no error");
  EXPECT_NE(OneNode("DepthToSpace").input({1, 6, 2, 3}).with("blocksize", 0).error(), "no error");
  EXPECT_EQ(OneNode("CenterCropPad").input({5, 6}).integers({3}).with("axes", {1}).shapes(), "5x3");
  EXPECT_EQ(OneNode("Trilu").input({3, 4}).shapes(), "3x4");
  EXPECT_EQ(OneNode("ReverseSequence").input({4, 3}).integers({1, 2, 3}).shapes(), "4x3");
}

TEST(MovementRule, CompressKeepsWhatTheConditionSays) {
  OnnxBuilder model;
  model.opset(13).input("x", ElementType::fp32, {4, 3}).output("known").output("data");
  model.initializer("flags", ElementType::boolean, {3}).ints({1, 0, 1});
  model.input("given", ElementType::boolean, {3});
  model.node("Compress", {"x", "flags"}, {"known"}).attribute("axis", 0);
  model.node("Compress", {"x", "given"}, {"data"}).attribute("axis", 0);
  const Graph graph = imported(model).graph;
  EXPECT_EQ(shape_text(graph, "known"), "2x3");
  EXPECT_EQ(shape_text(graph, "data"), "3x3");
  EXPECT_EQ(tensor_named(graph, "data").source, ShapeSource::bound);
}

TEST(MovementRule, RaggedBatches) {
  EXPECT_EQ(OneNode::contrib("RemovePadding")
                .input({2, 3, 8})
                .input({2}, ElementType::int32)
                .outputs(4)
                .shapes(),
            "6x8, 2x3 int32, 3 int32, 1 int32");
  EXPECT_EQ(
      OneNode::contrib("RestorePadding").input({6, 8}).input({2, 3}, ElementType::int32).shapes(),
      "2x3x8");
  EXPECT_EQ(OneNode::contrib("UnfoldTensor").input({2, 7}).with("size", 3).with("step", 2).shapes(),
            "2x3x3");
}

TEST(MovementRule, ImagesOfOldFiles) {
  EXPECT_EQ(OneNode("Crop", 1).input({1, 3, 10, 12}).with("border", {1, 2, 3, 4}).shapes(),
            "1x3x4x8");
  EXPECT_EQ(OneNode("Crop", 1)
                .input({1, 3, 10, 12})
                .with("border", {1, 2, 3, 4})
                .with("scale", {5, 6})
                .shapes(),
            "1x3x5x6");
  EXPECT_EQ(OneNode("ImageScaler", 1).input({1, 3, 4, 4}).layer().parts.size(), 2u);
}

}  // namespace
}  // namespace ridgeline::testing
