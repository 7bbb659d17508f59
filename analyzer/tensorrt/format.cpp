// Words and numbers are picked out of the phrase wherever they stand.
#include "analyzer/tensorrt/format.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"

namespace ridgeline::tensorrt {
namespace {

struct TypeWord {
  std::string_view word;  // in lower case
  ElementType type;
};

constexpr TypeWord type_words[] = {
    {"fp32", ElementType::fp32},
    {"float", ElementType::fp32},
    {"float32", ElementType::fp32},
    {"fp16", ElementType::fp16},
    {"half", ElementType::fp16},
    {"float16", ElementType::fp16},
    {"bfloat16", ElementType::bf16},
    {"bf16", ElementType::bf16},
    {"int8", ElementType::int8},
    {"uint8", ElementType::uint8},
    {"int32", ElementType::int32},
    {"int64", ElementType::int64},
    {"fp8", ElementType::fp8_e4m3fn},
    {"fp8e4m3", ElementType::fp8_e4m3fn},
    {"e8m0", ElementType::fp8_e8m0},
    {"fp4", ElementType::fp4_e2m1},
    {"fp4e2m1", ElementType::fp4_e2m1},
    {"int4", ElementType::int4},
    {"bool", ElementType::boolean},
    {"double", ElementType::fp64},
    {"fp64", ElementType::fp64},
    {"floatcomplex", ElementType::complex64},
    {"doublecomplex", ElementType::complex128},
    {"int16", ElementType::int16},
    {"uint16", ElementType::uint16},
    {"uint32", ElementType::uint32},
    {"uint64", ElementType::uint64},
};

struct NumberWord {
  std::string_view word;
  std::int64_t value;
};

constexpr NumberWord number_words[] = {{"two", 2},        {"three", 3},    {"four", 4},
                                       {"eight", 8},      {"sixteen", 16}, {"thirty-two", 32},
                                       {"sixty-four", 64}};

std::optional<std::int64_t> parse_number(std::string_view word) {
  for (const auto& [text, value] : number_words)
    if (text == word) return value;
  constexpr std::int64_t most = 1 << 20;  // anything beyond it is no padding
  std::int64_t value = 0;
  for (const char c : word) {
    if (c < '0' || c > '9' || value > most) return std::nullopt;
    value = 10 * value + (c - '0');
  }
  if (word.empty() || value == 0 || value > most) return std::nullopt;
  return value;
}

// "Channel major FP16 format where channel % 8 == 0 (kHWC8)." → channel, major, …, %, 8, ==, 0
std::vector<std::string> words_of(std::string_view phrase) {
  std::string plain = lower(phrase.substr(0, phrase.find('(')));
  std::replace_if(
      plain.begin(), plain.end(), [](char c) { return c == '.' || c == ',' || c == '_'; }, ' ');
  return split_words(plain, ' ');
}

std::int64_t rounded_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

ElementType type_of_word(std::string_view word) {
  for (const auto& [text, type] : type_words)
    if (text == word) return type;
  return ElementType::unknown;
}

}  // namespace

ElementType parse_element_type(std::string_view word) { return type_of_word(lower(word)); }

Format parse_format(std::string_view phrase) {
  const std::vector<std::string> words = words_of(phrase);
  const auto at = [&](std::size_t i) { return i < words.size() ? std::string_view(words[i]) : ""; };
  Format format;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (format.type == ElementType::unknown) format.type = type_of_word(word);
    if (word == "wide" && i > 0) {
      if (const auto lanes = parse_number(words[i - 1])) {
        format.layout = Layout::channel_vector;
        format.channel_multiple = *lanes;
      }
    } else if (word == "row" && at(i + 1) == "major" && format.layout == Layout::unknown) {
      format.layout = Layout::linear;
    } else if (word == "channel" && at(i + 1) == "major") {
      format.layout = Layout::channel_last;
    } else if (word == "channel" && (at(i + 1) == "%" || at(i + 1) == "==")) {
      format.channel_multiple = parse_number(at(i + 2)).value_or(1);
    } else if (word == "stride" && at(i + 1) == "%") {
      format.row_multiple = parse_number(at(i + 2)).value_or(1);
    } else if (word == "spatial" && i > 0) {
      format.spatial = static_cast<int>(parse_number(words[i - 1]).value_or(2));
    }
  }
  // "Half" alone: what TensorRT prints without an execution context.
  if (words.size() == 1 && format.type != ElementType::unknown) format.layout = Layout::linear;
  return format;
}

std::optional<std::int64_t> padded_elements(const Shape& shape, const Format& format) {
  Shape padded = shape;
  const auto rank = static_cast<std::int64_t>(shape.size());
  if (std::any_of(shape.begin(), shape.end(),
                  [](std::int64_t size) { return size < 0 || size > max_dimension; }))
    return std::nullopt;
  if (rank >= 2 && format.channel_multiple > 1) {
    // Batch and channels come first; a tensor with fewer axes than that has no batch.
    const std::int64_t axis = rank == 2 ? 1 : std::max<std::int64_t>(0, rank - 1 - format.spatial);
    std::int64_t& channels = padded[static_cast<std::size_t>(axis)];
    channels = rounded_up(channels, format.channel_multiple);
  }
  if (rank >= 1 && format.row_multiple > 1)
    padded.back() = rounded_up(padded.back(), format.row_multiple);
  return checked_element_count(padded);
}

}  // namespace ridgeline::tensorrt
