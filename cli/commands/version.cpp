// `ridgeline version`: the version and how this binary was built, as in --version and as JSON.
// The constants are those that CMake writes into build_info.h from project() in CMakeLists.txt.
#include "cli/commands/version.h"

#include <fmt/format.h>

#include <ostream>

#include "base/json.h"
#include "cli/answer.h"
#include "cli/build_info.h"

namespace ridgeline::cli {

std::string_view tool_name() {
  static const std::string name = fmt::format("ridgeline {}", build_info::version);
  return name;
}

std::string version_text() {
  return fmt::format(
      "{}\ncompiler: {}\narchitecture: {}\nbuild type: {}\nsanitizers: {}\nhwloc: {}\n",
      tool_name(), build_info::compiler, build_info::architecture, build_info::build_type,
      build_info::sanitizers.empty() ? "none" : build_info::sanitizers, build_info::hwloc);
}

Json version_json() {
  Json json;
  json["schema"] = "ridgeline.version/1";
  json["version"] = build_info::version;
  json["compiler"] = build_info::compiler;
  json["architecture"] = build_info::architecture;
  json["build_type"] = build_info::build_type;
  json["sanitizers"] = build_info::sanitizers;
  json["hwloc"] = build_info::hwloc;
  return json;
}

namespace {

void declare_version(OptionsDescription&) {}

ExitCode run_version(const Options& options, Console& console) {
  Answer answer;
  answer.text = [](std::ostream& out) { out << version_text(); };
  answer.json = [](std::ostream& out) { out << dump_json(version_json()); };
  write_answer(answer, options, console);
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
          .examples = {{"version --json", "the same as JSON, for scripts"}},
          .add_options = declare_version,
          .run = run_version,
          .has_csv = false};
}

}  // namespace ridgeline::cli
