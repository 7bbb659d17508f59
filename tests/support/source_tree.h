// The source files of the project as text, for tests that check how they are written.
// Paths are relative to the checkout.
#pragma once

#include <map>
#include <string>

namespace ridgeline::testing {

using SourceTree = std::map<std::string, std::string>;  // path → text

// All .h, .cpp and .cmake files of the checkout, without build folders.
SourceTree read_source_tree();

}  // namespace ridgeline::testing
