// Levenberg-Marquardt in the logarithms of the parameters, with the prior as further residuals.
// The posterior's covariance is the inverse of the curvature at the solution.
#include "roofline/model/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "base/parameters.h"
#include "roofline/model/coefficients.h"
#include "roofline/model/draws.h"
#include "roofline/model/linear_algebra.h"
#include "roofline/model/step.h"

namespace ridgeline {
namespace {

constexpr int most_rounds = 30;
constexpr double difference = 1e-4;   // of a parameter, for its derivative
constexpr double good_enough = 1e-5;  // relative gain of a round
constexpr double robust_from = 1.5;   // sigmas: larger residuals count linearly, not squared
constexpr double outlier_sigmas = 6;  // of a measurement, in units of the prior's own spread

// A measured run with its network in the model's form.
struct Run {
  const Observation& measured;
  const NetworkLoad& load;
};

// The free parameters of a model, in coordinates where the prior is normal.
class Space {
 public:
  Space(const MachineModel& prior, bool one_network) : prior_(prior) {
    const std::size_t n = prior.parameters.size();
    for (std::size_t i = 0; i < n; ++i) {
      if (prior.covariance[i * n + i] <= 0) continue;
      if (!one_network && is_of_network(prior.parameters[i])) continue;
      free_.push_back(i);
      logarithmic_.push_back(is_log_normal(prior.parameters[i]));
    }
    Matrix covariance(size(), size());
    for (std::size_t i = 0; i < size(); ++i)
      for (std::size_t j = 0; j < size(); ++j)
        covariance(i, j) = prior.covariance[index(i) * n + index(j)] / (scale(i) * scale(j));
    precision_ = inverse_symmetric(covariance);
  }

  std::size_t size() const { return free_.size(); }
  std::size_t index(std::size_t i) const { return free_[i]; }
  bool logarithmic(std::size_t i) const { return logarithmic_[i]; }
  double scale(std::size_t i) const {
    return logarithmic(i) ? prior_.parameters[index(i)].mean : 1;
  }
  const Matrix& precision() const { return precision_; }

  std::vector<double> values(const Vector& x) const {
    std::vector<double> values;
    for (const Parameter& parameter : prior_.parameters) values.push_back(parameter.mean);
    for (std::size_t i = 0; i < size(); ++i) {
      double& value = values[index(i)];
      value = logarithmic(i) ? value * std::exp(x[i]) : value + x[i];
    }
    return values;
  }

 private:
  const MachineModel& prior_;
  std::vector<std::size_t> free_;
  std::vector<bool> logarithmic_;  // of these
  Matrix precision_;
};

// The same network in any batch size.
bool of_one_network(const std::vector<Run>& runs) {
  const Observation& first = runs.front().measured;
  return std::all_of(runs.begin(), runs.end(), [&](const Run& run) {
    return run.measured.network == first.network && run.measured.options == first.options;
  });
}

class Problem {
 public:
  Problem(const MachineModel& prior, const std::vector<Run>& runs, const FitOptions& options)
      : names_(prior), space_(prior, of_one_network(runs)), runs_(runs), options_(options) {}

  const Space& space() const { return space_; }

  // Logarithms of predicted over measured, in sigmas: first times, then the known powers.
  Vector residuals(const Vector& x) const {
    const std::vector<double> values = space_.values(x);
    std::map<Runtime, Coefficients> by_runtime;
    std::vector<double> times, powers;
    for (const auto& [measured, load] : runs_) {
      const Runtime runtime = measured.conditions.runtime;
      auto found = by_runtime.find(runtime);
      if (found == by_runtime.end())
        found = by_runtime.emplace(runtime, coefficients(names_, values, runtime)).first;
      const Step step = StepModel(load, found->second).at(measured.conditions, false);
      const double noise = std::hypot(options_.time_noise, found->second.time_error, peculiarity_);
      times.push_back(std::log(step.time_s / measured.time_s) / noise);
      if (measured.power_w && step.power_w)
        powers.push_back(std::log(*step.power_w / *measured.power_w) / options_.power_noise);
    }
    times.insert(times.end(), powers.begin(), powers.end());
    return times;
  }

  static double weight(double residual) {
    const double size = std::abs(residual);
    return size <= robust_from ? 1 : robust_from / size;
  }

  double cost(const Vector& residuals, const Vector& x) const {
    double sum = dot(x, product(space_.precision(), x));
    for (const double residual : residuals) {
      const double size = std::abs(residual);
      sum += size <= robust_from ? size * size : robust_from * (2 * size - robust_from);
    }
    return sum;
  }

  Matrix slopes(const Vector& x, const Vector& at) const {
    Matrix jacobian(at.size(), x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      Vector moved = x;
      moved[i] += difference;
      const Vector there = residuals(moved);
      for (std::size_t r = 0; r < at.size(); ++r) jacobian(r, i) = (there[r] - at[r]) / difference;
    }
    return jacobian;
  }

