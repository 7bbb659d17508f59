// Two engines beside each other: how layers find each other, what is said to differ, and the forms.
#include "analyzer/tensorrt/engine_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/json.h"
#include "report/engine_diff.h"
#include "tests/support/schema_validator.h"

namespace ridgeline::tensorrt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr Format half{ElementType::fp16, Layout::channel_last, 8};
constexpr Format byte{ElementType::int8, Layout::channel_vector, 32};

EngineLayer layer_named(const std::string& name, const Format& format, std::int64_t channels,
                        const std::string& parameter = "Convolution") {
  EngineLayer layer;
  layer.name = name;
  layer.type = layer.parameter = parameter;
  layer.inputs = {{"in of " + name, {1, channels, 8, 8}, format, ""}};
  layer.outputs = {{"out of " + name, {1, channels, 8, 8}, format, ""}};
  if (parameter == "Convolution") layer.out_maps = channels;
  return layer;
}

ComparedEngine compared(std::vector<EngineLayer> layers, std::vector<double> times = {}) {
  ComparedEngine side;
  side.engine.path = "net.graph.json";
  side.engine.layers = std::move(layers);
  if (!times.empty()) side.time_s = 0;
  for (std::size_t i = 0; i < side.engine.layers.size(); ++i) {
    LayerCost cost;
    for (const EngineTensor& tensor : side.engine.layers[i].inputs)
      cost.bytes += 2 * tensor_bytes(tensor).value_or(0);
    if (!times.empty()) {
      cost.time_s = times[i];
      *side.time_s += times[i];
    }
    side.costs.push_back(cost);
  }
  return side;
}

TEST(EngineDiff, AnEngineEqualsItself) {
  const ComparedEngine side = compared({layer_named("a", half, 8), layer_named("b", half, 16)});
  const EngineDiff difference = diff(side, side);
  ASSERT_THAT(difference.matched, SizeIs(2));
  for (const ComparedLayer& pair : difference.matched) {
    EXPECT_EQ(pair.before, pair.after);
    EXPECT_EQ(pair.matched_by, EngineMatch::name);
    EXPECT_THAT(pair.what, IsEmpty());
  }
  EXPECT_THAT(difference.removed, IsEmpty());
  EXPECT_THAT(difference.added, IsEmpty());
}

TEST(EngineDiff, ChangesOfALayerAreNamed) {
  EngineLayer after = layer_named("a", byte, 8);
  after.tactic = "other";
  const EngineDiff difference =
      diff(compared({layer_named("a", half, 8)}), compared({std::move(after)}));
  ASSERT_THAT(difference.matched, SizeIs(1));
  EXPECT_THAT(difference.matched[0].what, ElementsAre("dtype", "layout", "tactic", "bytes"));
}

TEST(EngineDiff, LayersAreFoundByNameThenNodesThenComputation) {
  const EngineDiff difference =
      diff(compared({layer_named("same", half, 8), layer_named("Conv_1", half, 16),
                     layer_named("Conv_3", half, 24), layer_named("gone", half, 40, "Pooling")}),
           compared({layer_named("Conv_1 + Relu_2", half, 16), layer_named("same", half, 8),
                     layer_named("w + QuantizeLinear_7 + Conv_9", byte, 24),
                     layer_named("new", byte, 48, "Reformat")}));
  ASSERT_THAT(difference.matched, SizeIs(3));
  for (const ComparedLayer& pair : difference.matched) {
    EXPECT_EQ(pair.matched_by, (std::vector{EngineMatch::name, EngineMatch::nodes,
                                            EngineMatch::computation})[pair.before]);
    EXPECT_EQ(pair.after, (std::vector<std::size_t>{1, 0, 2})[pair.before]);
  }
  EXPECT_THAT(difference.removed, ElementsAre(3));
  EXPECT_THAT(difference.added, ElementsAre(3));
}

// "Conv_1" of another export may be another convolution.
TEST(EngineDiff, NumbersOfNodesAreNoMatchForOtherSizes) {
  const EngineDiff difference = diff(compared({layer_named("Conv_1", half, 16)}),
                                     compared({layer_named("w + Conv_1", half, 32)}));
  EXPECT_THAT(difference.matched, IsEmpty());
}

TEST(EngineDiff, TheLargestChangeOfTimeComesFirst) {
  const EngineDiff difference =
      diff(compared({layer_named("a", half, 8), layer_named("b", half, 8)}, {10e-6, 50e-6}),
           compared({layer_named("a", half, 8), layer_named("b", byte, 8)}, {11e-6, 20e-6}));
  ASSERT_THAT(difference.matched, SizeIs(2));
  EXPECT_EQ(difference.matched[0].before, 1U);
  const std::string text = engine_diff_text(difference, std::nullopt, 80);
  EXPECT_THAT(text, HasSubstr("60.0 µs  31.0 µs  ×0.517"));
  EXPECT_THAT(text, HasSubstr("fp16 ⇒ int8"));
  EXPECT_THAT(text, HasSubstr("1 of 2 matched layers are the same"));
}

TEST(EngineDiff, FormsHoldBothSides) {
  EngineLayer odd = layer_named("new \x1b[1m", byte, 48, "Reformat");
  const EngineDiff difference =
      diff(compared({layer_named("a", half, 8), layer_named("b", half, 16)}, {1e-6, 2e-6}),
           compared({layer_named("a", byte, 8), std::move(odd)}));
  const Json json = to_json(difference);
  EXPECT_THAT(ridgeline::testing::schema_violations(json, "engine_diff.schema.json"), IsEmpty());
  EXPECT_EQ(json.at("removed").size(), 1U);
  EXPECT_THAT(engine_diff_text(difference, 1, 80), Not(HasSubstr("\x1b")));
  EXPECT_THAT(engine_diff_markdown(difference, 1), HasSubstr("| total |"));
  const std::string csv = engine_diff_csv(difference);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 4);
}

}  // namespace
}  // namespace ridgeline::tensorrt
