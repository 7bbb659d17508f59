// From arguments to a command: finds the row, parses its options, makes the console, runs it.
// Errors are thrown; cli/program.h prints them.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cli/command.h"

namespace ridgeline::cli {

ExitCode dispatch(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

// The row of that name; an unknown name is a usage error that offers the nearest one.
const Command& find_command(std::string_view name);

}  // namespace ridgeline::cli
