// `ridgeline version`: the version and how this binary was built.
// The same text as --version, and as JSON.
#include "cli/version.h"

#include <ostream>

#include "base/json.h"
#include "cli/command.h"

namespace ridgeline::cli {
namespace {

void declare_version(OptionsDescription&) {}

ExitCode run_version(const Options& options, Console& console) {
  console.out << (flag(options, "json") ? dump_json(version_json()) : version_text());
  return ExitCode::ok;
}

}  // namespace

Command version_command() {
  return {.name = "version",
          .summary = "version and build options",
          .positional = "",
          .max_positional = 0,
          .description =
              "Prints the version, the compiler and the options this binary was built "
              "with.",
          .examples = {{"version --json", "the same for scripts"}},
          .add_options = declare_version,
          .run = run_version,
          .has_csv = false};
}

}  // namespace ridgeline::cli
