// An option whose value is one of a closed set of words.
#pragma once

#include <fmt/format.h>

#include <string>

#include "base/text.h"
#include "base/tokens.h"
#include "cli/command.h"

namespace ridgeline::cli {

// `fallback` where the option is not given; another word is a usage error that lists the right
// ones.
template <class E>
E token_option(const Options& options, const char* name, E fallback) {
  if (!options.has(name)) return fallback;
  const auto& word = options.text(name);
  if (const auto value = parse_token<E>(word)) return *value;
  std::string allowed;
  for (const auto& row : TokenTable<E>::rows)
    (allowed += allowed.empty() ? "" : ", ") += row.second;
  throw usage_error(fmt::format("--{} {}", name, word), quote(word) + " is not one of " + allowed);
}

}  // namespace ridgeline::cli
