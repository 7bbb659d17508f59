// Small operations on text: quoting for messages, splitting, trimming, letters in lower case.
// Quantities are in units.h, tables in text_table.h, "did you mean" in nearest.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ridgeline {

// Text from outside as it may appear in a one-line message: quoted, escaped, cut when long.
std::string quote(std::string_view text);

std::string lower(std::string_view text);                // ASCII letters
bool same_word(std::string_view a, std::string_view b);  // ignoring the case of ASCII letters
std::string trimmed(std::string_view text);              // without blanks and zero bytes around it

// All pieces, empty ones too: "a,,b" has three, "" has one. They point into `text`.
std::vector<std::string_view> split(std::string_view text, char separator);

// The pieces that are not empty: "fp32,dram".
std::vector<std::string> split_words(std::string_view text, char separator = ',');

}  // namespace ridgeline
