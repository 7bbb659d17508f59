// Choice: the best row of a sweep that keeps the limits with the required probability, and the
// runners-up. Ties go to the lower clocks.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "planner/goal.h"
#include "planner/sweep.h"
#include "planner/sweep_draws.h"

namespace ridgeline {

struct Choice {
  std::size_t row = 0;
  double score = 0;        // the quantity that the goal minimises
  double probability = 1;  // that all limits hold
};

class Chooser {
 public:
  // With Reach::live, modes that need a reboot are not chosen; with `stock_only`, stock modes alone
  // are.
  Chooser(const PlanProblem& problem, const Sweep& sweep, SweepDraws& draws, Reach reach,
          bool stock_only = false);

  // The best first, then the best that are not near any before them. Empty if no row keeps the
  // limits.
  std::vector<Choice> best(const Objective& objective, std::size_t count = 1);

  // The same for users: of modes that take practically the same energy, the fastest comes first.
  std::vector<Choice> settled(const Objective& objective, std::size_t count = 1);

  // The row that keeps the limits with the least value of the quantity that such a limit bounds.
  std::optional<Choice> least(LimitKind kind, const Objective& objective);

  // Whether a row keeps every limit at the means; and also with the required probability.
  bool holds_at_means(std::size_t row, const Objective& objective) const;
  bool holds(std::size_t row, const Objective& objective);

  // Whether two rows are practically the same choice: close clocks, or close time and power.
  bool is_near(std::size_t a, std::size_t b) const;

  // "30W, batch 4, fp16".
  std::string name_of(std::size_t row) const;

  const PlanProblem& problem() const { return problem_; }
  const Sweep& sweep() const { return sweep_; }
  SweepDraws& draws() { return draws_; }

 private:
  std::optional<Choice> faster_than(const Choice& choice, const Objective& objective);

  struct Ranked {
    long long tie = 0;  // equal for scores within a millionth
    std::size_t row = 0;
    double score = 0;
  };

  using Score = std::function<double(std::size_t row, const Service& service)>;

  std::vector<Choice> search(const Objective& objective, std::size_t count, const Score& score);
  std::vector<Ranked> feasible(const Objective& objective, const Score& score) const;
  bool is_eligible(std::size_t row) const;
  bool keeps(std::size_t row, const Service& service, const Objective& objective) const;
  bool is_behind(const Ranked& a, const Ranked& b) const;
  std::vector<double> margins(const std::vector<Ranked>& ranked, const Objective& objective);
  bool may_hold(std::size_t row, const Objective& objective, const std::vector<double>& margins,
                double trust) const;

  const PlanProblem& problem_;
  const Sweep& sweep_;
  SweepDraws& draws_;
  Reach reach_;
  bool stock_only_;
};

}  // namespace ridgeline
