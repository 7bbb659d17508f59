// Levenberg-Marquardt in the logarithms of the parameters, with the prior as further residuals.
// The posterior's covariance is the inverse of the curvature at the solution.
#include "roofline/model/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

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

double robust_weight(double residual) {
  const double size = std::abs(residual);
  return size <= robust_from ? 1 : robust_from / size;
}

double robust_cost(double residual) {
  const double size = std::abs(residual);
  return size <= robust_from ? size * size : robust_from * (2 * size - robust_from);
}

// A measured run with its network in the model's form.
struct Run {
  const Observation& measured;
  const NetworkLoad& load;
};

// What a scale holds for: a network as one runtime executes it, in any batch and type.
bool is_same_network(const Observation& a, const Observation& b) {
  return a.network == b.network && a.options == b.options && a.task == b.task &&
         a.conditions.runtime == b.conditions.runtime;
}

// How far the kernels or the host work of one network are from the formulas: a random effect, with
// the prior that the model has for all networks.
struct Effect {
  std::size_t network = 0;
  bool is_host = false;
  std::string name;  // of the runtime's own parameter
  double mean = 1;
  double sigma = 0;  // of the logarithm
};

// The free parameters of a model and the effects of the networks, in coordinates where the prior is
// normal.
class Space {
 public:
  Space(const MachineModel& prior, const std::vector<Run>& runs) : prior_(prior) {
    const std::size_t n = prior.parameters.size();
    for (std::size_t i = 0; i < n; ++i) {
      if (prior.covariance[i * n + i] <= 0 || is_of_network(prior.parameters[i])) continue;
      free_.push_back(i);
      logarithmic_.push_back(is_log_normal(prior.parameters[i]));
      of_power_.push_back(parameter_row(prior.parameters[i].name, "fit").scope == Scope::power);
    }
    Matrix covariance(parameters(), parameters());
    for (std::size_t i = 0; i < parameters(); ++i)
      for (std::size_t j = 0; j < parameters(); ++j)
        covariance(i, j) = prior.covariance[index(i) * n + index(j)] / (scale(i) * scale(j));
    precision_ = inverse_symmetric(covariance);
    covariance_ = std::move(covariance);
    for (const Run& run : runs) add_network(run.measured);
  }

  std::size_t parameters() const { return free_.size(); }
  std::size_t size() const { return free_.size() + effects_.size(); }
  std::size_t index(std::size_t i) const { return free_[i]; }
  bool logarithmic(std::size_t i) const { return logarithmic_[i]; }
  bool is_of_power(std::size_t i) const { return of_power_[i]; }
  double scale(std::size_t i) const {
    return logarithmic(i) ? prior_.parameters[index(i)].mean : 1;
  }
  // Of the parameters, by the prior.
  double covariance(std::size_t i, std::size_t j) const { return covariance_(i, j); }
  const std::vector<Effect>& effects() const { return effects_; }
  const std::vector<const Observation*>& networks() const { return networks_; }  // one run of each
  std::size_t network_of(const Observation& run) const {
    const auto found = std::find_if(networks_.begin(), networks_.end(), [&](const auto* other) {
      return is_same_network(*other, run);
    });
    return static_cast<std::size_t>(found - networks_.begin());
  }

  std::vector<double> values(const Vector& x) const {
    std::vector<double> values;
    for (const Parameter& parameter : prior_.parameters) values.push_back(parameter.mean);
    for (std::size_t i = 0; i < parameters(); ++i) {
      double& value = values[index(i)];
      value = logarithmic(i) ? value * std::exp(x[i]) : value + x[i];
    }
    return values;
  }

  // How hard the prior pulls. A network that is far off is more likely peculiar than the machine
  // is wrong for all networks, so an effect beyond the robust limit pulls linearly.
  Matrix precision(const Vector& x) const {
    Matrix result(size(), size());
    for (std::size_t i = 0; i < parameters(); ++i)
      for (std::size_t j = 0; j < parameters(); ++j) result(i, j) = precision_(i, j);
    for (std::size_t i = parameters(); i < size(); ++i) {
      const double sigma = effects_[i - parameters()].sigma;
      result(i, i) = robust_weight(x[i] / sigma) / (sigma * sigma);
    }
    return result;
  }

  double cost(const Vector& x) const {
    const Vector own(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(parameters()));
    double sum = dot(own, product(precision_, own));
    for (std::size_t i = parameters(); i < size(); ++i)
      sum += robust_cost(x[i] / effects_[i - parameters()].sigma);
    return sum;
  }

