// Proves every row of the kernel table against the machine code in this very binary, and the proof
// against mutated kernels. Static, so kernels that this CPU cannot run (on most: AMX, AVX512-FP16,
// AVX512-BF16, AVX-VNNI) are proved too.
#include "tests/kernels/loop_proof.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>

#include <algorithm>
#include <filesystem>

#include "tests/kernels/mutants.h"

namespace ridgeline::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A function's address in the file: the loader's offset is subtracted.
std::uint64_t link_address(cpu::Body body) {
  std::uint64_t bias = 0;
  const auto first_object = [](dl_phdr_info* info, std::size_t, void* result) {
    *static_cast<std::uint64_t*>(result) = info->dlpi_addr;
    return 1;  // the program itself comes first
  };
  dl_iterate_phdr(first_object, &bias);
  return reinterpret_cast<std::uintptr_t>(body) - bias;
}

// All functions of this binary from the first to the last of the given kernels.
std::map<std::uint64_t, Code> disassemble_bodies(const std::vector<cpu::Kernel>& kernels) {
  const auto by_address = [](const cpu::Kernel& a, const cpu::Kernel& b) {
    return link_address(a.body) < link_address(b.body);
  };
  const auto [first, last] = std::minmax_element(kernels.begin(), kernels.end(), by_address);
  constexpr std::uint64_t longest_body = 1 << 16;
  const std::string binary = std::filesystem::read_symlink("/proc/self/exe");
  return disassemble("objdump", binary, link_address(first->body),
                     link_address(last->body) + longest_body);
}

TEST(LoopProof, EveryLoopHoldsWhatItsRowDeclares) {
  const auto table = cpu::kernel_table();
  const auto functions = disassemble_bodies({table.begin(), table.end()});
  for (const cpu::Kernel& kernel : table)
    EXPECT_THAT(check_function(kernel, functions, link_address(kernel.body)), IsEmpty())
        << kernel.name;
}

TEST(LoopProof, RejectsEachMutantAndAcceptsItsHonestTwin) {
  std::vector<cpu::Kernel> kernels;
  for (const Mutant& mutant : mutants()) kernels.push_back(mutant.kernel);
  const auto functions = disassemble_bodies(kernels);
  for (const Mutant& mutant : mutants()) {
    const auto problems =
        check_function(mutant.kernel, functions, link_address(mutant.kernel.body));
    if (mutant.reason.empty())
      EXPECT_THAT(problems, IsEmpty()) << mutant.what;
    else
      EXPECT_THAT(problems, Contains(HasSubstr(std::string(mutant.reason)))) << mutant.what;
  }
}

TEST(LoopProof, RejectsARowThatDeclaresOtherThanItsLoop) {
  const auto table = cpu::kernel_table();
  const auto functions = disassemble_bodies({table.begin(), table.end()});
  for (const cpu::Kernel& kernel : table) {
    const auto rejects = [&](auto change) {
      cpu::Kernel changed = kernel;
      change(changed);
      return !check_function(changed, functions, link_address(kernel.body)).empty();
    };
    EXPECT_FALSE(rejects([](auto&) {})) << kernel.name;
    EXPECT_TRUE(rejects([](auto& row) { ++row.arithmetic; })) << kernel.name;
    EXPECT_TRUE(rejects([](auto& row) { ++row.loads; })) << kernel.name;
    EXPECT_TRUE(rejects([](auto& row) { ++row.stores; })) << kernel.name;
    EXPECT_TRUE(rejects([](auto& row) { ++row.cycles; })) << kernel.name;
    if (kernel.loads + kernel.stores > 0) {
      EXPECT_TRUE(rejects([](auto& row) { row.access_bytes *= 2; })) << kernel.name;
    }
    if (kernel.arithmetic == 0 || kernel.role == cpu::Role::clock) continue;
    EXPECT_TRUE(rejects([](auto& row) { row.flop_each *= 2; })) << kernel.name;
    if (kernel.chains > 0) {
      EXPECT_TRUE(rejects([](auto& row) { --row.chains; })) << kernel.name;
    }
  }
}

}  // namespace
}  // namespace ridgeline::testing
