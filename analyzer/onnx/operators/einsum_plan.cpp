// The cheapest order of pairwise contractions, by trying all of them where they are few.
// Costs are doubles: a path that would overflow is only more expensive here.
#include "analyzer/onnx/operators/einsum_plan.h"

#include <limits>

namespace ridgeline::onnx {
namespace {

constexpr std::size_t max_exhaustive = 6;  // 2,700 orders; with seven it would be 56,700

struct PathPlan {
  double cost = 0;
  std::vector<Contraction> steps;
};

double cost_of(const Labels& labels, const Shape& sizes) {
  double cost = 1;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (labels[i]) cost *= static_cast<double>(sizes[i]);
  return cost;
}

// The operands without those at i and j (i < j), and with their product at the end.
std::vector<Labels> contracted(const std::vector<Labels>& operands, std::size_t i, std::size_t j,
                               const Labels& output, Contraction& step) {
  Labels elsewhere = output;
  std::vector<Labels> rest;
  for (std::size_t other = 0; other < operands.size(); ++other)
    if (other != i && other != j) {
      rest.push_back(operands[other]);
      elsewhere |= operands[other];
    }
  step = {operands[i], operands[j], (operands[i] | operands[j]) & elsewhere};
  rest.push_back(step.kept);
  return rest;
}

PathPlan best_plan(const std::vector<Labels>& operands, const Labels& output, const Shape& sizes) {
  PathPlan best;
  if (operands.size() < 2) return best;
  best.cost = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < operands.size(); ++i)
    for (std::size_t j = i + 1; j < operands.size(); ++j) {
      Contraction step;
      const std::vector<Labels> rest = contracted(operands, i, j, output, step);
      PathPlan plan = best_plan(rest, output, sizes);
      plan.cost += cost_of(step.left | step.right, sizes);
      if (plan.cost >= best.cost) continue;
      plan.steps.insert(plan.steps.begin(), step);
      best = std::move(plan);
    }
  return best;
}

}  // namespace

std::vector<Contraction> plan_contractions(const std::vector<Labels>& operands,
                                           const Labels& output, const Shape& sizes) {
  std::vector<Contraction> steps;
  std::vector<Labels> left = operands;
  while (left.size() > max_exhaustive) {
    std::size_t best_i = 0, best_j = 1;
    double best_cost = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < left.size(); ++i)
      for (std::size_t j = i + 1; j < left.size(); ++j)
        if (const double cost = cost_of(left[i] | left[j], sizes); cost < best_cost) {
          best_cost = cost;
          best_i = i;
          best_j = j;
        }
    Contraction step;
    left = contracted(left, best_i, best_j, output, step);
    steps.push_back(step);
  }
  const PathPlan rest = best_plan(left, output, sizes);
  steps.insert(steps.end(), rest.steps.begin(), rest.steps.end());
  return steps;
}

}  // namespace ridgeline::onnx
