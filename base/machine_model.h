// MachineModel: what is believed about a machine, as named parameters with their uncertainty.
// A catalog entry is one and a fit returns one, with what was believed before and what was
// measured; what the parameters mean is known in roofline/.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/observation.h"
#include "base/tokens.h"

namespace ridgeline {

// What was believed of a parameter before it was fitted.
struct PriorBelief {
  double mean = 0;
  double sigma = 0;
  Source source = Source::assumed;

  friend bool operator==(const PriorBelief&, const PriorBelief&) = default;
};

struct Parameter {
  std::string name;  // carries the unit: "gpu_launch_s"
  double mean = 0;
  Source source = Source::assumed;
  std::optional<PriorBelief> prior{};  // absent where the parameter was not fitted

  friend bool operator==(const Parameter&, const Parameter&) = default;
};

struct MachineModel {
  static constexpr std::string_view schema = "ridgeline.machine_model/1";
  std::string device;
  std::vector<Parameter> parameters;        // names are unique
  std::vector<double> covariance;           // row by row, in the order of the parameters
  std::vector<Observation> observations{};  // that the fit was given

  friend bool operator==(const MachineModel&, const MachineModel&) = default;
};

// Index of a parameter, for its mean and its row of the covariance.
std::optional<std::size_t> find_parameter(const MachineModel& model, std::string_view name);
// Mean of a parameter that must be there; an Error names the device and the parameter.
double mean_of(const MachineModel& model, std::string_view name);
// One sigma of the parameter with this index: the root of its variance.
double sigma_of(const MachineModel& model, std::size_t index);
// Sets a parameter, independent of the others; without sigma it is a fact. Adds it where it is not
// there yet.
void set_parameter(MachineModel& model, Parameter parameter, double sigma = 0);
// What was believed before any fit, without observations: a second fit starts from here.
MachineModel before_fit(const MachineModel& model);

Json to_json(const MachineModel& model);
MachineModel machine_model_from_json(const JsonCursor& cursor);  // covariance is checked

}  // namespace ridgeline
