// OperatingPoint: what the machine does in a mode, as a clock vector.
// The vector is the identity; the label is only a name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"

namespace ridgeline {

struct OperatingPoint {
  std::string label;                // "30W", "MAXN"; "as found" if no mode was set
  std::optional<int> gpu_units;     // streaming multiprocessors switched on
  std::optional<double> gpu_hz;     //
  std::optional<double> memory_hz;  //
  std::vector<double> cpu_hz;       // per cluster; empty where unknown
  std::optional<int> cpu_cores;     //
  std::optional<double> cap_w;      // power cap

  friend bool operator==(const OperatingPoint&, const OperatingPoint&) = default;
};

Json to_json(const OperatingPoint& point);
OperatingPoint operating_point_from_json(const JsonCursor& cursor);

}  // namespace ridgeline
