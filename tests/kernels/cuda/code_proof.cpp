// Declared instructions must occur exactly as often as declared; all others together may take a few
// per cent of the bound unit's issue cycles. Chains are followed through the registers, so that two
// merged into one are not counted as two.
#include "tests/kernels/cuda/code_proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>

namespace ridgeline::testing {
namespace {

using cuda::Kernel;
using cuda::Role;

// 16 bytes for each of 32 lanes at 128 bytes per cycle and multiprocessor, shared by four
// schedulers (kernels reference: load/store rate of all architectures from sm_72 on).
constexpr int cycles_per_access = 16;

bool contains(std::string_view line, std::string_view word) {
  return line.find(word) != std::string_view::npos;
}

bool listed(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const auto bar = list.find('|');
    if (list.substr(0, bar) == word) return true;
    list.remove_prefix(bar == list.npos ? list.size() : bar + 1);
  }
  return false;
}

class Proof {
 public:
  Proof(const Kernel& kernel, const GpuCode& code) : kernel_(kernel), code_(code) {
    judge_whole_function();
    if (kernel.role == Role::launch) {
      expect(innermost_gpu_loops(code).empty(), "a loop in a kernel that does nothing");
      return;
    }
    const auto loop = find_loop();
    if (!loop) return;
    for (const GpuInstruction& instruction : loop->code) count(instruction, *loop);
    judge_counts();
    judge_flight();
    if (in_tensor_memory()) {
      judge_places(loop->code);
      judge_filling(loop->end - int(loop->code.size()));
      judge_tensor_memory();
    } else if (kernel.role == Role::compute) {
      const std::set<int> chains = judge_chains(loop->code);
      judge_starts(chains, loop->end - int(loop->code.size()));
    }
  }
  CodeProof result;

 private:
  void expect(bool holds, const std::string& problem) {
    if (!holds) result.problems.push_back(problem);
  }
  void expect_equal(int found, int declared, std::string_view what) {
    expect(found == declared, fmt::format("{}: {} declared, {} found", what, declared, found));
  }

  bool is_arithmetic(const GpuInstruction& instruction) const {
    return kernel_.arithmetic > 0 && listed(kernel_.opcodes, instruction.name);
  }
  // Its operands are descriptors in uniform registers, and the accumulators.
  bool from_shared_memory() const { return kernel_.ptx.starts_with("wgmma") || in_tensor_memory(); }
  // The accumulators lie there, at an address in a uniform register.
  bool in_tensor_memory() const { return kernel_.ptx.starts_with("tcgen05"); }
  std::string_view load_name() const {
    return kernel_.fed ? "LDSM" : kernel_.level == Level::shared ? "LDS" : "LDG";
  }

  void judge_whole_function() {
    for (const GpuInstruction& instruction : code_)
      if (instruction.name == "LDL" || instruction.name == "STL")
        return expect(false, "registers are spilled to local memory");
  }

  // The loop with the declared instructions; other loops may prepare data.
  std::optional<GpuLoop> find_loop() {
    std::vector<GpuLoop> found;
    for (GpuLoop& loop : innermost_gpu_loops(code_)) {
      const bool works = std::ranges::any_of(loop.code, [&](const GpuInstruction& instruction) {
        return is_arithmetic(instruction) || instruction.name == load_name() ||
               instruction.name == "STG";
      });
      if (works) found.push_back(std::move(loop));
    }
    if (found.size() == 1) return std::move(found.front());
    expect(false, fmt::format("{} loops that do the declared work instead of one", found.size()));
    return std::nullopt;
  }

  void count(const GpuInstruction& instruction, const GpuLoop& loop) {
    LoopCensus& census = result.census;
    const std::string_view name = instruction.name;
    if (instruction.never || name == "NOP") {
      ++census.padding;
    } else if (is_arithmetic(instruction)) {
      ++census.arithmetic;
      const bool scaled = contains(kernel_.ptx, "block_scale");
      expect(instruction.scaled == scaled, "block scales are not as declared");
      // A scaled instruction has a form of its own.
      expect(kernel_.role != Role::compute || instruction.form == (scaled ? 2 : 1) ||
                 from_shared_memory(),
             "an operand of the arithmetic is a constant");
    } else if (name == load_name()) {
      ++census.loads;
      census.in_flight += census.combines == 0;
      expect_equal(instruction.access_bytes, kernel_.access_bytes(), "bytes of a load");
      judge_link(instruction);
    } else if (name == "STG") {
      ++census.stores;
      expect_equal(instruction.access_bytes, 16, "bytes of a store");
    } else if (name == "LOP3" && kernel_.combines > 0) {
      ++census.combines;
    } else {
      ++census.other;
      // The compiler leaves long loops by a call to the code after them, which never returns.
      if (name == "CALL") expect(instruction.target == int(loop.code.size()), "a call in the loop");
    }
  }