 private:
  void add_network(const Observation& run) {
    if (network_of(run) < networks_.size()) return;
    networks_.push_back(&run);
    if (run.conditions.runtime == Runtime::ideal) return;
    for (const bool is_host : {false, true}) {
      const std::string all = is_host ? "host_time_scale" : "kernel_time_scale";
      std::string own = fmt::format("{}_{}", to_string(run.conditions.runtime), all);
      std::replace(own.begin(), own.end(), '-', '_');
      auto found = find_parameter(prior_, own);
      if (!found) found = find_parameter(prior_, all);
      if (!found || sigma_of(prior_, *found) <= 0) continue;
      const double mean = prior_.parameters[*found].mean;
      effects_.push_back(
          {networks_.size() - 1, is_host, own, mean, sigma_of(prior_, *found) / mean});
    }
  }

  const MachineModel& prior_;
  std::vector<std::size_t> free_;
  std::vector<bool> logarithmic_, of_power_;  // of these
  Matrix covariance_, precision_;             // of these
  std::vector<const Observation*> networks_;
  std::vector<Effect> effects_;
};

// One sigma of the logarithms of time and power.
struct Noise {
  double time = 0;
  double power = 0;
};

// Runs that wait for the host are as uncertain as the host is from run to run. A slow host lowers
// the power, by about half as much as it adds to the time.
Noise noise_of(const Run& run, const MachineModel& prior, const FitOptions& options) {
  const Coefficients means = coefficients(prior, run.measured.conditions.runtime);
  const Step step = StepModel(run.load, means).at(run.measured.conditions, false);
  const double host = host_run_error(means.host) * host_share(step, means.host);
  const double governed = run.measured.conditions.locked ? 0 : options.governed_noise;
  return {std::hypot(std::hypot(options.time_noise, options.time_misfit, governed),
                     means.time_error, host),
          std::hypot(options.power_noise, host / 2)};
}

class Problem {
 public:
  Problem(const MachineModel& prior, const std::vector<Run>& runs, const FitOptions& options)
      : names_(prior), space_(prior, runs), runs_(runs) {
    for (const Run& run : runs) {
      network_of_run_.push_back(space_.network_of(run.measured));
      noise_.push_back(noise_of(run, prior, options));
    }
  }

  const Space& space() const { return space_; }

  // Logarithms of predicted over measured, in sigmas: first times, then the known powers.
  Vector residuals(const Vector& x) const {
    const std::vector<double> values = space_.values(x);
    std::map<Runtime, Coefficients> by_runtime;
    std::vector<Coefficients> by_network;
    for (const Observation* network : space_.networks()) {
      const Runtime runtime = network->conditions.runtime;
      auto found = by_runtime.find(runtime);
      if (found == by_runtime.end())
        found = by_runtime.emplace(runtime, coefficients(names_, values, runtime)).first;
      by_network.push_back(found->second);
    }
    const std::vector<Effect>& effects = space_.effects();
    for (std::size_t i = 0; i < effects.size(); ++i) {
      Coefficients& own = by_network[effects[i].network];
      (effects[i].is_host ? own.host_scale : own.kernel_scale) =
          effects[i].mean * std::exp(x[space_.parameters() + i]);
    }
    std::vector<double> times, powers;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const auto& [measured, load] = runs_[i];
      const Coefficients& own = by_network[network_of_run_[i]];
      const Step step = StepModel(load, own).at(measured.conditions, false);
      times.push_back(std::log(step.time_s / measured.time_s) / noise_[i].time);
      if (measured.power_w && step.power_w)
        powers.push_back(std::log(*step.power_w / *measured.power_w) / noise_[i].power);
    }
    times.insert(times.end(), powers.begin(), powers.end());
    return times;
  }

  // Of the run that each residual belongs to.
  std::vector<std::size_t> networks_of_residuals() const {
    std::vector<std::size_t> networks = network_of_run_;
    for (std::size_t run = 0; run < runs_.size(); ++run)
      if (has_power(run)) networks.push_back(network_of_run_[run]);
    return networks;
  }

  double cost(const Vector& residuals, const Vector& x) const {
    double sum = space_.cost(x);
    for (const double residual : residuals) sum += robust_cost(residual);
    return sum;
  }

  Matrix slopes(const Vector& x, const Vector& at) const {
    Matrix jacobian(at.size(), x.size());
    for (std::size_t i = 0; i < space_.parameters(); ++i) {
      Vector moved = x;
      moved[i] += difference;
      const Vector there = residuals(moved);
      for (std::size_t r = 0; r < at.size(); ++r) jacobian(r, i) = (there[r] - at[r]) / difference;
    }
    // An effect moves the rows of its own network only, so all networks are moved at once.
    for (const bool is_host : {false, true}) {
      const std::vector<Effect>& effects = space_.effects();
      std::vector<std::optional<std::size_t>> column(space_.networks().size());
      Vector moved = x;
      for (std::size_t i = 0; i < effects.size(); ++i) {
        if (effects[i].is_host != is_host) continue;
        column[effects[i].network] = space_.parameters() + i;
        moved[space_.parameters() + i] += difference;
      }
      const Vector there = residuals(moved);
      std::size_t power = runs_.size();
      for (std::size_t run = 0; run < runs_.size(); ++run) {
        const auto to = column[network_of_run_[run]];
        if (to) jacobian(run, *to) = (there[run] - at[run]) / difference;
        if (power == at.size() || !has_power(run)) continue;
        if (to) jacobian(power, *to) = (there[power] - at[power]) / difference;
        ++power;
      }
    }
    return jacobian;
  }

 private:
  // Whether a power is known and predicted; all runs are on one machine.
  bool has_power(std::size_t run) const { return runs_[run].measured.power_w.has_value(); }

  ParameterIndex names_;
  Space space_;
  const std::vector<Run>& runs_;
  std::vector<std::size_t> network_of_run_;
  std::vector<Noise> noise_;  // of each run
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
      weights.push_back(robust_weight(residual));
      weighted.push_back(weights.back() * residual);
    }
    curvature = weighted_gram(jacobian, weights);
    const Matrix precision = problem.space().precision(x);
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

