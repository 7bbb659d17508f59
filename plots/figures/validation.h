// Predicted against measured times, powers and energies → Figure: one mark per row with its
// interval, the diagonal, and a band of ±20 %. No drawing: that is done in plots/renderers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/estimate.h"
#include "plots/figure.h"

namespace ridgeline {

struct MeasuredPair {
  double measured = 0;
  Estimate predicted;
};

struct ValidationPoint {
  std::string series;  // rows of one name share colour and mark
  MeasuredPair time_s;
  std::optional<MeasuredPair> power_w = {}, energy_j = {};  // absent where power was not measured
};

// `caption` says where the rows come from; `mape` is that of the times, a fraction. One panel, or
// three where there are powers.
Figure validation_figure(const std::vector<ValidationPoint>& points, double mape,
                         const std::string& caption);

}  // namespace ridgeline
