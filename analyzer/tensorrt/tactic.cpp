// The names follow a few schools: xmma ("…_f16f16_f16f32_f32_…_tensor16x8x16"), cuDNN and cuBLAS
// ("ampere_h16816cudnn_128x64_…", "volta_sgemm_…"), CUTLASS ("…hmma…", "…tensorop…").
#include "analyzer/tensorrt/tactic.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>
#include <vector>

#include "base/text.h"

namespace ridgeline::tensorrt {
namespace {

struct TypeName {
  std::string_view name;
  DType dtype;
};

// Longer names first: "bf16" ends like "f16".
constexpr TypeName type_names[] = {
    {"tf32", DType::tf32}, {"bf16", DType::bf16}, {"e4m3", DType::fp8}, {"e5m2", DType::fp8},
    {"f16", DType::fp16},  {"f32", DType::fp32},  {"f64", DType::fp64}, {"i32", DType::int32},
    {"i8", DType::int8},   {"i4", DType::int4}};

// "i8f16" → int8, fp16; empty if the word is anything else.
std::vector<DType> types_in(std::string_view word) {
  std::vector<DType> types;
  while (!word.empty()) {
    const auto* row =
        std::find_if(std::begin(type_names), std::end(type_names),
                     [&](const TypeName& each) { return word.starts_with(each.name); });
    if (row == std::end(type_names)) return {};
    types.push_back(row->dtype);
    word.remove_prefix(row->name.size());
  }
  return types;
}

std::optional<int> number_at(std::string_view& text) {
  int value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || value <= 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

// "128x64x32" or "128x64", whose depth is not named.
std::optional<std::array<int, 3>> tile_in(std::string_view word) {
  std::array<int, 3> tile{};
  for (std::size_t i = 0; i < tile.size(); ++i) {
    if (i > 0 && (word.empty() || word.front() != 'x')) return std::nullopt;
    if (i > 0) word.remove_prefix(1);
    const auto side = number_at(word);
    if (!side) return std::nullopt;
    tile[i] = *side;
    if (i == 1 && word.empty()) return tile;
  }
  return word.empty() ? std::optional(tile) : std::nullopt;
}

// "h16816cudnn", "s1688gemm", "i8816cudnn": the letter is the type, the digits the shape of a
// tensor-core instruction; without digits ("scudnn", "sgemm") it has none.
bool read_library_word(std::string_view word, Tactic& tactic) {
  for (const std::string_view library : {"cudnn", "gemm"}) {
    const auto end = word.find(library);
    if (end == std::string_view::npos || end == 0 || word.size() > end + library.size()) continue;
    const char letter = word.front();
    const std::string_view digits = word.substr(1, end - 1);
    const bool is_shape =
        digits.size() >= 3 &&
        std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!digits.empty() && !is_shape) continue;
    if (letter != 'h' && letter != 's' && letter != 'i') continue;
    tactic.tensor_cores = is_shape;
    if (letter == 'i')
      tactic.dtype = DType::int8;
    else if (!tactic.dtype)
      tactic.dtype = letter == 'h' || is_shape ? DType::fp16 : DType::fp32;
    return true;
  }
  return false;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Units that are named in so many words.
std::optional<bool> named_units(const std::string& name) {
  for (const std::string_view yes : {"hmma", "imma", "gmma", "qmma", "tensorop", "warpgroupsize"})
    if (contains(name, yes)) return true;
  // Before "tensor16x8x16": "tensor" alone is also part of other words.
  for (auto at = name.find("tensor"); at != std::string::npos; at = name.find("tensor", at + 1))
    if (at + 6 < name.size() && name[at + 6] >= '0' && name[at + 6] <= '9') return true;
  for (const std::string_view no : {"ffma", "hfma", "simt", "gemvx", "wngd", "sm50_"})
    if (contains(name, no)) return false;
  return std::nullopt;
}

}  // namespace

Tactic parse_tactic(std::string_view full_name) {
  const std::string name = lower(full_name);
  Tactic tactic;
  std::vector<std::vector<DType>> typed;  // neighbouring words that are types alone
  bool typed_ended = false;
  for (const std::string_view word : split(name, '_')) {
    if (!tactic.architecture && word.starts_with("sm")) {
      std::string_view digits = word.substr(2);
      tactic.architecture = number_at(digits);
    }
    if (!tactic.tile) {
      constexpr std::string_view mark = "tilesize";
      tactic.tile = tile_in(word.starts_with(mark) ? word.substr(mark.size()) : word);
    }
    if (auto types = types_in(word); !types.empty() && !typed_ended)
      typed.push_back(std::move(types));
    else
      typed_ended = typed_ended || !typed.empty();
    read_library_word(word, tactic);
    if (word.starts_with("int8x4") || word == "int8") tactic.dtype = DType::int8;
  }
  // Operands and result, then what is multiplied and summed: "i8f16_i8i32_f32". An integer operand
  // decides where the second word is only the sum's type.
  if (!typed.empty() && !tactic.dtype) {
    const DType operand = typed.front().front();
    const bool names_product = typed.size() > 1 && typed[1].size() > 1;
    tactic.dtype = names_product ? typed[1].front() : operand;
  }
  if (const auto units = named_units(name)) tactic.tensor_cores = *units;
  // Products of these types are made nowhere else; of fp32 only outside.
  if (!tactic.tensor_cores && tactic.dtype && typed.size() > 1) {
    if (*tactic.dtype == DType::tf32) tactic.tensor_cores = true;
    if (*tactic.dtype == DType::fp32) tactic.tensor_cores = false;
  }
  tactic.winograd = contains(name, "winograd") || contains(name, "wngd");
  return tactic;
}

}  // namespace ridgeline::tensorrt
