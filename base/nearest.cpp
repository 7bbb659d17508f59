// Optimal string alignment distance over bytes; names of commands and devices are short.
// Not a search: callers use it only after an exact lookup has failed.
#include "base/nearest.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace ridgeline {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the table: two back (for swaps), one back, this one.
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

// Every word of `typed` is a word of `known`, or begins one.
bool has_words_of(std::string_view known, std::string_view typed) {
  const auto words_of = [](std::string_view text) {
    std::vector<std::string> words(1);
    for (const char c : text)
      if (std::isalnum(static_cast<unsigned char>(c)) != 0)
        words.back() += c;
      else if (!words.back().empty())
        words.emplace_back();
    if (words.back().empty()) words.pop_back();
    return words;
  };
  const auto wanted = words_of(typed), there = words_of(known);
  return wanted.size() > 1 && std::all_of(wanted.begin(), wanted.end(), [&](const auto& word) {
           return std::any_of(there.begin(), there.end(),
                              [&](const auto& other) { return other.starts_with(word); });
         });
}

}  // namespace

std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : lower(name))
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) plain += c;
  return plain;
}

bool same_name(std::string_view a, std::string_view b) {
  const std::string plain = plain_name(a);
  return !plain.empty() && plain == plain_name(b);
}

std::vector<std::string> all_nearest(std::string_view word,
                                     const std::vector<std::string>& candidates) {
  constexpr std::size_t longest_word = 256;  // longer text was pasted, not mistyped
  if (word.empty() || word.size() > longest_word) return {};
  const std::string typed = lower(word);
  std::vector<std::string> best;
  std::size_t best_distance = std::max<std::size_t>(1, typed.size() / 3);
  for (const std::string& candidate : candidates) {
    const std::string known = lower(candidate);
    const bool is_beginning =
        (typed.size() >= 3 &&
         (known.starts_with(typed) || plain_name(known).starts_with(plain_name(typed)))) ||
        has_words_of(known, typed);
    const std::size_t distance = is_beginning ? 1 : edit_distance(typed, known);
    if (distance > best_distance || distance >= known.size()) continue;
    if (distance < best_distance) best.clear();
    best_distance = distance;
    best.push_back(candidate);
  }
  return best;
}

std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates) {
  const auto best = all_nearest(word, candidates);
  return best.empty() ? std::nullopt : std::optional(best.front());
}

std::string suggestion(std::string_view word, const std::vector<std::string>& candidates) {
  const auto found = nearest(word, candidates);
  return found ? "did you mean '" + *found + "'?" : std::string{};
}

}  // namespace ridgeline
