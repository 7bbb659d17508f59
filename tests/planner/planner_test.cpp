// The parts of a whole plan: what it says about the run, the rate, the other modes and answers of
// language models.
#include "planner/planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/json.h"
#include "planner/choice.h"
#include "planner/comparison.h"
#include "roofline/model/predict.h"
#include "tests/planner/planned.h"

namespace ridgeline::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

const Planned& nano_stock() {
  static const Planned planned("jetson-orin-nano-8gb", "resnet18", Runtime::tensorrt, {1, 4}, "",
                               {.stock_only = true});
  return planned;
}

// 8 GPU clocks at the other clocks of the stock modes.
const Planned& nano_gpu_clocks() {
  static const Planned planned = [] {
    CandidateOptions options;
    options.tuned = {true, false, false, false};
    return Planned("jetson-orin-nano-8gb", "resnet18", Runtime::tensorrt, {1, 4}, "", options);
  }();
  return planned;
}

PlanOptions drawn(int draws) {
  PlanOptions options;
  options.draws = draws;
  return options;
}

// The row of the sweep that a planned mode comes from.
std::size_t row_of(const PlanProblem& problem, const PlannedMode& mode) {
  const auto& modes = problem.candidates.modes;
  const auto found = std::find_if(modes.begin(), modes.end(), [&](const CandidateMode& candidate) {
    return candidate.point == mode.point;
  });
  const auto variant = std::find_if(
      problem.variants.begin(), problem.variants.end(),
      [&](const PlanVariant& one) { return one.batch == mode.batch && one.dtype == mode.dtype; });
  return static_cast<std::size_t>(variant - problem.variants.begin()) * modes.size() +
         static_cast<std::size_t>(found - modes.begin());
}

TEST(Planner, SaysWhatThePlanIsFor) {
  PlanProblem problem = nano_stock().problem;
  problem.network = "a network";
  problem.machine = "a board";
  const Objective objective = least(Goal::edp, {{LimitKind::power, 30, 0, "--power 30W"}});
  const Plan plan = make_plan(problem, objective, drawn(0)).plan;
  EXPECT_EQ(plan.run.network, "a network");
  EXPECT_EQ(plan.run.machine, "a board");
  EXPECT_EQ(plan.run.device, "jetson-orin-nano-8gb");
  EXPECT_EQ(plan.run.runtime, Runtime::tensorrt);
  EXPECT_EQ(plan.run.objective.goal, Goal::edp);
  EXPECT_EQ(plan.run.modes, 3u);
  EXPECT_EQ(plan.run.stock_modes, 3u);
  EXPECT_EQ(plan.run.choices, 6u);
  EXPECT_FALSE(plan.run.leads_with_stock);
  const Plan all = nano_gpu_clocks().plan(objective, drawn(0)).plan;
  EXPECT_EQ(all.run.stock_modes, 3u);
  EXPECT_GT(all.run.modes, 8u);
  EXPECT_EQ(all.run.choices, 2 * all.run.modes);
}

TEST(Planner, TheChosenModeIsDescribed) {
  const PlanResult result = nano_stock().plan(least(Goal::energy), drawn(0));
  const PlannedMode& chosen = result.plan.chosen;
  const std::size_t row = row_of(nano_stock().problem, chosen);
  const CandidateMode& mode = mode_at(nano_stock().problem, result.sweep, row);
  EXPECT_EQ(chosen.request, request_text(mode.point));
  EXPECT_EQ(chosen.nvpmodel_id, mode.id);
  EXPECT_TRUE(chosen.stock);
  EXPECT_EQ(chosen.reach, mode.reach);
  EXPECT_THAT(chosen.command, StartsWith("sudo nvpmodel -m "));
  EXPECT_EQ(chosen.nearest_stock, mode.point.label);
  EXPECT_EQ(chosen.dtype, DType::fp16);
  EXPECT_EQ(chosen.probability, 1);
  EXPECT_EQ(name_of(chosen), mode.point.label);
  const Service service = service_at(nano_stock().problem, result.sweep, row, {});
  EXPECT_EQ(chosen.service.minibatch, chosen.batch);
  EXPECT_DOUBLE_EQ(chosen.service.samples_per_s,
                   static_cast<double>(chosen.batch) / chosen.time_s.value);
  EXPECT_EQ(chosen.service.time_s, service.time_s);
  EXPECT_EQ(chosen.service.latency_s, service.latency_s);
  EXPECT_EQ(chosen.service.energy_j, service.energy_j);
  EXPECT_EQ(chosen.service.mean_power_w, service.mean_power_w);
  EXPECT_EQ(chosen.service.peak_power_w, service.peak_power_w);
  EXPECT_FALSE(chosen.period || chosen.generation || result.plan.rated);
  EXPECT_THAT(result.plan.stock_runs, IsEmpty());
}

