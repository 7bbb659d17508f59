// Reads option names, value names and defaults out of Boost.Program_options declarations.
// Boost 1.74 gives value name and default only as one string, which is taken apart here.
#include "cli/option_text.h"

#include <boost/shared_ptr.hpp>

#include "cli/global_options.h"

namespace ridgeline::cli {
namespace {

namespace po = boost::program_options;

// Boost writes "FILE", "FILE (=default)", "[=FILE(=implicit)]" or "[=FILE(=implicit)] (=default)".
void read_value(std::string text, OptionText& option) {
  if (const auto at = text.find(" (="); at != std::string::npos) {
    option.default_value = text.substr(at + 3, text.size() - at - 4);
    text.resize(at);
  }
  if (text.starts_with("[=")) text = text.substr(2, text.find("(=") - 2);
  option.value_name = text;
}

OptionText read_option(const po::option_description& declared) {
  OptionText option;
  option.long_name = declared.long_name();
  const std::string shortest =
      declared.canonical_display_name(po::command_line_style::allow_dash_for_short);
  if (shortest.size() == 2 && shortest[0] == '-') option.short_name = shortest.substr(1);
  option.description = declared.description();
  const auto semantic = declared.semantic();
  if (semantic->max_tokens() > 0) {
    read_value(semantic->name(), option);
    option.value_optional = semantic->min_tokens() == 0;
  }
  return option;
}

}  // namespace

std::string OptionText::spelling() const {
  std::string text = short_name.empty() ? "" : "-" + short_name + ", ";
  text += "--" + long_name;
  if (value_name.empty()) return text;
  return text + (value_optional ? "[=" + value_name + "]" : " " + value_name);
}

std::vector<OptionText> option_texts(const OptionsDescription& options) {
  std::vector<OptionText> texts;
  for (const auto& declared : options.options()) texts.push_back(read_option(*declared));
  return texts;
}

std::vector<OptionText> own_options(const Command& command) {
  OptionsDescription options;
  command.add_options(options);
  return option_texts(options);
}

std::vector<OptionText> general_options() { return option_texts(global_options()); }

std::vector<OptionText> general_options_of(const Command& command) {
  return option_texts(global_options_of(command));
}

}  // namespace ridgeline::cli
