// The include rules of the house: data flows one way, so a folder may include only some others.
// The table is in include_rules.cpp; the layers themselves are described in CONTRIBUTING.md.
#pragma once

#include <string>
#include <vector>

#include "tests/support/source_tree.h"

namespace ridgeline::testing {

// One line per include that is not allowed: PATH:LINE: includes "cli/command.h".
std::vector<std::string> include_violations(const SourceTree& tree);

}  // namespace ridgeline::testing
