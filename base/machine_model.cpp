// Lookup in a MachineModel, its JSON form and the checks of its names and covariance.
// Fitting is not here.
#include "base/machine_model.h"

#include <fmt/format.h>

#include <cmath>
#include <unordered_set>

#include "base/json.h"
#include "base/parameters.h"
#include "base/text.h"

namespace ridgeline {
namespace {

// Rounding of a printed matrix, not of a fit.
constexpr double tolerance = 1e-9;

// Symmetric, with no correlation beyond ±1. Draws check that it is semi-definite.
std::vector<double> covariance_from_json(const JsonCursor& cursor, std::size_t n) {
  std::vector<double> covariance;
  const auto rows = cursor.items();
  if (rows.size() != n) cursor.fail(fmt::format("has {} rows for {} parameters", rows.size(), n));
  for (const JsonCursor& row : rows) {
    const auto cells = row.items();
    if (cells.size() != n)
      row.fail(fmt::format("has {} numbers for {} parameters", cells.size(), n));
    for (const JsonCursor& cell : cells) covariance.push_back(cell.number());
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (covariance[i * n + i] < 0) rows[i].items()[i].fail("negative variance");
    for (std::size_t j = 0; j < i; ++j) {
      const double value = covariance[i * n + j];
      const double mirror = covariance[j * n + i];
      const double bound = std::sqrt(covariance[i * n + i]) * std::sqrt(covariance[j * n + j]);
      if (std::abs(value - mirror) > tolerance * bound)
        rows[i].items()[j].fail("the covariance is not symmetric");
      if (std::abs(value) > bound * (1 + tolerance))
        rows[i].items()[j].fail("larger than the variances allow");
    }
  }
  return covariance;
}

// What is wrong with the spread of a parameter, by its declared distribution; empty if nothing is.
std::string spread_fault(const Parameter& parameter, double sigma) {
  const ParameterRow* row = find_parameter_row(parameter.name);
  if (!row) return unknown_parameter_text(parameter.name);
  if (!(sigma > 0)) return {};
  if (row->distribution == Distribution::fixed)
    return parameter.name + " is a fact and has no variance";
  if (row->distribution == Distribution::log_normal && !(parameter.mean > 0))
    return parameter.name + " has a variance, so its mean must be positive";
  return {};
}

Json parameter_to_json(const Parameter& parameter) {
  Json json = {
      {"name", parameter.name}, {"mean", parameter.mean}, {"source", to_string(parameter.source)}};
  if (const auto& prior = parameter.prior)
    json["prior"] = {
        {"mean", prior->mean}, {"sigma", prior->sigma}, {"source", to_string(prior->source)}};
  return json;
}

Parameter parameter_from_json(const JsonCursor& cursor) {
  Parameter parameter;
  parameter.name = cursor.at("name").text();
  parameter.mean = cursor.at("mean").number();
  parameter.source = cursor.at("source").token<Source>();
  if (const auto prior = cursor.find("prior"))
    parameter.prior = {prior->at("mean").number(), prior->at("sigma").non_negative(),
                       prior->at("source").token<Source>()};
  return parameter;
}

}  // namespace

std::optional<std::size_t> find_parameter(const MachineModel& model, std::string_view name) {
  for (std::size_t i = 0; i < model.parameters.size(); ++i)
    if (model.parameters[i].name == name) return i;
  parameter_row(name, model.device);
  return std::nullopt;
}

double mean_of(const MachineModel& model, std::string_view name) {
  if (const auto index = find_parameter(model, name)) return model.parameters[*index].mean;
  throw Error(model.device, "the model has no parameter " + quote(name));
}

double sigma_of(const MachineModel& model, std::size_t index) {
  return std::sqrt(model.covariance.at(index * model.parameters.size() + index));
}

void ParameterCollector::add(Parameter parameter, double sigma) {
  if (const std::string fault = spread_fault(parameter, sigma); !fault.empty())
    throw Error(model_.device, fault);
  model_.parameters.push_back(std::move(parameter));
  sigmas_.push_back(sigma);
}

bool ParameterCollector::has(std::string_view name) const {
  return find_parameter(model_, name).has_value();
}

MachineModel ParameterCollector::take() {
  const std::size_t n = model_.parameters.size(), before = n - sigmas_.size();
  std::vector<double> covariance(n * n);
  for (std::size_t i = 0; i < before; ++i)
    for (std::size_t j = 0; j < before; ++j)
      covariance[i * n + j] = model_.covariance[i * before + j];
  for (std::size_t i = before; i < n; ++i)
    covariance[i * n + i] = sigmas_[i - before] * sigmas_[i - before];
  model_.covariance = std::move(covariance);
  return std::move(model_);
}

void set_parameter(MachineModel& model, Parameter parameter, double sigma) {
  std::size_t n = model.parameters.size();
  const std::size_t index = find_parameter(model, parameter.name).value_or(n);
  if (index == n) {
    std::vector<double> covariance((n + 1) * (n + 1), 0.0);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) covariance[i * (n + 1) + j] = model.covariance[i * n + j];
    model.parameters.emplace_back();
    model.covariance = std::move(covariance);
    ++n;
  }
  model.parameters[index] = std::move(parameter);
  for (std::size_t j = 0; j < n; ++j)
    model.covariance[index * n + j] = model.covariance[j * n + index] = 0;
  model.covariance[index * n + index] = sigma * sigma;
}

