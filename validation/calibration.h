// Calibration: the model of a machine, corrected by a few measured runs on it. Rows that cannot be
// true are refused with the reason; the model keeps its prior and the runs.
#pragma once

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/machine_model.h"
#include "validation/predictor.h"

namespace ridgeline {

// A parameter that the measurements changed.
struct MovedParameter {
  std::string name;
  PriorValue before;
  double mean = 0;
  double sigma = 0;
  Source source = Source::fitted;

  // How far the mean moved, in sigmas of the prior; 0 if the prior was a fact.
  double sigmas() const;
};

struct Calibration {
  MachineModel model;
  int used = 0;                       // rows that count, those of earlier calibrations included
  std::vector<MovedParameter> moved;  // the farthest first, in sigmas of the prior
  std::vector<Observation> refused;   // each says why
  std::vector<std::string> notes;
};

// `model` may have been calibrated before: then the fit starts again from its prior, with its own
// observations and the new rows. An Error if no row is left to fit.
Calibration calibrate(const MachineModel& model, const std::vector<Observation>& rows,
                      const Predictor& predictor);

// With a profile, whose measured rates replace those of the prior.
Calibration calibrate(const MachineModel& model, const MachineModel& profiled);

Json to_json(const Calibration& calibration);

}  // namespace ridgeline
