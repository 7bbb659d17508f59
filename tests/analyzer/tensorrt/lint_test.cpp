// Lint rules on small engines: what each finds, what it leaves alone, and how much it says is lost.
#include "analyzer/tensorrt/lint/lint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <map>

#include "base/json.h"
#include "report/lint.h"
#include "tests/support/paths.h"
#include "tests/support/schema_validator.h"

namespace ridgeline::tensorrt {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Optional;

constexpr Format fp32{ElementType::fp32, Layout::linear};
constexpr Format fp16{ElementType::fp16, Layout::channel_last, 8};
constexpr Format int8{ElementType::int8, Layout::channel_vector, 32};

EngineTensor tensor(const std::string& name, const Format& format, Shape shape = {1, 64, 8, 8}) {
  return {name, std::move(shape), format, "Device"};
}

EngineLayer layer_of(const std::string& parameter, const std::string& name, EngineTensor in,
                     EngineTensor out) {
  EngineLayer layer;
  layer.name = name;
  layer.type = layer.parameter = parameter;
  layer.inputs = {std::move(in)};
  layer.outputs = {std::move(out)};
  return layer;
}

EngineLayer convolution(const std::string& name, EngineTensor in, EngineTensor out,
                        const std::string& tactic = "sm80_xmma_fprop_tensor16x8x16") {
  EngineLayer layer = layer_of("Convolution", name, std::move(in), std::move(out));
  layer.type = "CaskConvolution";
  layer.tactic = tactic;
  layer.out_maps = layer.outputs.front().shape[1];
  layer.window.size = {3, 3};
  return layer;
}

Engine engine_of(std::vector<EngineLayer> layers, const std::string& input = "in",
                 const std::string& output = "out") {
  Engine engine;
  engine.path = "net.graph.json";
  engine.layers = std::move(layers);
  for (const EngineLayer& layer : engine.layers) {
    for (const EngineTensor& read : layer.inputs)
      if (read.name == input) engine.io.push_back({read, true, {}, false});
    for (const EngineTensor& written : layer.outputs)
      if (written.name == output) engine.io.push_back({written, false, {}, false});
  }
  return engine;
}

double bytes_of(const EngineLayer& layer) {
  double bytes = 0;
  for (const auto* tensors : {&layer.inputs, &layer.outputs})
    for (const EngineTensor& one : *tensors) bytes += tensor_bytes(one).value_or(0);
  return bytes;
}

std::vector<LayerCost> costs_of(const Engine& engine, std::optional<double> time_s = 100e-6,
                                std::optional<double> least_s = {}) {
  std::vector<LayerCost> costs;
  for (const EngineLayer& layer : engine.layers)
    costs.push_back({bytes_of(layer), time_s, least_s});
  return costs;
}

LintReport linted(const Engine& engine, std::vector<LayerCost> costs) {
  const bool has_times = !costs.empty() && costs.front().time_s;
  return lint(
      {engine, std::move(costs), has_times ? std::optional(Source::measured) : std::nullopt});
}
LintReport linted(const Engine& engine) { return linted(engine, costs_of(engine)); }

std::vector<Finding> found(const LintReport& report, std::string_view rule) {
  std::vector<Finding> findings;
  std::ranges::copy_if(report.findings, std::back_inserter(findings),
                       [&](const Finding& finding) { return finding.rule == rule; });
  return findings;
}

// The names of the layers of the only finding of a rule; empty if there is none.
std::vector<std::string> named(const LintReport& report, std::string_view rule) {
  const auto findings = found(report, rule);
  EXPECT_LE(findings.size(), 1U) << rule;
  std::vector<std::string> names;
  for (const Finding& finding : findings)
    for (const FindingLayer& layer : finding.layers)
      names.push_back(report.layer_names[layer.layer]);
  return names;
}

TEST(Lint, AnEngineWithoutFaultsHasNoFindings) {
  const LintReport report =
      linted(engine_of({convolution("a", tensor("in", fp16), tensor("x", fp16)),
                        convolution("b", tensor("x", fp16), tensor("out", fp16))}));
  EXPECT_THAT(report.findings, IsEmpty());
  EXPECT_THAT(report.time_s, Optional(DoubleEq(200e-6)));
  EXPECT_THAT(lint_text(report, false, 80), HasSubstr("nothing to report"));
}

TEST(Lint, ReformatsAreToldByTheirPlace) {
  const LintReport report = linted(engine_of({
      layer_of("Reformat", "first", tensor("in", fp32), tensor("a", fp16)),
      convolution("conv", tensor("a", fp16), tensor("b", fp16)),
      layer_of("Reformat", "type", tensor("b", fp16), tensor("c", fp32)),
      layer_of("Reformat", "layout", tensor("c", fp32),
               tensor("d", {ElementType::fp32, Layout::channel_last, 4})),
      layer_of("Reformat", "last", tensor("d", fp32), tensor("out", fp16)),
  }));
  const auto findings = found(report, "reformat");
  ASSERT_EQ(findings.size(), 4U);
  for (const Finding& finding : findings) {
    EXPECT_EQ(finding.layers.size(), 1U);
    EXPECT_THAT(finding.lost_s, Optional(DoubleEq(100e-6)));
    EXPECT_EQ(finding.source, Source::measured);
    const std::string& name = report.layer_names[finding.layers.front().layer];
    const std::map<std::string, std::string> expected = {{"first", "--inputIOFormats"},
                                                         {"last", "--outputIOFormats"},
                                                         {"type", "fp16 to fp32"},
                                                         {"layout", "fp32 NCHW → fp32 NHWC4"}};
    EXPECT_THAT(finding.what + finding.remedy + finding.layers.front().detail,
                HasSubstr(expected.at(name)));
  }
}

TEST(Lint, WithoutTimesBytesAreCounted) {
  const Engine engine =
      engine_of({layer_of("Reformat", "first", tensor("in", fp32), tensor("a", fp16))});
  const LintReport report = linted(engine, costs_of(engine, std::nullopt));
  const auto findings = found(report, "reformat");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].lost_s, std::nullopt);
  EXPECT_THAT(findings[0].lost_bytes, Optional(DoubleEq(64 * 64 * (4 + 2))));
  EXPECT_EQ(report.time_s, std::nullopt);
  ASSERT_EQ(report.skipped.size(), 2U);
  EXPECT_EQ(report.skipped[0].rule, "tiny-kernels");
  EXPECT_EQ(report.skipped[1].rule, "far-from-roof");
}

