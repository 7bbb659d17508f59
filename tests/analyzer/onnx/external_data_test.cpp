// Weights in files next to the model: found, checked, and read only if a shape needs them.
// A location outside the model's folder is refused, however it gets there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "analyzer/onnx/model_file.h"
#include "base/error.h"
#include "tests/support/onnx_builder.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::testing {
namespace {

namespace fs = std::filesystem;

using onnx::Contents;
using onnx::ModelFile;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ExternalData : public ::testing::Test {
 protected:
  // A model in the folder "model" with one tensor of two int64.
  ModelFile open_with(const std::string& location, std::optional<std::uint64_t> offset = {}) {
    OnnxBuilder model;
    model.initializer("w", ElementType::int64, {2}).external(location, offset);
    return open(model);
  }

  ModelFile open(const OnnxBuilder& model) {
    folder_.write("model/m.onnx", model.bytes());
    return ModelFile(folder_.file("model/m.onnx"));
  }

  std::string error_of(const std::string& location) {
    try {
      open_with(location);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::error);
      EXPECT_THAT(error.what(), HasSubstr("m.onnx: tensor \"w\": external data "));
      return error.what();
    }
    return "no error";
  }

  TemporaryDirectory folder_;
};

const std::string two_numbers("\x05\0\0\0\0\0\0\0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 16);

TEST_F(ExternalData, IsReadWhereAskedFor) {
  folder_.write("model/data/w.bin", "12345678" + two_numbers);
  const ModelFile file = open_with("data/w.bin", 8);
  EXPECT_THAT(file.model().warnings, IsEmpty());
  EXPECT_EQ(file.contents(file.model().graph.initializers[0]), (Contents{5, -1}));
}

TEST_F(ExternalData, LinksAndDotsInsideTheFolderAreFine) {
  folder_.write("model/data/w.bin", two_numbers);
  fs::create_symlink("data/w.bin", folder_.file("model/link.bin"));
  for (const char* location : {"link.bin", "./data/../data/w.bin", "data//w.bin"}) {
    const ModelFile file = open_with(location);
    EXPECT_EQ(file.contents(file.model().graph.initializers[0]), (Contents{5, -1})) << location;
  }
}

TEST_F(ExternalData, TheFolderMayBeReachedThroughALink) {
  folder_.write("model/w.bin", two_numbers);
  open_with("w.bin");
  fs::create_directory_symlink("model", folder_.file("elsewhere"));
  const ModelFile file(folder_.file("elsewhere/m.onnx"));
  EXPECT_EQ(file.contents(file.model().graph.initializers[0]), (Contents{5, -1}));
}

TEST_F(ExternalData, PathsThatLeaveTheFolderAreRefused) {
  folder_.write("secret", two_numbers);
  folder_.write("model-2/secret", two_numbers);
  fs::create_directories(folder_.file("model"));
  fs::create_symlink("../secret", folder_.file("model/link.bin"));
  fs::create_directory_symlink("..", folder_.file("model/up"));
  EXPECT_THAT(error_of("/etc/passwd"), HasSubstr("\"/etc/passwd\": an absolute path"));
  EXPECT_THAT(error_of("../secret"), HasSubstr("leaves the folder of the model"));
  EXPECT_THAT(error_of("data/../../secret"), HasSubstr("leaves the folder of the model"));
  EXPECT_THAT(error_of("../model-2/secret"), HasSubstr("leaves the folder of the model"));
  EXPECT_THAT(error_of("link.bin"), HasSubstr("outside of the model's folder"));
  EXPECT_THAT(error_of("up/secret"), HasSubstr("outside of the model's folder"));
  EXPECT_THAT(error_of("up/model-2/secret"), HasSubstr("outside of the model's folder"));
  EXPECT_THAT(error_of(std::string("w.bin\0/../../secret", 19)), HasSubstr("zero byte"));
}

TEST_F(ExternalData, SoAreThoseOfSubGraphsAndFunctions) {
  const TensorBuilder tensor = TensorBuilder("w", ElementType::int64, {2}).external("../secret");
  GraphBuilder inner;
  inner.initializer("w", ElementType::int64, {2}).external("../secret");
  OnnxBuilder attribute, graph, function;
  attribute.node("Constant", {}, {"c"}).attribute("value", tensor);
  graph.node("If", {"c"}, {"y"}).attribute("then_branch", inner);
  function.function("f", "F", {}, {"c"}).node("Constant", {}, {"c"}).attribute("value", tensor);
  EXPECT_THROW(open(attribute), Error);
  EXPECT_THROW(open(graph), Error);
  EXPECT_THROW(open(function), Error);
}

TEST_F(ExternalData, MissingFilesAreOneWarningEach) {
  OnnxBuilder model;
  for (int i = 0; i < 3; ++i)
    model.initializer("w" + std::to_string(i), ElementType::int64, {2}).external("a.bin");
  model.initializer("v", ElementType::int64, {2}).external("b.bin");
  const ModelFile file = open(model);
  EXPECT_THAT(file.model().warnings,
              ElementsAre("external data \"a.bin\" is missing (3 tensors, the first is \"w0\")",
                          "external data \"b.bin\" is missing (tensor \"v\")"));
  try {
    file.contents(file.model().graph.initializers[3]);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("tensor \"v\": external data \"b.bin\": is missing"),
                                    HasSubstr("shapes depend on its values")));
  }
}

