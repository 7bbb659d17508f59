// A command of the program: its name, its options, its examples and the function that runs it.
// Help, man page and shell completion are generated from this table and from nothing else.
//
// The program itself adds --help, --version, --json, --csv, --quiet and --color to every command.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cli/console.h"
#include "cli/options.h"

namespace ridgeline::cli {

struct Example {
  std::string_view line;  // without the program's name: "roofline --svg roof.svg"
  std::string_view what;  // "draw the newest profile of this machine"
};

struct Command {
  std::string_view name;
  std::string_view summary;      // one line, lower case, no full stop
  std::string_view positional;   // as shown in help: "[PROFILE]"; empty = takes none
  int max_positional;            // how many; they are in Options as "positional"
  std::string_view description;  // a paragraph for --help and the man page
  std::vector<Example> examples;
  void (*add_options)(OptionsDescription&);
  ExitCode (*run)(const Options&, Console&);
  bool has_json = true;  // whether --json and --csv mean something here;
  bool has_csv = true;   // where they do not, they are a usage error
};

// All commands in the order of help; a new one is one file and one row (cli/commands.cpp).
const std::vector<Command>& commands();

// The row of that name; an unknown name is a usage error that offers the nearest one.
const Command& find_command(std::string_view name);

// The options that a command declares itself.
OptionsDescription own_options(const Command& command);

// Those that every command has, or only those that mean something for this command.
OptionsDescription global_options();
OptionsDescription global_options_of(const Command& command);

// Parses the arguments of a command, `words` without its name: their spelling and types, not what
// their values mean. A fault is a usage error of one line.
Options parse_options(const Command& command, const std::vector<std::string>& words);

// Whether a switch was given: --json, --csv and every other option that takes no value.
bool flag(const Options& options, const char* name);

// Positional words of a command (empty if none were given).
std::vector<std::string> positional(const Options& options);

}  // namespace ridgeline::cli
