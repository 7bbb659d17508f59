// Writes man(7) macros; UTF-8 text is left to the formatter.
// No date stands in it: the same program gives the same bytes.
#include <string_view>

#include "cli/commands/version.h"
#include "cli/help.h"

namespace ridgeline::cli {
namespace {

// Backslashes, hyphens and quotes that stand for themselves; no line may start a request.
std::string escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\')
      escaped += "\\e";
    else if (c == '-')
      escaped += "\\-";
    else if (c == '\'')
      escaped += "\\(aq";
    else if (c == '\n')
      escaped += ' ';
    else
      escaped += c;
  }
  if (escaped.starts_with('.')) escaped.insert(0, "\\&");
  return escaped;
}

std::string tagged(std::string_view tag, std::string_view text) {
  return ".TP\n\\fB" + escape(tag) + "\\fR\n" + escape(text) + '\n';
}

std::string option_list(const std::vector<Option>& options) {
  std::string list;
  for (const Option& option : options) {
    std::string text = option.description;
    if (!option.default_value.empty()) text += " (default: " + option.default_value + ")";
    list += tagged(option.spelling(), text);
  }
  return list;
}

std::string command_section(const Command& command) {
  std::string section = ".SS \"" + escape(usage_line(command)) + "\"\n";
  section += escape(command.description) + '\n' + option_list(own_options(command).options());
  return section;
}

}  // namespace

std::string man_page() {
  std::string page =
      ".TH RIDGELINE 1 \"\" \"" + std::string(tool_name()) + "\" \"User Commands\"\n";
  page +=
      ".SH NAME\nridgeline \\- measure a machine, draw its roofline, explain what limits a "
      "workload\n";
  page += ".SH SYNOPSIS\n.B ridgeline\n[\\fICOMMAND\\fR] [\\fIOPTION\\fR]...\n";
  page += ".SH DESCRIPTION\nWithout a command, ";
  page += "\\fBridgeline\\fR shows a summary of this machine.\n";
  page += "Data goes to standard output, notes and progress to standard error.\n";
  page += ".SH COMMANDS\n";
  for (const Command& command : commands()) page += command_section(command);
  page += ".SH GENERAL OPTIONS\n" + option_list(global_options().options());
  page += ".SH EXAMPLES\n";
  for (const Command& command : commands())
    for (const Example& example : command.examples)
      page += tagged("ridgeline " + std::string(example.line), example.what);
  page += ".SH EXIT STATUS\n" + tagged("0", "success") + tagged("1", "error") +
          tagged("2", "wrong usage: unknown command or option, bad value") +
          tagged("3", "no feasible answer") + tagged("4", "input incomplete");
  page += ".SH ENVIRONMENT\n" +
          tagged("NO_COLOR", "if set and not empty, no colour unless --color always is given") +
          tagged("COLUMNS", "width of the output, instead of the terminal's") +
          tagged("XDG_DATA_HOME",
                 "profiles are kept in its folder ridgeline (default: "
                 "~/.local/share)");
  return page;
}

}  // namespace ridgeline::cli