// Exporters of large models write one file per tensor.
TEST_F(ExternalData, ManyMissingFilesAreOneWarning) {
  folder_.write("model/short.bin", "1234");
  OnnxBuilder model;
  for (int i = 0; i < 5; ++i) {
    const std::string name = "w" + std::to_string(i);
    model.initializer(name, ElementType::int64, {2}).external(i == 4 ? "short.bin" : name);
  }
  EXPECT_THAT(open(model).model().warnings,
              ElementsAre("external data is missing: 4 files with 4 tensors, such as \"w0\"",
                          "external data \"short.bin\" has 4 bytes, 16 needed (tensor \"w4\")"));
}

TEST_F(ExternalData, ShortFilesAreAWarning) {
  folder_.write("model/w.bin", "1234");
  const ModelFile file = open_with("w.bin", 4);
  EXPECT_THAT(file.model().warnings,
              ElementsAre("external data \"w.bin\" has 4 bytes, 20 needed (tensor \"w\")"));
  EXPECT_THROW(file.contents(file.model().graph.initializers[0]), Error);
}

TEST_F(ExternalData, OffsetsBeyondAllFiles) {
  folder_.write("model/w.bin", two_numbers);
  const ModelFile file = open_with("w.bin", std::numeric_limits<std::uint64_t>::max());
  EXPECT_THAT(file.model().warnings, ElementsAre(HasSubstr("has 16 bytes")));
  EXPECT_THROW(file.contents(file.model().graph.initializers[0]), Error);
}

TEST_F(ExternalData, WhatIsNoPlainFileIsMissing) {
  fs::create_directories(folder_.file("model/w.bin"));
  EXPECT_THAT(open_with("w.bin").model().warnings, ElementsAre(HasSubstr("is missing")));
  EXPECT_THAT(open_with(".").model().warnings, ElementsAre(HasSubstr("is missing")));
}

TEST_F(ExternalData, LargeTensorsAreNeverRead) {
  OnnxBuilder model;
  model.initializer("w", ElementType::fp32, {1 << 20}).external("missing.bin");
  const ModelFile file = open(model);
  EXPECT_EQ(file.contents(file.model().graph.initializers[0]), std::nullopt);
}

TEST_F(ExternalData, AModelInMemoryHasNone) {
  OnnxBuilder model;
  model.initializer("w", ElementType::int64, {2}).external("../secret");
  const ModelFile file(model.bytes(), "memory");
  EXPECT_THROW(file.contents(file.model().graph.initializers[0]), Error);
}

}  // namespace
}  // namespace ridgeline::testing
