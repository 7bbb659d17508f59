// The JSON form of an Observation. The kind of power is empty if no power was read.
#include "base/observation.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/limits.h"

namespace ridgeline {

std::string describe(const Observation& observation) {
  return fmt::format("{} batch {} {} at {}", observation.network, observation.batch,
                     to_string(observation.dtype), observation.conditions.point.label);
}

Json to_json(const Observation& observation) {
  const Conditions& conditions = observation.conditions;
  return {{"network", observation.network},
          {"options", observation.options},
          {"batch", observation.batch},
          {"dtype", to_string(observation.dtype)},
          {"runtime", to_string(conditions.runtime)},
          {"task", to_string(observation.task)},
          {"point", to_json(conditions.point)},
          {"locked", conditions.locked},
          {"time_s", observation.time_s},
          {"power_w", nullable(observation.power_w)},
          {"power_kind", observation.power_w ? to_string(conditions.power_kind) : ""},
          {"refused", observation.refused}};
}

Observation observation_from_json(const JsonCursor& cursor, const std::string& device) {
  Observation observation;
  observation.device = device;
  observation.network = cursor.at("network").text();
  observation.options = cursor.at("options").text();
  observation.batch = cursor.at("batch").integer();
  if (observation.batch < 1) cursor.at("batch").fail("is not at least 1");
  observation.dtype = cursor.at("dtype").token<DType>();
  observation.task = cursor.at("task").token<Task>();
  Conditions& conditions = observation.conditions;
  conditions.runtime = cursor.at("runtime").token<Runtime>();
  conditions.point = operating_point_from_json(cursor.at("point"));
  conditions.locked = cursor.at("locked").boolean();
  observation.time_s = bounded(cursor.at("time_s"), max_time_s);
  observation.power_w = optional_bounded(cursor, "power_w", max_power_w);
  if (!cursor.at("power_kind").text().empty())
    conditions.power_kind = cursor.at("power_kind").token<PowerKind>();
  observation.refused = cursor.at("refused").text();
  return observation;
}

}  // namespace ridgeline