TEST(Lint, QuantizeStepsByThemselvesAreFound) {
  EngineLayer old = layer_of("Scale", "old", tensor("a", fp32), tensor("b", int8));
  EngineLayer plain = layer_of("Scale", "plain", tensor("c", fp32), tensor("d", fp32));
  EngineLayer later = layer_of("Reformat", "later", tensor("b", int8), tensor("c", fp32));
  later.origin = "QDQ";
  const LintReport report = linted(
      engine_of({convolution("conv", tensor("in", fp16), tensor("a", fp32)), old, later, plain}));
  const auto findings = found(report, "unfused-qdq");
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_THAT(findings[0].what, HasSubstr("quantize steps"));
  EXPECT_THAT(findings[1].remedy, HasSubstr("DQ node"));
  EXPECT_THAT(found(report, "reformat"), IsEmpty());
}

TEST(Lint, ProductsThatFellBackToAWiderTypeAreFound) {
  const Engine engine =
      engine_of({convolution("narrow", tensor("in", int8), tensor("a", int8)),
                 convolution("half", tensor("a", fp16), tensor("b", fp16)),
                 convolution("single", tensor("b", fp32), tensor("out", fp32), "")});
  const LintReport report = linted(engine);
  const auto findings = found(report, "precision-fallback");
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_THAT(findings[0].what, HasSubstr("fp32 products"));
  EXPECT_THAT(findings[0].lost_s, Optional(DoubleEq(75e-6)));
  EXPECT_THAT(findings[0].lost_bytes, Optional(DoubleEq(0.75 * bytes_of(engine.layers[2]))));
  EXPECT_THAT(findings[1].lost_s, Optional(DoubleEq(50e-6)));
  EXPECT_EQ(findings[0].source, Source::predicted);
  EXPECT_THAT(findings[0].remedy, HasSubstr("Q/DQ"));
  EXPECT_THAT(found(report, "full-precision"), IsEmpty());
}

