// Archives of torch.export: the networks of tests/data/torch are counted as PyTorch counts them,
// sizes are bound, and what is no such archive is refused in one line.
#include "analyzer/torch/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "analyzer/count/count.h"
#include "analyzer/count/op_weights.h"
#include "analyzer/graph/unknown_operators.h"
#include "base/error.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/zip.h"
#include "workloads/options.h"
#include "workloads/registry.h"

namespace ridgeline::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

pytorch::Import exported(const std::string& name, const ReadOptions& options = {}) {
  return pytorch::import_archive(source_file("tests/data/torch/" + name + ".pt2"), options);
}

std::int64_t macs(const Graph& graph) {
  double total = 0;
  for (const Layer& layer : graph.layers)
    if (runs(layer))
      for (const Part& part : layer.parts)
        total += layer.repeats * count_part(part, default_weights()).macs;
  return static_cast<std::int64_t>(total);
}

std::int64_t parameters(const Graph& graph) {
  std::int64_t total = 0;
  for (const Tensor& tensor : graph.tensors)
    if (tensor.is_parameter) total += element_count(tensor.shape);
  return total;
}

struct Golden {
  const char* name;
  std::int64_t flop;  // of products, by PyTorch's own counter
  std::int64_t parameters;
};

class ExportedNetworks : public ::testing::TestWithParam<Golden> {};

