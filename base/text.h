// Text from outside as messages may show it.
// Quantities are in units.h, tables in text_table.h.
#pragma once

#include <string>
#include <string_view>

namespace ridgeline {

// Text from outside as it may appear in a one-line message: quoted, escaped, cut when long.
std::string quote(std::string_view text);

std::string lower(std::string_view text);  // ASCII letters

}  // namespace ridgeline
