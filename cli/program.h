// The whole program as a function: arguments and streams in, exit code out.
// The one place where errors become a line on stderr; everything below only throws.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace ridgeline::cli {

// `arguments` is without the program's name.
int run_program(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace ridgeline::cli
