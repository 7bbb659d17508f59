// Models on disk: folders, pipes, missing files, files that shrink.
// Their content is tested by the other reader tests, memory use by analyze_memory_test.
#include "analyzer/onnx/model_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "base/error.h"
#include "tests/support/onnx_builder.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::testing {
namespace {

using onnx::ModelFile;
using ::testing::HasSubstr;

std::string file_error(const std::string& path) {
  try {
    const ModelFile file(path);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::error);
    return error.what();
  }
  return "no error";
}

TEST(OnnxModelFile, WhatIsNoFile) {
  const TemporaryDirectory folder;
  folder.write("empty.onnx", "");
  EXPECT_THAT(file_error(folder.path()), HasSubstr("is a directory"));
  EXPECT_THAT(file_error(folder.file("none.onnx")), HasSubstr("none.onnx: no such file"));
  EXPECT_THAT(file_error(folder.file("empty.onnx")), HasSubstr("is empty"));
  EXPECT_THAT(file_error(std::string("a\0b", 3)), HasSubstr("zero byte"));
  EXPECT_THAT(file_error("/dev/null"), HasSubstr("is empty"));
}

TEST(OnnxModelFile, PipesAreRead) {
  const TemporaryDirectory folder;
  const std::string path = folder.file("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  OnnxBuilder model;
  model.node("Relu", {"x"}, {"y"});
  std::thread writer([&] { std::ofstream(path, std::ios::binary) << model.bytes(); });
  const ModelFile file(path);
  writer.join();
  EXPECT_EQ(file.model().graph.nodes[0].op_type, "Relu");
}

// Names, shapes and elements between weights are read, wherever page boundaries fall.
TEST(OnnxModelFile, EverythingBetweenWeightsIsRead) {
  const TemporaryDirectory folder;
  OnnxBuilder model;
  for (int i = 0; i < 300; ++i) {
    const std::string number = std::to_string(i);
    model.initializer("weights_" + number, ElementType::int8, {1 + 1237 * (i % 17)}).zeros();
    model.integers("shape_" + number, {i, -1, i * i});
    model.node("Reshape", {"weights_" + number, "shape_" + number}, {"y_" + number});
  }
  folder.write("m.onnx", model.bytes());
  const ModelFile file(folder.file("m.onnx"));
  const auto& graph = file.model().graph;
  ASSERT_EQ(graph.initializers.size(), 600U);
  for (int i = 0; i < 300; ++i) {
    const auto at = static_cast<std::size_t>(i);
    EXPECT_EQ(graph.nodes[at].outputs[0], "y_" + std::to_string(i));
    EXPECT_EQ(graph.initializers[2 * at].name, "weights_" + std::to_string(i));
    EXPECT_EQ(file.contents(graph.initializers[2 * at + 1]), (onnx::Contents{i, -1, i * i}));
  }
}

TEST(OnnxModelFile, AFileThatShrinksIsAnError) {
  const TemporaryDirectory folder;
  OnnxBuilder model;
  for (int i = 0; i < 10; ++i) model.initializer("w", ElementType::int64, {4096}).zeros();
  folder.write("m.onnx", model.bytes());
  const ModelFile file(folder.file("m.onnx"));
  ASSERT_EQ(truncate(folder.file("m.onnx").c_str(), 100), 0);
  const auto read_all = [&] {
    for (const auto& tensor : file.model().graph.initializers) file.contents(tensor);
  };
  EXPECT_THROW(read_all(), Error);
}

}  // namespace
}  // namespace ridgeline::testing
