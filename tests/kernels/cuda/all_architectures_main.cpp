// Proves every kernel on every architecture that nvcc has, and checks docs/cuda-kernels.md.
// Part of `./run prove`: it compiles for a minute.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/text_file.h"
#include "kernels/cuda/kernel.h"
#include "tests/kernels/cuda/code_table.h"
#include "tests/support/paths.h"

namespace ridgeline::testing {
namespace {

using ::testing::IsEmpty;

void expect_proved(const CodeTable& table) {
  for (const cuda::Kernel& kernel : cuda::kernel_table())
    for (const int architecture : table.architectures) {
      const auto found = table.proofs.find(std::string(kernel.name));
      EXPECT_EQ(found != table.proofs.end() && found->second.contains(architecture),
                kernel.architectures.include(architecture) &&
                    !table.left_out.contains(std::string(kernel.group)))
          << kernel.name << " on sm_" << architecture;
    }
  for (const auto& [name, proofs] : table.proofs)
    for (const auto& [architecture, proof] : proofs)
      EXPECT_THAT(proof.problems, IsEmpty()) << name << " on sm_" << architecture;
}

TEST(CudaCodeEverywhere, HoldsWhatTheTableDeclares) {
  const CodeTable table = compile_all({RIDGELINE_NVCC, RIDGELINE_NVCC_HOST});
  EXPECT_EQ(fmt::format("{}", fmt::join(table.architectures, " ")), RIDGELINE_CUDA_KNOWN)
      << "what nvcc has, and what cmake/Cuda.cmake builds a release for";
  expect_proved(table);
  std::string page = read_text_file(source_file("docs/cuda-kernels.md"));
  page.resize(page.size() - older_part(page).size());
  if (page.find("CUDA " + table.toolkit + " for") == std::string::npos)
    GTEST_SKIP() << "docs/cuda-kernels.md was made with another toolkit than " << table.toolkit;
  EXPECT_EQ(page, to_markdown(table));
}

TEST(CudaCodeEverywhere, HoldsItOnWhatOnlyOlderToolkitsHave) {
  const char* const nvcc = std::getenv("RIDGELINE_OLD_NVCC");
  const char* const compiler = std::getenv("RIDGELINE_OLD_CXX");
  if (!nvcc) GTEST_SKIP() << "RIDGELINE_OLD_NVCC names no older toolkit";
  const CodeTable table =
      compile_all({nvcc, compiler ? compiler : ""}, architectures_of(RIDGELINE_NVCC));
  expect_proved(table);
  EXPECT_EQ(older_part(read_text_file(source_file("docs/cuda-kernels.md"))), older_markdown(table));
}

}  // namespace
}  // namespace ridgeline::testing
