// MachineModel: what is believed about a machine, as named parameters with their uncertainty.
// A catalog entry is one and a fit returns one; what the parameters mean is known in roofline/.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/tokens.h"

namespace ridgeline {

struct Parameter {
  std::string name;  // carries the unit: "gpu_launch_s"
  double mean = 0;
  Source source = Source::assumed;

  friend bool operator==(const Parameter&, const Parameter&) = default;
};

struct MachineModel {
  static constexpr std::string_view schema = "ridgeline.machine_model/1";
  std::string device;
  std::vector<Parameter> parameters;  // names are unique
  std::vector<double> covariance;     // row by row, in the order of the parameters

  friend bool operator==(const MachineModel&, const MachineModel&) = default;
};

// Index of a parameter, for its mean and its row of the covariance.
std::optional<std::size_t> find_parameter(const MachineModel& model, std::string_view name);
// Mean of a parameter that must be there; an Error names the device and the parameter.
double mean_of(const MachineModel& model, std::string_view name);

Json to_json(const MachineModel& model);
MachineModel machine_model_from_json(const JsonCursor& cursor);  // covariance is checked

}  // namespace ridgeline
