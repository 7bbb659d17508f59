// Models with dropped, doubled, swapped and replaced fields are counted or refused.
// `./run fuzz` searches for 20 minutes or longer; this is the short check in every test run.
#include <gtest/gtest.h>

#include "analyzer/analysis/analysis.h"
#include "analyzer/onnx/import.h"
#include "base/error.h"
#include "tests/fuzz/message_mutator.h"
#include "tests/support/sample_models.h"

namespace ridgeline::testing {
namespace {

// Null if the model is refused.
std::optional<Analysis> counted(const std::string& bytes) {
  onnx::ImportOptions options;
  options.assumed_dim = 1;
  try {
    return analyze(import_graph(onnx::ModelFile(bytes, "model.onnx"), options).graph);
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return std::nullopt;
  }
}

TEST(ImportProperties, SamplesAreCounted) {
  for (const SampleModel& model : sample_models()) {
    const auto analysis = counted(model.bytes);
    ASSERT_TRUE(analysis) << model.name;
    EXPECT_TRUE(analysis->unknown.empty()) << model.name;
  }
}

TEST(ImportProperties, ChangedSamplesAreCountedOrRefused) {
  unsigned seed = 0;
  const ByteMutator mutate = [&](std::string& bytes, std::size_t limit) {
    bytes.resize(1 + seed % limit, static_cast<char>(seed));
    bytes[seed % bytes.size()] = static_cast<char>(seed >> 3);
  };
  for (const SampleModel& model : sample_models()) {
    std::string bytes = model.bytes;
    for (int i = 0; i < 300; ++i) {
      const std::string changed = mutated_model(bytes, ++seed, mutate);
      // Changes accumulate while the model can still be counted.
      const auto analysis = counted(changed);
      bytes = analysis && changed.size() < 10'000 ? changed : model.bytes;
      if (analysis) {
        EXPECT_GE(analysis->totals.work.macs, 0) << model.name << ", seed " << seed;
      }
    }
  }
}

}  // namespace
}  // namespace ridgeline::testing