// A batch every 1/rate: busy for its time, idle for the rest.
TEST(Planner, AtARateItStatesThePeriod) {
  const double per_s = 20;
  const PlanResult result = nano_stock().plan(at_rate(per_s), drawn(50));
  const PlannedMode& chosen = result.plan.chosen;
  ASSERT_TRUE(chosen.period && result.plan.rated);
  const double batch = static_cast<double>(chosen.batch);
  EXPECT_DOUBLE_EQ(chosen.period->period_s, batch / per_s);
  EXPECT_DOUBLE_EQ(chosen.period->duty, chosen.time_s.value * per_s / batch);
  const double busy_s = chosen.time_s.value;
  const double energy_j =
      chosen.energy_j->value + *chosen.period->idle_w * (batch / per_s - busy_s);
  EXPECT_NEAR(*chosen.period->energy_j, energy_j, 1e-9);
  EXPECT_NEAR(*chosen.period->mean_power_w, energy_j * per_s / batch, 1e-9);
  EXPECT_NEAR(chosen.period->latency_s, (batch - 1) / per_s / 2 + busy_s, 1e-9);
  const PlannedRate& rated = *result.plan.rated;
  EXPECT_NEAR(rated.latency_s.value, chosen.period->latency_s, 1e-12);
  EXPECT_LT(rated.latency_s.low, rated.latency_s.high);
  EXPECT_NEAR(rated.samples_per_s.value, batch / busy_s, 1e-6);
  EXPECT_NEAR(rated.mean_power_w->value, *chosen.period->mean_power_w, 1e-9);
  EXPECT_NEAR(rated.sample_energy_j->value, *chosen.period->energy_j / batch, 1e-9);
}

// Whatever is not given is null.
TEST(Planner, ItsJsonHasARateOnlyIfThereIsOne) {
  const Json at = to_json(nano_stock().plan(at_rate(20), drawn(0)).plan);
  EXPECT_TRUE(at["rated"].is_object());
  EXPECT_TRUE(at["chosen"]["period"].is_object());
  EXPECT_DOUBLE_EQ(at["arrivals"]["per_s"].get<double>(), 20);
  EXPECT_TRUE(at["saving"]["vs_fastest"].is_object());
  const Json free = to_json(nano_stock().plan(least(Goal::energy), drawn(0)).plan);
  for (const char* absent : {"rated", "arrivals", "why", "training", "concurrent", "memory"})
    EXPECT_TRUE(free[absent].is_null()) << absent;
  EXPECT_TRUE(free["chosen"]["period"].is_null());
  EXPECT_TRUE(free["chosen"]["generation"].is_null());
  EXPECT_EQ(free["minimize"], "energy");
  EXPECT_EQ(free["stock_modes"], 3);
  Plan single;
  EXPECT_TRUE(to_json(single)["saving"]["vs_fastest"].is_null());
}

