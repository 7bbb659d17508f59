// Feature bits of x86-64 (CPUID and XCR0) and one trial instruction per instruction set.
// Bit positions are those of the Intel and AMD architecture manuals.
#include "kernels/cpu/isa_bits.h"

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace ridgeline::cpu {
namespace {

struct Registers {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Registers cpuid(unsigned leaf, unsigned subleaf) {
  Registers r;
  if (!__get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx)) return {};
  return r;
}

bool bit(unsigned value, int position) { return (value >> position) & 1u; }

// State components that the operating system saves: SSE, AVX, AVX-512, AMX tiles.
std::uint64_t enabled_state() {
  if (!bit(cpuid(1, 0).ecx, 27)) return 0;  // OSXSAVE
  std::uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low | (std::uint64_t{high} << 32);
}

constexpr std::uint64_t avx_state = 0x6, avx512_state = 0xe6, tile_state = 0x60000;

bool listed(Isa isa) {
  const Registers one = cpuid(1, 0), seven = cpuid(7, 0), seven_one = cpuid(7, 1);
  switch (isa) {
    case Isa::baseline:
      return true;
    case Isa::sse4:
      return bit(one.ecx, 20);
    case Isa::avx2_fma:
      return bit(one.ecx, 28) && bit(one.ecx, 12) && bit(seven.ebx, 5);
    case Isa::avx_vnni:
      return bit(seven_one.eax, 4);
    case Isa::avx512f:
      return bit(seven.ebx, 16);
    case Isa::avx512_vnni:
      return bit(seven.ebx, 16) && bit(seven.ecx, 11);
    case Isa::avx512_bf16:
      return bit(seven.ebx, 16) && bit(seven_one.eax, 5);
    case Isa::avx512_fp16:
      return bit(seven.ebx, 16) && bit(seven.edx, 23);
    case Isa::amx_bf16:
      return bit(seven.edx, 24) && bit(seven.edx, 22);
    case Isa::amx_int8:
      return bit(seven.edx, 24) && bit(seven.edx, 25);
    case Isa::neon:
    case Isa::neon_fp16:
    case Isa::neon_dotprod:
      return false;
  }
  return false;
}

std::uint64_t needed_state(Isa isa) {
  switch (isa) {
    case Isa::avx2_fma:
    case Isa::avx_vnni:
      return avx_state;
    case Isa::avx512f:
    case Isa::avx512_vnni:
    case Isa::avx512_bf16:
    case Isa::avx512_fp16:
      return avx512_state;
    case Isa::amx_bf16:
    case Isa::amx_int8:
      return tile_state;
    default:
      return 0;
  }
}

// Palette 1, one row of four bytes in tiles 0, 1 and 2.
struct alignas(64) TileConfiguration {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {4, 4, 4};
  std::uint8_t rows[16] = {1, 1, 1};
};

}  // namespace

std::string missing_feature(Isa isa) {
  if (!listed(isa)) return "this CPU does not have " + std::string(to_string(isa));
  const std::uint64_t needed = needed_state(isa);
  if ((enabled_state() & needed) != needed)
    return "the operating system does not save the registers of " + std::string(to_string(isa));
  return {};
}

void execute_trial(Isa isa) {
  const TileConfiguration tiles;
  switch (isa) {
    case Isa::sse4:
      asm volatile("pmulld %%xmm0, %%xmm0" ::: "xmm0");
      break;
    case Isa::avx2_fma:
      asm volatile("vfmadd213pd %%ymm0, %%ymm0, %%ymm0\n vzeroupper" ::: "xmm0");
      break;
    case Isa::avx_vnni:
      asm volatile("%{vex%} vpdpbusd %%ymm0, %%ymm0, %%ymm0\n vzeroupper" ::: "xmm0");
      break;
    case Isa::avx512f:
      asm volatile("vfmadd213pd %%zmm0, %%zmm0, %%zmm0\n vzeroupper" ::: "xmm0");
      break;
    case Isa::avx512_vnni:
      asm volatile("vpdpbusd %%zmm0, %%zmm0, %%zmm0\n vzeroupper" ::: "xmm0");
      break;
    case Isa::avx512_bf16:
      asm volatile("vdpbf16ps %%zmm0, %%zmm0, %%zmm0\n vzeroupper" ::: "xmm0");
      break;
    case Isa::avx512_fp16:
      asm volatile("vfmadd213ph %%zmm0, %%zmm0, %%zmm0\n vzeroupper" ::: "xmm0");
      break;
    case Isa::amx_bf16:
      asm volatile(
          "ldtilecfg %0\n tilezero %%tmm0\n tilezero %%tmm1\n tilezero %%tmm2\n"
          "tdpbf16ps %%tmm2, %%tmm1, %%tmm0\n tilerelease" ::"m"(tiles));
      break;
    case Isa::amx_int8:
      asm volatile(
          "ldtilecfg %0\n tilezero %%tmm0\n tilezero %%tmm1\n tilezero %%tmm2\n"
          "tdpbssd %%tmm2, %%tmm1, %%tmm0\n tilerelease" ::"m"(tiles));
      break;
    default:
      break;
  }
}

bool request_permission(Isa isa) {
  if (isa != Isa::amx_bf16 && isa != Isa::amx_int8) return true;
  constexpr long request_component = 0x1023, tile_data = 18;  // asm/prctl.h: ARCH_REQ_XCOMP_PERM
  return syscall(SYS_arch_prctl, request_component, tile_data) == 0;
}

}  // namespace ridgeline::cpu
