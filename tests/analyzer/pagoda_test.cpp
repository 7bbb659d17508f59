// The rule set `pagoda` against the totals its authors publish, and its known peculiarities.
// Published: github.com/dream-lab/pagoda, batch_size notebook, b = 1 … 1024.
#include "analyzer/count/pagoda.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/analyzer/networks.h"
#include "tests/analyzer/onnx/imported.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;

Analysis by_pagoda(const OnnxBuilder& model, PagodaOptions options = {}) {
  onnx::ImportOptions import;
  import.assumed_dim = 1;
  import.absorb_quantization = false;
  return analyze_by_pagoda(imported(model, import).graph, options);
}

struct PublishedTotals {
  double flop, bytes, parameter_bytes;
  friend bool operator==(const PublishedTotals&, const PublishedTotals&) = default;
  friend void PrintTo(const PublishedTotals& totals, std::ostream* out) {
    *out << std::fixed << totals.flop << " FLOP, " << totals.bytes << " bytes, "
         << totals.parameter_bytes << " of parameters";
  }
};

PublishedTotals totals(const Analysis& analysis) {
  const Work& work = analysis.totals.work;
  return {total_flop(work), total_bytes(work), work.weight_bytes_read};
}

TEST(Pagoda, ResNet50IsExact) {
  const OnnxBuilder model = resnet50();
  for (const std::int64_t batch : {1, 8, 64, 1024}) {
    const auto b = static_cast<double>(batch);
    EXPECT_EQ(totals(by_pagoda(model, {.batch = batch})),
              (PublishedTotals{8206316544 * b, 102011648 + 234659744 * b, 102011648}))
        << batch;
  }
}

TEST(Pagoda, MobileNetV3IsExact) {
  const OnnxBuilder model = mobilenet_v3_large();
  for (const std::int64_t batch : {1, 8, 64}) {
    const auto b = static_cast<double>(batch);
    EXPECT_EQ(totals(by_pagoda(model, {.batch = batch})),
              (PublishedTotals{449137560 * b, 21805088 + 81171584 * b, 21805088}))
        << batch;
  }
}

TEST(Pagoda, LstmIsExactWithTheSequenceOfItsNotebook) {
  const OnnxBuilder model = lstm_word_model();
  for (const std::int64_t batch : {1, 2, 64}) {
    const auto b = static_cast<double>(batch);
    EXPECT_EQ(totals(by_pagoda(model, {.batch = batch, .matmul_seq = 8})),
              (PublishedTotals{8486912 + 120516608 * b, 34360320 + 962016 * b, 30129152}))
        << batch;
  }
}

TEST(Pagoda, LstmByTheReleasedFiles) {
  const PublishedTotals released = totals(by_pagoda(lstm_word_model()));
  EXPECT_EQ(released.flop, 23551488);
  EXPECT_EQ(released.bytes, 34491324);
  const PublishedTotals variant = totals(by_pagoda(lstm_word_model(), {.lstm_variant = true}));
  EXPECT_EQ(variant.flop, 751108096);
  EXPECT_EQ(variant.bytes, 103678848);
}

TEST(Pagoda, TrainingIsThreeTimesEverything) {
  const PublishedTotals once = totals(by_pagoda(resnet50()));
  EXPECT_EQ(totals(by_pagoda(resnet50(), {.training = true})),
            (PublishedTotals{3 * once.flop, 3 * once.bytes, 3 * once.parameter_bytes}));
}

TEST(Pagoda, GemmIgnoresRows) {
  OnnxBuilder model;
  model.opset(13).input("x", ElementType::fp32, {197, 768});
  model.initializer("w", ElementType::fp32, {768, 768});
  model.node("Gemm", {"x", "w"}, {"y"});
  model.output("y");
  EXPECT_EQ(totals(by_pagoda(model)).flop, 1179648);
}

TEST(Pagoda, FreeDimensionsAreOne) {
  OnnxBuilder model;
  model.opset(13).input("x", ElementType::fp32, {1, 64, "h", "w"});
  model.initializer("k", ElementType::fp32, {64, 64, 3, 3});
  model.node("Conv", {"x", "k"}, {"y"}).attribute("pads", {1, 1, 1, 1});
  model.output("y");
  EXPECT_EQ(totals(by_pagoda(model)).flop, 73792);
}