TEST(Planner, ChoosesAStockModeFirstIfAsked) {
  const Objective objective = least(Goal::power);
  PlanOptions options = drawn(20);
  const Plan best = nano_gpu_clocks().plan(objective, options).plan;
  options.lead_with_stock = true;
  const Plan stock = nano_gpu_clocks().plan(objective, options).plan;
  EXPECT_TRUE(stock.run.leads_with_stock);
  EXPECT_TRUE(stock.chosen.stock);
  ASSERT_FALSE(best.chosen.stock);
  EXPECT_GT(*stock.chosen.service.mean_power_w, *best.chosen.service.mean_power_w);
  // It is the best of the stock modes.
  const Plan alone = nano_stock().plan(objective, options).plan;
  EXPECT_EQ(stock.chosen.point, alone.chosen.point);
  // The better mode is offered beside it.
  ASSERT_TRUE(stock.without_reboot || stock.with_reboot);
  const PlannedAlternative& other =
      stock.without_reboot ? *stock.without_reboot : *stock.with_reboot;
  EXPECT_EQ(other.mode.point, best.chosen.point);
  EXPECT_NEAR(*other.saving.energy,
              1 - *best.chosen.service.energy_j / *stock.chosen.service.energy_j, 1e-9);
  EXPECT_FALSE(best.without_reboot || best.with_reboot);
}

// Stock modes of an AGX Orin differ in their mask of TPCs, which needs a reboot.
TEST(Planner, AnAlternativeWithoutARebootIsTheBestOfThose) {
  const Planned planned("jetson-agx-orin-64gb", "resnet18", Runtime::tensorrt, {1}, "",
                        {.stock_only = true});
  const Objective objective = least(Goal::energy);
  const PlanResult result = planned.plan(objective, drawn(0));
  double live_j = INFINITY, any_j = INFINITY;
  for (std::size_t row = 0; row < result.sweep.costs.size(); ++row) {
    const double energy_j = service_at(planned.problem, result.sweep, row, objective).energy_j;
    if (!(energy_j > 0)) continue;
    any_j = std::min(any_j, energy_j);
    if (mode_at(planned.problem, result.sweep, row).reach == Reach::live)
      live_j = std::min(live_j, energy_j);
  }
  const Plan& plan = result.plan;
  EXPECT_LE(*plan.chosen.service.energy_j, 1.01 * any_j);
  ASSERT_EQ(plan.chosen.reach, Reach::reboot);
  ASSERT_TRUE(plan.without_reboot);
  EXPECT_EQ(plan.without_reboot->mode.reach, Reach::live);
  EXPECT_LE(*plan.without_reboot->mode.service.energy_j, 1.01 * live_j);
  EXPECT_LE(*plan.without_reboot->saving.energy, 0.01);
  EXPECT_FALSE(plan.with_reboot);
}

TEST(Planner, RunnersUpAndModesToMeasure) {
  const Objective objective = least(Goal::energy);
  PlanOptions options = drawn(60);
  const Plan plan = nano_gpu_clocks().plan(objective, options).plan;
  EXPECT_EQ(plan.runners_up.size(), 3u);
  EXPECT_EQ(plan.measure_next.size(), 3u);
  EXPECT_EQ(plan.measure_next[0].reason, "the choice, so far only predicted");
  EXPECT_EQ(plan.measure_next[0].point, plan.chosen.point);
  EXPECT_EQ(plan.measure_next[0].batch, plan.chosen.batch);
  for (std::size_t i = 1; i < plan.measure_next.size(); ++i) {
    EXPECT_FALSE(plan.measure_next[i].point == plan.chosen.point &&
                 plan.measure_next[i].batch == plan.chosen.batch);
    EXPECT_THAT(plan.measure_next[i].reason,
                ::testing::AnyOf(AllOf(HasSubstr("better than "), HasSubstr(" with probability ")),
                                 StartsWith("far from the choice")));
  }
  options.draws = 0;
  options.measure_next = 2;
  const Plan means = nano_gpu_clocks().plan(objective, options).plan;
  ASSERT_EQ(means.measure_next.size(), 2u);
  EXPECT_EQ(means.measure_next[1].reason, "the next best");
  EXPECT_EQ(means.measure_next[1].point, means.runners_up[0].point);
}

