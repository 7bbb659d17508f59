// The command table: one row per command, in the order of help.
// Each command is defined in its own file, cli/<name>_command.cpp; the first is the bare call.
#include "cli/command.h"

namespace ridgeline::cli {

Command glance_command();
Command measure_command();
Command roofline_command();
Command analyze_command();
Command explain_command();
Command plan_command();
Command calibrate_command();
Command validate_command();
Command workloads_command();
Command devices_command();
Command modes_command();
Command kernel_command();
Command counters_command();
Command help_command();
Command version_command();

const std::vector<Command>& commands() {
  static const std::vector<Command> table = {
      glance_command(),     //
      measure_command(),    //
      roofline_command(),   //
      analyze_command(),    //
      explain_command(),    //
      plan_command(),       //
      calibrate_command(),  //
      validate_command(),   //
      workloads_command(),  //
      devices_command(),    //
      modes_command(),      //
      kernel_command(),     //
      counters_command(),   //
      help_command(),       //
      version_command(),    //
  };
  return table;
}

}  // namespace ridgeline::cli
