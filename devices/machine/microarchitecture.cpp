// The table of microarchitectures. Rates are those of the vendors' optimization manuals and
// software guides; hybrid CPUs are absent, because their cores differ.
#include "devices/machine/microarchitecture.h"

#include <array>

namespace ridgeline {
namespace {

constexpr std::string_view intel_guide = "Intel 64 Optimization Reference Manual";
constexpr std::string_view amd_guide = "AMD Software Optimization Guide";
constexpr std::string_view arm_guide = "Arm Software Optimization Guide";

constexpr IssueRates two_256{
    .fma_scalar = 2, .fma_128 = 2, .fma_256 = 2, .muladd = 2, .load_128 = 2, .load_256 = 2};
constexpr IssueRates two_512{.fma_scalar = 2,
                             .fma_128 = 2,
                             .fma_256 = 2,
                             .fma_512 = 2,
                             .muladd = 2,
                             .dot_int8_512 = 2,
                             .load_128 = 2,
                             .load_256 = 2,
                             .load_512 = 2};
constexpr Microarchitecture haswell{"Haswell", intel_guide, two_256};
constexpr Microarchitecture skylake{"Skylake", intel_guide, two_256};
// Some Skylake-SP parts have one 512-bit unit only: they then read half of this theory.
constexpr Microarchitecture skylake_server{"Skylake-SP", intel_guide, two_512};
constexpr Microarchitecture ice_lake_server{"Ice Lake-SP", intel_guide, two_512};
constexpr Microarchitecture ice_lake_client{"Ice Lake",
                                            intel_guide,
                                            {.fma_scalar = 2,
                                             .fma_128 = 2,
                                             .fma_256 = 2,
                                             .fma_512 = 1,
                                             .muladd = 2,
                                             .dot_int8_512 = 1,
                                             .load_128 = 2,
                                             .load_256 = 2,
                                             .load_512 = 2}};
// Additions also run on a third port, and three loads start per cycle up to 256 bits.
constexpr Microarchitecture golden_cove{"Golden Cove",
                                        intel_guide,
                                        {.fma_scalar = 2,
                                         .fma_128 = 2,
                                         .fma_256 = 2,
                                         .fma_512 = 2,
                                         .muladd = 3,
                                         .fma_fp16_512 = 2,
                                         .dot_int8_256 = 2,
                                         .dot_int8_512 = 2,
                                         .tile = 1.0 / 16,
                                         .load_128 = 3,
                                         .load_256 = 3,
                                         .load_512 = 2}};
constexpr Microarchitecture zen1{
    "Zen",
    amd_guide,
    {.fma_scalar = 2, .fma_128 = 2, .fma_256 = 1, .muladd = 4, .load_128 = 2, .load_256 = 1}};
constexpr IssueRates zen_256{
    .fma_scalar = 2, .fma_128 = 2, .fma_256 = 2, .muladd = 4, .load_128 = 2, .load_256 = 2};
constexpr Microarchitecture zen2{"Zen 2", amd_guide, zen_256};
constexpr Microarchitecture zen3{"Zen 3", amd_guide, zen_256};
constexpr Microarchitecture zen4{"Zen 4",
                                 amd_guide,
                                 {.fma_scalar = 2,
                                  .fma_128 = 2,
                                  .fma_256 = 2,
                                  .fma_512 = 1,
                                  .muladd = 4,
                                  .dot_int8_512 = 1,
                                  .dot_bf16_512 = 1,
                                  .load_128 = 2,
                                  .load_256 = 2,
                                  .load_512 = 1}};
// Server and desktop parts; those for notebooks have two kinds of cores and halved data paths.
constexpr Microarchitecture zen5{"Zen 5",
                                 amd_guide,
                                 {.fma_scalar = 2,
                                  .fma_128 = 2,
                                  .fma_256 = 2,
                                  .fma_512 = 2,
                                  .muladd = 4,
                                  .load_128 = 2,
                                  .load_256 = 2,
                                  .load_512 = 2}};

constexpr IssueRates two_pipes{.fma_scalar = 2, .fma_128 = 2, .fma_fp16_128 = 2, .dot_int8_128 = 2};
constexpr IssueRates four_pipes{
    .fma_scalar = 4, .fma_128 = 4, .fma_fp16_128 = 4, .dot_int8_128 = 4};
constexpr Microarchitecture cortex_a57{"Cortex-A57", arm_guide, {.fma_128 = 1}};
constexpr Microarchitecture cortex_a76{"Cortex-A76", arm_guide, two_pipes};
constexpr Microarchitecture cortex_a77{"Cortex-A77", arm_guide, two_pipes};
constexpr Microarchitecture cortex_a78{"Cortex-A78", arm_guide, two_pipes};
constexpr Microarchitecture cortex_a78ae{"Cortex-A78AE", arm_guide, two_pipes};
constexpr Microarchitecture neoverse_n1{"Neoverse N1", arm_guide, two_pipes};
constexpr Microarchitecture neoverse_n2{"Neoverse N2", arm_guide, two_pipes};
constexpr Microarchitecture neoverse_v1{"Neoverse V1", arm_guide, four_pipes};
constexpr Microarchitecture neoverse_v2{"Neoverse V2", arm_guide, four_pipes};
// No guide at hand: named, without theory.
constexpr Microarchitecture neoverse_v3ae{"Neoverse V3AE", "", {}};
constexpr Microarchitecture carmel{"Carmel", "", {}};

struct Row {
  std::string_view vendor;
  int family, first_model, last_model;
  const Microarchitecture* core;
};

constexpr std::string_view intel = "GenuineIntel", amd = "AuthenticAMD", arm = "0x41",
                           nvidia = "0x4e";

constexpr auto rows = std::to_array<Row>({
    {intel, 6, 60, 60, &haswell},
    {intel, 6, 63, 63, &haswell},
    {intel, 6, 69, 71, &haswell},  // with Broadwell 71
    {intel, 6, 61, 61, &haswell},
    {intel, 6, 79, 79, &haswell},
    {intel, 6, 86, 86, &haswell},
    {intel, 6, 78, 78, &skylake},
    {intel, 6, 94, 94, &skylake},
    {intel, 6, 142, 142, &skylake},
    {intel, 6, 158, 158, &skylake},
    {intel, 6, 165, 166, &skylake},
    {intel, 6, 85, 85, &skylake_server},
    {intel, 6, 106, 106, &ice_lake_server},
    {intel, 6, 108, 108, &ice_lake_server},
    {intel, 6, 125, 126, &ice_lake_client},
    {intel, 6, 140, 141, &ice_lake_client},
    {intel, 6, 167, 167, &ice_lake_client},
    {intel, 6, 143, 143, &golden_cove},  // Sapphire Rapids
    {intel, 6, 207, 207, &golden_cove},  // Emerald Rapids
    {intel, 6, 173, 174, &golden_cove},  // Granite Rapids
    {amd, 23, 0, 47, &zen1},
    {amd, 23, 48, 255, &zen2},
    {amd, 25, 16, 31, &zen4},
    {amd, 25, 96, 175, &zen4},
    {amd, 25, 0, 15, &zen3},
    {amd, 25, 32, 95, &zen3},
    {amd, 26, 0, 31, &zen5},   // EPYC 9005
    {amd, 26, 64, 79, &zen5},  // Ryzen 9000
    {arm, 0, 0xd07, 0xd07, &cortex_a57},
    {arm, 0, 0xd0b, 0xd0b, &cortex_a76},
    {arm, 0, 0xd0c, 0xd0c, &neoverse_n1},
    {arm, 0, 0xd0d, 0xd0d, &cortex_a77},
    {arm, 0, 0xd40, 0xd40, &neoverse_v1},
    {arm, 0, 0xd41, 0xd41, &cortex_a78},
    {arm, 0, 0xd42, 0xd42, &cortex_a78ae},
    {arm, 0, 0xd49, 0xd49, &neoverse_n2},
    {arm, 0, 0xd4f, 0xd4f, &neoverse_v2},
    {arm, 0, 0xd83, 0xd83, &neoverse_v3ae},
    {nvidia, 0, 0x004, 0x004, &carmel},
});

}  // namespace

const Microarchitecture* find_microarchitecture(const CpuId& id) {
  for (const Row& row : rows)
    if (row.vendor == id.vendor && row.family == id.family && id.model >= row.first_model &&
        id.model <= row.last_model)
      return row.core;
  return nullptr;
}

}  // namespace ridgeline