// Modes that win in more draws come first, by as many draws as stated.
TEST(Planner, ModesToMeasureAreByTheirChanceToBeBetter) {
  const Objective objective = least(Goal::energy, {{LimitKind::latency, 4e-3, 0, "--latency 4ms"}});
  PlanOptions options = drawn(100);
  options.runners_up = 6;
  options.measure_next = 7;
  const PlanResult result = nano_gpu_clocks().plan(objective, options);
  const PlanProblem& problem = nano_gpu_clocks().problem;
  const auto draws = coefficient_draws(problem.model, Runtime::tensorrt, 100, options.seed);
  SweepDraws sweep_draws(problem, result.sweep, draws);
  const std::size_t chosen = row_of(problem, result.plan.chosen);
  const auto chosen_services = sweep_draws.services(chosen, objective);
  const auto chosen_holds = sweep_draws.limits_hold(chosen, objective);
  double last = 1;
  for (std::size_t i = 1; i < result.plan.measure_next.size(); ++i) {
    const MeasureNext& next = result.plan.measure_next[i];
    PlannedMode mode;
    mode.point = next.point;
    mode.batch = next.batch;
    mode.dtype = next.dtype;
    const std::size_t row = row_of(problem, mode);
    const auto services = sweep_draws.services(row, objective);
    const auto holds = sweep_draws.limits_hold(row, objective);
    double wins = 0;
    for (std::size_t at = 0; at < 100; ++at)
      wins +=
          holds[at] && (!chosen_holds[at] || services[at].energy_j < chosen_services[at].energy_j);
    EXPECT_LE(wins / 100, last);
    last = wins / 100;
    EXPECT_EQ(wins > 0, next.reason.find("better than") != std::string::npos) << next.reason;
    if (wins > 1 && wins < 99) {
      EXPECT_THAT(next.reason, HasSubstr(std::to_string(static_cast<int>(wins)) + " %"));
    }
  }
}

TEST(Planner, TheFrontIsInTheUnitsOfTheUser) {
  const PlanResult result = nano_gpu_clocks().plan(least(Goal::energy), drawn(0));
  ASSERT_GT(result.plan.pareto.size(), 3u);
  double last_s = 0;
  for (const FrontPoint& point : result.plan.pareto) {
    EXPECT_GE(point.latency_s, last_s);
    last_s = point.latency_s;
    EXPECT_DOUBLE_EQ(point.samples_per_s, static_cast<double>(point.batch) / point.time_s);
    EXPECT_NEAR(*point.energy_j, *point.power_w * point.time_s / static_cast<double>(point.batch),
                1e-9);
    EXPECT_EQ(point.request, request_text(point.point));
  }
}

TEST(Planner, SavesAgainstTheDefaultAndTheFastestMode) {
  const Plan plan = nano_gpu_clocks().plan(at_rate(20), drawn(0)).plan;
  ASSERT_TRUE(plan.vs_default && plan.vs_fastest);
  EXPECT_EQ(plan.vs_default->mode, "25W");
  EXPECT_GT(*plan.vs_default->energy, 0);
  EXPECT_GT(*plan.vs_fastest->energy, 0);
  EXPECT_LT(plan.vs_fastest->time, 0);
  // A machine with one mode has nothing to compare with.
  PlanProblem problem = nano_stock().problem;
  problem.candidates = single_mode(nano_stock().problem.candidates.modes[0].point);
  const Plan single = make_plan(problem, least(Goal::energy), drawn(0)).plan;
  EXPECT_FALSE(single.vs_default || single.vs_fastest);
}

