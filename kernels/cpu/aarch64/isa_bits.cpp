// Feature bits of aarch64 (the kernel's HWCAP) and one trial instruction per instruction set.
// NEON itself is part of every ARMv8-A application core that runs Linux.
#include "kernels/cpu/isa_bits.h"

#include <sys/auxv.h>

#include "kernels/cpu/aarch64/asm.h"

namespace ridgeline::cpu {
namespace {

// asm/hwcap.h: HWCAP_ASIMD, HWCAP_ASIMDHP, HWCAP_ASIMDDP.
constexpr unsigned long asimd = 1ul << 1, asimd_half = 1ul << 10, asimd_dot = 1ul << 20;

unsigned long needed_bits(Isa isa) {
  switch (isa) {
    case Isa::neon:
      return asimd;
    case Isa::neon_fp16:
      return asimd | asimd_half;
    case Isa::neon_dotprod:
      return asimd | asimd_dot;
    default:
      return 0;
  }
}

RIDGELINE_WITH_FP16 void try_fp16() { asm volatile("fmla v0.8h, v0.8h, v0.8h" ::: "v0"); }
RIDGELINE_WITH_DOTPROD void try_dotprod() { asm volatile("sdot v0.4s, v0.16b, v0.16b" ::: "v0"); }

}  // namespace

std::string missing_feature(Isa isa) {
  const unsigned long needed = needed_bits(isa);
  if (needed == 0 || (getauxval(AT_HWCAP) & needed) != needed)
    return "this CPU does not have " + std::string(to_string(isa));
  return {};
}

void execute_trial(Isa isa) {
  switch (isa) {
    case Isa::neon:
      asm volatile("fmla v0.4s, v0.4s, v0.4s" ::: "v0");
      break;
    case Isa::neon_fp16:
      try_fp16();
      break;
    case Isa::neon_dotprod:
      try_dotprod();
      break;
    default:
      break;
  }
}

bool request_permission(Isa) { return true; }

}  // namespace ridgeline::cpu
