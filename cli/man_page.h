// The manual page in troff, generated from the command table.
// One page for all commands: share/man/man1/ridgeline.1.
#pragma once

#include <string>

namespace ridgeline::cli {

std::string man_page();

}  // namespace ridgeline::cli
