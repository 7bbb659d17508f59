// Proves every CUDA kernel in this build's program: machine code and PTX against the table, and the
// proof against kernels that are wrong on purpose. Needs no GPU and none of NVIDIA's tools.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <span>

#include "base/text_file.h"
#include "kernels/cuda/kernel.h"
#include "tests/kernels/cuda/code_proof.h"
#include "tests/kernels/cuda/machine_code.h"
#include "tests/support/paths.h"

namespace ridgeline::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(CudaCode, EveryLoopHoldsWhatItsRowDeclares) {
  const auto images = read_gpu_images(read_text_file(built_program(), max_piped_model_bytes));
  ASSERT_FALSE(images.empty());
  std::set<std::string> proved;
  for (const GpuImage& image : images)
    for (const auto& [name, code] : image.kernels) {
      const cuda::Kernel* const kernel = cuda::find_kernel(name);
      ASSERT_NE(kernel, nullptr) << name << " is in no table";
      EXPECT_TRUE(kernel->architectures.include(image.architecture)) << name;
      EXPECT_THAT(prove_code(*kernel, code).problems, IsEmpty())
          << name << " on sm_" << image.architecture;
      proved.insert(name);
    }
  EXPECT_GE(proved.size(), 50u);
}

TEST(CudaCode, HoldsEveryKernelOfItsArchitectures) {
  std::map<int, std::set<std::string>> held;
  for (const GpuImage& image :
       read_gpu_images(read_text_file(built_program(), max_piped_model_bytes)))
    for (const auto& [name, code] : image.kernels) held[image.architecture].insert(name);
  for (const auto& [architecture, names] : held)
    for (const cuda::Kernel& kernel : cuda::kernel_table())
      EXPECT_EQ(names.contains(std::string(kernel.name)),
                kernel.architectures.include(architecture))
          << kernel.name << " on sm_" << architecture;
}

TEST(CudaCode, PtxHoldsWhatItsRowDeclares) {
  const auto images = read_ptx_images(read_text_file(built_program(), max_piped_model_bytes));
  std::set<int> architectures;
  for (const PtxImage& image : images) {
    architectures.insert(image.architecture);
    for (const auto& [name, loops] : image.loops)
      EXPECT_THAT(prove_ptx(*cuda::find_kernel(name), loops), IsEmpty())
          << name << " for compute_" << image.architecture;
  }
  EXPECT_GE(architectures.size(), 2u) << "the oldest and the newest architecture";
}

struct Mutant {
  const char* name;
  const char* row;     // the row it poses as
  const char* reason;  // part of the expected problem; "" for an honest one
};

constexpr Mutant mutants[] = {
    {"identical_chains", "fma_fp32_8", "a chain does not start from a value of its own"},
    {"missing_store", "fma_fp32_8", "0 loops that do the declared work"},
    {"missing_store_of_mma", "mma_fp16_8", "0 loops that do the declared work"},
    {"constant_coefficient", "fma_fp32_8", "an operand of the arithmetic is a constant"},
    {"crossed_chains", "fma_fp32_8", "a chain does not go on"},
    {"narrowed_loads", "read_dram", "bytes of a load: 16 declared, 4 found"},
    {"moved_loads", "read_dram", "0 loops that do the declared work"},
    {"serial_loads", "read_dram", "loads are in flight"},
    {"short_trip", "fma_fp32_8", "other instructions take"},
    {"call_in_loop", "fma_fp32_8", "a call in the loop"},
    {"crossed_links", "chase", "a load does not wait for the one before"},
    {"unfed_mma", "fed_fp16_32", "loads: 32 declared, 0 found"},
    {"honest_fed", "fed_fp16_32", ""},
    {"honest_chains", "fma_fp32_8", ""},
    {"honest_mma", "mma_fp16_8", ""},
    {"honest_read", "read_dram", ""},
    {"honest_chase", "chase", ""},
};

TEST(CudaCode, RejectsEachMutantAndAcceptsItsHonestTwin) {
  const auto images = read_gpu_images(read_text_file(RIDGELINE_CUDA_MUTANTS));
  ASSERT_FALSE(images.empty());
  for (const GpuImage& image : images)
    for (const Mutant& mutant : mutants) {
      cuda::Kernel row = *cuda::find_kernel(mutant.row);
      if (std::string_view(mutant.name) == "short_trip") row.arithmetic = 16;
      const auto problems = prove_code(row, image.kernels.at(mutant.name)).problems;
      if (*mutant.reason == '\0')
        EXPECT_THAT(problems, IsEmpty()) << mutant.name;
      else
        EXPECT_THAT(problems, Contains(HasSubstr(mutant.reason))) << mutant.name;
    }
}

