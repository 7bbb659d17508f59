// Calibration: what is believed of a machine, corrected by a few measured runs on it.
// Who predicts and fits is handed in (validation/run.h); rows that cannot be true are refused with
// the reason, and the model keeps what was believed before and what was measured.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/machine_model.h"
#include "roofline/model/fit.h"
#include "validation/measurement_table.h"
#include "validation/run.h"

namespace ridgeline {

// A parameter that the measurements changed.
struct MovedParameter {
  std::string name;
  PriorBelief before;
  double mean = 0;
  double sigma = 0;
  Source source = Source::fitted;

  // How far the mean moved, in sigmas of what was believed; 0 where that was taken for a fact.
  double sigmas() const;
};

struct Calibration {
  MachineModel model;
  int used = 0;                       // rows that count, those of earlier calibrations included
  std::vector<MovedParameter> moved;  // the farthest first, in sigmas of the prior
  std::vector<Observation> refused;   // each says why
  std::vector<std::string> notes;
};

// `model` may have been calibrated before: then its own observations count again, and the fit
// starts from what was believed before all of them. An Error where no row is left to fit.
Calibration calibrate(const MachineModel& model, const std::vector<Observation>& rows,
                      const Predictor& predictor);

// The same with a profile, which states rates themselves: they take the place of what was believed.
Calibration calibrate(const MachineModel& model, const MachineModel& profiled);

Json to_json(const Calibration& calibration);
std::string calibration_text(const Calibration& calibration, int width);

}  // namespace ridgeline