// The scales of one network, with their covariance.
NetworkScales scales_of(std::size_t network, const MachineModel& model, const Space& space,
                        const Solution& solution) {
  const Observation& run = *space.networks()[network];
  NetworkScales own{run.network, run.options, run.task, run.conditions.runtime, {}, {}, {}};
  std::vector<std::size_t> at;  // of the scales in the space
  for (std::size_t i = 0; i < space.effects().size(); ++i) {
    const Effect& effect = space.effects()[i];
    if (effect.network != network) continue;
    at.push_back(space.parameters() + i);
    own.scales.push_back(
        {effect.name, effect.mean * std::exp(solution.x[at.back()]), Source::fitted});
  }
  for (std::size_t i = 0; i < at.size(); ++i) {
    const double mean = own.scales[i].mean;
    for (std::size_t j = 0; j < at.size(); ++j)
      own.covariance.push_back(
          mean * own.scales[j].mean *
          (solution.covariance(at[i], at[j]) + solution.covariance(at[j], at[i])) / 2);
    std::vector<double> with(model.parameters.size(), 0.0);
    for (std::size_t j = 0; j < space.parameters(); ++j) {
      const std::size_t parameter = space.index(j);
      with[parameter] = mean * (space.logarithmic(j) ? model.parameters[parameter].mean : 1) *
                        (solution.covariance(at[i], j) + solution.covariance(j, at[i])) / 2;
    }
    own.with_parameters.push_back(std::move(with));
  }
  return own;
}

// Parameters of the machine differ between machines, and kernels of a kind also differ from network
// to network. This is the share of their variance with which the rows are most likely to be common
// to all networks (maximum likelihood): what networks agree on, beyond their own scales. What one
// network shows may be peculiar to it, so it takes two. Residuals and slopes are those of the
// prior.
double common_share(const Problem& problem) {
  const Space& space = problem.space();
  if (space.networks().size() < 2) return 0;
  Vector residuals = problem.residuals(Vector(space.size(), 0.0));
  Matrix slopes = problem.slopes(Vector(space.size(), 0.0), residuals);
  const std::size_t n = residuals.size();
  for (std::size_t r = 0; r < n; ++r) {
    const double weight = std::sqrt(robust_weight(residuals[r]));
    residuals[r] *= weight;
    for (std::size_t i = 0; i < slopes.columns(); ++i) slopes(r, i) *= weight;
  }
  Matrix other(n, n), machine(n, n);  // covariances: of noise, scales and power; of the rest
  for (std::size_t r = 0; r < n; ++r) other(r, r) = 1;
  const auto add = [&](Matrix& to, std::size_t i, std::size_t j, double covariance) {
    for (std::size_t c = 0; c < n; ++c)
      for (std::size_t r = 0; r < n; ++r) to(r, c) += covariance * slopes(r, i) * slopes(c, j);
  };
  for (std::size_t i = 0; i < space.parameters(); ++i)
    for (std::size_t j = 0; j < space.parameters(); ++j)
      if (const double covariance = space.covariance(i, j);
          covariance != 0 && space.is_of_power(i) == space.is_of_power(j))
        add(space.is_of_power(i) ? other : machine, i, j, covariance);
  for (std::size_t i = 0; i < space.effects().size(); ++i) {
    const double sigma = space.effects()[i].sigma;
    add(other, space.parameters() + i, space.parameters() + i, sigma * sigma);
  }
  const std::vector<std::size_t> network = problem.networks_of_residuals();
  double best = 0, most = -INFINITY;
  constexpr int steps = 8;
  constexpr double largest = 0.5;  // assumed: a few networks cannot rule out that others differ
  for (int step = 0; step <= steps; ++step) {
    const double share = largest * step / steps;
    Matrix covariance = other;
    for (std::size_t c = 0; c < n; ++c)
      for (std::size_t r = 0; r < n; ++r)
        covariance(r, c) += (network[r] == network[c] ? 1 : share) * machine(r, c);
    const double likelihood = log_normal_density(covariance, residuals);
    if (likelihood > most) best = share, most = likelihood;
  }
  return best;
}

