// A batch other than the file's: constants that hold the file's batch follow, and a batch that gets
// lost is refused. Which dimension is the batch is tested with the bindings.
#include "analyzer/onnx/batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/error.h"
#include "tests/analyzer/onnx/imported.h"

namespace ridgeline::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

std::optional<Shape> followed(const Shape& file_from, const Shape& file_to, const Shape& from,
                              std::int64_t file_batch = 1) {
  return onnx::followed_reshape(file_from, file_to, from, file_batch);
}

TEST(FollowedReshape, FindsTheBatchInTheTarget) {
  // Heads of a transformer, batch first.
  EXPECT_EQ(followed({1, 197, 192}, {1, 197, 3, 64}, {8, 197, 192}), (Shape{8, 197, 3, 64}));
  // Rows of all samples, and back.
  EXPECT_EQ(followed({1, 196, 256}, {196, 256}, {8, 196, 256}), (Shape{1568, 256}));
  EXPECT_EQ(followed({196, 256}, {1, 196, 256}, {1568, 256}), (Shape{8, 196, 256}));
  // Batch and heads as one dimension.
  EXPECT_EQ(followed({4, 64, 49}, {1, 4, 64, 49}, {32, 64, 49}), (Shape{8, 4, 64, 49}));
  // Windows of an image.
  EXPECT_EQ(followed({1, 8, 8, 7, 7, 96}, {64, 49, 96}, {8, 8, 8, 7, 7, 96}), (Shape{512, 49, 96}));
  EXPECT_EQ(followed({64, 49, 96}, {1, 8, 8, 7, 7, 96}, {512, 49, 96}), (Shape{8, 8, 8, 7, 7, 96}));
  // Steps first: heads join the batch, features never do.
  EXPECT_EQ(followed({50, 1, 256}, {50, 4, 64}, {50, 8, 256}), (Shape{50, 32, 64}));
  EXPECT_EQ(followed({50, 1, 256}, {50, 256}, {50, 8, 256}), (Shape{400, 256}));
  EXPECT_EQ(followed({50, 4, 64}, {50, 256}, {50, 32, 64}), (Shape{400, 256}));
  // A file with another batch than one.
  EXPECT_EQ(followed({4, 10}, {40}, {2, 10}, 4), (Shape{20}));
}

// torch's MultiheadAttention: steps × batch × features.
TEST(FollowedReshape, StepsFirst) {
  const auto steps_first = [](const Shape& file_from, const Shape& file_to, const Shape& from) {
    return onnx::followed_reshape(file_from, file_to, from, 1, onnx::ReshapeReading::steps_first);
  };
  EXPECT_EQ(steps_first({16, 1, 32}, {16, 4, 8}, {16, 8, 32}), (Shape{16, 32, 8}));
  EXPECT_EQ(steps_first({4, 16, 8}, {1, 4, 16, 8}, {32, 16, 8}), (Shape{8, 4, 16, 8}));
  EXPECT_EQ(steps_first({16, 1, 4, 8}, {16, 32}, {16, 8, 4, 8}), (Shape{128, 32}));
  EXPECT_EQ(steps_first({16, 32}, {16, 1, 32}, {128, 32}), (Shape{16, 8, 32}));
  // A single query.
  EXPECT_EQ(steps_first({1, 1, 32}, {1, 4, 8}, {1, 8, 32}), (Shape{1, 32, 8}));
  EXPECT_EQ(steps_first({4, 1, 8}, {1, 4, 1, 8}, {32, 1, 8}), (Shape{8, 4, 1, 8}));
  EXPECT_EQ(steps_first({1, 32}, {1, 1, 32}, {8, 32}), (Shape{1, 8, 32}));
}

TEST(FollowedReshape, WithoutAChangeThereIsNothingToFollow) {
  EXPECT_EQ(followed({1, 6}, {6}, {1, 6}), std::nullopt);
  EXPECT_EQ(followed({1, 6}, {6}, {2, 12}), std::nullopt);
  EXPECT_EQ(followed({1, 0}, {0}, {8, 0}), std::nullopt);
}

