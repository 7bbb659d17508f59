// The kernels of one architecture and their checks as a program without libraries: it is
// cross-compiled, linked statically and run under an emulator.
//   check            runs every kernel, lists wrong and unsupported ones; exit code 1 if any is
//   wrong check --declare  prints the rows of the table and of the mutants, for the loop proof
#include <cstdio>
#include <string_view>

#include "kernels/cpu/isa.h"
#include "tests/kernels/declaration.h"
#include "tests/kernels/kernel_checks.h"
#include "tests/kernels/mutants.h"

namespace {

using namespace ridgeline;

void declare() {
  for (const auto& kernel : cpu::kernel_table())
    std::printf("%s\n", testing::to_line(kernel, "").c_str());
  for (const auto& mutant : testing::mutants())
    std::printf("%s\n", testing::to_line(mutant.kernel, std::string(mutant.reason)).c_str());
}

// Emulated arithmetic is a thousand times slower than native.
constexpr std::uint64_t many_trips = 2000;

int check() {
  int wrong = 0;
  for (const auto& kernel : cpu::kernel_table()) {
    const auto& support = cpu::isa_support(kernel.isa);
    if (!support.runs) {
      std::printf("does not run: %s: %s\n", kernel.name.data(), support.reason.c_str());
      continue;
    }
    auto problems = testing::check_results(kernel);
    for (auto& problem : testing::check_values_stay_honest(kernel, many_trips))
      problems.push_back(problem);
    for (const auto& problem : problems)
      std::printf("wrong: %s: %s\n", kernel.name.data(), problem.c_str());
    if (problems.empty()) std::printf("correct: %s\n", kernel.name.data());
    wrong += problems.empty() ? 0 : 1;
  }
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 2 && std::string_view(arguments[1]) == "--declare") {
    declare();
    return 0;
  }
  return check();
}