  // The address of a load is what the load before it got.
  void judge_link(const GpuInstruction& load) {
    if (kernel_.role != Role::latency) return;
    expect(!linked_ || *linked_ == load.a, "a load does not wait for the one before");
    linked_ = load.destination;
  }

  void judge_counts() {
    LoopCensus& census = result.census;
    expect_equal(census.arithmetic, kernel_.arithmetic, "arithmetic instructions");
    expect_equal(census.loads, kernel_.loads, "loads");
    expect_equal(census.stores, kernel_.stores, "stores");
    expect_equal(census.combines, kernel_.combines, "LOP3");
    const int bound = std::max(kernel_.arithmetic * kernel_.cycles_each,
                               cycles_per_access * (kernel_.loads + kernel_.stores));
    census.other_share = double(census.other) / bound;
    expect(100 * census.other_share <= kernel_.other_percent,
           fmt::format("other instructions take {:.1f} % of the bound unit's cycles",
                       100 * census.other_share));
    if (kernel_.role == Role::memory)
      expect(census.arithmetic + census.combines + census.other <= bound,
             "more instructions than the accesses leave time to issue");
  }

  // LOP3 are the first to want what was loaded: what is issued before them is in flight at once.
  // Addresses of random places take registers too; shared memory is near.
  void judge_flight() {
    LoopCensus& census = result.census;
    if (kernel_.combines == 0) census.in_flight = 0;
    if (kernel_.combines == 0 || kernel_.level == Level::shared) return;
    const double least = kernel_.direction == Direction::random ? 0.65 : 0.85;
    expect(census.in_flight >= least * kernel_.loads,
           fmt::format("{} of {} loads are in flight", census.in_flight, kernel_.loads));
  }

  // Registers that hold chains when a trip begins: those that are written. Where operands are
  // loaded in the loop, a register may hold both in turn: those that are added to before they are
  // written.
  std::set<int> first_registers(const GpuCode& loop) const {
    std::set<int> written, first;
    for (const GpuInstruction& instruction : loop) {
      const bool step = is_arithmetic(instruction) && !instruction.never;
      if (step && !written.contains(instruction.c)) first.insert(instruction.c);
      if (step || instruction.name == load_name()) written.insert(instruction.destination);
    }
    return kernel_.fed ? first : written_registers(loop);
  }
  std::set<int> written_registers(const GpuCode& loop) const {
    std::set<int> written;
    for (const GpuInstruction& instruction : loop)
      if (is_arithmetic(instruction) && !instruction.never) written.insert(instruction.destination);
    return written;
  }
  static void forget(std::map<int, int>& chain_in, const GpuInstruction& load) {
    for (int i = 0; i < load.access_bytes / 4; ++i) chain_in.erase(load.destination + i);
  }

  // Follows each chain from register to register through one trip; a chain is named after its first
  // register.
  std::set<int> judge_chains(const GpuCode& loop) {
    std::map<int, int> chain_in;  // register → chain
    for (const int number : first_registers(loop)) chain_in[number] = number;
    std::map<int, int> steps;
    for (const GpuInstruction& instruction : loop) {
      if (kernel_.fed && instruction.name == load_name()) forget(chain_in, instruction);
      if (!is_arithmetic(instruction) || instruction.never) continue;
      std::set<int> chains;
      for (const int source : from_shared_memory()
                                  ? std::vector{instruction.c}
                                  : std::vector{instruction.a, instruction.b, instruction.c})
        if (const auto found = chain_in.find(source); found != chain_in.end())
          chains.insert(found->second);
      if (chains.size() != 1) {
        expect(false, fmt::format("a step takes values of {} chains", chains.size()));
        return {};
      }
      if (kernel_.fed) {
        const auto sum = chain_in.find(instruction.c);
        expect(sum != chain_in.end(), "an operand is a value of a chain");
        chain_in.erase(instruction.c);  // its register may hold operands next
      }
      chain_in[instruction.destination] = *chains.begin();
      ++steps[*chains.begin()];
    }
    expect_equal(int(steps.size()), kernel_.chains, "chains");
    std::set<int> chains;
    for (const auto& [chain, count] : steps) {
      chains.insert(chain);
      expect_equal(count, kernel_.arithmetic / kernel_.chains, "steps of a chain");
      expect(chain_in[chain] == chain, "a chain does not go on in the next trip");
    }
    return chains;
  }

  // Sums in tensor memory: as many places as chains, and none that moves.
  void judge_places(const GpuCode& loop) {
    std::set<int> places;
    for (const GpuInstruction& instruction : loop)
      if (is_arithmetic(instruction)) places.insert(instruction.c);
    expect_equal(int(places.size()), kernel_.chains, "chains");
    for (const GpuInstruction& instruction : loop)
      expect(is_arithmetic(instruction) || instruction.name == "NOP" || instruction.name == "BRA" ||
                 !places.contains(instruction.destination),
             "the place of a sum changes in the loop");
  }

