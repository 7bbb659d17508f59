// Instruction sets that a kernel may need, and whether this CPU really runs them.
// Standard library only; what an operating system or hypervisor switched off counts as absent.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ridgeline::cpu {

// In the order of preference for equal work: later is wider.
enum class Isa {
  baseline,  // what every CPU of the architecture has: SSE2 or ARMv8
  sse4,
  avx2_fma,
  avx_vnni,
  avx512f,
  avx512_vnni,
  avx512_bf16,
  avx512_fp16,
  amx_bf16,
  amx_int8,
  neon,
  neon_fp16,
  neon_dotprod,
};

std::string_view to_string(Isa isa);

struct IsaSupport {
  bool runs = false;
  std::string reason;  // why not: "CPUID does not list avx512_fp16"
};

// Feature bits first, then one trial instruction in a child process: some virtual machines
// advertise units that fault. Results are cached for the life of the process.
const IsaSupport& isa_support(Isa isa);

// Names of all instruction sets that run here, in the order of the enum.
std::vector<std::string> running_isas();

// Runs `trial` in a child process; false where it dies by a signal. Exposed for tests.
bool survives(void (*trial)());

}  // namespace ridgeline::cpu
