// Help, the manual page and the completion script: all generated from the command table and the
// option declarations.
#pragma once

#include <string>

#include "cli/command.h"

namespace ridgeline::cli {

std::string overview_help(int width);                         // ridgeline --help
std::string command_help(const Command& command, int width);  // ridgeline CMD --help

// "ridgeline measure [OPTION]…"
std::string usage_line(const Command& command);

// One page for all commands in troff: share/man/man1/ridgeline.1.
std::string man_page();

// It completes commands, options, values that are lists of words, and file names in bash.
std::string bash_completion();

}  // namespace ridgeline::cli
