// MachineModel: what is believed about a machine, as named parameters with their uncertainty.
// A catalog entry is one and a fit returns one, with what was believed before and what was
// measured. Which parameters there are is declared in base/parameters.h.
#pragma once

#include <cmath>
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
struct PriorValue {
  double mean = 0;
  double sigma = 0;
  Source source = Source::assumed;

  friend bool operator==(const PriorValue&, const PriorValue&) = default;
};

struct Parameter {
  std::string name;  // of base/parameters.h
  double mean = 0;
  Source source = Source::assumed;
  std::optional<PriorValue> prior{};  // absent where the parameter was not fitted

  friend bool operator==(const Parameter&, const Parameter&) = default;
};

// What a fit learned about one network alone: how far its kernels and its host work are from the
// formulas. No other network is predicted with it.
struct NetworkScales {
  std::string network, options;  // as in an Observation
  Task task = Task::inference;
  Runtime runtime = Runtime::ideal;
  std::vector<Parameter> scales;   // of Scope::network, named for the runtime
  std::vector<double> covariance;  // of the scales, row by row
  // Of each scale with the model's parameters, row by row. Parameters that were added to the model
  // later are independent of the scales.
  std::vector<std::vector<double>> with_parameters;

  friend bool operator==(const NetworkScales&, const NetworkScales&) = default;
};

// How a fit to few networks holds for others. A machine does not treat all networks alike: part of
// a parameter's variance is between networks, so others take over only a share of what the rows of
// one network moved, and keep a part of the prior's variance. Energies belong to the chips: what
// the rows moved is passed on in full.
struct Transfer {
  double share = 1;           // of the change of the logarithm
  double prior_variance = 0;  // share of the prior's variance that is added
  // The same of an energy; without it (in older files) energies are treated as all else.
  std::optional<double> energy_prior_variance{};

  friend bool operator==(const Transfer&, const Transfer&) = default;
};

// Of what a fit says of an energy's spread, so that one without rows keeps its prior.
inline double energy_spread_share(double prior_variance) { return std::sqrt(1 - prior_variance); }

// Its parameters hold for networks that were not measured; as_fitted() has those of the rows.
struct MachineModel {
  static constexpr std::string_view schema = "ridgeline.machine_model/1";
  std::string device;
  std::vector<Parameter> parameters;        // names are unique
  std::vector<double> covariance;           // row by row, in the order of the parameters
  std::vector<Observation> observations{};  // that the fit was given
  std::vector<NetworkScales> networks{};    // one for each network that the fit was given
  Transfer transfer{};

  friend bool operator==(const MachineModel&, const MachineModel&) = default;
};

// Index of a parameter, for its mean and its row of the covariance. An Error where no model can
// have a parameter of that name.
std::optional<std::size_t> find_parameter(const MachineModel& model, std::string_view name);
// Mean of a parameter that must be there; an Error names the device and the parameter.
double mean_of(const MachineModel& model, std::string_view name);
// One sigma of the parameter with this index: the root of its variance.
double sigma_of(const MachineModel& model, std::size_t index);
// The same of a network's scale.
double sigma_of_scale(const NetworkScales& own, std::size_t index);
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
// The parameters that explain the rows of the fit best, before they were transferred to other
// networks.
MachineModel as_fitted(const MachineModel& model);
// The model to predict one network with. If the model was fitted to this network, with this task
// and runtime, its own scales take the place of the prior that holds for all others.
MachineModel for_network(const MachineModel& model, const std::string& network,
                         const std::string& options, Task task, Runtime runtime);
MachineModel for_network(const MachineModel& model, const Observation& run);

Json to_json(const MachineModel& model);
// Names and covariance are checked.
MachineModel machine_model_from_json(const JsonCursor& cursor);

}  // namespace ridgeline
