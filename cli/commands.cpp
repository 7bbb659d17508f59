// The command table: one row per command, in the order of help, and the options that all share.
// Each command is defined in its own file in cli/commands/; the first is the bare call.
#include "base/nearest.h"
#include "cli/command.h"

namespace ridgeline::cli {

Command summary_command();
Command measure_command();
Command roofline_command();
Command analyze_command();
Command explain_command();
Command run_command();
Command tune_command();
Command lint_command();
Command plan_command();
Command report_command();
Command calibrate_command();
Command validate_command();
Command workloads_command();
Command devices_command();
Command modes_command();
Command power_command();
Command kernel_command();
Command counters_command();
Command help_command();
Command version_command();

namespace {

OptionsDescription options_with(bool json, bool csv) {
  OptionsDescription options;
  if (json) options.add_flag("json", "print JSON on standard output");
  if (csv) options.add_flag("csv", "print comma-separated values on standard output");
  options.add_flag("quiet,q", "no progress or notes on stderr");
  options.add_text(
      "color", "auto|always|never",
      "colour in the output; auto: on a terminal, unless NO_COLOR is set or TERM is dumb", "auto");
  options.add_flag("help,h", "show help and exit");
  options.add_flag("version", "show version and build options and exit");
  return options;
}

}  // namespace

const std::vector<Command>& commands() {
  static const std::vector<Command> table = {
      summary_command(),    //
      measure_command(),    //
      roofline_command(),   //
      analyze_command(),    //
      explain_command(),    //
      run_command(),        //
      tune_command(),       //
      lint_command(),       //
      plan_command(),       //
      report_command(),     //
      calibrate_command(),  //
      validate_command(),   //
      workloads_command(),  //
      devices_command(),    //
      modes_command(),      //
      power_command(),      //
      kernel_command(),     //
      counters_command(),   //
      help_command(),       //
      version_command(),    //
  };
  return table;
}

const Command& find_command(std::string_view name) {
  std::vector<std::string> names;
  for (const Command& command : commands()) {
    if (command.name == name) return command;
    names.emplace_back(command.name);
  }
  const std::string near = suggestion(name, names);
  throw usage_error({}, "unknown command '" + std::string(name) + "'",
                    near.empty() ? "see 'ridgeline --help'" : near);
}

OptionsDescription own_options(const Command& command) {
  OptionsDescription options;
  command.add_options(options);
  return options;
}

OptionsDescription global_options() { return options_with(true, true); }

OptionsDescription global_options_of(const Command& command) {
  return options_with(command.has_json, command.has_csv);
}

}  // namespace ridgeline::cli
