// `modes set` and `modes restore`, the two words of `modes` that change the machine.
#pragma once

#include <string>

#include "cli/command.h"

namespace ridgeline::cli {

ExitCode set_mode(const std::string& mode, const Options& options, Console& console);
ExitCode restore_mode(const Options& options, Console& console);

}  // namespace ridgeline::cli
