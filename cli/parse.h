// Arguments of one command, parsed: Boost.Program_options with our messages.
// It checks spelling and types; what values make sense is for the command to say.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace ridgeline::cli {

// `words` are the arguments without the command's name. Faults are usage errors of one line.
Options parse_options(const Command& command, const std::vector<std::string>& words);

}  // namespace ridgeline::cli
