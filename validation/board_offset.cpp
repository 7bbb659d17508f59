// A median, so that one outlier in a power log does not move all other rows.
#include "validation/board_offset.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/statistics.h"

namespace ridgeline {
namespace {

// The estimate for this rig replaces the priors for any rig.
constexpr std::string_view board_parameter = "board_offset_w", wall_parameter = "wall_offset_w";

void set_independent(MachineModel& model, std::string_view name, double mean, double sigma) {
  const auto index = find_parameter(model, name);
  if (!index) return;
  const std::size_t n = model.parameters.size();
  model.parameters[*index].mean = mean;
  model.parameters[*index].source = Source::fitted;
  for (std::size_t i = 0; i < n; ++i)
    model.covariance[*index * n + i] = model.covariance[i * n + *index] = 0;
  model.covariance[*index * n + *index] = sigma * sigma;
}

}  // namespace

bool needs_board_offset(const Observation& row) {
  return row.power_w && row.conditions.power_kind != PowerKind::board;
}

EstimatedOffset estimate_board_offset(const MachineModel& model, Observations probes,
                                      const Predictor& predictor) {
  const MachineModel bare = with_board_offset(model, {});
  std::vector<double> above;
  for (const Observation* row : probes) {
    if (!needs_board_offset(*row)) continue;
    const Forecast forecast = predictor.forecast(bare, *row, Detail::value);
    if (forecast.power_w) above.push_back(*row->power_w - forecast.power_w->value);
  }
  if (above.empty()) return {};
  // Of a normal sample: σ = 1.4826 MAD, and the median's own error is 1.2533 σ/√n.
  const double sigma = 1.2533 * 1.4826 * median_absolute_deviation(above) /
                       std::sqrt(static_cast<double>(above.size()));
  return {median(above), sigma, static_cast<int>(above.size())};
}

MachineModel with_board_offset(MachineModel model, const EstimatedOffset& offset) {
  set_independent(model, board_parameter, offset.power_w, offset.sigma_w);
  set_independent(model, wall_parameter, 0, 0);
  return model;
}

bool is_of_rig(const Parameter& parameter) {
  return parameter.name == board_parameter || parameter.name == wall_parameter ||
         parameter.name == "wall_loss_share";
}

}  // namespace ridgeline