TEST(Lint, AnEngineInFp32IsOneFinding) {
  const LintReport report =
      linted(engine_of({convolution("a", tensor("in", fp32), tensor("x", fp32)),
                        convolution("b", tensor("x", fp32), tensor("out", fp32))}));
  EXPECT_THAT(named(report, "full-precision"), ElementsAre("a", "b"));
  EXPECT_THAT(found(report, "precision-fallback"), IsEmpty());
}

TEST(Lint, QuantisedProductsWithWideOutputsAreFound) {
  const Engine engine =
      engine_of({convolution("conv", tensor("in", int8), tensor("a", fp32)),
                 layer_of("Pooling", "pool", tensor("a", fp32), tensor("b", fp32)),
                 convolution("last", tensor("x", int8), tensor("out", fp32))});
  const LintReport report = linted(engine);
  EXPECT_THAT(named(report, "wide-output"), ElementsAre("conv"));  // the result may be wide
  const Finding finding = found(report, "wide-output").front();
  const double saved = 0.75 * 64 * 64 * 4;
  EXPECT_THAT(finding.lost_bytes, Optional(DoubleEq(2 * saved)));  // written and read
  EXPECT_THAT(finding.lost_s, Optional(DoubleEq(100e-6 * (saved / bytes_of(engine.layers[0]) +
                                                          saved / bytes_of(engine.layers[1])))));
}

TEST(Lint, ChannelsThatFillNoTileAreFound) {
  const Shape odd = {1, 20, 8, 8}, image = {1, 3, 8, 8};
  EngineLayer depthwise = convolution("depthwise", tensor("b", fp16, odd), tensor("c", fp16, odd));
  depthwise.groups = 20;
  const LintReport report =
      linted(engine_of({convolution("image", tensor("in", fp16, image), tensor("a", fp16)),
                        convolution("odd", tensor("a", fp16), tensor("b", fp16, odd)), depthwise,
                        convolution("even", tensor("x", fp16), tensor("y", fp16))}));
  const auto findings = found(report, "channel-alignment");
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_THAT(findings[0].what, HasSubstr("not a multiple of 8"));
  EXPECT_THAT(findings[0].lost_s, Optional(::testing::DoubleNear(100e-6 * (1 - 20.0 / 24), 1e-12)));
  EXPECT_EQ(findings[0].layers.front().detail, "64 → 20 channels");
  EXPECT_EQ(findings[1].lost_s, std::nullopt);
}

TEST(Lint, ProductsWithoutTensorCoresAreFound) {
  const Engine engine =
      engine_of({convolution("slow", tensor("in", int8), tensor("a", int8),
                             "volta_int8x4_icudnn_int8x4_128x64_relu"),
                 convolution("fast", tensor("a", int8), tensor("b", int8)),
                 convolution("unnamed", tensor("b", int8), tensor("out", int8), "")});
  EXPECT_THAT(named(linted(engine), "no-tensor-cores"), ElementsAre("slow"));
  EXPECT_EQ(found(linted(engine), "no-tensor-cores").front().lost_s, std::nullopt);
  const LintReport on_machine = linted(engine, costs_of(engine, 100e-6, 60e-6));
  EXPECT_THAT(found(on_machine, "no-tensor-cores").front().lost_s, Optional(DoubleEq(40e-6)));
}

