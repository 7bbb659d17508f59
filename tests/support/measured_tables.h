// Published measurement tables, which are not part of the project: RIDGELINE_DATA names the folder
// that holds measurements/tables.
#pragma once

#include <string>

namespace ridgeline::testing {

// Path of a table; empty if it is not there.
std::string measured_table(const std::string& name);

}  // namespace ridgeline::testing
