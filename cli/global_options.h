// The options that every command has, declared once.
// What they mean is decided in dispatch and in the commands, not here.
#pragma once

#include "cli/command.h"
#include "cli/console.h"

namespace ridgeline::cli {

// The options that a command declares itself.
OptionsDescription own_options(const Command& command);

// Those that every command has, or only those that mean something for this command.
OptionsDescription global_options();
OptionsDescription global_options_of(const Command& command);

Color color_choice(const Options& options);

}  // namespace ridgeline::cli