TEST(Planner, WhyNotAnotherMode) {
  PlanOptions options = drawn(0);
  const auto& modes = nano_stock().problem.candidates.modes;
  for (std::size_t mode = 0; mode < modes.size(); ++mode) {
    options.why = mode;
    const Plan plan = nano_stock().plan(least(Goal::energy), options).plan;
    ASSERT_TRUE(plan.why);
    EXPECT_EQ(plan.why->mode, modes[mode].point.label);
    EXPECT_EQ(plan.why->run.point, modes[mode].point);
    ASSERT_FALSE(plan.why->reasons.empty());
    EXPECT_EQ(plan.why->reasons[0] == "it is the chosen mode",
              plan.chosen.point == modes[mode].point);
  }
  PlanProblem problem = nano_stock().problem;
  CandidateMode unknown = problem.candidates.modes[0];
  unknown.point.gpu_hz.reset();
  unknown.point.label = "7W";
  problem.candidates.modes.push_back(unknown);
  options.why = modes.size();
  try {
    make_plan(problem, least(Goal::energy), options);
    FAIL() << "7W has no GPU clock";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::incomplete);
    EXPECT_EQ(error.where(), "--why");
    EXPECT_THAT(error.cause(), HasSubstr("cannot predict 7W"));
  }
  options.why.reset();
  const Plan plan = make_plan(problem, least(Goal::energy), options).plan;
  EXPECT_THAT(plan.warnings, Contains(HasSubstr("7W is left out")));
  EXPECT_FALSE(plan.why);
}

TEST(Planner, WarnsOfWhatIsAssumedAndOfASingleCore) {
  PlanProblem problem = nano_stock().problem;
  problem.notes = {"a note"};
  problem.candidates.notes = {"another note"};
  const auto warnings = [&] {
    return make_plan(problem, least(Goal::energy), drawn(0)).plan.warnings;
  };
  EXPECT_THAT(warnings(), AllOf(Contains("a note"), Contains("another note"),
                                Not(Contains(HasSubstr("one core is enough")))));
  for (CandidateMode& mode : problem.candidates.modes) mode.point.cpu_cores = 1;
  EXPECT_THAT(warnings(), Contains(HasSubstr("one core is enough")));
}

// Without power a plan can only be about time.
TEST(Planner, AMachineWithoutPowerIsPlannedByTime) {
  PlanProblem problem = nano_stock().problem;
  const MachineModel known = problem.model;
  ParameterCollector others(known.device);
  for (std::size_t i = 0; i < known.parameters.size(); ++i)
    if (known.parameters[i].name != "gpu_busy_joule_per_sm_clock")
      others.add(known.parameters[i], sigma_of(known, i));
  problem.model = others.take();
  ASSERT_FALSE(coefficients(problem.model, Runtime::tensorrt).power.known);
  problem.machine = "a laptop";
  const Plan plan = make_plan(problem, least(Goal::time), drawn(0)).plan;
  EXPECT_THAT(plan.warnings, Contains("time only: no power data for a laptop"));
  EXPECT_FALSE(plan.chosen.power_w || plan.chosen.service.energy_j);
  for (const Goal goal : {Goal::energy, Goal::power, Goal::edp}) {
    try {
      make_plan(problem, least(goal), drawn(0));
      FAIL() << to_string(goal);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::incomplete);
      EXPECT_EQ(error.where(), "--minimize " + std::string(to_string(goal)));
    }
  }
  for (const LimitKind kind : {LimitKind::power, LimitKind::peak_power, LimitKind::energy,
                               LimitKind::battery, LimitKind::latency}) {
    const Objective objective = least(Goal::time, {{kind, 1, 0, "--the-limit"}});
    try {
      make_plan(problem, objective, drawn(0));
      EXPECT_EQ(kind, LimitKind::latency);
    } catch (const Error& error) {
      EXPECT_NE(kind, LimitKind::latency);
      EXPECT_EQ(error.code(), ExitCode::incomplete);
      EXPECT_EQ(error.where(), "--the-limit");
    }
  }
  Objective rated = least(Goal::time);
  rated.arrivals = Arrivals{20, false};
  const Plan at = make_plan(problem, rated, drawn(0)).plan;
  ASSERT_TRUE(at.rated);
  EXPECT_GT(at.rated->samples_per_s.value, 20);
  EXPECT_FALSE(at.rated->mean_power_w || at.rated->sample_energy_j);
}

