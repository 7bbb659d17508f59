// A row of the kernel table as one line of text, so that a proof can run on another machine than
// the kernels: the program of the other architecture prints its rows, the proof reads them.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/cpu/kernel.h"

namespace ridgeline::testing {

struct Declaration {
  std::string name, mnemonics, registers;  // what the row's views point to
  std::string reason;                      // of a mutant's rejection; "" where it must be proved
  std::uint64_t address = 0;               // of the body
  cpu::Kernel kernel;                      // views and body are set by row()

  cpu::Kernel row() const;
};

std::string to_line(const cpu::Kernel& kernel, const std::string& reason);

// Throws std::runtime_error where the line is not one that to_line made.
Declaration from_line(const std::string& line);

}  // namespace ridgeline::testing
