// Text generation: a decoder whose cache grows by one token per run, counted once per run.
// Sums over runs are exact, since the work of a run is linear in the length of its cache.
#include <gtest/gtest.h>

#include "analyzer/count/count.h"
#include "tests/analyzer/onnx/imported.h"

namespace ridgeline::testing {
namespace {

constexpr std::int64_t heads = 2, head_size = 4, words = 50;

// Ids and a cache in, logits and the cache out. MACs per run and row: 8·words per new token and
// 2·heads·size·3 per cached token.
GraphBuilder decoder() {
  GraphBuilder graph;
  graph.input("input_ids", ElementType::int32, {"rows", "length"})
      .input("position_ids", ElementType::int32, {"rows", "length"})
      .input("attention_mask", ElementType::int32, {"rows", "total"})
      .input("past_0", ElementType::fp32, {2, "rows", heads, "past", head_size});
  graph.initializer("table", ElementType::fp32, {words, 8});
  graph.initializer("head", ElementType::fp32, {8, words});
  graph.node("Gather", {"table", "input_ids"}, {"hidden"});
  graph.node("MatMul", {"hidden", "head"}, {"logits"}).name("head");
  graph.initializer("mixing", ElementType::fp32, {head_size, 3});
  graph.node("MatMul", {"past_0", "mixing"}, {"mixed"}).name("cache");
  graph.node("Identity", {"past_0"}, {"present_0"});
  graph.output("logits", ElementType::fp32, {"rows", "length", words});
  graph.output("present_0", ElementType::fp32, {2, "rows", heads, "past", head_size});
  return graph;
}

OnnxBuilder beam_search(std::int64_t prompt) {
  OnnxBuilder model;
  model.opset(14).opset(1, "com.microsoft").output("sequences");
  model.input("ids", ElementType::int32, {3, prompt});
  for (const auto& [name, value] :
       {std::pair{"max_length", 10}, {"min_length", 1}, {"num_beams", 4}, {"returned", 2}})
    model.initializer(name, ElementType::int32, {1}).ints({value});
  model
      .node("BeamSearch", {"ids", "max_length", "min_length", "num_beams", "returned"},
            {"sequences"})
      .name("search")
      .domain("com.microsoft")
      .attribute("decoder", decoder());
  return model;
}

double total_macs(const Graph& graph) {
  double macs = 0;
  for (const Layer& layer : graph.layers) macs += count_layer(graph, layer, default_weights()).macs;
  return macs;
}

constexpr double rows = 3 * 4, per_token = 8 * words, per_cached = 2 * heads * head_size * 3;

TEST(GenerationRule, PromptAndSteps) {
  const Graph graph = imported(beam_search(6)).graph;
  EXPECT_EQ(shape_text(graph, "sequences"), "3x2x10");
  // 10 − 6 tokens: the prompt yields one, three steps yield the rest.
  EXPECT_EQ(layer_named(graph, "search/prompt/head").repeats, 1);
  EXPECT_EQ(layer_named(graph, "search/decoder/head").repeats, 3);
  EXPECT_EQ(total_macs(graph), rows * (per_token * (6 + 3) + per_cached * (6 + 7 + 8)));
}

TEST(GenerationRule, AnEvenNumberOfStepsHasTwoMiddles) {
  const Graph graph = imported(beam_search(7)).graph;
  EXPECT_EQ(layer_named(graph, "search/decoder/head").repeats, 1);
  EXPECT_EQ(layer_named(graph, "search/decoder, second half/head").repeats, 1);
  EXPECT_EQ(total_macs(graph), rows * (per_token * (7 + 2) + per_cached * (7 + 8)));
}

TEST(GenerationRule, NothingLeftToGenerate) {
  EXPECT_THROW(imported(beam_search(10)), std::exception);
}

}  // namespace
}  // namespace ridgeline::testing
