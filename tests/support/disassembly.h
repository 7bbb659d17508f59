// Parses the output of `objdump -d --no-show-raw-insn` for x86-64 (AT&T) and aarch64, and finds
// loops. Not a decoder: it reads only what the checks of a kernel's loop need.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ridgeline::testing {

struct Register {
  std::string bank;  // "zmm", "tmm", "r" (64-bit x86), "q", "d", "x", "v.4s" …
  std::string name;  // "zmm3", "rax", "v3"
  bool operator==(const Register&) const = default;
};

struct MemoryOperand {
  std::int64_t displacement = 0;
  std::string base;   // name of the base register
  std::string index;  // index register and scale as written, "" if there is none
};

struct Instruction {
  std::uint64_t address = 0;
  std::string text;  // as printed
  std::string mnemonic;
  std::vector<Register> registers;  // outside the memory operand, destination first
  std::optional<MemoryOperand> memory;
  std::optional<std::int64_t> immediate;
  std::optional<std::uint64_t> target;  // of a branch
  bool stores = false;                  // whether the memory operand is the destination
};

using Code = std::vector<Instruction>;

// Functions by address.
std::map<std::uint64_t, Code> parse_disassembly(std::string_view text);

// Loops (from the target of a backward branch to the branch) that contain no other loop.
std::vector<Code> innermost_loops(const Code& function);

// Runs `objdump` on a file between two addresses; throws std::runtime_error if it fails.
std::map<std::uint64_t, Code> disassemble(const std::string& objdump, const std::string& file,
                                          std::uint64_t start, std::uint64_t stop);

}  // namespace ridgeline::testing
