// The JSON form of a KeptObservation.
#include "base/kept_observation.h"

#include "base/json.h"
#include "base/limits.h"

namespace ridgeline {

Json to_json(const KeptObservation& observation) {
  return {{"network", observation.network},
          {"options", observation.options},
          {"batch", observation.batch},
          {"dtype", to_string(observation.dtype)},
          {"runtime", to_string(observation.runtime)},
          {"task", observation.task},
          {"point", to_json(observation.point)},
          {"locked", observation.locked},
          {"time_s", observation.time_s},
          {"power_w", nullable(observation.power_w)},
          {"power_kind", observation.power_kind},
          {"refused", observation.refused}};
}

KeptObservation kept_observation_from_json(const JsonCursor& cursor) {
  KeptObservation observation;
  observation.network = cursor.at("network").text();
  observation.options = cursor.at("options").text();
  observation.batch = cursor.at("batch").integer();
  if (observation.batch < 1) cursor.at("batch").fail("is not at least 1");
  observation.dtype = cursor.at("dtype").token<DType>();
  observation.runtime = cursor.at("runtime").token<Runtime>();
  observation.task = cursor.at("task").text();
  observation.point = operating_point_from_json(cursor.at("point"));
  observation.locked = cursor.at("locked").boolean();
  observation.time_s = bounded(cursor.at("time_s"), max_time_s);
  observation.power_w = optional_bounded(cursor, "power_w", max_power_w);
  observation.power_kind = cursor.at("power_kind").text();
  observation.refused = cursor.at("refused").text();
  return observation;
}

}  // namespace ridgeline
