// MachineModel: what is believed about a machine, as named parameters with their uncertainty.
// A catalog entry is one and a fit returns one, with what was believed before and what was
// measured. Which parameters there are is declared in base/parameters.h.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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
  std::string name;  // of base/parameters.h
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

// Index of a parameter, for its mean and its row of the covariance. An Error where no model can
// have a parameter of that name.
std::optional<std::size_t> find_parameter(const MachineModel& model, std::string_view name);
// Mean of a parameter that must be there; an Error names the device and the parameter.
double mean_of(const MachineModel& model, std::string_view name);
// One sigma of the parameter with this index: the root of its variance.
double sigma_of(const MachineModel& model, std::size_t index);
// Parameters that are independent of each other, added to those that a model has already.
class ParameterCollector {
 public:
  explicit ParameterCollector(std::string device) { model_.device = std::move(device); }
  explicit ParameterCollector(MachineModel model) : model_(std::move(model)) {}

  // An Error where the name is not declared, or where a fact has a sigma.
  void add(Parameter parameter, double sigma = 0);
  bool has(std::string_view name) const;
  MachineModel take();

 private:
  MachineModel model_;
  std::vector<double> sigmas_;  // of what was added
};

// Sets a parameter, independent of the others; without sigma it is a fact. Adds it where it is not
// there yet.
void set_parameter(MachineModel& model, Parameter parameter, double sigma = 0);
// What was believed before any fit, without observations: a second fit starts from here.
MachineModel before_fit(const MachineModel& model);

Json to_json(const MachineModel& model);
// Names and covariance are checked.
MachineModel machine_model_from_json(const JsonCursor& cursor);

}  // namespace ridgeline
