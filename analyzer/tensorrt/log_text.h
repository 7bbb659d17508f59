// Blanks and the beginnings of log lines, as the readers of this folder skip them.
#pragma once

#include <cstddef>
#include <string_view>

namespace ridgeline::tensorrt {

constexpr bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

constexpr std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  return text;
}

// Without "[07/07/2026-02:11:29] [I] [TRT] " and the blanks around the rest.
constexpr std::string_view log_payload(std::string_view line) {
  while (line.starts_with('[')) {
    const std::size_t close = line.find(']');
    if (close == std::string_view::npos) break;
    line = without_blanks(line.substr(close + 1));
  }
  while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
  return line;
}

}  // namespace ridgeline::tensorrt
