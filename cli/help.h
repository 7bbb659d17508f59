// Help as text, generated from the command table and the option declarations.
// The same facts as the man page (cli/man_page.h), folded to the terminal's width.
#pragma once

#include <string>

#include "cli/command.h"

namespace ridgeline::cli {

std::string overview_help(int width);                         // ridgeline --help
std::string command_help(const Command& command, int width);  // ridgeline CMD --help

// "ridgeline measure [OPTION]…"
std::string usage_line(const Command& command);

}  // namespace ridgeline::cli