  // What keeps the GPU if it is wrong: columns are allocated before and released once after all
  // use, on the way to every exit; the permit to allocate goes back; and no wait is for ever.
  void judge_tensor_memory() {
    const int size = int(code_.size());
    int first_use = size, last_use = -1, commit = -1, last_barrier = -1, trap = -1, permit = -1;
    int last_allocation = -1, release = -1, permits = 0, releases = 0, first_exit = size;
    constexpr int finds_and_sets = 2;  // the form; the other one clears
    for (int i = 0; i < size; ++i) {
      const GpuInstruction& instruction = code_[std::size_t(i)];
      const std::string_view name = instruction.name;
      if (name == "STTM") first_use = std::min(first_use, i);
      if (name == "LDTM") last_use = i;
      if (name == "UTCBAR") commit = i;
      if (name == "BPT" && commit >= 0 && last_use < 0) trap = i;
      if (name == "BAR" && release < 0) last_barrier = i;
      if (name == "EXIT") first_exit = std::min(first_exit, i);
      if (name == "UVIRTCOUNT") ++permits, permit = i;
      if (name == "UTCATOMSWS" && instruction.form == finds_and_sets) last_allocation = i;
      if (name == "UTCATOMSWS" && instruction.form != finds_and_sets) ++releases, release = i;
    }
    expect(last_allocation >= 0 && last_allocation < first_use, "tensor memory is not allocated");
    expect(permits == 1 && permit > last_allocation && permit < first_use,
           "the permit to allocate tensor memory is kept");
    expect(releases == 1, "tensor memory is not released once");
    expect(last_use < last_barrier && last_barrier < release,
           "tensor memory is released while it may be in use");
    expect(release < first_exit, "a way to the end leaves tensor memory allocated");
    expect(trap > commit, "a product that never ends is waited for without end");
  }

  // Whether `destination` is a register of a thread.
  static bool writes(const GpuInstruction& instruction) {
    for (const std::string_view other :
         {"?", "STG", "BRA", "BAR", "BPT", "UTCATOMSWS", "UTCBAR", "UVIRTCOUNT", "STTM", "EXIT"})
      if (instruction.name == other) return false;
    return true;
  }

  // All sums are filled from memory before the loop, sixteen registers at a time.
  void judge_filling(int loop_start) {
    constexpr int registers = 16;
    std::map<int, std::string_view> written_by;
    int filled = 0;
    for (const GpuInstruction& instruction : std::span(code_).first(std::size_t(loop_start))) {
      if (instruction.name == "STTM")
        filled += written_by[instruction.b] == "LDG";
      else if (writes(instruction))
        written_by[instruction.destination] = instruction.name;
    }
    expect_equal(registers * filled, kernel_.chains * kernel_.registers_per_chain,
                 "accumulators that start from memory");
  }

  // Each chain must start from its own register, loaded from memory. Missing stores need no check:
  // the assembler then drops the computation.
  void judge_starts(const std::set<int>& chains, int loop_start) {
    std::map<int, std::string_view> written_by;
    for (const GpuInstruction& instruction : std::span(code_).first(std::size_t(loop_start)))
      if (writes(instruction)) written_by[instruction.destination] = instruction.name;
    for (const int chain : chains)
      expect(written_by[chain] == "LDG", "a chain does not start from a value of its own");
  }

  const Kernel& kernel_;
  const GpuCode& code_;
  std::optional<int> linked_;  // register that the last load of a chain went to
};

}  // namespace

CodeProof prove_code(const Kernel& kernel, const GpuCode& code) {
  return Proof(kernel, code).result;
}

std::vector<std::string> prove_ptx(const Kernel& kernel,
                                   const std::vector<std::vector<std::string>>& loops) {
  if (kernel.role == Role::launch) return {};
  struct Found {
    int arithmetic = 0, loads = 0, stores = 0;
  };
  std::vector<Found> works;
  for (const auto& loop : loops) {
    Found found;
    for (const std::string& line : loop) {
      found.arithmetic += kernel.arithmetic > 0 && contains(line, kernel.ptx);
      found.loads += kernel.fed
                         ? line.starts_with("ldmatrix")
                         : line.starts_with("ld.") &&
                               contains(line, kernel.role == Role::latency ? ".u64" : ".v4.");
      found.stores += line.starts_with("st.global") && contains(line, ".v4.");
    }
    if (found.arithmetic + found.loads + found.stores > 0) works.push_back(found);
  }
  if (works.size() != 1)
    return {fmt::format("PTX: {} loops that do the declared work instead of one", works.size())};
  std::vector<std::string> problems;
  const auto expect_equal = [&](int found, int declared, std::string_view what) {
    if (found != declared)
      problems.push_back(fmt::format("PTX: {}: {} declared, {} found", what, declared, found));
  };
  expect_equal(works[0].arithmetic, kernel.arithmetic / kernel.split, "arithmetic instructions");
  expect_equal(works[0].loads, kernel.loads, "loads");
  expect_equal(works[0].stores, kernel.stores, "stores");
  return problems;
}

}  // namespace ridgeline::testing
