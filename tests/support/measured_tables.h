// Published measurement tables, which are not part of the project: RIDGELINE_DATA is the folder
// that contains measurements/tables.
#pragma once

#include <string>

namespace ridgeline::testing {

// Path of a table; empty if it does not exist.
std::string measured_table(const std::string& name);

}  // namespace ridgeline::testing
