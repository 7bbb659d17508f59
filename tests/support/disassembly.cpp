// Operands are split at commas outside brackets. AT&T order is reversed, so that the destination
// comes first on both architectures. Unknown operands are left out, not guessed.
#include "tests/support/disassembly.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "tests/support/process.h"

namespace ridgeline::testing {
namespace {

constexpr std::string_view spaces = " \t";

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(spaces);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(spaces) - first + 1);
}

// Removes and returns the text before the separator.
std::string_view next(std::string_view& text, std::string_view separators) {
  const auto at = text.find_first_of(separators);
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(at == text.npos ? text.size() : at + 1);
  return part;
}

std::optional<std::int64_t> number(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return std::int64_t(negative ? -value : value);
}

std::vector<std::string_view> split_operands(std::string_view text) {
  std::vector<std::string_view> operands;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && (text[i] == '(' || text[i] == '[')) ++depth;
    if (i < text.size() && (text[i] == ')' || text[i] == ']')) --depth;
    if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
    if (const auto operand = trimmed(text.substr(start, i - start)); !operand.empty())
      operands.push_back(operand);
    start = i + 1;
  }
  return operands;
}

// "%zmm3", "%rax", "%eax"
Register x86_register(std::string_view name) {
  name.remove_prefix(1);
  for (const std::string_view bank : {"xmm", "ymm", "zmm", "tmm"})
    if (name.starts_with(bank)) return {std::string(bank), std::string(name)};
  const bool full_width = name.starts_with('r') && !name.ends_with('d');
  return {full_width ? "r" : "part of r", std::string(name)};
}

// "v3.4s", "q3", "x3"
Register aarch64_register(std::string_view text) {
  const std::string name(next(text, "."));
  const std::string bank = name.substr(0, 1);
  return {text.empty() ? bank : bank + "." + std::string(text), name};
}

// "-0x40(%rax,%rbx,2)"
MemoryOperand x86_memory(std::string_view text) {
  MemoryOperand memory;
  memory.displacement = number(next(text, "(")).value_or(0);
  text.remove_suffix(text.ends_with(')') ? 1 : 0);
  const std::string_view base = next(text, ",");
  memory.base = base.starts_with('%') ? base.substr(1) : base;
  memory.index = text;
  return memory;
}

// "[x0]", "[x0, #32]", "[x0, x1]"
MemoryOperand aarch64_memory(std::string_view text) {
  MemoryOperand memory;
  text.remove_prefix(1);
  text.remove_suffix(text.ends_with(']') ? 1 : 0);
  memory.base = trimmed(next(text, ","));
  text = trimmed(text);
  if (text.starts_with('#'))
    memory.displacement = number(text.substr(1)).value_or(0);
  else
    memory.index = text;
  return memory;
}

bool is_aarch64_register(std::string_view text) {
  return text.size() >= 2 && std::string_view("bhsdqvwx").find(text[0]) != text.npos &&
         text[1] >= '0' && text[1] <= '9';
}

void add_operand(Instruction& instruction, std::string_view operand) {
  if (operand.starts_with('%')) {
    instruction.registers.push_back(x86_register(operand));
  } else if (operand.starts_with('[')) {
    instruction.memory = aarch64_memory(operand);
  } else if (operand.find('(') != operand.npos) {
    instruction.memory = x86_memory(operand);
  } else if (operand.starts_with('$') || operand.starts_with('#')) {
    instruction.immediate = number(operand.substr(1));
  } else if (is_aarch64_register(operand)) {
    instruction.registers.push_back(aarch64_register(operand));
  }
}

bool is_branch(std::string_view mnemonic) {
  return mnemonic.starts_with('j') || mnemonic == "b" || mnemonic.starts_with("b.") ||
         mnemonic.starts_with("cb") || mnemonic.starts_with("tb");
}

Instruction parse_instruction(std::uint64_t address, std::string_view text) {
  Instruction instruction;
  instruction.address = address;
  instruction.text = text;
  text = trimmed(text.substr(0, text.find("//")));  // aarch64: "b.ne 40 <f+0x4>  // b.any"
  std::string_view mnemonic = next(text, spaces);
  if (mnemonic.starts_with('{')) mnemonic = next(text = trimmed(text), spaces);  // "{vex} vpdpbusd"
  instruction.mnemonic = mnemonic;
  auto operands = split_operands(text);
  if (is_branch(mnemonic) && !operands.empty()) {
    std::string_view where = operands.back();  // "401140 <f+0x20>", hexadecimal without 0x
    instruction.target = number("0x" + std::string(next(where, spaces)));
    return instruction;
  }
  if (text.find('%') != text.npos) std::reverse(operands.begin(), operands.end());
  // Computing an address is not an access.
  if (mnemonic.starts_with("lea")) operands.resize(1);
  for (const std::string_view operand : operands) add_operand(instruction, operand);
  const bool memory_first = !operands.empty() && operands[0].find('(') != operands[0].npos;
  instruction.stores = instruction.memory && (memory_first || mnemonic.starts_with("st"));
  return instruction;
}

}  // namespace

std::map<std::uint64_t, Code> parse_disassembly(std::string_view text) {
  std::map<std::uint64_t, Code> functions;
  Code* current = nullptr;
  while (!text.empty()) {
    const std::string_view line = trimmed(next(text, "\n"));
    if (line.ends_with(">:")) {  // "0000000000401130 <name>:"
      const auto address = number("0x" + std::string(line.substr(0, line.find(' '))));
      current = address ? &functions[std::uint64_t(*address)] : nullptr;
    } else if (const auto colon = line.find(":\t"); colon != line.npos && current != nullptr) {
      if (const auto address = number("0x" + std::string(line.substr(0, colon))))
        current->push_back(parse_instruction(std::uint64_t(*address), line.substr(colon + 2)));
    }
  }
  return functions;
}

std::vector<Code> innermost_loops(const Code& function) {
  struct Range {
    std::size_t first, last;
  };
  std::vector<Range> loops;
  for (std::size_t last = 0; last < function.size(); ++last) {
    const auto& target = function[last].target;
    if (!target || *target > function[last].address || *target < function.front().address) continue;
    std::size_t first = last;
    while (function[first].address > *target) --first;
    loops.push_back({first, last});
  }
  std::vector<Code> innermost;
  for (const Range& loop : loops) {
    const bool holds_another = std::any_of(loops.begin(), loops.end(), [&](const Range& other) {
      return other.first >= loop.first && other.last <= loop.last &&
             (other.first != loop.first || other.last != loop.last);
    });
    if (!holds_another)
      innermost.emplace_back(function.begin() + std::ptrdiff_t(loop.first),
                             function.begin() + std::ptrdiff_t(loop.last) + 1);
  }
  return innermost;
}

std::map<std::uint64_t, Code> disassemble(const std::string& objdump, const std::string& file,
                                          std::uint64_t start, std::uint64_t stop) {
  const auto result = run_process({objdump, "-d", "--no-show-raw-insn", "-w",
                                   "--start-address=" + std::to_string(start),
                                   "--stop-address=" + std::to_string(stop), file});
  if (result.exit_code != 0) throw std::runtime_error("objdump failed: " + result.err);
  return parse_disassembly(result.out);
}

}  // namespace ridgeline::testing
