// The parser of objdump's text, on lines printed for both architectures.
// Whole kernels are read in loop_proof_test.cpp.
#include "tests/support/disassembly.h"

#include <gtest/gtest.h>

namespace ridgeline::testing {
namespace {

Instruction only(const std::string& line) {
  return parse_disassembly("0000000000000010 <f>:\n      10:\t" + line + "\n").at(0x10).at(0);
}

TEST(Disassembly, PutsTheDestinationFirst) {
  const auto x86 = only("vfmadd213pd %zmm31,%zmm3,%zmm7");
  EXPECT_EQ(x86.mnemonic, "vfmadd213pd");
  EXPECT_EQ(x86.registers.at(0), (Register{"zmm", "zmm7"}));
  EXPECT_EQ(x86.registers.at(2), (Register{"zmm", "zmm31"}));
  const auto aarch64 = only("fmla\tv3.4s, v30.4s, v31.4s");
  EXPECT_EQ(aarch64.mnemonic, "fmla");
  EXPECT_EQ(aarch64.registers.at(0), (Register{"v.4s", "v3"}));
}

TEST(Disassembly, TellsLoadsFromStores) {
  const auto load = only("vmovaps -0x40(%rax,%rbx,2),%zmm3");
  EXPECT_FALSE(load.stores);
  EXPECT_EQ(load.memory->displacement, -0x40);
  EXPECT_EQ(load.memory->base, "rax");
  EXPECT_EQ(load.memory->index, "%rbx,2");
  EXPECT_TRUE(only("vmovntps %zmm3,0x40(%rax)").stores);
  EXPECT_FALSE(only("ldp\tq0, q1, [x3, #32]").stores);
  const auto store = only("stnp\tq0, q1, [x3, #-32]");
  EXPECT_TRUE(store.stores);
  EXPECT_EQ(store.memory->base, "x3");
  EXPECT_EQ(store.memory->displacement, -32);
  EXPECT_EQ(store.registers.size(), 2u);
  EXPECT_FALSE(only("lea    (%rdi,%rsi,1),%rax").memory);
}

TEST(Disassembly, SkipsPrefixesAndReadsImmediates) {
  EXPECT_EQ(only("{vex} vpdpbusd %ymm14,%ymm13,%ymm0").mnemonic, "vpdpbusd");
  EXPECT_EQ(only("add    $0x400,%rax").immediate, 0x400);
  EXPECT_EQ(only("add\tx3, x3, #0x400").immediate, 0x400);
  EXPECT_EQ(only("mov (%rax),%eax").registers.at(0).bank, "part of r");
}

TEST(Disassembly, FindsInnermostLoops) {
  const auto code = parse_disassembly(
      "0000000000000100 <f>:\n"
      " 100:\tmov %rdi,%rax\n"
      " 104:\tlea (%rax,%rsi,1),%rcx\n"
      " 108:\tadd $0x40,%rax\n"
      " 10c:\tcmp %rcx,%rax\n"
      " 110:\tjb     108 <f+0x8>\n"
      " 114:\tdec %rdx\n"
      " 118:\tjne    104 <f+0x4>\n"
      " 11c:\tret\n");
  const auto loops = innermost_loops(code.at(0x100));
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].size(), 3u);
  EXPECT_EQ(loops[0].front().mnemonic, "add");
  EXPECT_EQ(loops[0].back().target, 0x108u);
}

TEST(Disassembly, ReadsBranchesOfAarch64) {
  EXPECT_EQ(only("b.ne\t401140 <f+0x20>  // b.any").target, 0x401140u);
  EXPECT_EQ(only("cbz\tx0, 401140 <f+0x20>").target, 0x401140u);
}

}  // namespace
}  // namespace ridgeline::testing
