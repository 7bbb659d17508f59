// Modes of a group in the order of predicted speed; batches of a net in their own.
#include "validation/probes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace ridgeline {
namespace {

class Planner {
 public:
  Planner(std::span<const Observation> rows, std::span<const std::string> modes,
          std::span<const double> times, const ValidationOptions& options)
      : rows_(rows), modes_(modes), times_(times), options_(options) {}

  ProbePlan run() {
    for (const auto& [key, net] : groups_of(rows_, net_of)) {
      std::set<std::string> seen;
      for (const std::size_t i : net) seen.insert(modes_[i]);
      const bool has_one_mode = seen.size() == 1;
      if (options_.probes > 0 && has_one_mode)
        plan_batches(net);
      else
        for (auto& [batch, group] : by_batch(net)) plan_modes(group);
    }
    return std::move(plan_);
  }

 private:
  std::map<std::int64_t, Indices> by_batch(const Indices& net) const {
    std::map<std::int64_t, Indices> groups;
    for (const std::size_t i : net) groups[rows_[i].batch].push_back(i);
    return groups;
  }

  void skip(const Indices& group, const std::string& reason) {
    for (const std::size_t i : group) plan_.skipped.push_back({rows_[i].line, reason});
  }

  // The modes of a group, the fastest first.
  std::vector<std::string> ranked_modes(const Indices& group) const {
    std::map<std::string, double> time;
    for (const std::size_t i : group) time.emplace(modes_[i], times_[i]);
    std::vector<std::string> ranked;
    for (const auto& [mode, unused] : time) ranked.push_back(mode);
    std::stable_sort(ranked.begin(), ranked.end(),
                     [&](const auto& a, const auto& b) { return time.at(a) < time.at(b); });
    return ranked;
  }

  void plan_modes(const Indices& group) {
    const std::vector<std::string> ranked = ranked_modes(group);
    std::set<std::string> probed;
    if (!options_.probe_modes.empty()) {
      for (const std::string& wanted : options_.probe_modes) {
        if (std::find(ranked.begin(), ranked.end(), wanted) == ranked.end())
          return skip(group, "the probe mode " + wanted + " is not among the modes of its group");
        probed.insert(wanted);
      }
    } else {
      const auto count = static_cast<std::size_t>(options_.probes);
      for (const std::size_t place : spread(std::min(count, ranked.size()), ranked.size()))
        probed.insert(ranked[place]);
    }
    if (probed.size() == ranked.size())
      return skip(group, fmt::format("its group has {} {}, all of them probes", ranked.size(),
                                     ranked.size() == 1 ? "mode" : "modes"));
    ProbeTrial trial;
    for (const std::size_t i : group)
      (probed.count(modes_[i]) ? trial.probes : trial.scored).push_back(i);
    plan_.trials.push_back(std::move(trial));
  }

  // One mode only: what is known at some batches is to tell the others.
  void plan_batches(const Indices& net) {
    const auto groups = by_batch(net);
    std::vector<std::int64_t> batches;
    for (const auto& [batch, unused] : groups) batches.push_back(batch);
    const auto count = static_cast<std::size_t>(options_.probes);
    if (batches.size() <= count)
      return skip(net, fmt::format("its net has one mode and {} {}, all of them probes",
                                   batches.size(), batches.size() == 1 ? "batch" : "batches"));
    ProbeTrial trial;
    std::set<std::int64_t> probed;
    for (const std::size_t place : spread(count, batches.size())) probed.insert(batches[place]);
    for (const std::size_t i : net)
      (probed.count(rows_[i].batch) ? trial.probes : trial.scored).push_back(i);
    plan_.trials.push_back(std::move(trial));
  }

  std::span<const Observation> rows_;
  std::span<const std::string> modes_;
  std::span<const double> times_;
  const ValidationOptions& options_;
  ProbePlan plan_;
};

}  // namespace

std::vector<std::size_t> spread(std::size_t k, std::size_t n) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < k; ++i) {
    // Rounded, so that the middle of an even number is one of the two in the middle.
    const std::size_t place = k == 1 ? 0 : (i * (n - 1) + (k - 1) / 2) / (k - 1);
    places.push_back(place);
  }
  return places;
}

ProbePlan plan_probes(std::span<const Observation> rows, std::span<const std::string> modes,
                      std::span<const double> times, const ValidationOptions& options) {
  return Planner(rows, modes, times, options).run();
}

}  // namespace ridgeline
