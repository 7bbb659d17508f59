// Reading comma-separated values as RFC 4180 quotes them, with the line where each row begins.
// Cells are text; what they mean is the reader's of the table. Writing is base/csv.h's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ridgeline {

struct CsvRow {
  int line = 0;  // from 1
  std::vector<std::string> cells;

  friend bool operator==(const CsvRow&, const CsvRow&) = default;
};

// All rows, the header included. A byte order mark, carriage returns before a newline and empty
// lines are passed over. A quote that is not closed, or text behind a closing one, is an Error
// with `name` and line.
std::vector<CsvRow> parse_csv(std::string_view text, const std::string& name);

}  // namespace ridgeline
