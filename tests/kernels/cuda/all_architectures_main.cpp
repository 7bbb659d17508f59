// Proves every kernel on every architecture that nvcc has, and the page that says so.
// Part of `./run prove`: it compiles for a minute.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text_file.h"
#include "tests/kernels/cuda/code_table.h"

namespace ridgeline::testing {
namespace {

using ::testing::IsEmpty;

TEST(CudaCodeEverywhere, HoldsWhatTheTableDeclares) {
  const CodeTable table = compile_all(RIDGELINE_NVCC);
  EXPECT_GE(table.architectures.size(), 5u);
  for (const auto& [name, proofs] : table.proofs)
    for (const auto& [architecture, proof] : proofs)
      EXPECT_THAT(proof.problems, IsEmpty()) << name << " on sm_" << architecture;
  const std::string page = read_text_file(RIDGELINE_SOURCE_DIR "/docs/cuda-kernels.md");
  if (page.find("CUDA " + table.toolkit + " for") == std::string::npos)
    GTEST_SKIP() << "docs/cuda-kernels.md was made with another toolkit than " << table.toolkit;
  EXPECT_EQ(page, to_markdown(table));
}

}  // namespace
}  // namespace ridgeline::testing