// What the proof follows instead of registers where sums lie in tensor memory.
TEST(CudaCode, RejectsSumsInTensorMemoryThatMoveOrStartFromNothing) {
  const cuda::Kernel& row = *cuda::find_kernel("tcgen05_fp16_1");
  int seen = 0;
  for (const GpuImage& image :
       read_gpu_images(read_text_file(built_program(), max_piped_model_bytes))) {
    if (!image.kernels.contains(std::string(row.name))) continue;
    ++seen;
    const GpuCode& honest = image.kernels.at(std::string(row.name));
    const auto is_step = [](const GpuInstruction& each) { return each.name == "UTCHMMA"; };
    const auto first = std::ranges::find_if(honest, is_step) - honest.begin();
    const auto problems_with = [&](auto change) {
      GpuCode code = honest;
      change(code);
      return prove_code(row, code).problems;
    };
    EXPECT_THAT(problems_with([](GpuCode&) {}), IsEmpty());
    EXPECT_THAT(problems_with([&](GpuCode& code) { ++code[std::size_t(first)].c; }),
                Contains(HasSubstr("chains: 1 declared, 2 found")));
    EXPECT_THAT(problems_with([&](GpuCode& code) {
                  const auto other = std::find_if(
                      code.begin() + first, code.end(), [&](const GpuInstruction& each) {
                        return !is_step(each) && each.name != "BRA" && each.name != "NOP";
                      });
                  other->destination = code[std::size_t(first)].c;
                }),
                Contains(HasSubstr("the place of a sum changes")));
    EXPECT_THAT(problems_with([&](GpuCode& code) {
                  for (auto& each : std::span(code).first(std::size_t(first)))
                    if (each.name == "LDG") each.name = "MOV";
                }),
                Contains(HasSubstr("accumulators that start from memory: 256 declared, 0 found")));
    const GpuCode& scaled = image.kernels.at("tcgen05_mxfp8_1");
    EXPECT_THAT(prove_code(*cuda::find_kernel("tcgen05_mxfp8_1"), scaled).problems, IsEmpty());
    EXPECT_THAT(prove_code(*cuda::find_kernel("tcgen05_fp8_1"), scaled).problems,
                Contains(HasSubstr("block scales are not as declared")));
    // What would keep the GPU.
    const auto without = [&](std::string_view name, int form) {
      return problems_with([&](GpuCode& code) {
        for (auto& each : code)
          if (each.name == name && (form < 0 || each.form == form)) each.name = "?";
      });
    };
    EXPECT_THAT(without("UTCATOMSWS", 4), Contains(HasSubstr("not released once")));
    EXPECT_THAT(without("UTCATOMSWS", 2), Contains(HasSubstr("not allocated")));
    EXPECT_THAT(without("UVIRTCOUNT", -1), Contains(HasSubstr("the permit")));
    EXPECT_THAT(without("BPT", -1), Contains(HasSubstr("waited for without end")));
    EXPECT_THAT(without("BAR", -1), Contains(HasSubstr("released while it may be in use")));
    EXPECT_THAT(problems_with([&](GpuCode& code) {
                  std::ranges::find(code, "STTM", &GpuInstruction::name)->name = "EXIT";
                }),
                Contains(HasSubstr("leaves tensor memory allocated")));
  }
  if (seen == 0) GTEST_SKIP() << "this build has no tcgen05";
}

TEST(CudaCode, RejectsARowThatDeclaresOtherThanItsLoop) {
  for (const GpuImage& image :
       read_gpu_images(read_text_file(built_program(), max_piped_model_bytes)))
    for (const auto& [name, code] : image.kernels) {
      const cuda::Kernel& kernel = *cuda::find_kernel(name);
      if (kernel.role == cuda::Role::launch) continue;
      const auto rejects = [&, &the_code = code](auto change) {
        cuda::Kernel changed = kernel;
        change(changed);
        return !prove_code(changed, the_code).problems.empty();
      };
      if (kernel.arithmetic > 0) {
        EXPECT_TRUE(rejects([](auto& row) { ++row.arithmetic; })) << name;
      }
      EXPECT_TRUE(rejects([](auto& row) { ++row.loads; })) << name;
      EXPECT_TRUE(rejects([](auto& row) { ++row.stores; })) << name;
      if (kernel.role == cuda::Role::compute) {
        EXPECT_TRUE(rejects([](auto& row) { row.chains = row.chains > 1 ? row.chains / 2 : 2; }))
            << name;
      }
    }
}

}  // namespace
}  // namespace ridgeline::testing
