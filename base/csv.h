// Comma-separated values as RFC 4180 has them, written and read.
// Rows are written with a bare newline at their end; what the cells of a read row mean is up to the
// caller.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ridgeline {

std::string csv_field(std::string_view text);  // quoted only where needed
std::string csv_number(double value);          // shortest text that reads back as the same double
std::string csv_row(const std::vector<std::string>& fields);

struct CsvRow {
  int line = 0;  // from 1
  std::vector<std::string> cells;

  friend bool operator==(const CsvRow&, const CsvRow&) = default;
};

// All rows, the header included. A byte order mark, carriage returns before a newline and empty
// lines are skipped. A quote that is not closed, or text after a closing one, is an Error with
// `name` and line.
std::vector<CsvRow> parse_csv(std::string_view text, const std::string& name);

}  // namespace ridgeline
