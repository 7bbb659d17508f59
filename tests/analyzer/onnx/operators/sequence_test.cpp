// Sequences of tensors, quantisation and selection: lengths, common shapes, upper bounds.
// Sizes that depend on data are upper bounds, and marked as such.
#include <gtest/gtest.h>

#include <functional>

#include "analyzer/count/count.h"
#include "tests/analyzer/onnx/imported.h"
#include "tests/analyzer/onnx/operators/folded.h"
#include "tests/analyzer/onnx/operators/one_node.h"

namespace ridgeline::testing {
namespace {

// Makes a sequence of x and y; `last` computes "out" from it.
std::string shape_after(const std::vector<std::int64_t>& x, const std::vector<std::int64_t>& y,
                        const std::function<void(OnnxBuilder&)>& last) {
  OnnxBuilder model;
  model.opset(17).output("out");
  model.input("x", ElementType::fp32, {x.begin(), x.end()});
  model.input("y", ElementType::fp32, {y.begin(), y.end()});
  model.initializer("first", ElementType::int64, {}).ints({0});
  model.node("SequenceConstruct", {"x", "y"}, {"sequence"});
  last(model);
  return shape_text(imported(model).graph, "out");
}

TEST(SequenceRule, TakenApartAndJoined) {
  const auto at = [](OnnxBuilder& model) {
    model.node("SequenceAt", {"sequence", "first"}, {"out"});
  };
  EXPECT_EQ(shape_after({2, 3}, {2, 3}, at), "2x3");
  EXPECT_EQ(shape_after({2, 3}, {2, 4}, at), "unknown");
  const auto joined = [](std::int64_t is_new) {
    return [is_new](OnnxBuilder& model) {
      model.node("ConcatFromSequence", {"sequence"}, {"out"})
          .attribute("axis", 1)
          .attribute("new_axis", is_new);
    };
  };
  EXPECT_EQ(shape_after({2, 3}, {2, 3}, joined(0)), "2x6");
  EXPECT_EQ(shape_after({2, 3}, {2, 3}, joined(1)), "2x2x3");
}

TEST(SequenceRule, Lengths) {
  const auto length = [](OnnxBuilder& model) {
    model.node("SequenceInsert", {"sequence", "x"}, {"longer"});
    model.node("SequenceErase", {"longer", "first"}, {"shorter"});
    model.node("SequenceErase", {"shorter", "first"}, {"single"});
    model.node("SequenceLength", {"single"}, {"length"});
    model.integers("row", {-1});
    model.node("Reshape", {"length", "row"}, {"shape"});
    model.node("ConstantOfShape", {"shape"}, {"out"});
  };
  EXPECT_EQ(shape_after({2}, {2}, length), "1");
}

TEST(SequenceRule, Split) {
  const auto part = [](const std::vector<std::int64_t>& sizes, bool scalar) {
    OnnxBuilder model;
    model.opset(17).input("x", ElementType::fp32, {6, 2}).output("out");
    const auto count = static_cast<std::int64_t>(sizes.size());
    model
        .initializer("sizes", ElementType::int64,
                     scalar ? std::vector<std::int64_t>{} : std::vector<std::int64_t>{count})
        .ints(sizes);
    model.initializer("first", ElementType::int64, {}).ints({0});
    model.node("SplitToSequence", {"x", "sizes"}, {"sequence"});
    model.node("SequenceAt", {"sequence", "first"}, {"out"});
    return shape_text(imported(model).graph, "out");
  };
  EXPECT_EQ(part({2}, true), "2x2");
  EXPECT_EQ(part({3, 3}, false), "3x2");
  EXPECT_EQ(part({4}, true), "unknown");  // 4 and 2: no common shape
}

TEST(SequenceRule, SplitAndJoinMoveTheirElements) {
  OnnxBuilder model;
  model.opset(17).input("x", ElementType::fp32, {6, 2}).output("out");
  model.node("SplitToSequence", {"x"}, {"sequence"}).name("split");
  model.node("ConcatFromSequence", {"sequence"}, {"out"}).name("join").attribute("axis", 0);
  const Graph graph = imported(model).graph;
  for (const char* name : {"split", "join"}) {
    const Layer& layer = layer_named(graph, name);
    EXPECT_EQ(count_layer(graph, layer, default_weights()).bytes_read, 48) << name;
    EXPECT_EQ(count_layer(graph, layer, default_weights()).bytes_written, 48) << name;
    EXPECT_TRUE(unsized_tensors(graph, layer).empty()) << name;
  }
}

TEST(SequenceRule, MapRunsItsBodyPerTensor) {
  GraphBuilder body;
  body.input("tensor", ElementType::fp32, {"n"}).output("mapped", ElementType::fp32, {"n"});
  body.node("Relu", {"tensor"}, {"mapped"}).name("relu");
  OnnxBuilder model;
  model.opset(17).input("x", ElementType::fp32, {5}).output("out");
  model.node("SequenceConstruct", {"x", "x", "x"}, {"sequence"});
  model.node("SequenceMap", {"sequence"}, {"relus"}).name("map").attribute("body", body);
  model.node("ConcatFromSequence", {"relus"}, {"out"}).attribute("axis", 0);
  const Graph graph = imported(model).graph;
  EXPECT_EQ(shape_text(graph, "out"), "15");
  EXPECT_EQ(layer_named(graph, "map/relu").repeats, 3);
}

TEST(QuantizationRule, TypesComeFromZeroPointsAndAttributes) {
  EXPECT_EQ(OneNode("QuantizeLinear").input({2, 3}).scale().shapes(), "2x3 uint8");
  EXPECT_EQ(OneNode("QuantizeLinear").input({2, 3}).scale().zero_point(ElementType::int16).shapes(),
            "2x3 int16");
  EXPECT_EQ(OneNode("QuantizeLinear").input({2, 3}).scale().with("output_dtype", 17).shapes(),
            "2x3 fp8_e4m3fn");
  EXPECT_EQ(OneNode("DequantizeLinear").input({2, 3}, ElementType::int4).scale().shapes(), "2x3");
  EXPECT_EQ(OneNode("DequantizeLinear")
                .input({2, 3}, ElementType::int8)
                .weight({}, ElementType::fp16)
                .shapes(),
            "2x3 fp16");
  EXPECT_EQ(OneNode::contrib("DequantizeLinear")
                .input({2, 3}, ElementType::uint16)
                .scale()
                .zero_point(ElementType::uint16)
                .shapes(),
            "2x3");
}

TEST(QuantizationRule, Fp8OfTensorRt) {
  EXPECT_EQ(OneNode("TRT_FP8QuantizeLinear").domain("trt").input({2, 3}).scale().shapes(),
            "2x3 fp8_e4m3fn");
  EXPECT_EQ(OneNode("TRT_FP8DequantizeLinear")
                .domain("trt")
                .input({2, 3}, ElementType::fp8_e4m3fn)
                .weight({}, ElementType::fp16)
                .shapes(),
            "2x3 fp16");
}

TEST(QuantizationRule, ScalesFitTheAxisOrTheBlocks) {
  EXPECT_EQ(OneNode("QuantizeLinear").input({2, 3}).weight({3}).with("axis", 1).error(),
            "no error");
  EXPECT_NE(OneNode("QuantizeLinear").input({2, 3}).weight({2}).with("axis", 1).error(),
            "no error");
  EXPECT_EQ(OneNode("DequantizeLinear")
                .input({4, 70}, ElementType::int4)
                .weight({4, 3})
                .with("axis", 1)
                .with("block_size", 32)
                .shapes(),
            "4x70");
  EXPECT_NE(OneNode("DequantizeLinear")
                .input({4, 70}, ElementType::int4)
                .weight({4, 2})
                .with("axis", 1)
                .with("block_size", 32)
                .error(),
            "no error");
}

TEST(QuantizationRule, DynamicFindsTheRangeFirst) {
  const OneNode node = OneNode("DynamicQuantizeLinear").input({2, 3}).outputs(3);
  EXPECT_EQ(node.shapes(), "2x3 uint8, scalar, scalar uint8");
  EXPECT_EQ(node.op<Reduce>(0).in_elements, 6);
  EXPECT_EQ(node.op<Elementwise>(2).function, Function::quantize);
}

TEST(SelectionRule, TopK) {
  const OneNode node =
      OneNode("TopK", 11).input({2, 100, 3}).integers({7}).with("axis", 1).outputs(2);
  EXPECT_EQ(node.shapes(), "2x7x3, 2x7x3 int64");
  EXPECT_EQ(node.op<Sort>().rows, 6);
  EXPECT_EQ(node.op<Sort>().kept, 7);
  EXPECT_EQ(OneNode("TopK", 1).input({5}).with("k", 2).outputs(2).shapes(), "2, 2 int64");
  EXPECT_EQ(OneNode("TopK", 11).input({5}).input({1}, ElementType::int64).outputs(2).shapes(),
            "5, 5 int64");
  EXPECT_NE(OneNode("TopK", 11).input({5}).integers({6}).outputs(2).error(), "no error");
}

TEST(SelectionRule, DeclaredSizesAreBetterThanBounds) {
  OnnxBuilder model;
  model.opset(13).input("x", ElementType::fp32, {2, 100}).input("k", ElementType::int64, {1});
  model.output("best", ElementType::fp32, {2, 7}).output("part", ElementType::fp32, {2, 5});
  model.integers("start", {0});
  model.integers("axis", {1});
  model.node("TopK", {"x", "k"}, {"best", "indices"}).name("top");
  model.node("Slice", {"x", "start", "k", "axis"}, {"part"}).name("slice");
  const Graph graph = imported(model).graph;
  EXPECT_EQ(std::get<Sort>(layer_named(graph, "top").parts.at(0).op).kept, 7);
  EXPECT_EQ(shape_text(graph, "indices"), "2x7");
  EXPECT_EQ(shape_text(graph, "part"), "2x5");
  EXPECT_EQ(std::get<Copy>(layer_named(graph, "slice").parts.at(0).op).elements_read, 10);
}

TEST(SelectionRule, PluginOfDetectors) {
  OneNode node = OneNode("EfficientNMS_TRT").domain("TRT").input({2, 8400, 4});
  node.input({2, 8400, 80}).with("max_output_boxes", 300).outputs(4);
  EXPECT_EQ(node.shapes(), "2x1 int32, 2x300x4, 2x300, 2x300 int32");
}

TEST(SelectionRule, BoundsWhereDataDecides) {
  const auto bounded = [](const OneNode& node) {
    const Graph graph = node.graph();
    EXPECT_EQ(graph.tensors.at(graph.outputs.at(0)).source, ShapeSource::bound);
    return node.shapes();
  };
  EXPECT_EQ(bounded(OneNode("NonZero").input({4, 5})), "2x20 int64");
  EXPECT_EQ(
      bounded(OneNode("NonMaxSuppression").input({1, 1000, 4}).input({1, 80, 1000}).integers({20})),
      "1600x3 int64");
  EXPECT_EQ(bounded(OneNode("Unique").input({4, 5}).outputs(4)),
            "20, 20 int64, 20 int64, 20 int64");
  EXPECT_EQ(bounded(OneNode("Unique").input({4, 5}).with("axis", 1)), "4x5");
  EXPECT_EQ(Folded("NonZero", {whole({0, 3, 0, 4})}).text(), "101x103");
  EXPECT_EQ(OneNode("Multinomial").input({3, 10}).with("sample_size", 4).shapes(), "3x4 int32");
}

}  // namespace
}  // namespace ridgeline::testing