TEST_P(ExportedNetworks, AreCountedAsPyTorchCountsThem) {
  const Graph graph = exported(GetParam().name).graph;
  EXPECT_EQ(2 * macs(graph), GetParam().flop);
  EXPECT_EQ(parameters(graph), GetParam().parameters);
  EXPECT_THAT(unknown_operators(graph), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    Torch, ExportedNetworks,
    ::testing::Values(Golden{"lenet", 833'040, 61'706}, Golden{"lenet_core", 833'040, 61'706},
                      Golden{"block", 589'824, 592},
                      // At a batch of two.
                      Golden{"resnet18", 7'256'293'376, 11'689'512},
                      // Tied weights count once.
                      Golden{"decoder", 387'072, 7'488}, Golden{"decoder_core", 387'072, 7'488},
                      // Of PyTorch 2.4: the older container, sizes in infix notation. Only its
                      // pickled weights say which are tied.
                      Golden{"decoder_2_4", 387'072, 7'488 + 100 * 32},
                      Golden{"recurrent", 287'232, 14'980}, Golden{"lenet_int8", 833'040, 61'706},
                      // PyTorch's counter leaves out the 24 x 8 x 24 of the
                      // grouped product: it says 206'400.
                      Golden{"rare", 206'400 + 2 * 24 * 8 * 24, 5'356}),
    [](const auto& test) { return std::string(test.param.name); });

// By PyTorch's own counter, at a batch of one.
TEST(ExportedProgram, NetworksOfOtherLibrariesAreCountedAsPyTorchCountsThem) {
  const std::pair<const char*, std::int64_t> flop[] = {{"resnet18", 3'628'146'688},
                                                       {"mobilenet_v3_large", 433'179'520},
                                                       {"bert_base", 22'348'431'360}};
  for (const auto& [name, expected] : flop) {
    const std::string file = source_file(std::string("tests/data/front_ends/") + name + ".pt2");
    EXPECT_EQ(2 * macs(pytorch::import_archive(file, {}).graph), expected) << name;
  }
}

TEST(ExportedProgram, NamesAndModulesAreThoseOfTheCode) {
  const pytorch::Import import = exported("lenet");
  std::vector<std::string> names;
  for (const Layer& layer : import.graph.layers) names.push_back(layer.name);
  EXPECT_THAT(names, ElementsAre("c1", "relu", "max_pool2d", "c2", "relu_1", "max_pool2d_1",
                                 "flatten", "f1", "relu_2", "f2", "relu_3", "f3"));
  EXPECT_THAT(import.graph.modules, ElementsAre("c1", "c2", "f1", "f2", "f3"));
  EXPECT_THAT(import.producer, HasSubstr("export schema 8.20"));
  EXPECT_EQ(import.batch, 1);
  EXPECT_THAT(import.warnings, IsEmpty());
}

TEST(ExportedProgram, FreeSizesAreThoseOfTheExampleUnlessGiven) {
  const pytorch::Import example = exported("block");
  EXPECT_EQ(example.batch, 2);
  ASSERT_EQ(example.warnings.size(), 1u);
  EXPECT_THAT(example.warnings.front(), HasSubstr("s77 = 2"));
  ReadOptions options;
  options.dims["s77"] = 8;
  const pytorch::Import given = exported("block", options);
  EXPECT_EQ(given.batch, 8);
  EXPECT_THAT(given.warnings, IsEmpty());
  EXPECT_EQ(macs(given.graph), 4 * macs(example.graph));
  ReadOptions batch;
  batch.batch = 8;
  EXPECT_EQ(macs(exported("block", batch).graph), macs(given.graph));
  ReadOptions shape;
  shape.shapes["x"] = {8, 8, 16, 16};
  EXPECT_EQ(macs(exported("block", shape).graph), macs(given.graph));
}

std::vector<std::int64_t> macs_by_layer(const Graph& graph) {
  std::vector<std::int64_t> all;
  for (const Layer& layer : graph.layers) {
    double sum = 0;
    for (const Part& part : layer.parts) sum += count_part(part, default_weights()).macs;
    if (runs(layer) && sum > 0) all.push_back(static_cast<std::int64_t>(sum));
  }
  return all;
}

TEST(ExportedProgram, ANetworkHasTheProductsOfTheOneByItsName) {
  ReadOptions options;
  options.batch = 4;
  const Graph graph = exported("resnet18", options).graph;
  const Graph named = build_workload("resnet18", parse_options("batch=4"));
  EXPECT_EQ(macs_by_layer(graph), macs_by_layer(named));
  EXPECT_EQ(parameters(graph), parameters(named));
}

// What is changed in place is what later layers read: every layer but the last has a reader.
TEST(ExportedProgram, InPlaceOperatorsMakeANewTensor) {
  const Graph graph = exported("block").graph;
  ASSERT_EQ(graph.layers.size(), 4u);
  EXPECT_EQ(graph.layers.back().origin, "relu_");
  EXPECT_EQ(graph.outputs, graph.layers.back().outputs);
  EXPECT_EQ(graph.layers.back().inputs, graph.layers[2].outputs);
}

// A table of positions is looked up before the first run, and is trained nevertheless.
// Its weights are buffers that PT2E has made, in a quarter of the bytes.
TEST(ExportedProgram, AQuantisedNetworkMultipliesInInt8) {
  const Graph graph = exported("lenet_int8").graph;
  int products = 0;
  for (const Layer& layer : graph.layers)
    for (const Part& part : layer.parts) {
      if (count_part(part, default_weights()).macs == 0) continue;
      EXPECT_EQ(part.dtype, DType::int8) << layer.name;
      ++products;
    }
  EXPECT_EQ(products, 5);
}

TEST(ExportedProgram, AParameterOfAFoldedLayerCounts) {
  const pytorch::Import import = pytorch::import_program(R"({"graph_module": {"graph": {
    "inputs": [], "outputs": [], "nodes": [
      {"target": "torch.ops.aten.arange.default", "inputs": [{"name": "end", "arg": {"as_int": 3}}],
       "outputs": [{"as_tensor": {"name": "i"}}], "metadata": {}},
      {"target": "torch.ops.aten.embedding.default", "inputs": [
         {"name": "weight", "arg": {"as_tensor": {"name": "w"}}},
         {"name": "indices", "arg": {"as_tensor": {"name": "i"}}}],
       "outputs": [{"as_tensor": {"name": "y"}}], "metadata": {}}],
    "tensor_values": {"w": {"dtype": 7, "sizes": [{"as_int": 9}, {"as_int": 4}]},
                      "i": {"dtype": 5, "sizes": [{"as_int": 3}]},
                      "y": {"dtype": 7, "sizes": [{"as_int": 3}, {"as_int": 4}]}}},
    "signature": {"input_specs": [{"parameter": {"arg": {"name": "w"}, "parameter_name": "w"}}],
                  "output_specs": []}}})",
                                                         "net.pt2", {});
  ASSERT_EQ(import.graph.layers.size(), 2u);
  EXPECT_EQ(import.graph.layers[1].standing, Standing::folded);
  EXPECT_EQ(parameters(import.graph), 36);
  EXPECT_EQ(import.graph.tensors.at(1).role, Role::activation);  // made from sizes alone
}

TEST(ExportedProgram, TheLargerBranchCountsUnlessOneIsChosen) {
  EXPECT_EQ(macs(exported("branches").graph), 2 * 3 * 16 * 16);
  ReadOptions options;
  options.branch = Branch::then_branch;
  EXPECT_EQ(macs(exported("branches", options).graph), 3 * 16 * 16);
}

std::string refusal(const std::string& path, const ReadOptions& options = {}) {
  try {
    pytorch::import_archive(path, options);
  } catch (const Error& error) {
    EXPECT_THAT(std::string(error.what()), ::testing::Not(HasSubstr("\n")));
    return error.what();
  }
  return "accepted";
}

TEST(ExportedProgram, OptionsThatDoNotFitAreRefused) {
  const std::string block = source_file("tests/data/torch/block.pt2");
  const std::string lenet = source_file("tests/data/torch/lenet.pt2");
  ReadOptions options;
  options.dims["s7"] = 8;
  EXPECT_THAT(refusal(block, options), HasSubstr("did you mean \"s77\"?"));
  options = {};
  options.dims["s77"] = 65;
  EXPECT_THAT(refusal(block, options), HasSubstr("1 to 64"));
  options = {};
  options.batch = 8;
  EXPECT_THAT(refusal(lenet, options), HasSubstr("is fixed at 1"));
  options = {};
  options.shapes["x"] = {1, 1, 32, 32};
  EXPECT_THAT(refusal(lenet, options), HasSubstr("axis 2 is 32, and fixed at 28"));
  options.shapes = {{"", {1, 1, 32, 32}}};  // of the only input
  EXPECT_THAT(refusal(lenet, options), HasSubstr("axis 2 is 32, and fixed at 28"));
}

// --- Archives made here, member by member.

constexpr const char* tiny_program = R"({"graph_module": {"graph": {
  "inputs": [{"as_tensor": {"name": "x"}}], "outputs": [{"as_tensor": {"name": "y"}}],
  "nodes": [{"target": "torch.ops.aten.clamp.default", "inputs": [
     {"name": "self", "arg": {"as_tensor": {"name": "x"}}},
     {"name": "min", "arg": {"as_float": -Infinity}}, {"name": "max", "arg": {"as_float": NaN}}],
     "outputs": [{"as_tensor": {"name": "y"}}], "metadata": {}}],
  "tensor_values": {"x": {"dtype": 7, "sizes": [{"as_expr": {"expr_str": "2*s0 + 1", "hint": null}}]},
                    "y": {"dtype": 7, "sizes": [{"as_expr": {"expr_str": "2*s0 + 1", "hint": null}}]}},
  "sym_int_values": {}}, "signature": {"input_specs": [{"user_input": {"arg": {"as_tensor": {"name": "x"}}}}],
  "output_specs": [{"user_output": {"arg": {"as_tensor": {"name": "y"}}}}]}},
  "opset_version": {"aten": 10}, "range_constraints": {}, "schema_version": {"major": 5, "minor": 3}})";

