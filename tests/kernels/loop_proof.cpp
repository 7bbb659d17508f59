// Every instruction of the loop must be declared by the row or be loop control; nothing else is
// allowed, so a spill, a stray move or an extra store cannot hide.
#include "tests/kernels/loop_proof.h"

#include <algorithm>
#include <map>
#include <set>

namespace ridgeline::testing {
namespace {

using cpu::Kernel;
using cpu::Role;
using Problems = std::vector<std::string>;

// Whether `word` is in a list such as "mulps|addps".
bool listed(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const auto bar = list.find('|');
    if (list.substr(0, bar) == word) return true;
    list.remove_prefix(bar == list.npos ? list.size() : bar + 1);
  }
  return false;
}

int bank_bytes(std::string_view bank) {
  if (bank == "tmm") return 1024;
  if (bank == "zmm") return 64;
  if (bank == "ymm") return 32;
  if (bank == "xmm" || bank == "q" || bank.starts_with("v.")) return 16;
  if (bank == "r" || bank == "x" || bank == "d") return 8;
  if (bank == "s") return 4;
  return 0;
}

// FLOP (OP for integers) of one instruction, from its name and its destination.
int flop_of(const Instruction& instruction) {
  const std::string_view name = instruction.mnemonic;
  const std::string_view bank = instruction.registers[0].bank;
  const int bytes = bank_bytes(bank);
  if (name == "tdpbf16ps") return 2 * 16 * 16 * 32;
  if (name == "tdpbssd") return 2 * 16 * 16 * 64;
  if (name == "vpdpbusd" || name == "sdot") return 2 * bytes;  // four products per 32 bits
  if (name == "vdpbf16ps") return bytes;                       // two products per 32 bits
  if (name == "fmadd") return 2;
  if (name == "fmla") return 2 * bytes / (bank == "v.2d" ? 8 : bank == "v.4s" ? 4 : 2);
  const int each = name.starts_with("vfmadd") ? 2 : 1;
  if (name.ends_with("pd")) return each * bytes / 8;
  if (name.ends_with("ps")) return each * bytes / 4;
  if (name.ends_with("ph")) return each * bytes / 2;
  return each;  // sd, ss
}

// Moves of whole registers only; a broadcast would load less than the register holds.
constexpr std::string_view plain_moves = "mov|movaps|vmovaps|ldr|ldp|str|stp";
constexpr std::string_view streaming_stores = "movntps|vmovntps|stnp";
constexpr std::string_view prefetches = "prefetcht0|prfm";
constexpr std::string_view pairs = "ldp|stp|stnp";

// Latency of an instruction in the chain by which a clock kernel counts cycles; 0 for others.
int chain_latency(const Instruction& instruction) {
  if (instruction.registers.empty() || instruction.immediate || instruction.memory) return 0;
  const auto& registers = instruction.registers;
  const bool same = std::all_of(registers.begin(), registers.end(),
                                [&](const Register& r) { return r == registers[0]; });
  if (!same) return 0;
  if (instruction.mnemonic == "imul") return 3;
  if (instruction.mnemonic == "add") return 1;
  return 0;
}

// Contents of the loop, counted instruction by instruction.
struct Census {
  int arithmetic = 0, loads = 0, stores = 0, prefetches = 0, branches = 0, counters = 0,
      compares = 0, cycles = 0;
  std::map<std::string, int> chains;                      // destination → arithmetic instructions
  std::map<std::string, std::int64_t> steps;              // pointer → bytes per trip
  std::map<std::string, std::set<std::int64_t>> streams;  // "load rax,rbx,2" → displacements
  std::set<std::string> bases;                            // pointers used by accesses
  std::set<std::string> chain_registers;                  // clock kernels only
};

class Proof {
 public:
  Proof(const Kernel& kernel, const Code& loop) : kernel_(kernel) {
    for (const Instruction& instruction : loop) count(instruction);
    judge_counts();
    judge_chains();
    judge_loop_control();
    if (kernel.arrays > 0) judge_streams();
  }
  Problems problems;

 private:
  void expect(bool holds, const std::string& problem) {
    if (!holds) problems.push_back(problem);
  }
  void expect_equal(int found, int declared, const std::string& what) {
    expect(found == declared, what + ": " + std::to_string(declared) + " declared, " +
                                  std::to_string(found) + " found");
  }

  void count(const Instruction& instruction) {
    if (listed(prefetches, instruction.mnemonic)) {
      ++census_.prefetches;
    } else if (listed(kernel_.mnemonics, instruction.mnemonic)) {
      count_arithmetic(instruction);
      if (instruction.memory) count_access(instruction);
    } else if (instruction.memory) {
      count_move(instruction);
    } else if (kernel_.role == Role::clock && chain_latency(instruction) > 0) {
      census_.cycles += chain_latency(instruction);
      census_.chain_registers.insert(instruction.registers[0].name);
    } else {
      count_loop_control(instruction);
    }
  }

  void expect_banks(const Instruction& instruction) {
    for (const Register& reg : instruction.registers)
      expect(listed(kernel_.registers, reg.bank), "other registers: " + instruction.text);
    // "{1to16}" would load one element, "{%k1}" write only some; a prefix such as "{vex}" is
    // harmless.
    expect(instruction.text.find('{', 1) == std::string::npos, "not whole: " + instruction.text);
  }