// With some networks in the fit, the mean of what is peculiar to them has a share of the variance
// that falls with their number; another network has its own. If nothing were passed on, the model
// could not tell what the rows moved.
Transfer transfer_from(const Problem& problem) {
  constexpr double least = 0.01;
  // Assumed: operations and bytes of each network are counted with errors of their own.
  constexpr double of_energies = 0.5;
  const double common = common_share(problem), peculiar = 1 - common;
  const auto networks = static_cast<double>(problem.space().networks().size());
  if (common <= 0)
    return {least, 1 - least * least, of_energies};  // the prior, where no row moves it
  const double share = common / (common + peculiar / networks);
  return {share, common * (1 - share) + peculiar, of_energies};
}

// The parameters of the machine with their marginal distribution: the scales of the networks are
// integrated out, and keep their prior, which is what is known about any other network.
MachineModel posterior(const MachineModel& prior, const Problem& problem,
                       const Solution& solution) {
  const Space& space = problem.space();
  MachineModel fitted = prior, model = prior;
  const std::size_t n = model.parameters.size();
  const std::vector<double> values = space.values(solution.x);
  const Transfer transfer = transfer_from(problem);
  Vector for_others = solution.x;
  const auto share = [&](std::size_t i) { return space.is_of_power(i) ? 1 : transfer.share; };
  const auto spread_share = [&](std::size_t i) {
    return space.is_of_power(i) && space.logarithmic(i)
               ? energy_spread_share(*transfer.energy_prior_variance)
               : share(i);
  };
  for (std::size_t i = 0; i < space.parameters(); ++i) for_others[i] *= share(i);
  const std::vector<double> transferred = space.values(for_others);
  constexpr double moved = 0.02;  // a smaller change is still the prior, not a fit
  for (std::size_t i = 0; i < n; ++i) {
    fitted.parameters[i].mean = values[i];
    const double change = std::abs(transferred[i] - model.parameters[i].mean);
    if (change > moved * std::abs(model.parameters[i].mean))
      model.parameters[i].source = Source::fitted;
    model.parameters[i].mean = transferred[i];
  }
  const auto scale = [&](std::size_t i) {
    return space.logarithmic(i) ? transferred[space.index(i)] : 1.0;
  };
  for (std::size_t i = 0; i < space.parameters(); ++i) {
    const std::size_t at = space.index(i);
    const Parameter& before = prior.parameters[at];
    model.parameters[at].prior = PriorValue{before.mean, sigma_of(prior, at), before.source};
    for (std::size_t j = 0; j < space.parameters(); ++j) {
      const double value = (solution.covariance(i, j) + solution.covariance(j, i)) / 2;
      model.covariance[at * n + space.index(j)] =
          value * spread_share(i) * spread_share(j) * scale(i) * scale(j);
    }
    if (!space.logarithmic(i)) continue;
    const double sigma = sigma_of(prior, at) / before.mean * scale(i);
    const double kept =
        space.is_of_power(i) ? *transfer.energy_prior_variance : transfer.prior_variance;
    model.covariance[at * n + at] += kept * sigma * sigma;
  }
  model.transfer = transfer;
  model.networks.clear();
  for (std::size_t network = 0; network < space.networks().size(); ++network)
    if (NetworkScales own = scales_of(network, fitted, space, solution); !own.scales.empty())
      model.networks.push_back(std::move(own));
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
  result.model = posterior(prior, problem, solve(problem));
  return result;
}

}  // namespace ridgeline
