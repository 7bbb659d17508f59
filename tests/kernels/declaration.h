// A row of the kernel table as one line of text, so that the proof can run on another machine than
// the kernels: the other architecture's program prints its rows, the proof reads them.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/cpu/kernel.h"

namespace ridgeline::testing {

struct Declaration {
  std::string name, mnemonics, registers;  // targets of the row's views
  std::string reason;                      // why a mutant is rejected; "" if it must be accepted
  std::uint64_t address = 0;               // of the body
  cpu::Kernel kernel;                      // views and body are set by row()

  cpu::Kernel row() const;
};

std::string to_line(const cpu::Kernel& kernel, const std::string& reason);

// Throws std::runtime_error if to_line did not write the line.
Declaration from_line(const std::string& line);

}  // namespace ridgeline::testing
