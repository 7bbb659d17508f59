// The planner against measured clocks of graphics cards: how often the clock that it asks for keeps
// a slowdown limit as measured, and how much more energy it takes than the best clock that keeps
// it. Candidates are the clocks that a user can ask for; under a power cap the card runs below
// them. Prints the table of docs/planning.md.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "planner/choice.h"
#include "tests/support/measured_tables.h"
#include "validation/groups.h"
#include "validation/measurement_table.h"
#include "validation/predictor.h"

namespace ridgeline::testing {
namespace {

constexpr std::array<double, 4> slowdowns{1e9, 0.05, 0.1, 0.2};  // the first: no limit

// Of one way to choose, for each slowdown.
struct Outcome {
  struct Kept {
    int choices = 0, kept = 0;
    double regret = 0;
  };
  std::array<Kept, slowdowns.size()> at{};

  double regret(std::size_t limit) const { return at[limit].regret / at[limit].choices; }
  // Over all choices with a limit.
  double kept_share() const {
    int kept = 0, choices = 0;
    for (std::size_t i = 1; i < at.size(); ++i) {
      kept += at[i].kept;
      choices += at[i].choices;
    }
    return static_cast<double>(kept) / choices;
  }
};

// The measured clocks of one network, batch and type, the lowest first.
using Clocks = std::vector<const Observation*>;

double asked_hz(const Observation& row) { return *as_asked(row).conditions.point.gpu_hz; }

std::vector<Clocks> measured_groups(const MeasurementTable& table) {
  std::vector<Clocks> groups;
  for (const auto& [key, rows] : group_by(group_key, table.rows)) {
    Clocks clocks;
    for (const std::size_t i : rows)
      if (table.rows[i].power_w) clocks.push_back(&table.rows[i]);
    if (clocks.size() < 3) continue;
    std::sort(clocks.begin(), clocks.end(), [](const Observation* a, const Observation* b) {
      return asked_hz(*a) < asked_hz(*b);
    });
    groups.push_back(std::move(clocks));
  }
  return groups;
}

void score_choice(const Clocks& clocks, std::size_t chosen, std::size_t limit, Outcome& outcome) {
  double fastest_s = INFINITY, best_j = INFINITY;
  for (const Observation* row : clocks) fastest_s = std::min(fastest_s, row->time_s);
  const double bound_s = (1 + slowdowns[limit]) * fastest_s;
  for (const Observation* row : clocks)
    if (row->time_s <= bound_s) best_j = std::min(best_j, row->time_s * *row->power_w);
  const Observation& choice = *clocks[chosen];
  Outcome::Kept& at = outcome.at[limit];
  ++at.choices;
  at.kept += choice.time_s <= bound_s ? 1 : 0;
  at.regret += std::max(0.0, choice.time_s * *choice.power_w / best_j - 1);
}

// Chooses among the clocks of a group as `plan` does.
void plan_group(const Clocks& clocks, const MachineModel& model, const NetworkLoad& load,
                Outcome& outcome) {
  PlanProblem problem;
  problem.model = model;
  problem.conditions = clocks.front()->conditions;
  problem.variants = {
      {std::make_shared<const NetworkLoad>(load), clocks.front()->batch, clocks.front()->dtype}};
  for (const Observation* row : clocks)
    problem.candidates.modes.push_back({as_asked(*row).conditions.point, Reach::live, false, true});
  const Sweep swept = sweep(problem);
  const auto draws = coefficient_draws(model, problem.conditions.runtime, 200, 1);
  SweepDraws sweep_draws(problem, swept, draws);
  Chooser chooser(problem, swept, sweep_draws, Reach::reboot);
  for (std::size_t limit = 0; limit < slowdowns.size(); ++limit) {
    Objective objective;
    if (limit > 0) objective.limits = {{LimitKind::slowdown, slowdowns[limit], 0, ""}};
    const auto chosen = chooser.settled(objective);
    ASSERT_FALSE(chosen.empty());
    score_choice(clocks, swept.mode_of(chosen.front().row), limit, outcome);
  }
}

// Energy per operation and idle power that do not depend on the clock.
MachineModel with_constant_energy(MachineModel model) {
  set_parameter(model, {"gpu_voltage_floor_ratio", 1, Source::assumed});
  set_parameter(model, {"gpu_leakage_heating", 1e-9, Source::assumed});
  double sum = 0, count = 0;
  for (const Parameter& parameter : model.parameters)
    if (family_words(families::idle_at_clock, parameter.name)) {
      sum += parameter.mean;
      ++count;
    }
  for (Parameter& parameter : model.parameters)
    if (family_words(families::idle_at_clock, parameter.name)) parameter.mean = sum / count;
  return model;
}

std::size_t highest_below(const Clocks& clocks, double hz) {
  std::size_t found = 0;
  for (std::size_t i = 0; i < clocks.size(); ++i)
    if (asked_hz(*clocks[i]) <= hz) found = i;
  return found;
}

void print(const std::string& name, const Outcome& outcome) {
  std::string line = fmt::format("| {} |", name);
  for (std::size_t limit = 0; limit < slowdowns.size(); ++limit)
    line += fmt::format(" {:.1f} % |", 100 * outcome.regret(limit));
  std::cout << line << fmt::format(" {:.0f} % |\n", 100 * outcome.kept_share());
}

TEST(PlannerRegret, OnClocksThatAUserCanAskFor) {
  const std::string path = measured_table("nvidia_gpus_dvfs.csv");
  if (path.empty()) GTEST_SKIP() << "RIDGELINE_DATA is not set, or has no table of graphics cards";
  const MeasurementTable table = read_measurement_table(path);
  const Predictor predictor = model_predictor(table.devices);
  NetworkLoads loads;
  Outcome none, two, constant, top, lowest, knee;
  for (const Clocks& clocks : measured_groups(table)) {
    const NetworkLoad& load = loads.of(*clocks.front());
    const MachineModel prior = predictor.prior(*clocks.front());
    plan_group(clocks, prior, load, none);
    plan_group(clocks, with_constant_energy(prior), load, constant);
    const Observation* ends[] = {clocks.back(), clocks.front()};
    MachineModel fitted = predictor.fit(prior, ends).model;
    ASSERT_EQ(fitted.networks.size(), 1U);
    Observation run = *clocks.front();
    run.options = fitted.networks.front().options;
    plan_group(clocks, for_network(fitted, run), load, two);
    const std::size_t at_knee = highest_below(clocks, mean_of(prior, "gpu_voltage_knee_hz"));
    for (std::size_t limit = 0; limit < slowdowns.size(); ++limit) {
      score_choice(clocks, clocks.size() - 1, limit, top);
      score_choice(clocks, 0, limit, lowest);
      score_choice(clocks, at_knee, limit, knee);
    }
  }
  std::cout << "| choice | no limit | 5 % slower | 10 % | 20 % | limits kept |\n"
               "|---|---|---|---|---|---|\n";
  print("`plan`, no probe", none);
  print("`plan`, two probes", two);
  print("`plan` with constant energy per operation", constant);
  print("top clock", top);
  print("lowest clock", lowest);
  print("clock at the voltage knee", knee);
  ASSERT_GE(none.at[0].choices, 12);
  EXPECT_LE(none.regret(0), 0.01);
  // Both probes of one group waited for a slow host; it chooses a clock whose run was slow, too.
  EXPECT_LE(two.regret(0), 0.015);
  for (const Outcome* planned : {&none, &two}) {
    EXPECT_LE((planned->regret(1) + planned->regret(2) + planned->regret(3)) / 3, 0.05);
    EXPECT_GE(planned->kept_share(), 0.88);
  }
  EXPECT_LE(none.regret(0), knee.regret(0));
}

}  // namespace
}  // namespace ridgeline::testing
