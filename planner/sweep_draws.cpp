// Each of two threads takes half of the draws, since every draw has its own step models.
#include "planner/sweep_draws.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <thread>

#include "base/statistics.h"
#include "roofline/model/draws.h"

namespace ridgeline {
namespace {

// Below this many steps a thread costs more than it saves.
constexpr std::size_t worth_a_thread = 2000;

}  // namespace

SweepDraws::SweepDraws(const PlanProblem& problem, const Sweep& sweep,
                       std::span<const CoefficientDraw> draws,
                       std::span<const CoefficientDraw> trained)
    : problem_(problem), sweep_(sweep), draws_(draws), trained_(trained) {}

// Storage of one kind differs between boards: a log-normal factor with the spread of its medium,
// the same for all modes of a draw. Quantiles in a mixed order keep it apart from other draws.
double SweepDraws::fetch_scale(std::size_t draw) const {
  const double spread = problem_.training.sources.storage.spread;
  if (problem_.scenario != Scenario::training || spread <= 1 || draws_.size() < 2) return 1;
  constexpr std::size_t stride = 73;  // has no divisor in common with usual numbers of draws
  const double quantile = (static_cast<double>(draw * stride % draws_.size()) + 0.5) /
                          static_cast<double>(draws_.size());
  // The logistic distribution: its 95 % quantile is ln 19.
  return std::exp(std::log(spread) * std::log(quantile / (1 - quantile)) / std::log(19.0));
}

void SweepDraws::draw_part(std::span<const std::size_t> rows, std::size_t begin, std::size_t end) {
  Conditions conditions = problem_.conditions;
  for (std::size_t i = begin; i < end; ++i) {
    const CoefficientDraw& draw = draws_[i];
    for (std::size_t at = 0; at < rows.size();) {  // rows of one variant share a model
      const std::size_t variant = sweep_.variant_of(rows[at]);
      const PlanVariant& run = problem_.variants[variant];
      const CostModel model(*run.load, draw.values);
      std::optional<CostModel> token;
      if (run.token) token.emplace(*run.token, draw.values);
      for (; at < rows.size() && sweep_.variant_of(rows[at]) == variant; ++at) {
        if (std::isnan(sweep_.costs[rows[at]].time_s)) {  // the model cannot run there
          costs_.find(rows[at])->second[i] = sweep_.costs[rows[at]];
          continue;
        }
        conditions.point = mode_at(problem_, sweep_, rows[at]).point;
        BatchCost cost = model.at(conditions);
        if (token) add_generation(cost, token->at(conditions), run.tokens);
        cost.first_token_s *= draw.time_scale;
        cost.token_s *= draw.time_scale;
        cost.token_w *= draw.power_scale;
        cost.time_s *= draw.time_scale;
        cost.power_w *= draw.power_scale;
        cost.idle_w *= draw.power_scale;
        cost.core_w *= draw.power_scale;
        cost.fetch_scale = fetch_scale(i);
        costs_.find(rows[at])->second[i] = cost;
      }
    }
    if (!trained_.empty()) add_trained(rows, i);
  }
}

// The machine is the same, but how far a run is from the formulas differs between networks, so the
// scale of time is taken from another draw.
void SweepDraws::add_trained(std::span<const std::size_t> rows, std::size_t draw) {
  Conditions conditions = problem_.conditions;
  conditions.runtime = problem_.concurrent.runtime;
  const double time_scale = trained_[(draw + 1) % trained_.size()].time_scale;
  std::map<const NetworkLoad*, CostModel> models;
  for (const std::size_t row : rows) {
    const NetworkLoad* load = variant_at(problem_, sweep_, row).trained.get();
    if (std::isnan(sweep_.costs[row].time_s)) continue;
    const auto model = models.try_emplace(load, *load, trained_[draw].values).first;
    conditions.point = mode_at(problem_, sweep_, row).point;
    BatchCost step = model->second.at(conditions);
    step.time_s *= time_scale;
    step.power_w *= draws_[draw].power_scale;
    add_training(costs_.find(row)->second[draw], step);
  }
}

void SweepDraws::draw(std::span<const std::size_t> rows) {
  std::vector<std::size_t> missing;
  for (const std::size_t row : rows)
    if (costs_.try_emplace(row, draws_.size()).second) missing.push_back(row);
  std::sort(missing.begin(), missing.end());
  const std::size_t half = draws_.size() / 2;
  if (missing.size() * draws_.size() < worth_a_thread || std::thread::hardware_concurrency() < 2) {
    draw_part(missing, 0, draws_.size());
  } else {
    // No Error can leave a thread: a mode that fails in one draw fails in the sweep, which left it
    // out.
    std::jthread other([&] { draw_part(missing, 0, half); });
    draw_part(missing, half, draws_.size());
  }
  for (const std::size_t row : missing) centre(row);
}

// Around the value at the means, as the intervals of a prediction.
void SweepDraws::centre(std::size_t row) {
  if (std::isnan(sweep_.costs[row].time_s)) return;
  std::vector<BatchCost>& drawn = costs_.find(row)->second;
  std::vector<double> values(drawn.size());
  for (double BatchCost::*cost : {&BatchCost::time_s, &BatchCost::power_w, &BatchCost::idle_w,
                                  &BatchCost::training_s, &BatchCost::training_w}) {
    for (std::size_t i = 0; i < drawn.size(); ++i) values[i] = drawn[i].*cost;
    centre_on(sweep_.costs[row].*cost, values);
    for (std::size_t i = 0; i < drawn.size(); ++i) drawn[i].*cost = values[i];
  }
}

const std::vector<BatchCost>& SweepDraws::costs(std::size_t row) {
  const auto known = costs_.find(row);
  if (known != costs_.end()) return known->second;
  draw(std::span(&row, 1));
  return costs_.find(row)->second;
}

// The same draw scales both times, so the error that the formulas make in all modes cancels, and
// how time follows the clocks is left.
double SweepDraws::slowdown(std::size_t row, std::size_t draw) {
  const std::size_t variant = sweep_.variant_of(row);
  const std::size_t fastest = sweep_.fastest[variant];
  if (row == fastest) return 0;
  return draws_[draw].mode_scale *
             pace_s(problem_, variant, sweep_.mode_of(row), costs(row)[draw]) /
             pace_s(problem_, variant, sweep_.mode_of(fastest), costs(fastest)[draw]) -
         1;
}

std::vector<Service> SweepDraws::services(std::size_t row, const Objective& objective) {
  std::vector<Service> result;
  result.reserve(draws_.size());
  for (const BatchCost& cost : costs(row))
    result.push_back(
        service_of(problem_, sweep_.variant_of(row), sweep_.mode_of(row), cost, objective));
  return result;
}

std::vector<double> SweepDraws::limited_values(std::size_t row, LimitKind kind,
                                               const Objective& objective) {
  if (draws_.empty()) return {limited_value_at(problem_, sweep_, row, kind, objective)};
  std::vector<double> values;
  values.reserve(draws_.size());
  for (const Service& service : services(row, objective))
    values.push_back(limited_value(kind, service,
                                   kind == LimitKind::slowdown ? slowdown(row, values.size()) : 0));
  return values;
}

std::vector<bool> SweepDraws::limits_hold(std::size_t row, const Objective& objective) {
  std::vector<bool> hold(std::max<std::size_t>(draws_.size(), 1), true);
  for (const Limit& limit : objective.limits) {
    const std::vector<double> values = limited_values(row, limit.kind, objective);
    for (std::size_t i = 0; i < hold.size(); ++i)
      if (!(values[i] <= limit.bound)) hold[i] = false;
  }
  return hold;
}

double SweepDraws::probability(std::size_t row, const Limit& limit, const Objective& objective) {
  const std::vector<double> values = limited_values(row, limit.kind, objective);
  const auto held = std::count_if(values.begin(), values.end(),
                                  [&](double value) { return value <= limit.bound; });
  return static_cast<double>(held) / static_cast<double>(values.size());
}

double SweepDraws::probability(std::size_t row, const Objective& objective) {
  if (objective.limits.empty()) return 1;
  const std::vector<bool> hold = limits_hold(row, objective);
  return static_cast<double>(std::count(hold.begin(), hold.end(), true)) /
         static_cast<double>(hold.size());
}

Estimate SweepDraws::estimate(std::size_t row, const Objective& objective,
                              const std::function<double(const Service&)>& quantity) {
  const double value = quantity(service_at(problem_, sweep_, row, objective));
  std::vector<double> drawn;
  for (const Service& service : services(row, objective))
    if (const double one = quantity(service); std::isfinite(one)) drawn.push_back(one);
  return interval_of_draws(value, drawn, Source::predicted);
}

}  // namespace ridgeline
