// What is believed of a device when rows are held out: the prior itself, or one that was refitted
// to every row but those of the net, or of the device, that is scored.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "validation/run.h"

namespace ridgeline {

class Folds {
 public:
  Folds(std::span<const Observation> rows, const Predictor& predictor, const std::string& held_out)
      : rows_(rows), predictor_(predictor), held_out_(held_out) {}

  // The model that may predict this row. An Error says why there is none.
  const MachineModel& model_for(const Observation& row);

  // Rows with equal names share a model.
  std::string name_of_fold(const Observation& row) const;
  int fits() const { return fits_; }

 private:
  MachineModel without_device(const Observation& row);
  // Refitted to the rows of its machine, without those of one net.
  MachineModel fitted(const Observation& of, const std::string& without);
  // The same before it is held to what was believed; kept.
  const MachineModel& fit_alone(const Observation& of, const std::string& without);
  // Parameters that no row of the machine depends on: a refit need not try them.
  const std::vector<bool>& idle_parameters(const std::string& machine, const MachineModel& model);

  std::span<const Observation> rows_;
  const Predictor& predictor_;
  std::string held_out_;  // "", "model" or "device"
  std::map<std::string, MachineModel> models_;
  std::map<std::string, MachineModel> teachers_;  // machines, fitted to all their rows
  std::map<std::string, std::vector<bool>> idle_;
  std::map<std::pair<std::string, std::string>, MachineModel> alone_;  // by machine and net
  int fits_ = 0;
};

// The same belief with `factor` times the standard deviations: what rows say then counts.
MachineModel widened(MachineModel model, double factor);

// The same belief with the chosen parameters taken for certain, and with their doubt again.
MachineModel held(MachineModel model, const std::vector<bool>& parameters);
MachineModel released(MachineModel model, const std::vector<bool>& parameters,
                      const MachineModel& believed);

// What the rows did not teach is known no worse than it was believed. But where `all` rows teach a
// parameter and these do not, the belief came from the rows that are held out: then it is doubted.
MachineModel no_wider(MachineModel fitted, const MachineModel& believed, const MachineModel& all);

}  // namespace ridgeline
