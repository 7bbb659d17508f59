// A device of the catalog as text for people: units, peaks, memory, clocks, modes, rails, sources.
// Every number is followed by the number of its source, which stands at the end.
#pragma once

#include <string>

#include "report/device_facts.h"

namespace ridgeline {

std::string device_text(const DeviceFacts& facts, int width);

// Only what no source states.
std::string missing_text(const DeviceFacts& facts, int width);

}  // namespace ridgeline
