// Whatever happens to a model's bytes, it is read or refused with an Error.
// No other exception may escape; sanitizers check for accesses out of bounds.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <filesystem>

#include "analyzer/onnx/model_file.h"
#include "base/error.h"
#include "base/text_file.h"
#include "tests/support/corpus.h"
#include "tests/support/sample_models.h"

namespace ridgeline::testing {
namespace {

using onnx::ModelFile;

void read_contents(const ModelFile& file, const onnx::GraphProto& graph) {
  for (const auto& tensor : graph.initializers)
    if (!tensor.external) file.contents(tensor);
  for (const auto& node : graph.nodes)
    for (const auto& attribute : node.attributes) {
      if (attribute.tensor && !attribute.tensor->external) file.contents(*attribute.tensor);
      if (attribute.graph) read_contents(file, *attribute.graph);
    }
}

// Reads everything; false if the bytes are refused.
bool reads(const std::string& bytes) {
  try {
    const ModelFile file(bytes, "model.onnx");
    read_contents(file, file.model().graph);
    return true;
  } catch (const Error&) {
    return false;
  }
}

TEST(ReaderProperties, TheModelItselfIsRead) { EXPECT_TRUE(reads(varied_model())); }

TEST(ReaderProperties, EveryBeginningOfAModelIsReadOrRefused) {
  const std::string bytes = varied_model();
  for (std::size_t length = 0; length < bytes.size(); ++length) reads(bytes.substr(0, length));
}

TEST(ReaderProperties, EveryBitMayBeWrong) {
  const std::string bytes = varied_model();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(changed[i] ^ (1 << bit));
      reads(changed);
    }
  }
}

RC_GTEST_PROP(ReaderProperties, AnyBytesMayBeReplaced, ()) {
  std::string bytes = varied_model();
  const auto changes = *rc::gen::container<std::vector<std::pair<std::size_t, char>>>(
      rc::gen::pair(rc::gen::inRange<std::size_t>(0, bytes.size()), rc::gen::arbitrary<char>()));
  for (const auto& [at, value] : changes) bytes[at] = value;
  reads(bytes);
}

RC_GTEST_PROP(ReaderProperties, AnyPartMayBeMissingOrTwice, ()) {
  const std::string bytes = varied_model();
  const auto from = *rc::gen::inRange<std::size_t>(0, bytes.size());
  const auto to = *rc::gen::inRange<std::size_t>(from, bytes.size());
  reads(bytes.substr(0, from) + bytes.substr(to));
  reads(bytes.substr(0, to) + bytes.substr(from));
}

RC_GTEST_PROP(ReaderProperties, AnyBytesAreReadOrRefused, (const std::string& bytes)) {
  reads(bytes);
}

TEST(ReaderCorpus, EveryFileIsReadOrRefused) {
  RIDGELINE_SKIP_WITHOUT_CORPUS();
  const std::vector<std::string> files = corpus_files();
  EXPECT_GE(files.size(), 100U);
  std::vector<std::string> refused;
  for (const std::string& name : files) {
    try {
      const ModelFile file(corpus_folder() + '/' + name);
      read_contents(file, file.model().graph);
    } catch (const Error&) {
      refused.push_back(name);
    }
  }
  EXPECT_EQ(refused, (std::vector<std::string>{
                         "malformed/corrupt-model.onnx",
                         "ort_external/test_arbitrary_external_file_PATHESCAPE.onnx"}));
}

TEST(ReaderCorpus, EveryFileMayBeCutOff) {
  RIDGELINE_SKIP_WITHOUT_CORPUS();
  for (const std::string& name : corpus_files()) {
    const std::string path = corpus_folder() + '/' + name;
    if (std::filesystem::file_size(path) > 100'000) continue;
    const std::string bytes = read_text_file(path);
    const std::size_t step = bytes.size() / 64 + 1;
    for (std::size_t length = 0; length < bytes.size(); length += step)
      reads(bytes.substr(0, length));
  }
}

}  // namespace
}  // namespace ridgeline::testing
