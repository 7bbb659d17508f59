// One hunk is enough: the lines of one mode are replaced by others.
// No search for common lines; a replaced mode shows its old lines and then its new ones.
#include "devices/nvpmodel/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "devices/nvpmodel/write.h"

namespace ridgeline::nvpmodel {
namespace {

// Lines with their ends; the last may have none.
std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

void add_line(std::string& hunk, char mark, const std::string& line) {
  hunk += mark + line;
  if (!line.ends_with('\n')) hunk += "\n\\ No newline at end of file\n";
}

// "3,7" or, for one line, "3"; an empty range names the line before it.
std::string range(std::size_t first, std::size_t count) {
  if (count == 0) return fmt::format("{},0", first);
  return count == 1 ? std::to_string(first + 1) : fmt::format("{},{}", first + 1, count);
}

}  // namespace

std::string diff_of(std::string_view text, const Configuration& file, PowerModel model,
                    const std::string& file_name) {
  const std::vector<std::string> old_lines = lines_of(text);
  const bool crlf = !old_lines.empty() && old_lines.front().ends_with("\r\n");
  const auto same_name =
      std::find_if(file.models.begin(), file.models.end(),
                   [&](const PowerModel& one) { return one.name == model.name; });
  std::size_t begin = old_lines.size();  // lines [begin, end) go
  std::size_t end = begin;
  std::string block;
  if (same_name != file.models.end()) {
    model.id = same_name->id;
    begin = static_cast<std::size_t>(same_name->line) - 1;
    end = static_cast<std::size_t>(same_name->last_line());
    block = to_text(model);
  } else if (!file.models.empty()) {
    begin = end = static_cast<std::size_t>(file.models.back().last_line());
    block = "\n" + to_text(model);
  } else {
    block = to_text(model);
  }

  std::vector<std::string> removed(old_lines.begin() + static_cast<std::ptrdiff_t>(begin),
                                   old_lines.begin() + static_cast<std::ptrdiff_t>(end));
  std::vector<std::string> added = lines_of(block);
  if (crlf)
    for (std::string& line : added) line.insert(line.size() - 1, "\r");
  // A last line without an end has to get one before another can follow.
  if (begin == end && begin > 0 && !old_lines[begin - 1].ends_with('\n')) {
    --begin;
    removed.push_back(old_lines[begin]);
    added.insert(added.begin(), old_lines[begin] + (crlf ? "\r\n" : "\n"));
  }
  if (removed == added) return {};

  constexpr std::size_t context = 3;
  const std::size_t first = begin - std::min(begin, context);
  const std::size_t last = std::min(old_lines.size(), end + context);
  const std::size_t kept = (begin - first) + (last - end);
  std::string hunk =
      fmt::format("--- {0}\n+++ {0}\n@@ -{1} +{2} @@\n", file_name,
                  range(first, kept + removed.size()), range(first, kept + added.size()));
  for (std::size_t line = first; line < begin; ++line) add_line(hunk, ' ', old_lines[line]);
  for (const std::string& line : removed) add_line(hunk, '-', line);
  for (const std::string& line : added) add_line(hunk, '+', line);
  for (std::size_t line = end; line < last; ++line) add_line(hunk, ' ', old_lines[line]);
  return hunk;
}

}  // namespace ridgeline::nvpmodel