 private:
  ParameterIndex names_;
  Space space_;
  const std::vector<Run>& runs_;
  FitOptions options_;
  // With several networks, what is peculiar to one is noise for the others.
  double peculiarity_ = of_one_network(runs_) ? 0 : 0.1;
};

struct Solution {
  Vector x;
  Matrix covariance;
};

Solution solve(const Problem& problem) {
  const std::size_t size = problem.space().size();
  Vector x(size, 0.0);
  Vector residuals = problem.residuals(x);
  double cost = problem.cost(residuals, x);
  double damping = 1e-2;
  Matrix curvature;
  for (int round = 0; round < most_rounds; ++round) {
    const Matrix jacobian = problem.slopes(x, residuals);
    Vector weights, weighted;
    for (const double residual : residuals) {
      weights.push_back(Problem::weight(residual));
      weighted.push_back(weights.back() * residual);
    }
    curvature = weighted_gram(jacobian, weights);
    const Matrix& precision = problem.space().precision();
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j < size; ++j) curvature(i, j) += precision(i, j);
    Vector slope = transposed_product(jacobian, weighted);
    const Vector pull = product(precision, x);  // of the prior
    for (std::size_t i = 0; i < size; ++i) slope[i] += pull[i];
    bool better = false;
    double gain = 0;
    for (int attempt = 0; attempt < 8 && !better; ++attempt) {
      Matrix damped = curvature;
      for (std::size_t i = 0; i < size; ++i) damped(i, i) *= 1 + damping;
      const Vector stride = solve_symmetric(damped, slope);
      Vector next = x;
      for (std::size_t i = 0; i < size; ++i) next[i] -= stride[i];
      const Vector next_residuals = problem.residuals(next);
      const double next_cost = problem.cost(next_residuals, next);
      if (next_cost < cost) {
        better = true;
        gain = (cost - next_cost) / cost;
        x = next;
        residuals = next_residuals;
        cost = next_cost;
        damping = std::max(1e-6, damping / 5);
      } else {
        damping *= 5;
      }
    }
    if (!better || gain < good_enough) break;
  }
  return {x, inverse_symmetric(curvature)};
}

MachineModel posterior(const MachineModel& prior, const Space& space, const Solution& solution) {
  MachineModel model = prior;
  const std::size_t n = model.parameters.size();
  const std::vector<double> values = space.values(solution.x);
  constexpr double moved = 0.02;  // a smaller change is still the prior, not a fit
  for (std::size_t i = 0; i < n; ++i) {
    const double change = std::abs(values[i] - model.parameters[i].mean);
    if (change > moved * std::abs(model.parameters[i].mean)) {
      model.parameters[i].source = Source::fitted;
    }
    model.parameters[i].mean = values[i];
  }
  const auto scale = [&](std::size_t i) {
    return space.logarithmic(i) ? values[space.index(i)] : 1.0;
  };
  for (std::size_t i = 0; i < space.size(); ++i)
    for (std::size_t j = 0; j < space.size(); ++j) {
      const double value = (solution.covariance(i, j) + solution.covariance(j, i)) / 2;
      model.covariance[space.index(i) * n + space.index(j)] = value * scale(i) * scale(j);
    }
  return model;
}

// Rejects a measurement that the prior rules out: fitting it would distort the model.
std::optional<std::string> refusal(const MachineModel& prior, const Run& run,
                                   const FitOptions& options) {
  const Observation& measured = run.measured;
  if (!(measured.time_s > 0)) return "its time is not positive";
  const Coefficients means = coefficients(prior, measured.conditions.runtime);
  const Step step = StepModel(run.load, means).at(measured.conditions, false);
  const double log_time = std::log(measured.time_s / step.time_s);
  const double spread = std::hypot(std::max(means.time_error, 0.2), options.time_noise);
  if (std::abs(log_time) > outlier_sigmas * spread)
    return fmt::format(
        "its time is {:.3g} times what the model expects ({:.3g} s): not the same "
        "network, unit or mode",
        measured.time_s / step.time_s, step.time_s);
  if (measured.power_w && step.power_w) {
    const double log_power = std::log(*measured.power_w / *step.power_w);
    if (std::abs(log_power) > outlier_sigmas * std::max(means.power_error, 0.15))
      return fmt::format("its power is {:.3g} times what the model expects ({:.3g} W)",
                         *measured.power_w / *step.power_w, *step.power_w);
  }
  return std::nullopt;
}

// Two runs of one network that take the same time at different GPU clocks are bound by the host.
void note_host_bound(const std::vector<Run>& runs, std::vector<std::string>& notes) {
  for (const auto& [a, a_load] : runs)
    for (const auto& [b, b_load] : runs) {
      const auto &a_hz = a.conditions.point.gpu_hz, &b_hz = b.conditions.point.gpu_hz;
      if (&a == &b || &a_load != &b_load || !a_hz || !b_hz) continue;
      const double clocks = *b_hz / *a_hz;
      if (clocks < 1.2) continue;
      const double times = a.time_s / b.time_s;
      if (times < 1.05) {
        notes.push_back(fmt::format(
            "{} and {}: the GPU clock changes {:.2f}-fold and the time {:.2f}-fold: bound by the "
            "host, not by the GPU",
            describe(a), describe(b), clocks, times));
        return;
      }
    }
}

}  // namespace

bool is_of_network(const Parameter& parameter) {
  return parameter_row(parameter.name, "fit").scope == Scope::network;
}

FitResult fit(const MachineModel& prior, std::span<const Observation> observations,
              std::span<const NetworkLoad* const> loads, const FitOptions& options) {
  FitResult result;
  std::vector<Run> used;
  for (std::size_t i = 0; i < observations.size(); ++i) {
    const Run run{observations[i], *loads[i]};
    std::optional<std::string> reason;
    if (options.refuse_outliers) reason = refusal(prior, run, options);
    if (reason)
      result.refused.emplace(i, *reason);
    else
      used.push_back(run);
  }
  result.model = prior;
  if (used.empty()) return result;
  note_host_bound(used, result.notes);
  const Problem problem(prior, used, options);
  if (problem.space().size() == 0) return result;
  result.model = posterior(prior, problem.space(), solve(problem));
  return result;
}

}  // namespace ridgeline