// A prompt of 64 tokens and 50 more, one after another.
TEST(Planner, AnAnswerIsItsPromptAndItsTokens) {
  Planned planned("jetson-orin-nano-8gb", "llama-3.2-1b", Runtime::tensorrt, {}, "",
                  {.stock_only = true});
  PlanProblem& problem = planned.problem;
  problem.variants = {{std::make_shared<const NetworkLoad>(
                           load_of("llama-3.2-1b", Runtime::tensorrt, 2, "fp16", "seq=64")),
                       2, DType::fp16}};
  problem.variants[0].token = std::make_shared<const NetworkLoad>(
      load_of("llama-3.2-1b", Runtime::tensorrt, 2, "fp16", "phase=decode"));
  problem.variants[0].tokens = 50;
  const Plan plan = planned.plan(least(Goal::energy), drawn(20)).plan;
  Conditions conditions = problem.conditions;
  conditions.point = plan.chosen.point;
  const PredictOptions options{.draws = 20};
  const Prediction prompt = predict(problem.model, *problem.variants[0].load, conditions, options);
  const Prediction token = predict(problem.model, *problem.variants[0].token, conditions, options);
  ASSERT_TRUE(plan.chosen.generation);
  const PlannedGeneration& answer = *plan.chosen.generation;
  EXPECT_EQ(answer.tokens, 50);
  EXPECT_EQ(answer.first_token_s, prompt.time_s);
  EXPECT_EQ(answer.token_s, token.time_s);
  EXPECT_DOUBLE_EQ(answer.tokens_per_s.value, 2 / token.time_s.value);
  EXPECT_DOUBLE_EQ(answer.tokens_per_s.low, 2 / token.time_s.high);
  EXPECT_DOUBLE_EQ(answer.tokens_per_s.high, 2 / token.time_s.low);
  EXPECT_DOUBLE_EQ(answer.token_energy_j->value, token.energy_j->value / 2);
  EXPECT_DOUBLE_EQ(answer.token_energy_j->high, token.energy_j->high / 2);
  EXPECT_NEAR(plan.chosen.time_s.value, prompt.time_s.value + 50 * token.time_s.value, 1e-9);
  EXPECT_NEAR(plan.chosen.time_s.high, prompt.time_s.high + 50 * token.time_s.high, 1e-9);
  EXPECT_NEAR(plan.chosen.energy_j->value, prompt.energy_j->value + 50 * token.energy_j->value,
              1e-6);
  EXPECT_NEAR(plan.chosen.power_w->value, plan.chosen.energy_j->value / plan.chosen.time_s.value,
              1e-9);
  EXPECT_NEAR(plan.chosen.power_w->high / plan.chosen.power_w->value,
              token.power_w->high / token.power_w->value, 1e-9);
  EXPECT_EQ(plan.chosen.bound, token.bound);  // 50 tokens take longer than their prompt
  // Each stock mode, with the same request.
  ASSERT_EQ(plan.stock_runs.size(), 3u);
  for (const PlannedMode& run : plan.stock_runs) {
    EXPECT_TRUE(run.stock);
    EXPECT_EQ(run.batch, 2);
    EXPECT_TRUE(run.generation);
  }
  // Of a single token the prompt sets the bound.
  problem.variants[0].tokens = 1;
  const Plan word = planned.plan(least(Goal::energy), drawn(0)).plan;
  Conditions there = problem.conditions;
  there.point = word.chosen.point;
  EXPECT_EQ(word.chosen.bound,
            predict(problem.model, *problem.variants[0].load, there, {.draws = 0}).bound);
}

// Each row in the batch that suits it, ranked by the goal among those that keep the limits.
TEST(Comparison, RanksTheStockModes) {
  const Objective objective = least(Goal::time, {{LimitKind::power, 9, 0.5, "--power 9W"}});
  const auto rows = compare_modes(nano_stock().problem, objective, drawn(20));
  ASSERT_EQ(rows.size(), 3u);
  std::vector<const ComparedRow*> ranked;
  for (const ComparedRow& row : rows) {
    ASSERT_TRUE(row.run);
    EXPECT_EQ(row.label, row.run->point.label);
    EXPECT_FALSE(row.training);
    EXPECT_EQ(row.rank.has_value(), row.broken.empty()) << row.label;
    EXPECT_NEAR(row.score, 1 / row.run->service.samples_per_s, 1e-12);
    if (row.rank) ranked.push_back(&row);
  }
  for (const ComparedRow* a : ranked)
    for (const ComparedRow* b : ranked)
      if (a->score < b->score) {
        EXPECT_LT(*a->rank, *b->rank);
      }
}

