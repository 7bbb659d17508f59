// Cross-validation: the models that may predict a row when other rows are held out. A model is the
// prior itself, or one refitted without the network, or the device, that is scored.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "validation/predictor.h"

namespace ridgeline {

// The prior of each machine of a table, computed once.
class MachinePriors {
 public:
  explicit MachinePriors(const Predictor& predictor) : predictor_(predictor) {}

  // Valid as long as this object. An Error says why there is none.
  const MachineModel& of(const Observation& row);

 private:
  const Predictor& predictor_;
  std::map<std::string, MachineModel> priors_;  // by machine_key()
};

class Folds {
 public:
  // `held_out` is "", "model" or "device".
  Folds(std::span<const Observation> rows, MachinePriors& priors, const Predictor& predictor,
        std::string held_out)
      : rows_(rows), priors_(priors), predictor_(predictor), held_out_(std::move(held_out)) {}

  // The model that may predict this row. An Error says why there is none.
  const MachineModel& model_for(const Observation& row);

  // Rows of one fold share a model.
  std::string fold_name(const Observation& row) const;
  int fits() const { return fits_; }

 private:
  MachineModel refit_without_device(const Observation& row);
  // To the rows of the same machine, without those of one network.
  MachineModel refit_without_network(const Observation& row, const std::string& network);
  // The same before uncertainty is limited to that of the prior.
  const MachineModel& wide_fit(const Observation& row, const std::string& without);
  // Parameters that a refit leaves as the prior has them: those that no row of the machine depends
  // on, and what a rig adds, since the rows of a table come from many rigs.
  const std::vector<bool>& untaught_parameters(const std::string& machine,
                                               const MachineModel& model);

  std::span<const Observation> rows_;
  MachinePriors& priors_;
  const Predictor& predictor_;
  std::string held_out_;
  std::map<std::string, MachineModel> models_;    // by name of the fold
  std::map<std::string, MachineModel> teachers_;  // machines, fitted to all their rows
  std::map<std::string, std::vector<bool>> untaught_;
  std::map<std::pair<std::string, std::string>, MachineModel> wide_fits_;  // by machine and network
  int fits_ = 0;
};

}  // namespace ridgeline
