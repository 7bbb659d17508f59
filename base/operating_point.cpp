// The JSON form of an OperatingPoint; what is unknown is null.
// How a point is reached is not here: see ModeRequest.
#include "base/operating_point.h"

#include "base/json.h"
#include "base/limits.h"

namespace ridgeline {

Json to_json(const OperatingPoint& point) {
  return {{"label", point.label},
          {"gpu_units", nullable(point.gpu_units)},
          {"gpu_hz", nullable(point.gpu_hz)},
          {"memory_hz", nullable(point.memory_hz)},
          {"cpu_hz", Json(point.cpu_hz)},
          {"cpu_cores", nullable(point.cpu_cores)},
          {"cap_w", nullable(point.cap_w)}};
}

OperatingPoint operating_point_from_json(const JsonCursor& cursor) {
  OperatingPoint point;
  point.label = cursor.at("label").text();
  point.gpu_units = optional_units(cursor, "gpu_units");
  point.gpu_hz = optional_bounded(cursor, "gpu_hz", max_clock_hz);
  point.memory_hz = optional_bounded(cursor, "memory_hz", max_clock_hz);
  if (const auto clusters = cursor.find("cpu_hz"))
    for (const JsonCursor& cluster : clusters->items())
      point.cpu_hz.push_back(bounded(cluster, max_clock_hz));
  point.cpu_cores = optional_units(cursor, "cpu_cores");
  point.cap_w = optional_bounded(cursor, "cap_w", max_power_w);
  return point;
}

}  // namespace ridgeline
