// Instruction sets: unique names, a trial that faults is survived, theory follows the table.
#include "kernels/cpu/isa.h"

#include <gtest/gtest.h>

#include <csignal>
#include <set>

#include "kernels/cpu/kernel.h"
#include "kernels/cpu/theory.h"

namespace ridgeline::cpu {
namespace {

TEST(Isa, AFaultInATrialIsSurvived) {
  EXPECT_TRUE(survives([] {}));
  EXPECT_FALSE(survives([] { std::raise(SIGILL); }));
  EXPECT_FALSE(survives([] { std::raise(SIGSEGV); }));
}

TEST(Isa, TheBaselineRunsAndTheRestHasAReason) {
  EXPECT_TRUE(isa_support(Isa::baseline).runs);
  for (const Kernel& kernel : kernel_table()) {
    const IsaSupport& support = isa_support(kernel.isa);
    EXPECT_EQ(support.runs, support.reason.empty()) << kernel.name;
  }
  EXPECT_FALSE(running_isas().empty());
}

TEST(KernelTable, NamesAreUniqueAndProbesExist) {
  std::set<std::string_view> names;
  for (const Kernel& kernel : kernel_table()) {
    EXPECT_TRUE(names.insert(kernel.name).second) << kernel.name;
    EXPECT_EQ(find_kernel(kernel.name), &kernel);
    EXPECT_NE(kernel.body, nullptr) << kernel.name;
    if (kernel.probe.empty()) continue;
    const Kernel* probe = find_kernel(kernel.probe);
    ASSERT_NE(probe, nullptr) << kernel.name;
    EXPECT_EQ(probe->role, Role::clock) << kernel.name;
    EXPECT_GT(probe->cycles, 0) << kernel.name;
  }
  EXPECT_EQ(find_kernel("no such kernel"), nullptr);
}

TEST(Theory, IsPortsTimesWidth) {
  const Microarchitecture* core = find_microarchitecture({"GenuineIntel", 6, 207});
  ASSERT_NE(core, nullptr);
  Kernel kernel;
  kernel.issue = Issue::fma_512;
  kernel.flop_each = 16;
  EXPECT_EQ(theory_per_cycle(kernel, core), 32.0);
  kernel.role = Role::memory;
  kernel.issue = Issue::load_512;
  kernel.access_bytes = 64;
  EXPECT_EQ(theory_per_cycle(kernel, core), 128.0);
  kernel.issue = Issue::none;
  EXPECT_EQ(theory_per_cycle(kernel, core), std::nullopt);
  EXPECT_EQ(theory_per_cycle(kernel, nullptr), std::nullopt);
}

}  // namespace
}  // namespace ridgeline::cpu
