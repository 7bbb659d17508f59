// Lays out help: usage, description, options, examples.
// On narrow terminals the text of an option moves to the line below its name.
#include "cli/help.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text_table.h"
#include "base/wrap.h"

namespace ridgeline::cli {
namespace {

using Entry = std::pair<std::string, std::string>;  // a name and its text

constexpr int widest_text = 100;  // longer lines are hard to read

// Names in a left column, texts folded beside them, or below where the terminal is narrow.
std::string entry_list(const std::vector<Entry>& entries, int width) {
  int name_width = 0;
  for (const auto& [name, text] : entries)
    if (const int length = display_width(name); length <= 26)
      name_width = std::max(name_width, length);
  const bool beside = width >= name_width + 30;
  const int column = beside ? name_width + 4 : 6;
  std::string list;
  for (const auto& [name, text] : entries) {
    list += "  " + name;
    const int at = display_width(name) + 2;
    if (beside && at + 2 <= column)
      list += std::string(static_cast<std::size_t>(column - at), ' ');
    else
      list += '\n' + std::string(static_cast<std::size_t>(column), ' ');
    list += wrap(text, width, column, column) + '\n';
  }
  return list;
}

std::vector<Entry> option_entries(const std::vector<Option>& options) {
  std::vector<Entry> entries;
  for (const Option& option : options) {
    std::string text = option.description;
    if (!option.default_value.empty()) text += " (default: " + option.default_value + ")";
    entries.emplace_back(option.spelling(), std::move(text));
  }
  return entries;
}

std::string example_list(const std::vector<Example>& examples, int width) {
  std::string list;
  for (const Example& example : examples) {
    list += "  ridgeline";
    if (!example.line.empty()) list += ' ' + std::string(example.line);
    list += "\n      " + wrap(example.what, width, 6, 6) + '\n';
  }
  return list;
}

}  // namespace

std::string usage_line(const Command& command) {
  std::string line = "ridgeline " + std::string(command.name) + " [OPTION]...";
  if (!command.positional.empty()) line += ' ' + std::string(command.positional);
  return line;
}

std::string overview_help(int width) {
  width = std::min(width, widest_text);
  std::string text = "usage: ridgeline [COMMAND] [OPTION]...\n\n";
  text += wrap(
              "Measures the peaks of this machine, draws its roofline and explains what limits a "
              "workload. Without a command: a summary of this machine.",
              width) +
          "\n\nCommands:\n";
  std::vector<Entry> entries;
  for (const Command& command : commands())
    entries.emplace_back(std::string(command.name), std::string(command.summary));
  text += entry_list(entries, width);
  text += "\nGeneral options:\n" + entry_list(option_entries(global_options().options()), width);
  text += "\nExamples:\n";
  for (const Command& command : commands())
    if (!command.examples.empty()) text += example_list({command.examples.front()}, width);
  text += "\n" +
          wrap(
              "'ridgeline help COMMAND' describes a command. Exit codes: 0 ok, 1 error, 2 usage, 3 "
              "no feasible answer, 4 input incomplete.",
              width) +
          "\n";
  return text;
}

std::string command_help(const Command& command, int width) {
  width = std::min(width, widest_text);
  std::string text = "usage: " + usage_line(command) + "\n\n";
  text += wrap(command.description, width) + '\n';
  const std::vector<Option> own = own_options(command).options();
  if (!own.empty()) text += "\nOptions:\n" + entry_list(option_entries(own), width);
  text += "\nGeneral options:\n" +
          entry_list(option_entries(global_options_of(command).options()), width);
  if (!command.examples.empty()) text += "\nExamples:\n" + example_list(command.examples, width);
  return text;
}

}  // namespace ridgeline::cli
