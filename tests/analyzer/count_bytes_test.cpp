// Bytes of whole layers: each tensor once at its own type, weights separately, and the exceptions.
// FLOP of Ops are in count_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/count/count.h"
#include "base/json.h"
#include "tests/support/paths.h"
#include "tests/support/schema_validator.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Bytes {
  double read, written, weights;
  friend bool operator==(const Bytes&, const Bytes&) = default;
  friend void PrintTo(const Bytes& bytes, std::ostream* out) {
    *out << bytes.read << " read, " << bytes.written << " written, " << bytes.weights << " weights";
  }
};

struct OneLayer {
  Graph graph;
  Layer layer;

  explicit OneLayer(Op op, DType dtype = DType::fp32) { layer.parts.push_back({op, dtype}); }

  OneLayer& in(Shape shape, ElementType type = ElementType::fp32, Role role = Role::activation) {
    layer.inputs.push_back(add(std::move(shape), type, role));
    return *this;
  }
  OneLayer& weight(Shape shape, ElementType type = ElementType::fp32) {
    return in(std::move(shape), type, Role::weight);
  }
  OneLayer& out(Shape shape, ElementType type = ElementType::fp32) {
    layer.outputs.push_back(add(std::move(shape), type, Role::activation));
    return *this;
  }
  TensorId add(Shape shape, ElementType type, Role role) {
    Tensor tensor;
    tensor.name = "t" + std::to_string(graph.tensors.size());
    tensor.type = type;
    tensor.shape = std::move(shape);
    tensor.source = ShapeSource::fixed;
    tensor.role = role;
    graph.tensors.push_back(tensor);
    return graph.tensors.size() - 1;
  }
  Work work() const { return count_layer(graph, layer, default_weights()); }
  Bytes bytes() const {
    const Work counted = work();
    return {counted.bytes_read, counted.bytes_written, counted.weight_bytes_read};
  }
};

TEST(CountBytes, ConvolutionReadsInputWeightsAndBias) {
  OneLayer conv(Convolution{});
  conv.in({1, 3, 224, 224}).weight({64, 3, 7, 7}).weight({64}).out({1, 64, 112, 112});
  EXPECT_EQ(conv.bytes(), (Bytes{602112, 3211264, 4 * (9408 + 64)}));
  EXPECT_EQ(total_bytes(conv.work()), 602112 + 3211264 + 37888);
}

TEST(CountBytes, ABroadcastOperandIsReadAtItsOwnSize) {
  OneLayer add(Elementwise{Function::add, 128 * 768});
  add.in({128, 768}).weight({768}).out({128, 768});
  EXPECT_EQ(total_bytes(add.work()), 789504);
}

TEST(CountBytes, EveryTensorHasItsOwnType) {
  OneLayer product(MatMul{.m = 8, .n = 16, .k = 32}, DType::fp16);
  product.in({8, 32}, ElementType::fp16)
      .weight({32, 16}, ElementType::int8)
      .out({8, 16}, ElementType::fp32);
  EXPECT_EQ(product.bytes(), (Bytes{512, 512, 512}));
}

TEST(CountBytes, SubByteTypesAreRoundedUpPerTensor) {
  OneLayer product(MatMul{});
  product.in({1}).weight({3, 5}, ElementType::int4).weight({3}, ElementType::uint2).out({1});
  EXPECT_EQ(product.bytes(), (Bytes{4, 4, 8 + 1}));
}

TEST(CountBytes, GatherReadsRowsNotTheTable) {
  OneLayer gather(Gather{6 * 256});
  gather.weight({29423, 256}).in({1, 6}, ElementType::int64).out({1, 6, 256});
  EXPECT_EQ(gather.bytes(), (Bytes{48, 6144, 6144}));
}

TEST(CountBytes, SliceReadsWhatItWrites) {
  OneLayer slice(Copy{.elements_read = 10});
  slice.in({100}).out({10});
  EXPECT_EQ(slice.bytes(), (Bytes{40, 40, 0}));
  OneLayer concat(Copy{});
  concat.in({100}).in({20}).out({120});
  EXPECT_EQ(concat.bytes(), (Bytes{480, 480, 0}));
}

TEST(CountBytes, ScatterCopiesAndWritesTheUpdates) {
  OneLayer scatter(Scatter{.updates = 8});
  scatter.in({100}).in({8, 1}, ElementType::int64).in({8}).out({100});
  EXPECT_EQ(scatter.bytes(), (Bytes{400 + 64 + 32, 400 + 32, 0}));
}

// The input is read once for the statistics and once to apply them.
TEST(CountBytes, BatchStatisticsTakeAPassOfTheirOwn) {
  for (const bool training : {false, true}) {
    OneLayer norm(Normalize{.elements = 64, .training = training});
    norm.in({2, 8, 4}).weight({8}).weight({8}).out({2, 8, 4});
    EXPECT_EQ(norm.bytes(), (Bytes{training ? 512.0 : 256.0, 256, 64}));
  }
}

TEST(CountBytes, AViewMovesNothing) {
  OneLayer view(View{});
  view.in({2, 50}).out({100});
  EXPECT_EQ(view.work(), Work{});
  view.layer.parts.clear();
  EXPECT_EQ(view.work(), Work{});
}

TEST(CountBytes, AnUnknownOperatorMovesItsTensors) {
  OneLayer unknown(Unknown{"no rule"});
  unknown.in({10}).out({20});
  EXPECT_EQ(unknown.bytes(), (Bytes{40, 80, 0}));
}