// Files of torch 2.1 to 2.7: a flat archive, infix sizes, bare infinities.
TEST(ExportedProgram, TheOlderContainerIsRead) {
  const TemporaryDirectory folder;
  Zip(folder.file("old.pt2")).add("serialized_exported_program.json", tiny_program, true);
  EXPECT_THAT(refusal(folder.file("old.pt2")), HasSubstr("--dim s0=…"));
  ReadOptions options;
  options.dims["s0"] = 3;
  const Graph graph = pytorch::import_archive(folder.file("old.pt2"), options).graph;
  ASSERT_EQ(graph.layers.size(), 1u);
  EXPECT_EQ(graph.tensors[graph.outputs.at(0)].shape, Shape{7});
}

TEST(ExportedProgram, OtherArchivesAreNamed) {
  const TemporaryDirectory folder;
  const auto refused = [&](const std::string& member, const std::string& text) {
    const std::string path = folder.file("a.pt2");
    std::remove(path.c_str());
    Zip(path).add(member, text);
    return refusal(path);
  };
  EXPECT_THAT(refused("m/data/aotinductor/model/x.so", "ELF"), HasSubstr("AOTInductor"));
  EXPECT_THAT(refused("m/data.pkl", "x"), HasSubstr("no graph"));
  EXPECT_THAT(refused("m/constants.pkl", "x"), HasSubstr("TorchScript"));
  EXPECT_THAT(refused("notes.txt", "x"), HasSubstr("without an exported program"));
  EXPECT_THAT(refused("../models/model.json", "{}"), HasSubstr("leads out of the archive"));
  EXPECT_THAT(refused("m/models/model.json", "{}"), HasSubstr("graph_module"));
  EXPECT_THAT(refused("m/models/model.json", "{\"graph_module\": {\"x\": "), HasSubstr("cut off"));
  EXPECT_THAT(refused("m/models/model.json", "{\"a\": " + std::string(10'000, '[')),
              HasSubstr("nested deeper"));
  folder.write("cut.pt2", "PK\x03\x04 and nothing more");
  EXPECT_THAT(refusal(folder.file("cut.pt2")), HasSubstr("not a readable zip archive"));
}

std::string changed(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

TEST(ExportedProgram, SizesMustBeThereAndWhole) {
  const TemporaryDirectory folder;
  const auto refused = [&](const std::string& size) {
    const std::string path = folder.file("a.pt2");
    std::remove(path.c_str());
    Zip(path).add(
        "m/models/model.json",
        changed(tiny_program, R"({"as_expr": {"expr_str": "2*s0 + 1", "hint": null}})", size));
    ReadOptions options;
    options.dims["s0"] = 4;
    return refusal(path, options);
  };
  EXPECT_THAT(refused(R"({"as_integer": 4})"), HasSubstr("neither a number nor an expression"));
  EXPECT_THAT(refused(R"({"as_expr": {"expr_str": "s0/3", "hint": null}})"), HasSubstr("s0/3"));
}

TEST(ExportedProgram, AListMayHoldNone) {
  ReadOptions options;
  options.dims["s0"] = 4;
  const pytorch::Import import = pytorch::import_program(
      changed(changed(tiny_program, "aten.clamp.default", "aten.einsum.default"),
              R"({"name": "self", "arg": {"as_tensor": {"name": "x"}}})",
              R"({"name": "tensors", "arg": {"as_optional_tensors": [{"as_none": true}]}})"),
      "none.pt2", options);
  EXPECT_EQ(unknown_operators(import.graph).size(), 1u);
}

// One letter of the graph changed on the way; the archive's checksum shows it.
TEST(ExportedProgram, DamageIsNoticed) {
  const TemporaryDirectory folder;
  std::ifstream file(source_file("tests/data/torch/lenet.pt2"), std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(file), {});
  const std::size_t at = bytes.find("max_pool2d");
  ASSERT_NE(at, std::string::npos);
  bytes[at] = 'n';
  folder.write("damaged.pt2", bytes);
  EXPECT_THAT(refusal(folder.file("damaged.pt2")), HasSubstr("is damaged"));
}

TEST(ExportedProgram, EncryptedAndInflatedMembersAreRefused) {
  const TemporaryDirectory folder;
  {
    Zip zip(folder.file("secret.pt2"));
    zip.encrypt(zip.add("m/models/model.json", tiny_program));
    Zip(folder.file("bomb.pt2"))
        .add("m/models/model.json", std::string(std::size_t{1} << 22, ' '), true);
  }
  EXPECT_THAT(refusal(folder.file("secret.pt2")), HasSubstr("is encrypted"));
  EXPECT_THAT(refusal(folder.file("bomb.pt2")), HasSubstr("would take 4194304 bytes"));
}

}  // namespace
}  // namespace ridgeline::testing
