// ExplanationDiff: two networks explained on one machine, layer beside layer: where time and energy
// are saved or added. Compares explanations; predicts nothing itself.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "roofline/explain/explanation.h"

namespace ridgeline {

// A layer of either network, or of both. Overheads are rows too, so that the rows add up.
struct LayerDifference {
  std::optional<ExplainedLayer> before, after;

  const std::string& name() const { return after ? after->name : before->name; }
  double time_s() const;  // after less before
  std::optional<double> energy_j() const;
};

struct ExplanationDiff {
  static constexpr std::string_view schema = "ridgeline.explanation_diff/1";
  Explanation before, after;
  std::vector<LayerDifference> layers;  // the largest difference in time first
};

// Layers match by name, then, in execution order, by what they compute and move. Both explanations
// must be of one machine, point and runtime.
ExplanationDiff diff(Explanation before, Explanation after);

// "b.onnx: 28 % less time and 31 % less energy per sample than a.onnx (predicted)".
std::string verdict(const ExplanationDiff& difference);

Json to_json(const ExplanationDiff& difference);
std::string to_csv(const ExplanationDiff& difference);

}  // namespace ridgeline