TEST(Lint, ElementwiseLayersThatCouldBeFusedAreFound) {
  const Engine engine =
      engine_of({convolution("conv", tensor("in", fp16), tensor("a", fp16)),
                 layer_of("NoOp", "view", tensor("a", fp16), tensor("a2", fp16)),
                 layer_of("PointWise", "first", tensor("a2", fp16), tensor("b", fp16)),
                 layer_of("PointWise", "second", tensor("b", fp16), tensor("c", fp16)),
                 layer_of("Pooling", "pool", tensor("c", fp16), tensor("d", fp16)),
                 layer_of("PointWise", "after the pool", tensor("d", fp16), tensor("e", fp16)),
                 convolution("shared", tensor("e", fp16), tensor("f", fp16)),
                 layer_of("PointWise", "one reader of two", tensor("f", fp16), tensor("g", fp16)),
                 convolution("other reader", tensor("f", fp16), tensor("out", fp16))});
  const auto findings = found(linted(engine), "unfused-pointwise");
  ASSERT_EQ(findings.size(), 2U);
  const std::size_t behind_product = findings[0].what.ends_with("product") ? 0 : 1;
  EXPECT_EQ(findings[behind_product].layers.front().layer, 2U);
  EXPECT_EQ(findings[1 - behind_product].layers.front().layer, 3U);
  EXPECT_EQ(findings[behind_product].layers.front().detail, "after conv");
  EXPECT_THAT(findings[0].lost_bytes, Optional(DoubleEq(2 * 64 * 64 * 2)));
  EXPECT_EQ(findings[0].layers.size() + findings[1].layers.size(), 2U);
}

TEST(Lint, CopiesAreFound) {
  EngineLayer slice = layer_of("Reformat", "slice", tensor("a", fp16), tensor("b", fp16));
  slice.origin = "SLICE";
  const LintReport report =
      linted(engine_of({convolution("conv", tensor("in", fp16), tensor("a", fp16)), slice,
                        layer_of("Shuffle", "shuffle", tensor("b", fp16), tensor("c", fp16)),
                        layer_of("Slice", "cast", tensor("c", fp16), tensor("d", fp32))}));
  const auto findings = found(report, "copies");
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].layers.size(), 2U);
  EXPECT_EQ(findings[1].layers.front().detail, "slice, fp16 → fp32");
  EXPECT_THAT(found(report, "reformat"), IsEmpty());
}

TEST(Lint, TinyKernelsAreComparedWithTheBestOfTheEngine) {
  const Engine engine =
      engine_of({convolution("large", tensor("in", fp16, {64, 64, 64, 64}), tensor("a", fp16)),
                 layer_of("Pooling", "small", tensor("a", fp16), tensor("out", fp16))});
  std::vector<LayerCost> costs = costs_of(engine);
  costs[1].time_s = 4e-6;
  const double least_s = costs[1].bytes / (costs[0].bytes / 100e-6);
  const LintReport report = linted(engine, costs);
  EXPECT_THAT(named(report, "tiny-kernels"), ElementsAre("small"));
  EXPECT_THAT(found(report, "tiny-kernels").front().lost_s, Optional(DoubleEq(4e-6 - least_s)));
  costs[1].least_s = 3e-6;  // a machine on which this is work
  EXPECT_THAT(found(linted(engine, costs), "tiny-kernels"), IsEmpty());
}

TEST(Lint, KernelsFarFromTheirRoofAreSortedByTimeLost) {
  const Engine engine = engine_of({convolution("ratio", tensor("in", fp16), tensor("a", fp16)),
                                   convolution("loss", tensor("a", fp16), tensor("b", fp16)),
                                   convolution("near", tensor("b", fp16), tensor("out", fp16))});
  std::vector<LayerCost> costs = costs_of(engine, 100e-6, 10e-6);
  costs[1] = {costs[1].bytes, 900e-6, 300e-6};
  costs[2].least_s = 60e-6;
  const LintReport report = linted(engine, costs);
  EXPECT_THAT(named(report, "far-from-roof"), ElementsAre("loss", "ratio"));
  EXPECT_THAT(found(report, "far-from-roof").front().lost_s, Optional(DoubleEq(690e-6)));
  EXPECT_THAT(report.skipped, IsEmpty());
}

