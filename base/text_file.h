// Reading a whole file into memory, with an Error that says why it cannot be read.
// Not for model weights: those are mapped, never read.
#pragma once

#include <string>

namespace ridgeline {

// Works for pipes such as /dev/stdin too; more than 1 GiB is an Error, not an allocation.
std::string read_text_file(const std::string& path);

}  // namespace ridgeline
