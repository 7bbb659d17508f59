// Every kernel that this CPU runs leaves in memory exactly what it must compute.
// If its instruction set is missing, the test is skipped with the reason, never passed silently.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/cpu/isa.h"
#include "kernels/cpu/kernel.h"
#include "tests/kernels/kernel_checks.h"

namespace ridgeline::testing {
namespace {

using ::testing::IsEmpty;

class EveryKernel : public ::testing::TestWithParam<const cpu::Kernel*> {
 protected:
  void SetUp() override {
    const auto& support = cpu::isa_support(GetParam()->isa);
    if (!support.runs) GTEST_SKIP() << GetParam()->name << ": " << support.reason;
  }
};

class ComputeKernel : public EveryKernel {};

TEST_P(EveryKernel, LeavesWhatItMustCompute) { EXPECT_THAT(check_results(*GetParam()), IsEmpty()); }

TEST_P(ComputeKernel, KeepsItsValuesHonest) {
  EXPECT_THAT(check_values_stay_honest(*GetParam(), 1'000'000), IsEmpty());
}

template <class Choice>
std::vector<const cpu::Kernel*> kernels_where(Choice chosen) {
  std::vector<const cpu::Kernel*> kernels;
  for (const cpu::Kernel& kernel : cpu::kernel_table())
    if (chosen(kernel)) kernels.push_back(&kernel);
  return kernels;
}

std::string name_of(const ::testing::TestParamInfo<const cpu::Kernel*>& test) {
  return std::string(test.param->name);
}

INSTANTIATE_TEST_SUITE_P(Kernels, EveryKernel,
                         ::testing::ValuesIn(kernels_where([](const auto&) { return true; })),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Kernels, ComputeKernel,
                         ::testing::ValuesIn(kernels_where([](const cpu::Kernel& kernel) {
                           return kernel.role == cpu::Role::compute &&
                                  !is_integer(kernel.accumulate);
                         })),
                         name_of);

}  // namespace
}  // namespace ridgeline::testing
