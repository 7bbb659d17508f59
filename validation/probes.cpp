// Modes of a group are ranked by predicted speed, batches of a network by size. What to measure
// next is decided as in a tuning: by how informative a run is about the choice.
#include "validation/probes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/json.h"
#include "base/units.h"
#include "devices/modes/mode_grid.h"
#include "devices/modes/mode_space.h"
#include "validation/decision.h"
#include "validation/setting_draws.h"
#include "validation/tuning.h"

namespace ridgeline {
namespace {

class ProbeChooser {
 public:
  ProbeChooser(std::span<const Observation> rows, std::span<const std::string> modes,
               std::span<const double> times_s, const ValidationOptions& options)
      : rows_(rows), modes_(modes), times_s_(times_s), options_(options) {}

  ChosenProbes run() {
    for (const auto& [key, net] : group_by(network_key, rows_)) {
      std::set<std::string> seen;
      for (const std::size_t i : net) seen.insert(modes_[i]);
      const bool has_one_mode = seen.size() == 1;
      if (options_.probes > 0 && has_one_mode)
        choose_batches(net);
      else
        for (auto& [batch, group] : by_batch(net)) choose_modes(group);
    }
    return std::move(chosen_);
  }

 private:
  std::map<std::int64_t, Indices> by_batch(const Indices& net) const {
    std::map<std::int64_t, Indices> groups;
    for (const std::size_t i : net) groups[rows_[i].batch].push_back(i);
    return groups;
  }

  void skip(const Indices& group, const std::string& reason) {
    for (const std::size_t i : group) chosen_.skipped.push_back({rows_[i].line, reason});
  }

  // The modes of a group, the fastest first.
  std::vector<std::string> ranked_modes(const Indices& group) const {
    std::map<std::string, double> time;
    for (const std::size_t i : group) time.emplace(modes_[i], times_s_[i]);
    std::vector<std::string> ranked;
    for (const auto& [mode, unused] : time) ranked.push_back(mode);
    std::stable_sort(ranked.begin(), ranked.end(),
                     [&](const auto& a, const auto& b) { return time.at(a) < time.at(b); });
    return ranked;
  }

  void choose_modes(const Indices& group) {
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
      for (const std::size_t place : evenly_spaced(std::min(count, ranked.size()), ranked.size()))
        probed.insert(ranked[place]);
    }
    if (probed.size() == ranked.size())
      return skip(group, fmt::format("its group has {} {}, all of them probes", ranked.size(),
                                     ranked.size() == 1 ? "mode" : "modes"));
    ProbeTrial trial;
    for (const std::size_t i : group)
      (probed.count(modes_[i]) ? trial.probes : trial.scored).push_back(i);
    chosen_.trials.push_back(std::move(trial));
  }

  // For a network with one mode only.
  void choose_batches(const Indices& net) {
    const auto groups = by_batch(net);
    std::vector<std::int64_t> batches;
    for (const auto& [batch, unused] : groups) batches.push_back(batch);
    const auto count = static_cast<std::size_t>(options_.probes);
    if (batches.size() <= count)
      return skip(net, fmt::format("its net has one mode and {} {}, all of them probes",
                                   batches.size(), batches.size() == 1 ? "batch" : "batches"));
    ProbeTrial trial;
    std::set<std::int64_t> probed;
    for (const std::size_t place : evenly_spaced(count, batches.size()))
      probed.insert(batches[place]);
    for (const std::size_t i : net)
      (probed.count(rows_[i].batch) ? trial.probes : trial.scored).push_back(i);
    chosen_.trials.push_back(std::move(trial));
  }

