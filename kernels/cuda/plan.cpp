// The plan: every dense arithmetic, every memory level and direction, the sweep, launch costs.
// What a device cannot do is in the plan too, with the reason.
#include "kernels/cuda/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <tuple>

#include "base/error.h"
#include "base/nearest.h"

namespace ridgeline::cuda {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return std::tolower(c); });
  return result;
}

// "mma_fp16" of "mma_fp16_8": the name without its chains.
std::string family(const Kernel& kernel) {
  const std::string name(kernel.name);
  return kernel.role == Role::compute ? name.substr(0, name.find_last_of('_')) : name;
}

// The row's words; whoever asks for "dram" wants its bandwidth, not the sweep.
std::vector<std::string> words_of(const PlannedTrial& trial) {
  const Kernel& kernel = trial.kernel();
  std::vector<std::string> words{std::string(to_string(trial.role)), trial.name()};
  for (const Kernel* candidate : trial.candidates) words.emplace_back(candidate->name);
  if (trial.role == Role::compute) {
    words.emplace_back(to_string(kernel.dtype));
    words.emplace_back(to_string(kernel.unit));
  }
  if (trial.role == Role::memory) {
    words.push_back(lower(to_string(kernel.level)));
    words.emplace_back(to_string(kernel.direction));
  }
  return words;
}

// Shapes of another generation are no lack of this one: what cannot run is said once per
// arithmetic, and only where nothing else does it.
void drop_other_generations(std::vector<PlannedTrial>& trials) {
  const auto all = trials;
  const auto arithmetic = [](const PlannedTrial& trial) {
    const Kernel& kernel = trial.kernel();
    return std::tuple(trial.role, kernel.unit, kernel.dtype, kernel.accumulate);
  };
  std::erase_if(trials, [&](const PlannedTrial& trial) {
    if (trial.missing.empty() || trial.role != Role::compute) return false;
    const auto runs_or_is_first = [&](const PlannedTrial& other) {
      return arithmetic(other) == arithmetic(trial) &&
             (other.missing.empty() || &other.kernel() < &trial.kernel());
    };
    return std::ranges::any_of(all, runs_or_is_first);
  });
}

void keep_only(const std::vector<std::string>& only, std::vector<PlannedTrial>& trials) {
  std::set<std::string> known;
  for (const PlannedTrial& trial : trials)
    for (std::string& word : words_of(trial)) known.insert(std::move(word));
  for (const std::string& word : only) {
    if (known.contains(lower(word))) continue;
    const auto near = nearest(lower(word), {known.begin(), known.end()});
    throw usage_error(
        "--only " + word, "no kernel, section, dtype, level or direction of the GPU has this name",
        near ? "did you mean '" + *near + "'?" : "see 'ridgeline measure --gpu --list'");
  }
  std::erase_if(trials, [&](const PlannedTrial& trial) {
    const auto words = words_of(trial);
    return std::ranges::none_of(only, [&](const std::string& word) {
      return std::ranges::find(words, lower(word)) != words.end();
    });
  });
}

}  // namespace

std::string_view to_string(LaunchKind kind) {
  switch (kind) {
    case LaunchKind::async_launch:
      return "async_launch";
    case LaunchKind::round_trip:
      return "round_trip";
    case LaunchKind::graph_node:
      return "graph_node";
  }
  return "?";
}

std::string PlannedTrial::name() const {
  return role == Role::launch ? std::string(to_string(launch)) : family(kernel());
}

std::string PlannedTrial::what() const {
  switch (role) {
    case Role::compute:
      return fmt::format("{} {}", to_string(kernel().unit), to_string(kernel().dtype));
    case Role::memory:
      return fmt::format("{} {}", to_string(kernel().level), to_string(kernel().direction));
    case Role::sweep:
      return fmt::format("DRAM + {} FMA fp32", kernel().fma_per_element);
    case Role::launch:
      return "empty kernel";
  }
  return {};
}

std::string why_missing(const Kernel& kernel, int architecture, const Support& support) {
  const Architectures& runs = kernel.architectures;
  if (architecture == 0) return support(kernel).missing;  // no device: the plan on paper
  if (architecture >= runs.emulated_first && architecture <= runs.emulated_last)
    return fmt::format("sm_{} has it through wgmma or tcgen05 only, which ridgeline does not use",
                       architecture);
  if (architecture < runs.first) return fmt::format("needs sm_{} or newer", runs.first);
  if (!runs.include(architecture))
    return fmt::format("sm_{} has no such instruction any more", architecture);
  return support(kernel).missing;
}

std::vector<PlannedTrial> plan(const MeasureOptions& options, int architecture,
                               const Support& support) {
  std::vector<PlannedTrial> trials;
  for (const Kernel& kernel : kernel_table()) {
    // A profile's rows cannot tell 2:4 sparse rates from dense ones; `kernel` runs these alone.
    if (kernel.sparse) continue;
    if (kernel.role == Role::launch) {
      for (const LaunchKind kind :
           {LaunchKind::async_launch, LaunchKind::round_trip, LaunchKind::graph_node})
        trials.push_back(
            {Role::launch, {&kernel}, kind, why_missing(kernel, architecture, support)});
      continue;
    }
    const auto same = std::ranges::find_if(trials, [&](const PlannedTrial& trial) {
      return trial.role == kernel.role && family(trial.kernel()) == family(kernel);
    });
    if (same != trials.end())
      same->candidates.push_back(&kernel);
    else
      trials.push_back({kernel.role, {&kernel}, {}, why_missing(kernel, architecture, support)});
  }
  drop_other_generations(trials);
  if (options.quick)
    std::erase_if(trials, [](const PlannedTrial& trial) {
      const int n = trial.kernel().fma_per_element;
      return trial.role == Role::sweep && n != 1 && n != 8 && n != 64;
    });
  if (!options.only.empty()) keep_only(options.only, trials);
  return trials;
}

}  // namespace ridgeline::cuda
