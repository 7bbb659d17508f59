// Declares --help, --version, --json, --csv, --quiet and --color.
// Kept apart from the commands so that their descriptions exist once.
#include "cli/global_options.h"

#include <string>

namespace ridgeline::cli {
namespace {

OptionsDescription options_with(bool json, bool csv) {
  OptionsDescription options;
  if (json) options.add_flag("json", "print JSON on standard output");
  if (csv) options.add_flag("csv", "print comma-separated values on standard output");
  options.add_flag("quiet,q", "no progress and no remarks on standard error");
  options.add_text(
      "color", "auto|always|never",
      "colour in the output; auto: on a terminal, unless NO_COLOR is set or TERM is dumb", "auto");
  options.add_flag("help,h", "show help and exit");
  options.add_flag("version", "show version and build options and exit");
  return options;
}

}  // namespace

OptionsDescription own_options(const Command& command) {
  OptionsDescription options;
  command.add_options(options);
  return options;
}

OptionsDescription global_options() { return options_with(true, true); }

OptionsDescription global_options_of(const Command& command) {
  return options_with(command.has_json, command.has_csv);
}

Color color_choice(const Options& options) {
  const auto& word = options.text("color");
  if (word == "auto") return Color::automatic;
  if (word == "always") return Color::always;
  if (word == "never") return Color::never;
  throw usage_error("--color", "'" + word + "' is not one of auto, always, never");
}

}  // namespace ridgeline::cli
