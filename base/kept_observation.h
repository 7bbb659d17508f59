// KeptObservation: a measured run of a network beside the model that was fitted to it, as a record
// from which the fit can be repeated. The fit itself reads roofline's Observation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/json_fwd.h"
#include "base/operating_point.h"
#include "base/runtime.h"
#include "base/tokens.h"

namespace ridgeline {

struct KeptObservation {
  std::string network;  // name of a workload, or path of a file as it was given
  std::string options;  // of the network: "seq=128;attention=eager"; may be empty
  std::int64_t batch = 1;
  DType dtype = DType::fp32;
  Runtime runtime = Runtime::ideal;
  std::string task;  // "inference"
  OperatingPoint point;
  bool locked = true;
  double time_s = 0;
  std::optional<double> power_w;
  std::string power_kind;  // where power was read: "module"; empty where it was not
  std::string refused;     // why the fit left it out; empty where it counts

  friend bool operator==(const KeptObservation&, const KeptObservation&) = default;
};

Json to_json(const KeptObservation& observation);
KeptObservation kept_observation_from_json(const JsonCursor& cursor);

}  // namespace ridgeline
