// Version and build options of this binary, for --version and for files that name their tool.
// Nothing of the machine it was built on: the same sources and options give the same text.
#pragma once

#include <string>
#include <string_view>

#include "base/json_fwd.h"

namespace ridgeline::cli {

std::string_view tool_name();  // "ridgeline 0.1.0"
std::string version_text();    // a few lines, with the build options
Json version_json();           // "ridgeline.version/1"

}  // namespace ridgeline::cli