// Whatever dimensions are split or merged: the elements are those of the input, and only one
// dimension of the target changes.
RC_GTEST_PROP(FollowedReshape, KeepsTheElements, ()) {
  const auto batch = *rc::gen::inRange<std::int64_t>(1, 4);
  const auto now = *rc::gen::inRange<std::int64_t>(1, 9);
  const auto inner = *rc::gen::container<Shape>(3, rc::gen::inRange<std::int64_t>(1, 6));
  RC_PRE(batch != now);
  const Shape file_from{batch, inner[0], inner[1], inner[2]},
      from{now, inner[0], inner[1], inner[2]};
  const std::vector<Shape> targets{{batch * inner[0], inner[1] * inner[2]},
                                   {batch, inner[0] * inner[1], inner[2]},
                                   {batch, element_count(inner)},
                                   {batch * element_count(inner)}};
  for (const Shape& target : targets) {
    const auto shape = followed(file_from, target, from, batch);
    RC_ASSERT(shape.has_value());
    RC_ASSERT(element_count(*shape) == element_count(from));
    RC_ASSERT(onnx::batch_axis(target, *shape).has_value());
  }
}

TEST(RepeatedShape, IsThatOfTheNeighbour) {
  EXPECT_EQ(onnx::repeated_shape({1, 1, 384}, {1, 256, 384}, {8, 256, 384}), (Shape{8, 1, 384}));
  EXPECT_EQ(onnx::repeated_shape({2, 1, 96}, {50, 1, 40}, {50, 8, 40}), (Shape{2, 8, 96}));
  EXPECT_EQ(onnx::repeated_shape({4}, {10, 4, 3}, {10, 8, 3}), (Shape{8}));
  EXPECT_EQ(onnx::repeated_shape({3, 3}, {1, 5}, {8, 5}), std::nullopt);
}

TEST(Batch, AClassTokenIsRepeated) {
  OnnxBuilder model;
  model.opset(17).input("x", ElementType::fp32, {1, 4, 6}).output("y");
  model.initializer("token", ElementType::fp32, {1, 1, 6});
  model.integers("target", {1, 30});
  model.node("Concat", {"token", "x"}, {"joined"}).attribute("axis", 1);
  model.node("Reshape", {"joined", "target"}, {"y"});
  const auto result = imported(model, {.batch = 8});
  EXPECT_EQ(shape_text(result.graph, "joined"), "8x5x6");
  EXPECT_EQ(shape_text(result.graph, "y"), "8x30");
  EXPECT_TRUE(tensor_named(result.graph, "token").is_parameter);
  EXPECT_EQ(shape_text(result.graph, "token"), "1x1x6");
  EXPECT_THAT(result.warnings, Contains(HasSubstr("batch of 1 in constants of 1 Concat, 1 Reshape; "
                                                  "taken as 8")));
}

TEST(Batch, FirstStatesFollow) {
  OnnxBuilder model;
  model.opset(17).input("x", ElementType::fp32, {5, 1, 4}).output("y");
  model.initializer("w", ElementType::fp32, {1, 12, 4});
  model.initializer("r", ElementType::fp32, {1, 12, 3});
  model.integers("zeros", {1, 1, 3});
  model.node("ConstantOfShape", {"zeros"}, {"h"});
  model.node("LSTM", {"x", "w", "r", "", "", "h", "h"}, {"y"}).attribute("hidden_size", 3);
  const auto result = imported(model, {.batch = 8});
  EXPECT_EQ(result.batch, 8);  // axis 1: the first is time
  EXPECT_EQ(shape_text(result.graph, "y"), "5x1x8x3");
}

