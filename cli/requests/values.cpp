// Every quantity must carry its unit: 10 may be milliseconds to one and seconds to another.
#include "cli/requests/values.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <utility>

#include "analyzer/graph/shape.h"
#include "base/units.h"

namespace ridgeline::cli {

std::string as_typed(const char* name, const std::string& value) {
  return fmt::format("--{} {}", name, value);
}

std::string required_word(const Options& options, const std::string& what,
                          const std::string& example) {
  const std::vector<std::string> words = positional(options);
  if (words.empty()) throw usage_error({}, what, "write for example ridgeline " + example);
  return words.front();
}

std::vector<std::string> list_of(const std::string& text, const std::string& where) {
  std::vector<std::string> words;
  for (const std::string_view word : split(text, ',')) {
    if (word.empty()) throw usage_error(where, "a value of the list is empty");
    words.emplace_back(word);
  }
  return words;
}

namespace {

// "write 20ms or 20s" of "ms or s".
std::string with_units(const std::string& number, std::string_view units) {
  constexpr std::string_view between = " or ";
  std::string text = "write " + number;
  const std::size_t at = units.find(between);
  text += units.substr(0, at);
  if (at != std::string_view::npos)
    text.append(between).append(number).append(units.substr(at + between.size()));
  return text;
}

}  // namespace

void require_unit(const std::string& text, const std::string& where, const char* units) {
  if (text.empty()) throw usage_error(where, "needs a value");
  if (text.back() == '.' || (text.back() >= '0' && text.back() <= '9'))
    throw usage_error(where, "the unit is missing", with_units(text, units));
}

double positive(double value, const std::string& where) {
  if (!(value > 0)) throw usage_error(where, "must be more than zero");
  return value;
}

double plain_number(const std::string& text, const std::string& where, const char* example) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, fault] = std::from_chars(text.data(), end, value);
  if (fault != std::errc() || rest != end || !std::isfinite(value))
    throw usage_error(where, quote(text) + " is not a number",
                      fmt::format("write for example {}", example));
  return positive(value, where);
}

double per_second(const std::string& text, const std::string& where) {
  require_unit(text, where, "/s");
  if (!text.ends_with("/s"))
    throw usage_error(where, quote(text) + " is not a rate", "write for example 30/s");
  return plain_number(text.substr(0, text.size() - 2), where, "30/s");
}

double percent(const std::string& text, const std::string& where) {
  require_unit(text, where, "%");
  if (!text.ends_with("%"))
    throw usage_error(where, quote(text) + " is not a percentage", "write for example 5%");
  return plain_number(text.substr(0, text.size() - 1), where, "5%") / 100;
}

double seconds_of(const std::string& text, const std::string& where) {
  require_unit(text, where, "ms or s");
  return positive(parse_seconds(text, where), where);
}

double watts_of(const std::string& text, const std::string& where) {
  require_unit(text, where, "W or mW");
  return positive(parse_watts(text, where), where);
}

double joules_of(const std::string& text, const std::string& where, const char* units) {
  require_unit(text, where, units);
  return positive(parse_joules(text, where), where);
}

std::string_view meant_token(std::string_view word) {
  constexpr std::pair<std::string_view, std::string_view> words[] = {
      {"trt", "tensorrt"},
      {"trtexec", "tensorrt"},
      {"pytorch", "torch-eager"},
      {"torch", "torch-eager"},
      {"eager", "torch-eager"},
      {"compile", "torch-compiled"},
      {"torchcompile", "torch-compiled"},
      {"inductor", "torch-compiled"},
      {"ort", "onnxruntime"},
      {"onnx", "onnxruntime"},
      {"f16", "fp16"},
      {"f32", "fp32"},
      {"half", "fp16"},
      {"float16", "fp16"},
      {"bfloat16", "bf16"},
      {"float", "fp32"},
      {"float32", "fp32"},
      {"single", "fp32"},
      {"double", "fp64"},
      {"float64", "fp64"},
  };
  for (const auto& [other, token] : words)
    if (same_name(other, word)) return token;
  return word;
}

std::int64_t count_option(const Options& options, const char* name, std::int64_t least,
                          std::int64_t fallback) {
  const auto text = options.word(name);
  return text ? dimension(*text, as_typed(name, *text), least) : fallback;
}

std::int64_t dimension(const std::string& text, const std::string& where, std::int64_t least) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, fault] = std::from_chars(text.data(), end, value);
  if (fault != std::errc() || rest != end || value < least || value > max_dimension)
    throw usage_error(where, fmt::format("{} is not a number from {} to 2^40", quote(text), least));
  return value;
}

}  // namespace ridgeline::cli