TEST(Pagoda, TheExportedBatchIsMultipliedOnTop) {
  OnnxBuilder model;
  model.opset(13).input("x", ElementType::fp32, {4, 10});
  model.node("Relu", {"x"}, {"y"});
  model.output("y");
  EXPECT_EQ(totals(by_pagoda(model, {.batch = 4})).flop, 160);
}

TEST(Pagoda, SecondOperandOfMatMulCountsOnce) {
  OnnxBuilder model;
  model.opset(13).input("a", ElementType::fp32, {12, 128, 64});
  model.input("b", ElementType::fp32, {12, 64, 128});
  model.node("MatMul", {"a", "b"}, {"y"});
  model.output("y");
  EXPECT_EQ(totals(by_pagoda(model)).bytes, 1212416);
}

TEST(Pagoda, ABroadcastOperandCountsAtOutputSize) {
  OnnxBuilder model;
  model.opset(13).input("x", ElementType::fp32, {128, 768});
  model.initializer("bias", ElementType::fp32, {768});
  model.node("Add", {"x", "bias"}, {"y"});
  model.output("y");
  EXPECT_EQ(totals(by_pagoda(model)).bytes, 1179648);
}

TEST(Pagoda, ARepeatedNameOverwrites) {
  OnnxBuilder model;
  model.opset(13).input("x", ElementType::fp32, {10});
  model.node("Relu", {"x"}, {"y"}).name("same");
  model.node("Relu", {"y"}, {"z"}).name("same");
  model.output("z");
  const Analysis analysis = by_pagoda(model);
  EXPECT_EQ(totals(analysis).flop, 10);
  EXPECT_EQ(total_flop(analysis.rows[0].work), 0);
  EXPECT_THAT(analysis.rows[0].note, HasSubstr("same name"));
}

TEST(Pagoda, WhatCountsNothingSaysWhy) {
  OnnxBuilder model;
  model.opset(13).input("x", ElementType::fp32, {1, 4, 10});
  model.initializer("bias", ElementType::fp32, {10});
  model.initializer("k", ElementType::fp32, {4, 4, 3});
  model.node("Add", {"bias", "x"}, {"a"}).name("bias_first");
  model.node("Conv", {"a", "k"}, {"b"}).name("conv_1d");
  model.node("Sqrt", {"b"}, {"c"}).name("sqrt");
  model.output("c");
  const Analysis analysis = by_pagoda(model);
  EXPECT_EQ(totals(analysis), (PublishedTotals{0, 0, 0}));
  EXPECT_THAT(analysis.rows[0].note, HasSubstr("first input is a stored weight"));
  EXPECT_THAT(analysis.rows[1].note, HasSubstr("two dimensions"));
  EXPECT_THAT(analysis.rows[2].note, HasSubstr("no rule"));
  ASSERT_EQ(analysis.warnings.size(), 1u);
  EXPECT_EQ(analysis.warnings[0], "by these rules 3 layers count nothing: Add, Conv, Sqrt");
}

TEST(Pagoda, QuantisedConvolutionsCountNothing) {
  const Analysis analysis = by_pagoda(quantized_convolution());
  EXPECT_EQ(totals(analysis).flop, 0);
}

TEST(Pagoda, ConvolutionsAlwaysHaveABiasAndGemmNever) {
  OnnxBuilder model;
  model.opset(13).input("x", ElementType::fp32, {1, 2, 4, 4});
  model.initializer("k", ElementType::fp32, {3, 2, 1, 1});
  model.node("Conv", {"x", "k"}, {"y"});
  model.output("y");
  EXPECT_EQ(totals(by_pagoda(model)).flop, 2 * 48 * 2 + 48);
}

TEST(PagodaOptions, AreRead) {
  const PagodaOptions options = parse_pagoda_options("matmul_seq=8,training", "--rules");
  EXPECT_EQ(options.matmul_seq, 8);
  EXPECT_TRUE(options.training);
  EXPECT_FALSE(options.lstm_variant);
  EXPECT_TRUE(parse_pagoda_options("lstm", "--rules").lstm_variant);
  EXPECT_THROW(parse_pagoda_options("seq=8", "--rules"), Error);
  EXPECT_THROW(parse_pagoda_options("matmul_seq=x", "--rules"), Error);
}

}  // namespace
}  // namespace ridgeline::testing
