// The project's include rules: data flows one way, so a folder may include only some others.
// The table is in include_rules.cpp; CONTRIBUTING.md describes the layers.
#pragma once

#include <string>
#include <vector>

#include "tests/support/source_tree.h"

namespace ridgeline::testing {

// One line per forbidden include: PATH:LINE: includes "cli/command.h".
std::vector<std::string> include_violations(const SourceTree& tree);

}  // namespace ridgeline::testing
