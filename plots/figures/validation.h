// Predicted against measured times → Figure: one mark per row, the diagonal, and a band of ±20 %.
// No drawing: that is done in plots/renderers.
#pragma once

#include <string>
#include <vector>

#include "base/estimate.h"
#include "plots/figure.h"

namespace ridgeline {

struct ValidationPoint {
  std::string series;  // rows of one name share colour and mark
  double measured_s = 0;
  Estimate predicted_s;
};

// `caption` says where the rows come from; `mape` is a fraction.
Figure validation_figure(const std::vector<ValidationPoint>& points, double mape,
                         const std::string& caption);

}  // namespace ridgeline