TEST(Batch, FollowsThroughSizesTargetsEndsAndIndices) {
  OnnxBuilder model;
  model.opset(17).input("x", ElementType::fp32, {1, 2, 4, 4}).output("y").output("z");
  model.integers("sizes", {1, 2, 8, 8});
  model.integers("starts", {0, 0, 0, 0});
  model.integers("ends", {1, 2, 1, 8});
  model.integers("all", {-1});
  model.initializer("places", ElementType::int64, {1, 3, 5}).zeros();
  model.node("Resize", {"x", "", "", "sizes"}, {"large"});
  model.node("Slice", {"large", "starts", "ends"}, {"row"});
  model.node("Expand", {"row", "sizes"}, {"y"});
  model.node("Reshape", {"x", "all"}, {"flat"});
  model.node("Gather", {"flat", "places"}, {"z"});
  const auto result = imported(model, {.batch = 4});
  EXPECT_EQ(shape_text(result.graph, "large"), "4x2x8x8");
  EXPECT_EQ(shape_text(result.graph, "row"), "4x2x1x8");
  EXPECT_EQ(shape_text(result.graph, "y"), "4x2x8x8");
  EXPECT_EQ(shape_text(result.graph, "z"), "4x3x5");
}

TEST(Batch, ThatIsLostIsRefused) {
  OnnxBuilder model;
  model.opset(17).input("x", ElementType::fp32, {1, 3, 4}).output("y");
  model.initializer("first", ElementType::int64, {}).ints({0});
  model.initializer("w", ElementType::fp32, {4, 5});
  model.node("Gather", {"x", "first"}, {"one"}).name("take").attribute("axis", 0);
  model.node("MatMul", {"one", "w"}, {"y"});
  try {
    imported(model, {.batch = 8});
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::incomplete);
    EXPECT_THAT(
        error.what(),
        AllOf(HasSubstr("output \"y\" is 3x5"), HasSubstr("lost at node \"take\""),
              HasSubstr("dynamic_shapes={\"x\": {0: \"batch\"}}"), HasSubstr("--shape x=8x3x4")));
  }
  EXPECT_EQ(shape_text(imported(model, {.shapes = {{"x", {8, 3, 4}}}}).graph, "y"), "3x5");
}

TEST(Batch, ThatDoesNotFitNamesTheNode) {
  OnnxBuilder model;
  model.opset(17).input("x", ElementType::fp32, {1, 3, 4}).output("y");
  model.integers("axes", {0});
  model.node("Squeeze", {"x", "axes"}, {"y"}).name("drop");
  try {
    imported(model, {.batch = 8});
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::incomplete);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("\"drop\" (Squeeze)"), HasSubstr("its batch of 1")));
  }
}

// Of a free batch, a target is what the runtime will take, although 1 could be the file's batch.
TEST(Batch, AFreeBatchRunsAsItIsWritten) {
  OnnxBuilder model;
  model.opset(17).input("x", ElementType::fp32, {"batch", 1, 32}).output("y");
  model.integers("heads", {1, -1, 8});
  model.integers("rows", {-1, 32});
  model.integers("back", {1, -1, 32});
  model.node("Transpose", {"x"}, {"steps"}).attribute("perm", {1, 0, 2});
  model.node("Reshape", {"steps", "heads"}, {"split"});
  model.node("Reshape", {"split", "rows"}, {"joined"});
  model.node("Reshape", {"joined", "back"}, {"again"});
  model.node("Transpose", {"again"}, {"y"}).attribute("perm", {1, 0, 2});
  const auto result = imported(model, {.batch = 8});
  EXPECT_EQ(shape_text(result.graph, "split"), "1x32x8");
  EXPECT_EQ(shape_text(result.graph, "y"), "8x1x32");
  EXPECT_TRUE(result.warnings.empty());
}