TEST(Comparison, OnlyRowsThatKeepTheirLimitsHaveARank) {
  std::vector<ComparedRow> rows(5);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].label = std::to_string(i);
    rows[i].run = PlannedMode{};
    rows[i].score = 5 - static_cast<double>(i);
  }
  rows[4].broken = {"breaks power"};
  rows[3].run.reset();
  rows[2].score = INFINITY;
  rank(rows);
  EXPECT_EQ(rows[1].rank, 1u);
  EXPECT_EQ(rows[0].rank, 2u);
  EXPECT_FALSE(rows[2].rank || rows[3].rank || rows[4].rank);
}

TEST(Comparison, OfADeviceWithoutStockModesItIsTheDefault) {
  const Planned card("a100-40gb-pcie", "resnet18", Runtime::tensorrt);
  const auto rows = compare_modes(card.problem, least(Goal::energy), drawn(0));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].run->point,
            card.problem.candidates.modes[*card.problem.candidates.default_mode].point);
  EXPECT_EQ(rows[0].rank, 1u);
  PlanProblem none = card.problem;
  none.candidates.default_mode.reset();
  EXPECT_THAT(compare_modes(none, least(Goal::energy), drawn(0)), IsEmpty());
}

// A stock mode if one keeps the limits, else any mode, else the fastest with what it breaks.
TEST(Comparison, TheBestRowOfAProblem) {
  const PlanProblem& problem = nano_gpu_clocks().problem;
  const auto best = [&](const Objective& objective) {
    return best_row_of(problem, objective, drawn(0), "a row");
  };
  const ComparedRow stock = best(least(Goal::power));
  EXPECT_EQ(stock.label, "a row");
  EXPECT_TRUE(stock.run->stock);
  EXPECT_THAT(stock.broken, IsEmpty());
  const Plan least_power = nano_gpu_clocks().plan(least(Goal::power), drawn(0)).plan;
  ASSERT_LT(*least_power.chosen.service.mean_power_w, *stock.run->service.mean_power_w);
  const double between_w =
      (*least_power.chosen.service.mean_power_w + *stock.run->service.mean_power_w) / 2;
  const ComparedRow other = best(least(Goal::time, {{LimitKind::power, between_w, 0, ""}}));
  EXPECT_FALSE(other.run->stock);
  EXPECT_THAT(other.broken, IsEmpty());
  const ComparedRow none = best(least(Goal::time, {{LimitKind::power, 0.1, 0, ""}}));
  EXPECT_EQ(none.broken.size(), 1u);
  const Sweep swept = sweep(problem);
  EXPECT_EQ(row_of(problem, *none.run), swept.fastest.front());
}

TEST(Comparison, ARowThatCannotRunSaysWhy) {
  PlanProblem problem = nano_stock().problem;
  problem.candidates.modes[1].point.gpu_hz.reset();
  const ComparedRow row = row_in_mode(problem, least(Goal::energy), drawn(0), "a row", 1);
  EXPECT_EQ(row.label, "a row");
  EXPECT_FALSE(row.run);
  EXPECT_THAT(row.why_not, HasSubstr("cannot be predicted"));
  EXPECT_TRUE(to_json(row)["run"].is_null());
  const ComparedRow known = row_in_mode(problem, least(Goal::energy), drawn(0), "a row", 0);
  EXPECT_EQ(known.run->point, problem.candidates.modes[0].point);
  EXPECT_TRUE(known.why_not.empty());
}

}  // namespace
}  // namespace ridgeline::testing
