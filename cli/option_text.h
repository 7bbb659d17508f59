// An option as text: names, value and description, read from its Boost declaration.
// The common source of help, man page and completion; no formatting here.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace ridgeline::cli {

struct OptionText {
  std::string long_name;      // "output"
  std::string short_name;     // "o"; empty = none
  std::string value_name;     // "FILE"; empty = takes no value
  std::string default_value;  // as text; empty = none
  bool value_optional = false;
  std::string description;

  std::string spelling() const;  // "-o, --output FILE"
};

std::vector<OptionText> option_texts(const OptionsDescription& options);

// The command's own options, without the general ones.
std::vector<OptionText> own_options(const Command& command);
std::vector<OptionText> general_options();
std::vector<OptionText> general_options_of(const Command& command);

}  // namespace ridgeline::cli