  void count_arithmetic(const Instruction& instruction) {
    expect_banks(instruction);
    if (instruction.registers.empty()) return;
    ++census_.arithmetic;
    ++census_.chains[instruction.registers[0].name];
    if (kernel_.role != Role::clock)
      expect(flop_of(instruction) == kernel_.flop_each, "not flop_each: " + instruction.text);
  }

  void count_move(const Instruction& instruction) {
    const bool streams = kernel_.direction == Direction::nt_write && instruction.stores;
    expect(listed(streams ? streaming_stores : plain_moves, instruction.mnemonic),
           "not a plain access: " + instruction.text);
    expect_banks(instruction);
    for (const Register& reg : instruction.registers)
      expect(bank_bytes(reg.bank) == kernel_.access_bytes, "other width: " + instruction.text);
    count_access(instruction);
    if (kernel_.role == Role::latency && !instruction.registers.empty())
      expect(instruction.registers[0].name == instruction.memory->base,
             "does not yield the next address: " + instruction.text);
  }

  void count_access(const Instruction& instruction) {
    const MemoryOperand& memory = *instruction.memory;
    const int accesses = listed(pairs, instruction.mnemonic) ? 2 : 1;
    (instruction.stores ? census_.stores : census_.loads) += accesses;
    census_.bases.insert(memory.base);
    auto& places =
        census_
            .streams[(instruction.stores ? "store " : "load ") + memory.base + "," + memory.index];
    for (int i = 0; i < accesses; ++i) {
      const std::int64_t place = memory.displacement + i * kernel_.access_bytes;
      const bool first_time = places.insert(place).second;
      expect(first_time || kernel_.role == Role::latency, "accessed twice: " + instruction.text);
    }
  }

  void count_loop_control(const Instruction& instruction) {
    const std::string& name = instruction.mnemonic;
    const bool one_register = !instruction.registers.empty() &&
                              instruction.registers.front() == instruction.registers.back();
    if (instruction.target)
      ++census_.branches;
    else if (name == "cmp")
      ++census_.compares;
    else if (name == "dec" || (name == "subs" && one_register && instruction.immediate == 1))
      ++census_.counters;
    else if (name == "add" && one_register && instruction.immediate)
      census_.steps[instruction.registers[0].name] += *instruction.immediate;
    else
      problems.push_back("not declared: " + instruction.text);
  }

  void judge_counts() {
    expect_equal(census_.arithmetic, kernel_.arithmetic, "arithmetic instructions");
    expect_equal(census_.loads, kernel_.loads, "loads");
    expect_equal(census_.stores, kernel_.stores, "stores");
    expect_equal(census_.prefetches, kernel_.prefetches, "prefetches");
    expect_equal(census_.cycles, kernel_.cycles, "cycles of the clock chain");
    expect(census_.chain_registers.size() <= 1, "more than one clock chain");
  }

  // A clock kernel may leave chains of its state idle: only its load matters.
  void judge_chains() {
    if (kernel_.arithmetic == 0 || kernel_.chains == 0) return;
    const int found = int(census_.chains.size());
    if (kernel_.role == Role::clock) {
      expect(found <= kernel_.chains, "more chains than the state holds");
      return;
    }
    expect_equal(found, kernel_.chains, "chains");
    for (const auto& [name, steps] : census_.chains)
      expect_equal(steps, kernel_.arithmetic / kernel_.chains, "instructions of chain " + name);
  }

  // Either a counter and a branch, or one step per pointer, a comparison and a branch. Allowing
  // nothing else is stricter than a share of 97 %, except on the shortest loops (the copy of a
  // block, n = 0 of the sweep), which have the minimum of any loop.
  void judge_loop_control() {
    expect_equal(census_.branches, 1, "branches");
    const bool streams = kernel_.arrays > 0;
    expect_equal(census_.counters, streams ? 0 : 1, "loop counters");
    expect_equal(census_.compares, streams ? 1 : 0, "comparisons");
    expect(streams || census_.steps.empty(), "steps of a pointer in a loop that has no array");
  }

  // Each array is walked by one stream of accesses that covers its block without gaps.
  void judge_streams() {
    for (const auto& [pointer, bytes] : census_.steps)
      expect_equal(int(bytes), kernel_.block_bytes(), "step of " + pointer);
    for (const std::string& base : census_.bases)
      expect(census_.steps.contains(base), base + " does not move");
    for (const auto& [stream, places] : census_.streams) {
      const auto block = std::int64_t{kernel_.block_bytes()};
      expect(std::int64_t(places.size()) * kernel_.access_bytes == block && *places.begin() == 0 &&
                 *places.rbegin() == block - kernel_.access_bytes,
             stream + ": does not cover a block of " + std::to_string(block) + " bytes");
    }
    const int streams_declared = kernel_.arrays + (kernel_.updates_in_place() ? 1 : 0);
    expect_equal(int(census_.streams.size()), streams_declared, "streams");
  }

  const Kernel& kernel_;
  Census census_;
};

}  // namespace

std::vector<std::string> check_loop(const Kernel& kernel, const Code& loop) {
  return Proof(kernel, loop).problems;
}

std::vector<std::string> check_function(const Kernel& kernel,
                                        const std::map<std::uint64_t, Code>& functions,
                                        std::uint64_t address) {
  const auto function = functions.find(address);
  if (function == functions.end()) return {"no function at its address"};
  const auto loops = innermost_loops(function->second);
  if (loops.size() != 1) return {std::to_string(loops.size()) + " innermost loops instead of one"};
  return check_loop(kernel, loops[0]);
}

}  // namespace ridgeline::testing
