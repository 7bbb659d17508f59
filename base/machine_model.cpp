// Lookup in a MachineModel, its JSON form and the checks of its names and covariance.
// Fitting is not here.
#include "base/machine_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "base/json.h"
#include "base/parameters.h"
#include "base/text.h"

namespace ridgeline {
namespace {

// Rounding of a printed matrix, not of a fit.
constexpr double tolerance = 1e-9;
// The same, of a matrix that another one was subtracted from.
constexpr double rounding = 1e-6;

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

// Offsets belong to the rig, and are the same for every network.
bool is_transferred(const Parameter& parameter) {
  const ParameterRow* row = find_parameter_row(parameter.name);
  return row && row->distribution == Distribution::log_normal && row->scope != Scope::network;
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

Json rows_of(const std::vector<double>& matrix, std::size_t n) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < n; ++i) {
    Json row = Json::array();
    for (std::size_t j = 0; j < n; ++j) row.push_back(matrix.at(i * n + j));
    rows.push_back(std::move(row));
  }
  return rows;
}

Json scales_to_json(const NetworkScales& own) {
  return {{"network", own.network},
          {"options", own.options},
          {"task", to_string(own.task)},
          {"runtime", to_string(own.runtime)},
          {"scales", array_of(own.scales, parameter_to_json)},
          {"covariance", rows_of(own.covariance, own.scales.size())},
          {"with_parameters", own.with_parameters}};
}

Transfer transfer_from_json(const JsonCursor& cursor) {
  Transfer transfer{cursor.at("share").number(), cursor.at("prior_variance").non_negative()};
  if (!(transfer.share > 0) || transfer.share > 1) cursor.at("share").fail("is not within 0 and 1");
  if (const auto of_energies = cursor.find("energy_prior_variance")) {
    transfer.energy_prior_variance = of_energies->non_negative();
    if (*transfer.energy_prior_variance >= 1) of_energies->fail("is not below 1");
  }
  return transfer;
}

// `model`: as fitted.
NetworkScales scales_from_json(const JsonCursor& cursor, const MachineModel& model) {
  NetworkScales own;
  own.network = cursor.at("network").text();
  own.options = cursor.at("options").text();
  own.task = cursor.at("task").token<Task>();
  own.runtime = cursor.at("runtime").token<Runtime>();
  for (const JsonCursor& row : cursor.at("scales").items()) {
    own.scales.push_back(parameter_from_json(row));
    const ParameterRow* declared = find_parameter_row(own.scales.back().name);
    if (!declared || declared->scope != Scope::network)
      row.at("name").fail(quote(own.scales.back().name) + " is not a scale of a network");
    if (!(own.scales.back().mean > 0)) row.at("mean").fail("is not positive");
  }
  const std::size_t scales = own.scales.size();
  own.covariance = covariance_from_json(cursor.at("covariance"), scales);
  const auto rows = cursor.at("with_parameters").items();
  if (rows.size() != scales)
    cursor.at("with_parameters")
        .fail(fmt::format("has {} rows for {} scales", rows.size(), scales));
  for (std::size_t i = 0; i < scales; ++i) {
    const auto cells = rows[i].items();
    if (cells.size() > model.parameters.size())
      rows[i].fail(
          fmt::format("has {} numbers for {} parameters", cells.size(), model.parameters.size()));
    std::vector<double>& row = own.with_parameters.emplace_back();
    for (std::size_t j = 0; j < cells.size(); ++j) {
      row.push_back(cells[j].number());
      const double bound = std::sqrt(own.covariance[i * scales + i]) * sigma_of(model, j);
      if (std::abs(row.back()) > bound * (1 + rounding))
        cells[j].fail("larger than the variances allow");
    }
  }
  return own;
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

double sigma_of_scale(const NetworkScales& own, std::size_t index) {
  return std::sqrt(own.covariance.at(index * own.scales.size() + index));
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
  for (NetworkScales& own : model.networks)
    for (std::vector<double>& row : own.with_parameters)
      if (index < row.size()) row[index] = 0;
}

// Priors are independent of each other; what a fit left alone has nothing beside its variance.
MachineModel before_fit(const MachineModel& model) {
  MachineModel prior = model;
  prior.observations.clear();
  prior.networks.clear();
  prior.transfer = {};
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

MachineModel as_fitted(const MachineModel& model) {
  MachineModel result = model;
  result.transfer = {};
  const auto& [share, prior_variance, of_energies] = model.transfer;
  if (model.transfer == Transfer{}) return result;
  const std::size_t n = model.parameters.size();
  std::vector<double> shares(n, 1), ratio(n, 1);  // of spreads; of the new to the old mean
  std::vector<double> added(n, 0);                // relative variances
  for (std::size_t i = 0; i < n; ++i) {
    Parameter& parameter = result.parameters[i];
    const auto& prior = parameter.prior;
    if (!prior || !is_transferred(parameter)) continue;
    const bool in_full = of_energies && find_parameter_row(parameter.name)->scope == Scope::power;
    shares[i] = in_full ? energy_spread_share(*of_energies) : share;
    ratio[i] = in_full ? 1 : std::pow(parameter.mean / prior->mean, 1 / share - 1);
    added[i] = (in_full ? *of_energies : prior_variance) * prior->sigma * prior->sigma /
               (prior->mean * prior->mean) * parameter.mean * parameter.mean;
    parameter.mean *= ratio[i];
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      double& value = result.covariance[i * n + j];
      if (i == j) value = std::max(0.0, value - added[i]);
      value *= ratio[i] * ratio[j] / (shares[i] * shares[j]);
    }
  return result;
}

MachineModel for_network(const MachineModel& model, const std::string& network,
                         const std::string& options, Task task, Runtime runtime) {
  MachineModel result = model;
  for (const NetworkScales& own : model.networks) {
    if (own.network != network || own.options != options || own.task != task ||
        own.runtime != runtime)
      continue;
    result = as_fitted(result);
    std::vector<std::size_t> at;  // of the scales in the model
    for (std::size_t i = 0; i < own.scales.size(); ++i) {
      const std::size_t count = own.scales.size();
      set_parameter(result, own.scales[i], std::sqrt(own.covariance[i * count + i]));
      at.push_back(*find_parameter(result, own.scales[i].name));
    }
    const std::size_t n = result.parameters.size();
    const auto set = [&](std::size_t i, std::size_t j, double value) {
      result.covariance[i * n + j] = result.covariance[j * n + i] = value;
    };
    for (std::size_t i = 0; i < at.size(); ++i) {
      for (std::size_t j = 0; j < own.with_parameters[i].size(); ++j)
        if (own.with_parameters[i][j] != 0) set(at[i], j, own.with_parameters[i][j]);
      for (std::size_t j = 0; j < i; ++j) set(at[i], at[j], own.covariance[i * at.size() + j]);
    }
  }
  return result;
}

MachineModel for_network(const MachineModel& model, const Observation& run) {
  return for_network(model, run.network, run.options, run.task, run.conditions.runtime);
}

Json to_json(const MachineModel& model) {
  Json json = {{"schema", MachineModel::schema},
               {"device", model.device},
               {"parameters", array_of(model.parameters, parameter_to_json)},
               {"covariance", rows_of(model.covariance, model.parameters.size())},
               {"observations", array_of(model.observations, [](const Observation& observation) {
                  return to_json(observation);
                })}};
  if (model.networks.empty()) return json;
  json["networks"] = array_of(model.networks, scales_to_json);
  json["transfer"] = {{"share", model.transfer.share},
                      {"prior_variance", model.transfer.prior_variance}};
  if (const auto of_energies = model.transfer.energy_prior_variance)
    json["transfer"]["energy_prior_variance"] = *of_energies;
  return json;
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
  if (const auto transfer = cursor.find("transfer")) model.transfer = transfer_from_json(*transfer);
  if (const auto networks = cursor.find("networks")) {
    const MachineModel fitted = as_fitted(model);
    model.networks = vector_of(
        *networks, [&](const JsonCursor& network) { return scales_from_json(network, fitted); });
  }
  return model;
}

}  // namespace ridgeline
