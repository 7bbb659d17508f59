// Escapes are those of JSON, by the library that knows them.
#include "base/text.h"

#include <algorithm>

#include "base/json.h"

namespace ridgeline {

std::string quote(std::string_view text) {
  constexpr std::size_t max_quoted_bytes = 60;
  const bool cut = text.size() > max_quoted_bytes;
  std::string line = Json(std::string(text.substr(0, max_quoted_bytes)))
                         .dump(-1, ' ', false, Json::error_handler_t::replace);
  // DEL is the one control character that JSON does not escape.
  std::replace(line.begin(), line.end(), '\x7f', '?');
  return cut ? line + "…" : line;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

}  // namespace ridgeline
