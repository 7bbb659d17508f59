// The bash completion script, generated from the command table.
// It completes commands, options, values that are lists of words, and file names.
#pragma once

#include <string>

namespace ridgeline::cli {

std::string bash_completion();

}  // namespace ridgeline::cli
