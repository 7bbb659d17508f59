// Microarchitectures of CPUs: how many instructions of a kind a core starts per cycle.
// A small table from vendors' manuals; a core that is not in it has no theory, not a guessed one.
#pragma once

#include <string_view>

namespace ridgeline {

// Instructions started per core and cycle; 0 = no source states it.
struct IssueRates {
  double fma_scalar = 0, fma_128 = 0, fma_256 = 0, fma_512 = 0;
  double muladd = 0;  // multiplications and additions, equally many, scalar or 128 bits
  double fma_fp16_128 = 0, fma_fp16_512 = 0;
  double dot_int8_128 = 0, dot_int8_256 = 0, dot_int8_512 = 0;
  double dot_bf16_512 = 0;
  double tile = 0;
  double load_128 = 0, load_256 = 0, load_512 = 0;
};

struct Microarchitecture {
  std::string_view name;
  std::string_view source;
  IssueRates rates;
};

// How a CPU names itself: CPUID (vendor, family, model) or MIDR (implementer, part).
struct CpuId {
  std::string_view vendor;  // "GenuineIntel", "AuthenticAMD", "0x41"
  int family = 0;           // 0 on Arm
  int model = 0;            // part number on Arm
};

// nullptr where the table has no row.
const Microarchitecture* find_microarchitecture(const CpuId& id);

}  // namespace ridgeline