TEST(Lint, ShapesFarFromTheProfilesOptimumAreFound) {
  Engine engine = engine_of({convolution("conv", tensor("in", fp16), tensor("out", fp16))});
  engine.io.front().profiles = {{{1, 64, 8, 8}, {8, 64, 8, 8}, {128, 64, 8, 8}}};
  const auto findings = found(linted(engine), "profile-shape");
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_THAT(findings[0].lost_bytes, Optional(DoubleEq(120 * 64 * 64 * 2)));
  EXPECT_EQ(findings[1].layers.front().detail, "in: 1x64x8x8, optimised for 8x64x8x8");
  engine.io.front().profiles = {{{1, 64, 8, 8}, {1, 64, 8, 8}, {4, 64, 8, 8}}};
  EXPECT_THAT(found(linted(engine), "profile-shape"), IsEmpty());
}

TEST(Lint, NamesThatAreUsedAgainMeanTheLastWriter) {
  const Engine engine = engine_of({convolution("a", tensor("in", fp16), tensor("x", fp16)),
                                   convolution("b", tensor("x", fp16), tensor("y", fp16)),
                                   convolution("c", tensor("y", fp16), tensor("x", fp16)),
                                   layer_of("NoOp", "view", tensor("x", fp16), tensor("z", fp16)),
                                   convolution("d", tensor("z", fp16), tensor("out", fp16))});
  const Wiring wiring(engine);
  EXPECT_EQ(wiring.producer(0), std::nullopt);
  EXPECT_EQ(wiring.producer(1), 0U);
  EXPECT_EQ(wiring.producer(4), 2U);
  EXPECT_THAT(wiring.readers(0), ElementsAre(1));
  EXPECT_THAT(wiring.readers(2), ElementsAre(4));
  EXPECT_TRUE(wiring.reads_input(0));
  EXPECT_TRUE(wiring.writes_output(4));
  EXPECT_FALSE(wiring.writes_output(2));
}

TEST(Lint, TheOldestFilesNameNoInputs) {
  Engine engine = engine_of({convolution("a", tensor("in", fp16), tensor("x", fp16)),
                             convolution("b", tensor("x", fp16), tensor("out", fp16))});
  engine.io.clear();
  const Wiring wiring(engine);
  EXPECT_TRUE(wiring.reads_input(0));
  EXPECT_FALSE(wiring.reads_input(1));
  EXPECT_FALSE(wiring.writes_output(0));
  EXPECT_TRUE(wiring.writes_output(1));
}

// --- Forms ------------------------------------------------------------------------------------

TEST(Lint, RulesAreThoseOfTheSchema) {
  Json names = Json::array();
  for (const LintRule& rule : lint_rules()) names.push_back(rule.name);
  const Json schema =
      read_json_file(ridgeline::testing::source_file("docs/schemas/lint.schema.json"));
  EXPECT_EQ(schema.at("$defs").at("rule").at("enum"), names);
}

TEST(Lint, TextFitsAndFormsHoldEveryLayer) {
  std::vector<EngineLayer> layers;
  for (int i = 0; i < 5; ++i)
    layers.push_back(layer_of("Shuffle",
                              "a layer with quite a long name, \x1b[1m number " +
                                  std::to_string(i) + std::string(60, 'x'),
                              tensor(i == 0 ? "in" : "t" + std::to_string(i), fp16),
                              tensor("t" + std::to_string(i + 1), fp16)));
  const LintReport report = linted(engine_of(layers));
  const std::string text = lint_text(report, false, 80);
  EXPECT_THAT(text, HasSubstr("and 2 more: --all shows them"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(lint_text(report, true, 80), Not(HasSubstr("more")));
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = text.find('\n', begin)) != text.npos; begin = end + 1)
    EXPECT_LE(end - begin, 90U) << text.substr(begin, end - begin);  // bytes
  const std::string csv = lint_csv(report);
  EXPECT_EQ(std::ranges::count(csv, '\n'), 6);
  EXPECT_THAT(lint_markdown(report), HasSubstr("| copies |"));
  const Json json = to_json(report);
  EXPECT_THAT(ridgeline::testing::schema_violations(json, "lint.schema.json"), IsEmpty());
  EXPECT_EQ(json.at("findings").at(0).at("layers").size(), 5U);
  EXPECT_THAT(
      ridgeline::testing::schema_violations(to_json(linted(engine_of({}))), "lint.schema.json"),
      IsEmpty());
}

