// Display names of roofs and slopes: a table of instruction-set names and a few rules.
// No name is parsed back.
#include "roofline/ceilings/names.h"

#include <array>
#include <cctype>
#include <utility>

namespace ridgeline {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 16> isa_names{{
    {"x86-64", "SSE2"},  // the architecture's baseline
    {"armv8-a", "ARMv8"},
    {"sse4", "SSE4"},
    {"avx2_fma", "AVX2"},
    {"avx_vnni", "AVX-VNNI"},
    {"avx512f", "AVX-512"},
    {"avx512_vnni", "AVX-512 VNNI"},
    {"avx512_bf16", "AVX-512 BF16"},
    {"avx512_fp16", "AVX-512 FP16"},
    {"amx_bf16", "AMX"},
    {"amx_int8", "AMX"},
    {"neon", "NEON"},
    {"neon_fp16", "NEON FP16"},
    {"neon_dotprod", "NEON SDOT"},
    {"cuda", "CUDA cores"},
    {"tensor", "tensor cores"},
}};

}  // namespace

std::string upper_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

std::string isa_name(std::string_view isa) {
  for (const auto& [token, name] : isa_names)
    if (token == isa) return std::string(name);
  return upper_case(isa);
}

std::string roof_name(DType dtype, Unit unit, std::string_view isa) {
  const std::string type = upper_case(to_string(dtype));
  if (unit == Unit::scalar) return type + " scalar";
  if (isa.empty()) return type + " " + std::string(to_string(unit));
  // "BF16 AVX-512", not "BF16 AVX-512 BF16".
  std::string set = isa_name(isa);
  if (set.size() > type.size() + 1 &&
      set.compare(set.size() - type.size() - 1, std::string::npos, " " + type) == 0)
    set.resize(set.size() - type.size() - 1);
  return type + " " + set;
}

std::string datasheet_roof_name(Processor processor, DType dtype, Unit unit, bool sparse) {
  const char* units = processor != Processor::gpu ? "" : unit == Unit::matrix ? "tensor" : "cuda";
  return roof_name(dtype, unit, units) + (sparse ? " sparse" : "");
}

std::string slope_name(Level level, Direction direction) {
  const std::string way =
      direction == Direction::nt_write ? "NT write" : std::string(to_string(direction));
  return std::string(to_string(level)) + " " + way;
}

std::string_view rate_unit(DType dtype) { return is_integer(dtype) ? "OP/s" : "FLOP/s"; }

}  // namespace ridgeline
