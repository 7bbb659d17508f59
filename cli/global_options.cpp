// Declares --help, --version, --json, --csv, --quiet and --color.
// Kept apart from the commands so that their descriptions exist once.
#include "cli/global_options.h"

#include <string>

namespace ridgeline::cli {
namespace {

namespace po = boost::program_options;

OptionsDescription options_with(bool json, bool csv) {
  OptionsDescription options("General options");
  auto add = options.add_options();
  if (json) add("json", po::bool_switch(), "print JSON on standard output");
  if (csv) add("csv", po::bool_switch(), "print comma-separated values on standard output");
  add("quiet,q", po::bool_switch(), "no progress and no remarks on standard error");
  add("color", po::value<std::string>()->value_name("auto|always|never")->default_value("auto"),
      "colour in the output; auto: on a terminal, unless NO_COLOR is set or TERM is dumb");
  add("help,h", po::bool_switch(), "show help and exit");
  add("version", po::bool_switch(), "show version and build options and exit");
  return options;
}

}  // namespace

OptionsDescription global_options() { return options_with(true, true); }

OptionsDescription global_options_of(const Command& command) {
  return options_with(command.has_json, command.has_csv);
}

Color color_choice(const Options& options) {
  const auto& word = options["color"].as<std::string>();
  if (word == "auto") return Color::automatic;
  if (word == "always") return Color::always;
  if (word == "never") return Color::never;
  throw usage_error("--color", "'" + word + "' is not one of auto, always, never");
}

}  // namespace ridgeline::cli