  std::span<const Observation> rows_;
  std::span<const std::string> modes_;
  std::span<const double> times_s_;
  const ValidationOptions& options_;
  ChosenProbes chosen_;
};

// Equal clocks, whatever the label and the cap.
bool same_clocks(OperatingPoint a, OperatingPoint b) {
  a.label.clear();
  b.label.clear();
  a.cap_w.reset();
  b.cap_w.reset();
  return a == b;
}

// The two ends of an axis.
template <class Value>
std::vector<std::size_t> ends(const std::vector<Value>& axis) {
  return axis.size() < 2 ? std::vector<std::size_t>{0}
                         : std::vector<std::size_t>{0, axis.size() - 1};
}

// Of the mask with most SMs: others are stock modes anyway, and need a reboot.
void add_corners(std::vector<ProbeCandidate>& candidates, const ModeGrid& grid) {
  if (grid.masks.empty()) return;
  const MaskGrid& axes = grid.masks.front();
  for (const std::size_t gpu : ends(axes.gpu_hz))
    for (const std::size_t memory : ends(axes.memory_hz))
      for (const std::size_t cpu : ends(axes.cpu_hz)) {
        OperatingPoint point = point_at(
            grid, {0, axes.cpu_cores.empty() ? 0 : axes.cpu_cores.size() - 1, cpu, gpu, memory});
        point.label = request_text(point);
        const bool known = std::any_of(candidates.begin(), candidates.end(), [&](const auto& each) {
          return same_clocks(each.point, point);
        });
        if (!known) candidates.push_back({std::move(point), false});
      }
}

// A measured row of the run that is suggested for, whatever its mode.
bool measured_the_run(const Observation& a, const Observation& b) {
  return a.network == b.network && a.options == b.options && a.batch == b.batch &&
         a.dtype == b.dtype && a.task == b.task && a.refused.empty() &&
         a.conditions.runtime == b.conditions.runtime;
}

NextProbe next_probe(const NextRun& next, const Observation& there, const Forecast& forecast,
                     bool energy, std::size_t candidates) {
  NextProbe probe{there.conditions.point, forecast, next.regret_now,
                  next.regret_after,      {},       candidates};
  const char* goal = energy ? "energy" : "time";
  const std::string now = format_percent(next.regret_now, 1);
  const std::string after = format_percent(next.regret_after, 1);
  probe.why = now == after
                  ? fmt::format(
                        "no run is expected to change the choice of the mode of least {} (expected "
                        "regret {}); of {} modes this one is most often the best",
                        goal, now, candidates)
                  : fmt::format(
                        "a run there is expected to lower the regret of choosing the mode of least "
                        "{} from {} to {}, the most of {} modes",
                        goal, now, after, candidates);
  return probe;
}

}  // namespace

std::vector<std::size_t> evenly_spaced(std::size_t k, std::size_t n) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < k; ++i) {
    // Rounded, so that the middle of an even number is one of the two in the middle.
    const std::size_t place = k == 1 ? 0 : (i * (n - 1) + (k - 1) / 2) / (k - 1);
    places.push_back(place);
  }
  return places;
}

ChosenProbes choose_probes(std::span<const Observation> rows, std::span<const std::string> modes,
                           std::span<const double> times_s, const ValidationOptions& options) {
  return ProbeChooser(rows, modes, times_s, options).run();
}

std::vector<ProbeCandidate> probe_candidates(const KnownDevice& known) {
  std::vector<ProbeCandidate> candidates;
  for (const DeviceMode& mode : stock_modes(known.device, known.configuration))
    candidates.push_back({mode.point, true});
  add_corners(candidates, full_grid(known.device, known.configuration));
  return candidates;
}

std::optional<Suggestion> suggest_probe(const MachineModel& model, const Observation& run,
                                        std::span<const ProbeCandidate> candidates,
                                        std::span<const OperatingPoint> measured,
                                        const Predictor& predictor) {
  std::vector<Observation> runs;
  std::vector<StepDraws> steps;
  std::vector<SettingPlace> places;
  std::vector<bool> known, known_or_own;  // own: no stock mode
  for (const auto& [point, is_stock] : candidates) {
    runs.push_back(run);
    runs.back().conditions.point = point;
    steps.push_back(predictor.draws(model, runs.back()));
    places.push_back({point, static_cast<double>(run.batch), run.dtype});
    known.push_back(std::any_of(measured.begin(), measured.end(),
                                [&](const auto& each) { return same_clocks(each, point); }));
    known_or_own.push_back(known.back() || !is_stock);
  }
  if (steps.empty()) return std::nullopt;
  std::vector<SettingDraws> draws = setting_draws(steps, places);
  for (const Observation& row : model.observations)
    for (std::size_t i = 0; i < runs.size(); ++i)
      if (measured_the_run(row, run) && same_clocks(row.conditions.point, runs[i].conditions.point))
        draws = learned(std::move(draws), i, {row.time_s, row.power_w});
  DecisionGoal goal;
  goal.energy = !draws.front().power.empty();
  const auto suggested = [&](const std::vector<bool>& left_out) -> std::optional<NextProbe> {
    const auto next = choose_run(draws, goal, left_out);
    if (!next) return std::nullopt;
    const Observation& there = runs[next->setting];
    return next_probe(
        *next, there, predictor.forecast(model, there, Detail::interval), goal.energy,
        static_cast<std::size_t>(std::count(left_out.begin(), left_out.end(), false)));
  };
  std::optional<NextProbe> any = suggested(known);
  if (!any) return std::nullopt;
  return Suggestion{std::move(*any), suggested(known_or_own)};
}

Json probe_to_json(const NextProbe& probe) {
  return {{"point", to_json(probe.point)},
          {"time_s", to_json(probe.forecast.time_s)},
          {"power_w", nullable(probe.forecast.power_w)},
          {"bound", to_string(probe.forecast.bound)},
          {"expected_regret", probe.regret_now},
          {"expected_regret_after", probe.regret_after},
          {"candidates", probe.candidates},
          {"why", probe.why}};
}

}  // namespace ridgeline
