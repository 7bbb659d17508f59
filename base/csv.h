// Writing comma-separated values as RFC 4180 quotes them, with a bare newline at the end of a row.
// Reading is base/csv_reader.h's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ridgeline {

std::string csv_field(std::string_view text);  // quoted only where needed
std::string csv_number(double value);          // shortest text that reads back as the same double
std::string csv_row(const std::vector<std::string>& fields);

}  // namespace ridgeline
