// The JSON form of a Prediction, and the check of its invariant on the way in.
// Computing it is roofline's work.
#include "base/prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/limits.h"

namespace ridgeline {
namespace {

constexpr double max_energy_j = max_power_w * max_time_s;

Json term_to_json(const Term& term) {
  return {{"name", term.name}, {"time_s", term.time_s}, {"energy_j", nullable(term.energy_j)}};
}

Term term_from_json(const JsonCursor& cursor) {
  return {cursor.at("name").text(), bounded(cursor.at("time_s"), max_time_s),
          optional_bounded(cursor, "energy_j", max_energy_j)};
}

Json overhead_to_json(const Overhead& overhead) {
  return {{"name", overhead.name}, {"time_s", overhead.time_s}, {"energy_j", overhead.energy_j}};
}

Overhead overhead_from_json(const JsonCursor& cursor) {
  return {cursor.at("name").text(), bounded(cursor.at("time_s"), max_time_s),
          bounded(cursor.at("energy_j"), max_energy_j)};
}

Unfamiliar unfamiliar_from_json(const JsonCursor& cursor) {
  constexpr double most = 1e6;
  return {cursor.at("what").text(), bounded(cursor.at("time_share"), 1),
          bounded(cursor.at("factor"), most)};
}

Json demand_to_json(const PredictedDemand& row) {
  return {{"demand", row.demand},
          {"time_s", to_json(row.time_s)},
          {"energy_j", nullable(row.energy_j)},
          {"power_w", nullable(row.power_w)},
          {"bound", to_string(row.bound)},
          {"terms", array_of(row.terms, term_to_json)}};
}

PredictedDemand predicted_demand_from_json(const JsonCursor& cursor) {
  PredictedDemand row;
  row.demand = cursor.at("demand").text();
  row.time_s = bounded_estimate(cursor.at("time_s"), max_time_s);
  row.energy_j = optional_estimate(cursor, "energy_j", max_energy_j);
  row.power_w = optional_estimate(cursor, "power_w", max_power_w);
  row.bound = cursor.at("bound").token<BoundBy>();
  row.terms = vector_of(cursor.at("terms"), term_from_json);
  return row;
}

void check_sum(const JsonCursor& total, double value, double sum) {
  constexpr double rounding = 1e-9;
  if (std::abs(value - sum) > rounding * std::max(value, sum))
    total.fail(fmt::format("is {:g}, but rows and overheads sum to {:g}", value, sum));
}

void check_totals(const JsonCursor& cursor, const Prediction& prediction) {
  double time_s = 0, energy_j = 0;
  bool has_energy = true;
  for (const PredictedDemand& row : prediction.demands) {
    time_s += row.time_s.value;
    if (row.energy_j)
      energy_j += row.energy_j->value;
    else
      has_energy = false;
  }
  for (const Overhead& overhead : prediction.overheads) {
    time_s += overhead.time_s;
    energy_j += overhead.energy_j;
  }
  check_sum(cursor.at("time_s"), prediction.time_s.value, time_s);
  if (!prediction.energy_j) return;
  if (!has_energy) cursor.at("energy_j").fail("there is a total, but a row has no energy");
  check_sum(cursor.at("energy_j"), prediction.energy_j->value, energy_j);
}

}  // namespace

Json to_json(const Unfamiliar& unfamiliar) {
  return {{"what", unfamiliar.what},
          {"time_share", unfamiliar.time_share},
          {"factor", unfamiliar.factor}};
}

Json to_json(const Prediction& prediction) {
  return {{"schema", Prediction::schema},
          {"device", prediction.device},
          {"point", to_json(prediction.point)},
          {"runtime", to_string(prediction.runtime)},
          {"demands", array_of(prediction.demands, demand_to_json)},
          {"overheads", array_of(prediction.overheads, overhead_to_json)},
          {"time_s", to_json(prediction.time_s)},
          {"energy_j", nullable(prediction.energy_j)},
          {"power_w", nullable(prediction.power_w)},
          {"bound", to_string(prediction.bound)},
          {"unfamiliar",
           array_of(prediction.unfamiliar, [](const Unfamiliar& each) { return to_json(each); })}};
}

Prediction prediction_from_json(const JsonCursor& cursor) {
  check_schema(cursor, Prediction::schema);
  Prediction prediction;
  prediction.device = cursor.at("device").text();
  prediction.point = operating_point_from_json(cursor.at("point"));
  prediction.runtime = cursor.at("runtime").token<Runtime>();
  prediction.demands = vector_of(cursor.at("demands"), predicted_demand_from_json);
  prediction.overheads = vector_of(cursor.at("overheads"), overhead_from_json);
  prediction.time_s = bounded_estimate(cursor.at("time_s"), max_time_s);
  prediction.energy_j = optional_estimate(cursor, "energy_j", max_energy_j);
  prediction.power_w = optional_estimate(cursor, "power_w", max_power_w);
  prediction.bound = cursor.at("bound").token<BoundBy>();
  prediction.unfamiliar = vector_of(cursor.at("unfamiliar"), unfamiliar_from_json);
  check_totals(cursor, prediction);
  return prediction;
}

}  // namespace ridgeline