TEST(CountBytes, FoldedAndAbsorbedLayersAreFree) {
  OneLayer layer(Elementwise{Function::add, 100});
  layer.in({100}).out({100});
  layer.layer.standing = Standing::folded;
  EXPECT_EQ(layer.work(), Work{});
  layer.layer.standing = Standing::absorbed;
  EXPECT_EQ(layer.work(), Work{});
  layer.layer.standing = Standing::alternative;
  EXPECT_EQ(total_flop(layer.work()), 100);
}

TEST(CountBytes, RepeatsMultiplyEverything) {
  OneLayer layer(Elementwise{Function::tanh, 100});
  layer.in({100}).weight({100}).out({100});
  layer.layer.repeats = 7;
  EXPECT_EQ(layer.bytes(), (Bytes{2800, 2800, 2800}));
  EXPECT_EQ(total_flop(layer.work()), 3500);
  EXPECT_EQ(layer.work().transcendentals, 700);
}

TEST(CountBytes, SparseWeightsAsTheyAreStored) {
  OneLayer product(MatMul{});
  product.in({1, 1000}).weight({1000, 1000}).out({1, 1000});
  product.graph.tensors[1].stored_bytes = 12000;
  EXPECT_EQ(product.bytes(), (Bytes{4000, 4000, 12000}));
}

TEST(CountBytes, WhatCannotBeToldIsListed) {
  OneLayer layer(Copy{});
  layer.in({3}, ElementType::string).in({3}).out({6}, ElementType::unknown);
  EXPECT_THAT(unsized_tensors(layer.graph, layer.layer), ElementsAre(0, 2));
  layer.graph.tensors[1].source = ShapeSource::unknown;
  EXPECT_THAT(unsized_tensors(layer.graph, layer.layer), ElementsAre(0, 1, 2));
  layer.layer.standing = Standing::folded;
  EXPECT_THAT(unsized_tensors(layer.graph, layer.layer), IsEmpty());
}

TEST(CountBytes, APartlyReadTableOfStringsIsListedToo) {
  OneLayer gather(Gather{6});
  gather.weight({100}, ElementType::string).in({6}, ElementType::int64).out({6});
  EXPECT_THAT(unsized_tensors(gather.graph, gather.layer), ElementsAre(0));
}

TEST(CountBytes, SeveralPartsAreOneLayer) {
  OneLayer layer(MatMul{.m = 4, .n = 4, .k = 4});
  layer.layer.parts.push_back({Elementwise{Function::gelu, 16}, DType::fp32});
  layer.in({4, 4}).weight({4, 4}).out({4, 4});
  EXPECT_EQ(total_flop(layer.work()), 128 + 176);
  EXPECT_EQ(total_bytes(layer.work()), 3 * 64);
}

TEST(OpWeights, FileReplacesWhatItNames) {
  TemporaryDirectory folder;
  folder.write("weights.json", R"({"schema": "ridgeline.op_weights/1",
      "functions": {"tanh": 38, "exp": {"flop": 32, "transcendentals": 0}},
      "softmax": {"flop": 7}, "layer_norm": 4, "resize_linear": [0, 4, 8, 16]})");
  const OpWeights weights = weights_from_file(folder.file("weights.json"));
  EXPECT_EQ(weights.of(Function::tanh).flop, 38);
  EXPECT_EQ(weights.of(Function::tanh).transcendentals, 1);
  EXPECT_EQ(weights.of(Function::exp).transcendentals, 0);
  EXPECT_EQ(weights.softmax.flop, 7);
  EXPECT_EQ(weights.layer_norm, 4);
  EXPECT_EQ(weights.resize_linear[2], 8);
  EXPECT_EQ(weights.of(Function::relu).flop, 1);
  EXPECT_EQ(weights.affine, 2);
}

TEST(OpWeights, JsonReadsBackAsTheSameTable) {
  const Json json = to_json(default_weights());
  EXPECT_EQ(to_json(weights_from_json({json, ""})), json);
}

TEST(OpWeights, TheTableInTheDocumentationIsTheDefault) {
  const Json documented = read_json_file(source_file("docs/op_weights.json"));
  EXPECT_EQ(documented, to_json(default_weights()));
  EXPECT_THAT(schema_violations(documented, "op_weights.schema.json"), IsEmpty());
}

TEST(OpWeights, MistakesAreNamed) {
  const auto fault = [](const std::string& members) {
    const Json json =
        parse_json("{\"schema\": \"ridgeline.op_weights/1\"" + members + "}", "w.json");
    try {
      weights_from_json(file_cursor(json, "w.json"));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  EXPECT_EQ(fault(R"(, "functions": {"tahn": 1})"),
            "w.json: functions.tahn: no function has this name, did you mean 'tanh'?");
  EXPECT_THAT(fault(R"(, "sofmax": 1)"), HasSubstr("w.json: sofmax: no weight has this name"));
  EXPECT_THAT(fault(R"(, "softmax": {"flops": 1})"), HasSubstr("unknown name"));
  EXPECT_EQ(fault(R"(, "affine": -1)"), "w.json: affine: negative");
  EXPECT_THAT(fault(R"(, "affine": 1e9)"), HasSubstr("out of range"));
  EXPECT_THAT(fault(R"(, "resize_cubic": [1, 2])"), HasSubstr("needs four numbers"));
}

}  // namespace
}  // namespace ridgeline::testing
