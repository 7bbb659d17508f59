// Language models: prompt and decode step, the cache, shared tables, grouped keys and values.
// The totals for a prompt are in published_counts_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analyzer/onnx/imported.h"
#include "tests/workloads/counted.h"

namespace ridgeline::testing {
namespace {

// Counted by torch on transformers' models with a cache of that many tokens.
TEST(LanguageModels, ADecodeStepCountsAsInTorch) {
  const auto macs = [](const char* name, const char* options) {
    return macs_of(build_workload(name, parse_options(options)));
  };
  const char* const one = "phase=decode;context=128";
  EXPECT_EQ(macs("gpt2", one), 125'909'760);
  EXPECT_EQ(macs("opt-1.3b", one), 1'323'597'824);
  EXPECT_EQ(macs("qwen2-1.5b", one), 1'554'665'472);
  EXPECT_EQ(macs("llama-3.2-1b", one), 1'244'200'960);
  const char* const four = "phase=decode;context=1000;batch=4;attention=eager";
  EXPECT_EQ(macs("gpt2", four), 567'929'856);
  EXPECT_EQ(macs("opt-1.3b", four), 5'637'275'648);
  EXPECT_EQ(macs("qwen2-1.5b", four), 6'518'685'696);
  EXPECT_EQ(macs("llama-3.2-1b", four), 5'205'393'408);
}

TEST(LanguageModels, LogitsAreOfEveryTokenOfTheLastOrOfNone) {
  const auto built = [](const char* options) {
    return build_workload("gpt2", parse_options(options));
  };
  const double head = 768.0 * 50257;  // MACs of one token
  const Graph all = built("seq=16;batch=2"), last = built("seq=16;batch=2;logits=last"),
              none = built("seq=16;batch=2;logits=none");
  EXPECT_EQ(macs_of(all) - macs_of(last), 2 * 15 * head);
  EXPECT_EQ(macs_of(last) - macs_of(none), 2 * head);
  EXPECT_EQ(none.tensors[none.outputs.front()].shape, (Shape{2, 16, 768}));
  EXPECT_EQ(last.tensors[last.outputs.front()].shape, (Shape{2, 1, 50257}));
  for (const Graph* graph : {&last, &none}) EXPECT_EQ(parameters_of(*graph), parameters_of(all));
  EXPECT_EQ(macs_of(built("phase=decode;logits=last")), macs_of(built("phase=decode")));
}

TEST(LanguageModels, TheCacheComesInAndWhatIsNewGoesOut) {
  const Graph graph =
      build_workload("llama-3.2-1b", parse_options("phase=decode;context=2048;batch=2"));
  ASSERT_EQ(graph.inputs.size(), 1u + 2 * 16);
  EXPECT_EQ(shape_text(graph, "input_ids"), "2x1");
  EXPECT_EQ(shape_text(graph, "past_key_values.15.value"), "2x8x2048x64");
  ASSERT_EQ(graph.outputs.size(), 2u * 16 + 1);
  EXPECT_EQ(to_string(graph.tensors[graph.outputs[1]].shape), "2x1x512");
  EXPECT_EQ(to_string(graph.tensors[graph.outputs[0]].shape), "2x1x128256");

  const Layer& layer = layer_named(graph, "model.layers.0.self_attn.attention");
  const auto* attention = op_of<Attention>(layer);
  ASSERT_NE(attention, nullptr);
  EXPECT_EQ(attention->q_length, 1);
  EXPECT_EQ(attention->kv_length, 2049);
  EXPECT_EQ(attention->q_heads, 32);
  EXPECT_EQ(attention->kv_heads, 8);
  // Reads the keys and values of 8 heads, not of 32; the result has 32.
  const Work work = count_layer(graph, layer, default_weights());
  EXPECT_EQ(work.bytes_read, 4.0 * 2 * (2 * 8 * 64 * 2049 + 32 * 64));
  EXPECT_EQ(work.bytes_written, 4.0 * 2 * 32 * 64);
}

// A decode step reads every parameter once, except the token table: first one row of it, then all
// of it for the logits.
TEST(LanguageModels, ADecodeStepReadsTheWeights) {
  const Graph graph = build_workload("llama-3.2-1b", parse_options("phase=decode;dtype=fp16"));
  const double weights = 2 * parameters_of(graph);
  const double row = 2 * 2048, angles = 16 * 2 * 2.0 * 2 * 64;
  EXPECT_EQ(work_of(graph).weight_bytes_read, weights + row + angles);
}

TEST(LanguageModels, TheTableOfTokensIsSharedAndCountedOnce) {
  const Graph graph = build_workload("gpt2");
  const Layer& words = layer_named(graph, "transformer.wte");
  const Layer& head = layer_named(graph, "lm_head");
  EXPECT_EQ(words.inputs[0], head.inputs[1]);
  EXPECT_EQ(graph.tensors[words.inputs[0]].name, "transformer.wte.weight");
  EXPECT_EQ(count_layer(graph, words, default_weights()).weight_bytes_read, 4.0 * 128 * 768);
}

TEST(LanguageModels, PromptsAreCausalAndEncodersAreNot) {
  const Graph decoder = build_workload("opt-1.3b");
  const auto* causal =
      op_of<Attention>(layer_named(decoder, "model.decoder.layers.3.self_attn.attention"));
  ASSERT_NE(causal, nullptr);
  EXPECT_TRUE(causal->causal);
  EXPECT_FALSE(causal->additive_mask);
  const Graph encoder = build_workload("bert_base");
  const auto* masked =
      op_of<Attention>(layer_named(encoder, "encoder.layer.3.attention.self.attention"));
  ASSERT_NE(masked, nullptr);
  EXPECT_FALSE(masked->causal);
  EXPECT_TRUE(masked->additive_mask);
}

// The steps of Hugging Face's eager attention, in its order.
TEST(LanguageModels, EagerAttentionIsItsSteps) {
  const Graph graph = build_workload(
      "llama-3.2-1b", parse_options("phase=decode;attention=eager;dtype=bf16;context=64"));
  std::vector<std::string> steps;
  for (const Layer& layer : graph.layers)
    if (layer.name.starts_with("model.layers.0.self_attn.attention."))
      steps.push_back(layer.origin);
  EXPECT_THAT(steps, ::testing::ElementsAre("Transpose", "Transpose", "Transpose", "Concat",
                                            "Concat", "Expand", "Expand", "MatMul", "Mul", "Add",
                                            "Softmax", "Cast", "MatMul", "Transpose"));
  EXPECT_EQ(shape_text(graph, "model.layers.0.self_attn.attention.matmul"), "1x32x1x65");
  EXPECT_EQ(tensor_named(graph, "model.layers.0.self_attn.attention.softmax").type,
            ElementType::fp32);
  EXPECT_EQ(tensor_named(graph, "model.layers.0.self_attn.attention.to").type, ElementType::bf16);
}

TEST(LanguageModels, BertTakesThreeInputs) {
  const Graph graph = build_workload("bert_large", parse_options("seq=384;batch=2"));
  EXPECT_EQ(shape_text(graph, "input_ids"), "2x384");
  EXPECT_EQ(shape_text(graph, "token_type_ids"), "2x384");
  EXPECT_EQ(shape_text(graph, "attention_mask"), "2x384");
  EXPECT_EQ(tensor_named(graph, "input_ids").type, ElementType::int64);
}

}  // namespace
}  // namespace ridgeline::testing