// Whatever an engine looks like: no layer loses more than it takes, and the largest loss is first.
RC_GTEST_PROP(Lint, LossesStayWithinTheTimesOfLayers, ()) {
  const auto any_format = [] {
    return Format{*rc::gen::element(ElementType::fp32, ElementType::fp16, ElementType::int8,
                                    ElementType::unknown),
                  *rc::gen::element(Layout::linear, Layout::channel_last, Layout::unknown),
                  *rc::gen::inRange<std::int64_t>(1, 33)};
  };
  const auto any_tensor = [&] {
    Shape shape;
    const int rank = *rc::gen::inRange(0, 5);
    for (int i = 0; i < rank; ++i) shape.push_back(*rc::gen::inRange<std::int64_t>(-1, 70));
    return EngineTensor{"t" + std::to_string(*rc::gen::inRange(0, 6)), shape, any_format(), ""};
  };
  std::vector<EngineLayer> layers;
  const int count = *rc::gen::inRange(0, 12);
  for (int i = 0; i < count; ++i) {
    EngineLayer layer;
    layer.name = "layer " + std::to_string(i);
    layer.parameter = *rc::gen::element<std::string>("Convolution", "PointWise", "Reformat",
                                                     "Scale", "Shuffle", "Pooling", "");
    layer.type =
        *rc::gen::element<std::string>("NoOp", "gemm", "Reformat", "CaskConvolution", "kgen");
    layer.origin = *rc::gen::element<std::string>("", "QDQ", "SLICE");
    layer.groups = *rc::gen::inRange<std::int64_t>(0, 5);
    layer.out_maps = *rc::gen::inRange<std::int64_t>(-1, 70);
    const int inputs = *rc::gen::inRange(0, 3), outputs = *rc::gen::inRange(0, 3);
    for (int k = 0; k < inputs; ++k) layer.inputs.push_back(any_tensor());
    for (int k = 0; k < outputs; ++k) layer.outputs.push_back(any_tensor());
    layers.push_back(layer);
  }
  const Engine engine = engine_of(layers, "t0", "t5");
  std::vector<LayerCost> costs = costs_of(engine);
  for (LayerCost& cost : costs) {
    cost.time_s = *rc::gen::inRange(0, 200) * 1e-6;
    if (*rc::gen::arbitrary<bool>()) cost.least_s = *rc::gen::inRange(0, 200) * 1e-6;
  }
  const LintReport report = lint({engine, costs, Source::measured});
  double before = std::numeric_limits<double>::infinity();
  for (const Finding& finding : report.findings) {
    RC_ASSERT(!finding.layers.empty());
    RC_ASSERT(!finding.remedy.empty());
    RC_ASSERT(finding.lost_s.value_or(0) <= before);
    before = finding.lost_s.value_or(0);
    for (const FindingLayer& layer : finding.layers) {
      RC_ASSERT(layer.layer < engine.layers.size());
      RC_ASSERT(layer.lost_s.value_or(0) >= 0);
      // Readers of a wide output lose, too.
      if (finding.rule != "wide-output")
        RC_ASSERT(layer.lost_s.value_or(0) <= *costs[layer.layer].time_s * (1 + 1e-9));
    }
  }
}

}  // namespace
}  // namespace ridgeline::tensorrt
