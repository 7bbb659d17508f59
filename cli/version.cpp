// Words the constants that CMake writes into cli/build_info.h.
// The numbers come from project() in CMakeLists.txt and from nowhere else.
#include "cli/version.h"

#include <fmt/format.h>

#include "base/json.h"
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

}  // namespace ridgeline::cli
