// Models on disk: folders, pipes, missing files, and files much larger than the memory they may
// take. What stands in them is tested by the other tests of the reader.
#include "analyzer/onnx/model_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "base/error.h"
#include "tests/support/large_model.h"
#include "tests/support/onnx_builder.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::testing {
namespace {

using onnx::ModelFile;
using ::testing::HasSubstr;

std::string error_of(const std::string& path) {
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
  EXPECT_THAT(error_of(folder.path()), HasSubstr("is a directory"));
  EXPECT_THAT(error_of(folder.file("none.onnx")), HasSubstr("none.onnx: no such file"));
  EXPECT_THAT(error_of(folder.file("empty.onnx")), HasSubstr("is empty"));
  EXPECT_THAT(error_of(std::string("a\0b", 3)), HasSubstr("zero byte"));
  EXPECT_THAT(error_of("/dev/null"), HasSubstr("is empty"));
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
  EXPECT_EQ(file.model().graph.nodes.at(0).op_type, "Relu");
}

// Names and shapes that lie between weights are there, and so are elements, however the pages of
// the file fall.
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
    EXPECT_EQ(graph.nodes[at].outputs.at(0), "y_" + std::to_string(i));
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

#if defined(__SANITIZE_ADDRESS__)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

// Peak memory of reading a model, in a process of its own.
long kib_to_read(const std::string& path, std::size_t layers) {
  const pid_t child = fork();
  if (child == 0) {
    const ModelFile file(path);
    _exit(file.model().graph.initializers.size() == layers && file.model().warnings.empty() ? 0
                                                                                            : 1);
  }
  int status = -1;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  EXPECT_EQ(status, 0);
  return usage.ru_maxrss;
}

constexpr long limit_kib = 50 * 1024;

TEST(OnnxModelFile, TwoGigabytesOfWeightsTakeLittleMemory) {
  if (sanitized) GTEST_SKIP() << "sanitizers need memory of their own";
  const TemporaryDirectory folder;
  write_large_model(folder.file("raw.onnx"), 520, Weights::hole);
  EXPECT_GT(ModelFile(folder.file("raw.onnx")).bytes(), 2'000'000'000U);
  EXPECT_LT(kib_to_read(folder.file("raw.onnx"), 520), limit_kib);
  write_large_external_model(folder.file("external.onnx"), "weights.bin", 520);
  EXPECT_LT(kib_to_read(folder.file("external.onnx"), 520), limit_kib);
}

TEST(OnnxModelFile, SoDoWeightsThatTheSystemHasInMemory) {
  if (sanitized) GTEST_SKIP() << "sanitizers need memory of their own";
  const TemporaryDirectory folder;
  write_large_model(folder.file("raw.onnx"), 64, Weights::written);
  EXPECT_LT(kib_to_read(folder.file("raw.onnx"), 64), limit_kib);
}

}  // namespace
}  // namespace ridgeline::testing