// Rows of a single query become batch × steps again, or steps × batch: what follows decides.
TEST(Batch, IsReadAsTheRestOfTheNetworkNeedsIt) {
  for (const bool is_steps_first : {false, true}) {
    OnnxBuilder model;
    model.opset(17).input("x", ElementType::fp32, {1, 32}).output("y");
    model.integers("target", {1, 1, 32});
    model.integers("axes", {is_steps_first ? 0 : 1});
    model.node("Reshape", {"x", "target"}, {"z"});
    model.node("Squeeze", {"z", "axes"}, {"y"});
    const auto result = imported(model, {.batch = 8});
    EXPECT_EQ(shape_text(result.graph, "z"), is_steps_first ? "1x8x32" : "8x1x32");
    EXPECT_EQ(shape_text(result.graph, "y"), "8x32");
  }
}

// y[:, 1:] = x[:, :-1]: what is written into, and the places, are constants.
TEST(Batch, FollowsThroughScatteredUpdates) {
  OnnxBuilder model;
  model.opset(17).input("x", ElementType::fp32, {1, 23}).output("y").output("z");
  model.initializer("zeros", ElementType::fp32, {1, 24});
  model.initializer("places", ElementType::int64, {1, 23, 2}).zeros();
  model.node("ScatterND", {"zeros", "places", "x"}, {"y"});
  model.initializer("columns", ElementType::fp32, {24, 1});
  model.initializer("rows", ElementType::int64, {23, 1}).zeros();
  model.node("Transpose", {"x"}, {"turned"});
  model.node("ScatterND", {"columns", "rows", "turned"}, {"z"});
  const auto result = imported(model, {.batch = 8});
  EXPECT_EQ(shape_text(result.graph, "y"), "8x24");
  EXPECT_EQ(shape_text(result.graph, "z"), "24x8");
  EXPECT_THAT(result.warnings, Contains(HasSubstr("batch of 1 in constants of 2 ScatterND")));
}

// Rows of an image as sequences: the state was made for the rows of one image.
TEST(Batch, AFirstStateOfManyRowsFollows) {
  OnnxBuilder model;
  model.opset(17).input("x", ElementType::fp32, {1, 32, 4}).output("y");
  model.initializer("state", ElementType::fp32, {2, 32, 48});
  model.integers("two", {2});
  model.integers("size", {48});
  model.integers("all", {-1, 4});
  model.node("Reshape", {"x", "all"}, {"rows"});
  model.node("Shape", {"rows"}, {"shape"}).attribute("end", 1);
  model.node("Concat", {"two", "shape", "size"}, {"target"}).attribute("axis", 0);
  model.node("Expand", {"state", "target"}, {"y"});
  EXPECT_EQ(shape_text(imported(model, {.batch = 8}).graph, "y"), "2x256x48");
}

// What depends on no input is no weight, although it is repeated for the batch.
TEST(Batch, ARepeatedProductIsNoParameter) {
  OnnxBuilder model;
  model.opset(17).input("x", ElementType::fp32, {1, 5, 4}).output("y");
  model.initializer("token", ElementType::fp32, {1, 1, 3});
  model.initializer("w", ElementType::fp32, {3, 4});
  model.node("MatMul", {"token", "w"}, {"query"});
  model.node("Concat", {"query", "x"}, {"y"}).attribute("axis", 1);
  const auto result = imported(model, {.batch = 8});
  EXPECT_EQ(shape_text(result.graph, "y"), "8x6x4");
  EXPECT_FALSE(tensor_named(result.graph, "query").is_parameter);
  EXPECT_TRUE(tensor_named(result.graph, "token").is_parameter);
}

// One number for the whole batch.
TEST(Batch, ALossIsNoLostBatch) {
  OnnxBuilder model;
  model.opset(17).input("x", ElementType::fp32, {1, 3}).output("y");
  model.node("ReduceMean", {"x"}, {"y"}).attribute("keepdims", 0);
  EXPECT_EQ(shape_text(imported(model, {.batch = 8}).graph, "y"), "scalar");
}

}  // namespace
}  // namespace ridgeline::testing
