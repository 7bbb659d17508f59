// The plan: all compute kernels, the widest memory and sweep kernels that run here, the latency
// ladder and the cost of fork and join.
#include "kernels/cpu/plan.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "base/error.h"
#include "base/nearest.h"
#include "base/text.h"
#include "base/units.h"

namespace ridgeline::cpu {
namespace {

// The kernel of the widest instruction set that runs here, by a key that says what it does.
template <class Key>
std::vector<const Kernel*> widest(Role role, Key key) {
  std::map<decltype(key(Kernel{})), const Kernel*> best;
  for (const Kernel& kernel : kernel_table()) {
    if (kernel.role != role || !isa_support(kernel.isa).runs) continue;
    const Kernel*& chosen = best[key(kernel)];
    if (!chosen || kernel.access_bytes > chosen->access_bytes) chosen = &kernel;
  }
  std::vector<const Kernel*> kernels;
  for (const auto& [unused, kernel] : best) kernels.push_back(kernel);
  return kernels;
}

void plan_compute(const std::vector<int>& threads, std::vector<PlannedTrial>& trials) {
  for (const Kernel& kernel : kernel_table()) {
    if (kernel.role != Role::compute) continue;
    const IsaSupport& support = isa_support(kernel.isa);
    if (!support.runs) {
      trials.push_back({Section::compute, &kernel, threads.back(), {}, support.reason});
      continue;
    }
    for (const int count : threads) trials.push_back({Section::compute, &kernel, count, {}, {}});
  }
}

// Less than this holds no working set worth the name.
constexpr std::uint64_t least_memory = std::uint64_t{64} << 20;

void check_memory(const MeasureOptions& options) {
  if (options.available_bytes < least_memory)
    throw Error("memory",
                "no memory for the buffers: " +
                    format_bytes(static_cast<double>(options.available_bytes)) + " are available",
                "close other programs");
}

void plan_memory(const MeasureOptions& options, const Topology& topology,
                 const std::vector<int>& threads, std::vector<PlannedTrial>& trials) {
  const auto kernels = widest(Role::memory, [](const Kernel& kernel) { return kernel.direction; });
  for (const int count : threads)
    for (const WorkingSet& set :
         working_sets(topology.caches, topology.cores, count, options.available_bytes))
      for (const Kernel* kernel : kernels)
        trials.push_back({Section::memory, kernel, count, set, {}});
}

void plan_sweep(const MeasureOptions& options, const Topology& topology, int threads,
                std::vector<PlannedTrial>& trials) {
  const auto key = [](const Kernel& kernel) {
    return std::pair(kernel.dtype, kernel.fma_per_element);
  };
  const WorkingSet dram =
      working_sets(topology.caches, topology.cores, threads, options.available_bytes).back();
  for (const Kernel* kernel : widest(Role::sweep, key)) {
    // A minute is enough for one precision along the roof.
    if (options.quick && kernel->dtype != DType::fp32) continue;
    trials.push_back({Section::sweep, kernel, threads, dram, {}});
  }
}

void plan_latency(const MeasureOptions& options, const Topology& topology,
                  std::vector<PlannedTrial>& trials) {
  for (const Kernel& kernel : kernel_table()) {
    if (kernel.role != Role::latency) continue;
    for (const std::uint64_t bytes :
         latency_steps(topology.caches, topology.cores, options.available_bytes, options.quick))
      trials.push_back(
          {Section::latency, &kernel, 1, {level_of(topology.caches, bytes), bytes, false}, {}});
  }
}

// The words that select a trial. Sweep and latency have only names of their own: "dram" selects its
// bandwidth.
std::vector<std::string> words_of(const PlannedTrial& trial) {
  std::vector<std::string> words{std::string(to_string(trial.section)), trial.name()};
  if (trial.section == Section::compute) {
    words.emplace_back(to_string(trial.kernel->dtype));
    words.emplace_back(to_string(trial.kernel->unit));
    words.emplace_back(to_string(trial.kernel->isa));
  }
  if (trial.section == Section::memory) {
    words.push_back(lower(to_string(trial.set.level)));
    words.emplace_back(to_string(trial.kernel->direction));
  }
  return words;
}

void check_words(const std::vector<std::string>& only) {
  const std::vector<std::string> known = selection_words();
  for (const std::string& word : only) {
    if (std::ranges::find(known, lower(word)) != known.end()) continue;
    const auto near = nearest(lower(word), known);
    throw usage_error("--only " + word,
                      "no kernel, section, dtype, level or direction has this name",
                      near ? "did you mean '" + *near + "'?" : "see 'ridgeline measure --list'");
  }
}

int rank_of(const PlannedTrial& trial, int most_threads) {
  const bool whole = trial.threads == most_threads;
  switch (trial.section) {
    case Section::compute:
      return whole ? 0 : 4;
    case Section::memory:
      return !whole ? 5 : trial.set.level == Level::dram ? 1 : 2;
    case Section::sweep:
      return 3;
    case Section::launch:
      return 6;
    case Section::latency:
      return 7;
  }
  return 8;
}

}  // namespace

std::vector<std::size_t> by_importance(const std::vector<PlannedTrial>& trials) {
  int most_threads = 1;
  for (const PlannedTrial& trial : trials) most_threads = std::max(most_threads, trial.threads);
  std::vector<std::size_t> order(trials.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {},
                           [&](std::size_t index) { return rank_of(trials[index], most_threads); });
  return order;
}

std::string_view to_string(Section section) {
  switch (section) {
    case Section::compute:
      return "compute";
    case Section::memory:
      return "memory";
    case Section::sweep:
      return "sweep";
    case Section::latency:
      return "latency";
    case Section::launch:
      return "launch";
  }
  return "?";
}

std::string PlannedTrial::name() const {
  return kernel ? std::string(kernel->name) : std::string("fork_join");
}

std::string PlannedTrial::what() const {
  switch (section) {
    case Section::compute:
      return std::string(to_string(kernel->dtype));
    case Section::memory:
      return std::string(to_string(set.level)) + " " + std::string(to_string(kernel->direction));
    case Section::sweep:
      return "DRAM + " + std::to_string(kernel->fma_per_element) + " FMA " +
             std::string(to_string(kernel->dtype));
    case Section::latency:
      return "chain of " + format_bytes(static_cast<double>(set.bytes_per_thread));
    case Section::launch:
      return "empty job";
  }
  return {};
}

std::vector<std::string> selection_words() {
  std::set<std::string> words{"compute",   "memory", "sweep", "latency", "launch",
                              "fork_join", "l1",     "l2",    "l3",      "dram"};
  for (const Kernel& kernel : kernel_table()) {
    if (kernel.role == Role::clock) continue;
    words.emplace(kernel.name);
    if (kernel.role == Role::compute) {
      words.emplace(to_string(kernel.dtype));
      words.emplace(to_string(kernel.unit));
      words.emplace(to_string(kernel.isa));
    }
    if (kernel.role == Role::memory) words.emplace(to_string(kernel.direction));
  }
  return {words.begin(), words.end()};
}

std::vector<int> thread_counts(const MeasureOptions& options, const Topology& topology) {
  const int cores = topology.cores;
  for (const int threads : options.threads) {
    if (threads < 1)
      throw usage_error("--threads " + std::to_string(threads), "must be at least 1");
    if (threads > cores)
      throw usage_error("--threads " + std::to_string(threads),
                        "this machine has " + std::to_string(cores) + " cores for this process");
  }
  std::set<int> counts(options.threads.begin(), options.threads.end());
  if (counts.empty()) {
    counts = {1, cores};
    if (!options.quick)
      for (int threads = 2; threads < cores; threads *= 2) counts.insert(threads);
  }
  return {counts.begin(), counts.end()};
}

std::vector<PlannedTrial> plan(const MeasureOptions& options, const Topology& topology) {
  check_words(options.only);
  check_memory(options);
  const std::vector<int> threads = thread_counts(options, topology);
  std::vector<PlannedTrial> trials;
  plan_compute(threads, trials);
  plan_memory(options, topology, threads, trials);
  plan_sweep(options, topology, threads.back(), trials);
  plan_latency(options, topology, trials);
  for (const int count : threads)
    if (count > 1) trials.push_back({Section::launch, nullptr, count, {}, {}});
  if (options.only.empty()) return trials;
  std::erase_if(trials, [&](const PlannedTrial& trial) {
    const auto words = words_of(trial);
    return std::ranges::none_of(options.only, [&](const std::string& word) {
      return std::ranges::find(words, lower(word)) != words.end();
    });
  });
  if (trials.empty())
    throw usage_error("--only", "nothing on this machine matches",
                      "see 'ridgeline measure --list'");
  return trials;
}

}  // namespace ridgeline::cpu
