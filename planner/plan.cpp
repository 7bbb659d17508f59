// The JSON form of a Plan: everything that the text shows, and the whole front.
#include "planner/plan.h"

#include "base/json.h"

namespace ridgeline {
namespace {

Json mode_json(const PlannedMode& mode) {
  Json point = to_json(mode.point);
  point["request"] = mode.request;
  point["reach"] = to_string(mode.reach);
  point["stock"] = mode.stock;
  point["nvpmodel_id"] = nullable(mode.nvpmodel_id);
  point["command"] = mode.command.empty() ? Json() : Json(mode.command);
  point["nearest_stock"] = mode.nearest_stock.empty() ? Json() : Json(mode.nearest_stock);
  return point;
}

Json to_json(const PlannedPeriod& period) {
  return {{"period_s", period.period_s},
          {"duty", period.duty},
          {"latency_s", nullable(finite(period.latency_s))},
          {"idle_w", nullable(period.idle_w)},
          {"energy_j", nullable(period.energy_j)},
          {"mean_power_w", nullable(period.mean_power_w)}};
}

Json to_json(const PlannedService& service) {
  return {{"minibatch", service.minibatch},
          {"time_s", nullable(finite(service.time_s))},
          {"latency_s", nullable(finite(service.latency_s))},
          {"samples_per_s", service.samples_per_s},
          {"energy_j", nullable(service.energy_j)},
          {"mean_power_w", nullable(service.mean_power_w)},
          {"peak_power_w", nullable(service.peak_power_w)}};
}

Json to_json(const std::optional<PlannedGeneration>& generation) {
  if (!generation) return {};
  return {{"tokens", generation->tokens},
          {"first_token_s", to_json(generation->first_token_s)},
          {"token_s", to_json(generation->token_s)},
          {"tokens_per_s", to_json(generation->tokens_per_s)},
          {"token_energy_j", nullable(generation->token_energy_j)}};
}

Json to_json(const std::optional<PlannedRate>& rated) {
  if (!rated) return {};
  return {{"latency_s", to_json(rated->latency_s)},
          {"samples_per_s", to_json(rated->samples_per_s)},
          {"mean_power_w", nullable(rated->mean_power_w)},
          {"sample_energy_j", nullable(rated->sample_energy_j)}};
}

Json to_json(const PlannedLimit& limit) {
  return {{"limit", to_string(limit.limit.kind)},
          {"bound", limit.limit.bound},
          {"value", limit.value},
          {"probability", limit.probability},
          {"binding", limit.gain_without.has_value()},
          {"gain_without", nullable(limit.gain_without)},
          {"text", limit.limit.text}};
}

Json to_json(const std::optional<Saving>& saving) {
  if (!saving) return {};
  return {{"mode", saving->mode},
          {"energy", nullable(saving->energy)},
          {"energy_low", nullable(saving->energy_low)},
          {"energy_high", nullable(saving->energy_high)},
          {"time", saving->time}};
}

Json to_json(const std::optional<PlannedAlternative>& other) {
  if (!other) return {};
  return {{"run", to_json(other->mode)}, {"saving", to_json(std::optional(other->saving))}};
}

Json to_json(const FrontPoint& point) {
  return {{"mode", point.request},
          {"label", point.point.label},
          {"batch", point.batch},
          {"dtype", to_string(point.dtype)},
          {"time_s", point.time_s},
          {"latency_s", point.latency_s},
          {"samples_per_s", point.samples_per_s},
          {"power_w", nullable(point.power_w)},
          {"energy_j", nullable(point.energy_j)}};
}

Json to_json(const MeasureNext& next) {
  return {{"mode", next.request},
          {"command", next.command.empty() ? Json() : Json(next.command)},
          {"batch", next.batch},
          {"dtype", to_string(next.dtype)},
          {"reason", next.reason}};
}

Json to_json(const KnobChange& change) {
  return {{"knob", change.knob},
          {"direction", change.up ? "up" : "down"},
          {"mode", change.request},
          {"time_change", change.time_change},
          {"energy_change", nullable(change.energy_change)},
          {"probability", change.probability},
          {"holds", change.holds}};
}

Json to_json(const PlannedWhy& why) {
  return {{"mode", why.mode}, {"run", to_json(why.run)}, {"reasons", why.reasons}};
}

template <class T>
Json list_of(const std::vector<T>& values) {
  return array_of(values, [](const T& value) { return to_json(value); });
}

}  // namespace

Json to_json(const PlannedMode& mode) {
  return {{"mode", mode_json(mode)},
          {"batch", mode.batch},
          {"dtype", to_string(mode.dtype)},
          {"time_s", to_json(mode.time_s)},
          {"power_w", nullable(mode.power_w)},
          {"energy_j", nullable(mode.energy_j)},
          {"bound", to_string(mode.bound)},
          {"probability", mode.probability},
          {"period", mode.period ? to_json(*mode.period) : Json()},
          {"service", to_json(mode.service)},
          {"generation", to_json(mode.generation)}};
}

Json to_json(const Plan& plan) {
  const Objective& objective = plan.run.objective;
  Json arrivals;
  if (objective.arrivals)
    arrivals = {{"per_s", objective.arrivals->per_s}, {"at_random", objective.arrivals->at_random}};
  return {{"schema", Plan::schema},
          {"task", to_string(plan.run.scenario)},
          {"network", plan.run.network},
          {"device", plan.run.device},
          {"machine", plan.run.machine},
          {"runtime", to_string(plan.run.runtime)},
          {"minimize", to_string(objective.goal)},
          {"risk", objective.risk},
          {"arrivals", arrivals},
          {"latency_quantile", nullable(objective.latency_quantile)},
          {"modes", plan.run.modes},
          {"stock_modes", plan.run.stock_modes},
          {"choices", plan.run.choices},
          {"chosen", to_json(plan.chosen)},
          {"memory", plan.memory ? to_json(*plan.memory) : Json()},
          {"rated", to_json(plan.rated)},
          {"without_reboot", to_json(plan.without_reboot)},
          {"with_reboot", to_json(plan.with_reboot)},
          {"narrower_type", to_json(plan.narrower_type)},
          {"limits", list_of(plan.limits)},
          {"saving",
           {{"vs_default", to_json(plan.vs_default)}, {"vs_fastest", to_json(plan.vs_fastest)}}},
          {"pareto", list_of(plan.pareto)},
          {"runners_up", list_of(plan.runners_up)},
          {"stock_runs", list_of(plan.stock_runs)},
          {"measure_next", list_of(plan.measure_next)},
          {"steps", list_of(plan.knob_changes)},
          {"why", plan.why ? to_json(*plan.why) : Json()},
          {"training", plan.training ? to_json(*plan.training) : Json()},
          {"concurrent", plan.concurrent ? to_json(*plan.concurrent) : Json()},
          {"unfamiliar", list_of(plan.chosen.unfamiliar)},
          {"warnings", plan.warnings}};
}

const std::string& name_of(const PlannedMode& mode) {
  return mode.point.label.empty() ? mode.request : mode.point.label;
}

}  // namespace ridgeline
