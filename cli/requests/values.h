// Values of options as they are typed: quantities with their unit, counts, words of a closed set.
// A value that makes no sense is a usage error; a number without its unit is one, too.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/nearest.h"
#include "base/text.h"
#include "base/tokens.h"
#include "cli/command.h"

namespace ridgeline::cli {

// A value with the words that gave it, for people: "--free-memory 4GB".
template <class Value>
struct Given {
  Value value{};
  std::string text;
};

// "--latency 10ms": for errors, and for people.
std::string as_typed(const char* name, const std::string& value);

// The first positional word; a usage error with an example where there is none.
std::string required_word(const Options& options, const std::string& what,
                          const std::string& example);

// Words between commas; an empty one is a usage error.
std::vector<std::string> list_of(const std::string& text, const std::string& where);

// A number alone is a usage error: "write 10ms or s".
void require_unit(const std::string& text, const std::string& where, const char* units);

double positive(double value, const std::string& where);
double plain_number(const std::string& text, const std::string& where, const char* example);
double per_second(const std::string& text, const std::string& where);  // "30/s"
double percent(const std::string& text, const std::string& where);     // "5%" → 0.05

// With a unit, and more than zero.
double seconds_of(const std::string& text, const std::string& where);
double watts_of(const std::string& text, const std::string& where);
double joules_of(const std::string& text, const std::string& where, const char* units = "J or mJ");

// The option's value as a count of at least `least`; `fallback` where it is not given.
std::int64_t count_option(const Options& options, const char* name, std::int64_t least,
                          std::int64_t fallback);

// The same of a value that is at hand: from `least` to 2^40.
std::int64_t dimension(const std::string& text, const std::string& where, std::int64_t least);

// Other words that people use for a token: "trt", "pytorch", "half". The word itself if none.
std::string_view meant_token(std::string_view word);

// A token without regard to case and punctuation, and by its other words.
template <class E>
std::optional<E> lenient_token(std::string_view word) {
  if (const auto value = parse_token<E>(word)) return value;
  for (const auto& [value, spelling] : TokenTable<E>::rows)
    if (same_name(spelling, word) || same_name(spelling, meant_token(word))) return value;
  return std::nullopt;
}

// `fallback` where the option is not given; another word is a usage error that lists
// the right ones.
template <class E>
E token_option(const Options& options, const char* name, E fallback) {
  if (!options.has(name)) return fallback;
  const auto& word = options.text(name);
  if (const auto value = lenient_token<E>(word)) return *value;
  std::string allowed;
  for (const auto& row : TokenTable<E>::rows)
    (allowed += allowed.empty() ? "" : ", ") += row.second;
  throw usage_error(as_typed(name, word), quote(word) + " is not one of " + allowed);
}

}  // namespace ridgeline::cli
