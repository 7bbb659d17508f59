// Paths of the checkout and the build folder. Only one file depends on them, so that the compiler
// cache can reuse the others in another checkout.
#pragma once

#include <string>

namespace ridgeline::testing {

std::string source_file(const std::string& name);  // "docs/schemas"; "" is the checkout itself
std::string build_file(const std::string& name);
std::string built_program();  // ridgeline, without sanitizers
std::string cmake_program();

}  // namespace ridgeline::testing
