// The memory of a run beside that of the machine, as a line of text.
#pragma once

#include <optional>
#include <string>

#include "roofline/model/memory.h"

namespace ridgeline {

// "memory: 1.13 GB (…): weights …, runtime … (assumed); usable: …", wrapped; empty if the machine's
// memory is unknown.
std::string memory_line(const std::optional<MemoryFit>& fit, int width);

}  // namespace ridgeline