// Priors are independent of each other; what a fit left alone has nothing beside its variance.
MachineModel before_fit(const MachineModel& model) {
  MachineModel prior = model;
  prior.observations.clear();
  const std::size_t n = model.parameters.size();
  for (std::size_t i = 0; i < n; ++i) {
    const auto& belief = model.parameters[i].prior;
    if (!belief) continue;
    prior.parameters[i] = {model.parameters[i].name, belief->mean, belief->source};
    for (std::size_t j = 0; j < n; ++j)
      prior.covariance[i * n + j] = prior.covariance[j * n + i] = 0;
    prior.covariance[i * n + i] = belief->sigma * belief->sigma;
  }
  return prior;
}

Json to_json(const MachineModel& model) {
  Json covariance = Json::array();
  const std::size_t n = model.parameters.size();
  for (std::size_t i = 0; i < n; ++i) {
    Json row = Json::array();
    for (std::size_t j = 0; j < n; ++j) row.push_back(model.covariance.at(i * n + j));
    covariance.push_back(std::move(row));
  }
  return {{"schema", MachineModel::schema},
          {"device", model.device},
          {"parameters", array_of(model.parameters, parameter_to_json)},
          {"covariance", std::move(covariance)},
          {"observations", array_of(model.observations, [](const Observation& observation) {
             return to_json(observation);
           })}};
}

MachineModel machine_model_from_json(const JsonCursor& cursor) {
  check_schema(cursor, MachineModel::schema);
  MachineModel model;
  model.device = cursor.at("device").text();
  std::unordered_set<std::string> names;
  for (const JsonCursor& row : cursor.at("parameters").items()) {
    Parameter parameter = parameter_from_json(row);
    if (parameter.name.empty()) row.at("name").fail("empty");
    if (!names.insert(parameter.name).second)
      row.at("name").fail(quote(parameter.name) + " is there twice");
    if (!find_parameter_row(parameter.name))
      row.at("name").fail(unknown_parameter_text(parameter.name));
    model.parameters.push_back(std::move(parameter));
  }
  model.covariance = covariance_from_json(cursor.at("covariance"), model.parameters.size());
  const auto rows = cursor.at("parameters").items();
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (const std::string fault = spread_fault(model.parameters[i], sigma_of(model, i));
        !fault.empty())
      rows[i].fail(fault);
  if (const auto observations = cursor.find("observations"))
    model.observations = vector_of(*observations, [&](const JsonCursor& observation) {
      return observation_from_json(observation, model.device);
    });
  return model;
}

}  // namespace ridgeline
