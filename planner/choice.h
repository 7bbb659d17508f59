// Choice: the best row of a sweep that keeps the limits with the probability that was asked for,
// and the ones behind it. Ties go to the lower clocks.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "planner/belief.h"
#include "planner/objective.h"
#include "planner/sweep.h"

namespace ridgeline {

struct Choice {
  std::size_t row = 0;
  double score = 0;        // what is least: of the objective's goal
  double probability = 1;  // that all limits hold
};

class Chooser {
 public:
  Chooser(const PlanProblem& problem, const Sweep& sweep, Belief& belief, Reach reach);

  // The best first; further ones differ from all before them so much that a person would tell them
  // apart. Empty where nothing keeps the limits.
  std::vector<Choice> best(const Objective& objective, std::size_t count = 1);

  // The row that keeps the limits with the least of what a limit of that kind bounds.
  std::optional<Choice> least(LimitKind kind, const Objective& objective);

  // Whether a row keeps every limit at the means, and with its probability.
  bool holds_at_means(std::size_t row, const Objective& objective) const;
  bool holds(std::size_t row, const Objective& objective);

  // Whether a person would tell two rows apart, by their clocks and by what they cost.
  bool is_near(std::size_t a, std::size_t b) const;

  const PlanProblem& problem() const { return problem_; }
  const Sweep& swept() const { return sweep_; }
  Belief& belief() { return belief_; }

 private:
  struct Ranked {
    long long step = 0;  // of the score: ties within a millionth
    std::size_t row = 0;
    double score = 0;
  };

  using Score = std::function<double(std::size_t row, const Service& service)>;

  std::vector<Choice> search(const Objective& objective, std::size_t count, const Score& score);
  std::vector<Ranked> feasible(const Objective& objective, const Score& score) const;
  bool keeps(std::size_t row, const Service& service, const Objective& objective) const;
  bool is_behind(const Ranked& a, const Ranked& b) const;
  std::vector<double> spreads(const std::vector<Ranked>& ranked, const Objective& objective);
  bool may_hold(std::size_t row, const Objective& objective, const std::vector<double>& spreads,
                double trust) const;

  const PlanProblem& problem_;
  const Sweep& sweep_;
  Belief& belief_;
  Reach reach_;
};

}  // namespace ridgeline
