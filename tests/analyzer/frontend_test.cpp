// The table of front ends: formats match the schema, files are recognised by their content, and a
// missing file gets a hint.
#include "analyzer/frontend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/json.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;

TEST(FrontEnds, FormatsAreThoseOfTheSchema) {
  const Json schema = read_json_file(source_file("docs/schemas/analysis.schema.json"));
  Json formats = Json::array();
  for (const FrontEnd& row : front_ends()) formats.push_back(row.format);
  formats.push_back("workload");
  EXPECT_EQ(schema.at("properties").at("source").at("properties").at("format").at("enum"), formats);
}

TEST(FrontEnds, TheLastRowTakesWhatNoOtherRecognizes) {
  EXPECT_EQ(front_ends().back().format, "onnx");
  EXPECT_TRUE(front_ends().back().recognizes("", "anything"));
}

TEST(FrontEnds, ExtensionsMakeAWordAPath) {
  EXPECT_TRUE(has_model_extension("net.onnx"));
  EXPECT_TRUE(has_model_extension("net.graph.json"));
  EXPECT_TRUE(has_model_extension("net.pt2"));
  EXPECT_FALSE(has_model_extension("resnet50"));
}

TEST(FrontEnds, LayerInformationIsRecognizedByItsContent) {
  const FrontEnd& row = front_ends().front();
  EXPECT_EQ(row.format, "tensorrt");
  EXPECT_TRUE(row.recognizes("", "{\"Layers\": [{"));
  EXPECT_FALSE(row.recognizes("", "\x08\x07\x12\x07pytorch"));
  EXPECT_FALSE(row.recognizes("", ""));
  const TemporaryDirectory folder;
  folder.write("e", "{\"Layers\": [");
  EXPECT_EQ(listed_runtime(folder.path() + "/e"), Runtime::tensorrt);
  EXPECT_EQ(listed_runtime(folder.path() + "/none"), std::nullopt);
}

TEST(FrontEnds, FormulasAreForOnnxFilesOnly) {
  ReadOptions options;
  options.operators.emplace_back().name = "my.Odd";
  try {
    read_network(source_file("tests/data/torch/lenet_core.pt2"), options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_EQ(error.where(), "--ops");
  }
}

TEST(FrontEnds, AMissingFileIsOneLineWithTheNearest) {
  const TemporaryDirectory folder;
  folder.write("net.onnx", "");
  try {
    read_network(folder.path() + "/nte.onnx", {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.cause(), "no such file");
    EXPECT_THAT(error.fix(), HasSubstr("net.onnx"));
  }
}

TEST(FrontEnds, KernelsOfARuntimeHaveNoLayers) {
  Network network{ChosenKernels{Runtime::tensorrt, {}},
                  {"net.engine", "tensorrt", "", {}, {}, 0},
                  std::nullopt,
                  {}};
  EXPECT_THROW(network.graph(), Error);
  network.content = Graph{};
  EXPECT_NO_THROW(network.graph());
}

}  // namespace
}  // namespace ridgeline::testing
