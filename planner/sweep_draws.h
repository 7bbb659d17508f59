// SweepDraws: how uncertain the rows of a sweep are, as draws of the model's parameters. Draws are
// expensive, so a row is drawn when it is first needed; one draw is the same machine in every row.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "base/estimate.h"
#include "planner/goal.h"
#include "planner/sweep.h"
#include "roofline/model/draws.h"

namespace ridgeline {

class SweepDraws {
 public:
  // Without draws every probability is 0 or 1. `trained`: as many draws, with the same parameters,
  // for the runtime that trains beside inference.
  SweepDraws(const PlanProblem& problem, const Sweep& sweep, std::span<const CoefficientDraw> draws,
             std::span<const CoefficientDraw> trained = {});

  std::size_t count() const { return draws_.size(); }

  // Draws these rows at once, on two threads if there are enough of them.
  void draw(std::span<const std::size_t> rows);

  // Per draw; draws the row if needed.
  const std::vector<BatchCost>& costs(std::size_t row);
  std::vector<Service> services(std::size_t row, const Objective& objective);

  // The quantity that a limit bounds, per draw; without draws its value at the means.
  std::vector<double> limited_values(std::size_t row, LimitKind kind, const Objective& objective);

  // Whether all limits hold, per draw; without draws at the means.
  std::vector<bool> limits_hold(std::size_t row, const Objective& objective);

  // Share of the draws in which one limit holds; in which all limits hold.
  double probability(std::size_t row, const Limit& limit, const Objective& objective);
  double probability(std::size_t row, const Objective& objective);

  // A quantity of the service: its value at the means with the interval of the draws. Draws in
  // which work piles up are left out.
  Estimate estimate(std::size_t row, const Objective& objective,
                    const std::function<double(const Service&)>& quantity);

 private:
  double fetch_scale(std::size_t draw) const;
  void draw_part(std::span<const std::size_t> rows, std::size_t begin, std::size_t end);
  void add_trained(std::span<const std::size_t> rows, std::size_t draw);
  void centre(std::size_t row);
  double slowdown(std::size_t row, std::size_t draw);

  const PlanProblem& problem_;
  const Sweep& sweep_;
  std::span<const CoefficientDraw> draws_, trained_;
  std::map<std::size_t, std::vector<BatchCost>> costs_;
};

}  // namespace ridgeline
