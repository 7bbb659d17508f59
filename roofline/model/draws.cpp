// A draw is the means plus a square root of the covariance times normal numbers. Parameters are
// drawn before the two scales: changing the order changes the result of a seed.
#include "roofline/model/draws.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/parameters.h"
#include "roofline/model/linear_algebra.h"
#include "roofline/model/step.h"

namespace ridgeline {

bool is_log_normal(const Parameter& parameter) {
  return parameter_row(parameter.name, "draws").distribution == Distribution::log_normal;
}

double normal(Random& random) {
  for (;;) {
    const double x = 2 * random.unit() - 1;
    const double y = 2 * random.unit() - 1;
    const double square = x * x + y * y;
    if (square > 0 && square < 1) return x * std::sqrt(-2 * std::log(square) / square);
  }
}

ParameterDraws::ParameterDraws(const MachineModel& model) {
  const std::size_t n = model.parameters.size();
  std::vector<std::size_t> known, unfamiliar;
  for (std::size_t i = 0; i < n; ++i) {
    means_.push_back(model.parameters[i].mean);
    if (model.covariance[i * n + i] <= 0) continue;
    bool apart = family_words(families::unfamiliar, model.parameters[i].name).has_value();
    for (std::size_t j = 0; apart && j < n; ++j) apart = j == i || model.covariance[i * n + j] == 0;
    (apart ? unfamiliar : known).push_back(i);
  }
  known_ = block(model, std::move(known));
  unfamiliar_ = block(model, std::move(unfamiliar));
}

ParameterDraws::Block ParameterDraws::block(const MachineModel& model,
                                            std::vector<std::size_t> free) const {
  Block result;
  for (const std::size_t i : free) result.logarithmic.push_back(is_log_normal(model.parameters[i]));
  // Covariance of the logarithm, to first order: relative to the mean.
  const auto scale = [&](std::size_t i) { return result.logarithmic[i] ? means_[free[i]] : 1; };
  const std::size_t n = model.parameters.size();
  Matrix covariance(free.size(), free.size());
  for (std::size_t i = 0; i < free.size(); ++i)
    for (std::size_t j = 0; j < free.size(); ++j)
      covariance(i, j) = model.covariance[free[i] * n + free[j]] / (scale(i) * scale(j));
  const std::optional<Matrix> spread = root(covariance);
  if (!spread)
    throw Error(model.device, "the covariance of the model's parameters is not positive");
  result.root = spread->values();  // column by column
  result.free = std::move(free);
  return result;
}

void ParameterDraws::draw(const Block& block, Random& random, std::vector<double>& values) {
  const std::size_t size = block.free.size();
  std::vector<double> shocks(size);
  for (double& shock : shocks) shock = normal(random);
  for (std::size_t i = 0; i < size; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < size; ++j) sum += block.root[j * size + i] * shocks[j];
    double& value = values[block.free[i]];
    value = block.logarithmic[i] ? value * std::exp(sum) : value + sum;
  }
}

std::vector<double> ParameterDraws::draw(Random& random) const {
  std::vector<double> values = means_;
  constexpr std::uint64_t other_numbers = 0x756e66616d696c69u;
  Random apart{random.state ^ other_numbers};
  draw(known_, random, values);
  draw(unfamiliar_, apart, values);
  return values;
}

std::vector<CoefficientDraw> coefficient_draws(const MachineModel& model, Runtime runtime,
                                               int draws, std::uint64_t seed) {
  std::vector<CoefficientDraw> result;
  if (draws <= 0) return result;
  const ParameterDraws parameters(model);
  const ParameterIndex names(model);
  Random random{seed};
  result.reserve(static_cast<std::size_t>(draws));
  for (int i = 0; i < draws; ++i) {
    CoefficientDraw draw{coefficients(names, parameters.draw(random), runtime), 1, 1, 1};
    // One run: the same in every mode, so it cancels where modes are compared with each other.
    if (const Host& host = draw.values.host; host.slow_share > 0)
      draw.values.host_scale *= host_run_factor(host, random.unit() < host.slow_share);
    draw.time_scale = std::exp(draw.values.time_error * normal(random));
    draw.power_scale = std::exp(draw.values.power_error * normal(random));
    if (draw.values.mode_error > 0)
      draw.mode_scale = std::exp(draw.values.mode_error * normal(random));
    result.push_back(std::move(draw));
  }
  return result;
}

void centre_on(double value, std::span<double> draws) {
  if (draws.empty()) return;
  std::vector<double> sorted(draws.begin(), draws.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  if (!(*middle > 0) || !std::isfinite(*middle)) return;
  for (double& draw : draws) draw *= value / *middle;
}

}  // namespace ridgeline
