// Runs the step at the means for the values and at draws for the intervals.
#include "roofline/model/predict.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/statistics.h"
#include "roofline/model/step.h"
#include "roofline/model/unfamiliar_time.h"

namespace ridgeline {
namespace {

Estimate estimate_of(double value, std::vector<double>& draws) {
  centre_on(value, draws);
  return interval_of_draws(value, draws, Source::predicted);
}

double energy_of(const Step& step, const StepRow& row) {
  return *step.constant_w * row.time_s + row.dynamic_j;
}

std::vector<Term> terms_of(const Step& step, const StepRow& row, double byte_joule) {
  const KernelTime& kernel = row.kernel;
  std::vector<Term> terms;
  const bool energy = step.power_w.has_value();
  const double memory_j = kernel.bytes * byte_joule;
  const auto add = [&](const char* name, double time_s, double energy_j) {
    if (time_s <= 0 && energy_j <= 0) return;
    terms.push_back({name, time_s, energy ? std::optional(energy_j) : std::nullopt});
  };
  add("compute", kernel.compute_s, energy ? std::max(0.0, row.dynamic_j - memory_j) : 0);
  add("memory", kernel.memory_s, memory_j);
  add("layout and bias", kernel.helper_s, 0);
  add("kernel start", kernel.fixed_s, 0);
  add("host", row.host_s, 0);
  add("stall", row.stall_s, 0);
  add("constant power", 0, energy ? *step.constant_w * row.time_s : 0);
  return terms;
}

struct Drawn {
  std::vector<double> time, energy, power;
  std::vector<std::vector<double>> row_time, row_energy, row_power;
};

Drawn drawn_steps(const NetworkLoad& load, const Conditions& conditions,
                  std::span<const CoefficientDraw> draws, RowDetail detail) {
  Drawn drawn;
  const std::size_t rows = detail == RowDetail::intervals ? load.kernels.size() : 0;
  drawn.row_time.resize(rows);
  drawn.row_energy.resize(rows);
  drawn.row_power.resize(rows);
  for (const auto& [values, time_scale, power_scale, ignored] : draws) {
    const Step step = StepModel(load, values).at(conditions, detail != RowDetail::none);
    drawn.time.push_back(step.time_s * time_scale);
    for (std::size_t row = 0; row < rows; ++row)
      drawn.row_time[row].push_back(step.rows[row].time_s * time_scale);
    if (!step.power_w) continue;
    drawn.power.push_back(*step.power_w * power_scale);
    drawn.energy.push_back(*step.power_w * step.time_s * power_scale * time_scale);
    for (std::size_t row = 0; row < rows; ++row) {
      const double energy_j = energy_of(step, step.rows[row]) * power_scale;
      drawn.row_energy[row].push_back(energy_j * time_scale);
      drawn.row_power[row].push_back(step.rows[row].time_s > 0 ? energy_j / step.rows[row].time_s
                                                               : 0);
    }
  }
  return drawn;
}

}  // namespace

Prediction predict(const MachineModel& model, const NetworkLoad& load, const Conditions& conditions,
                   const PredictOptions& options) {
  return predict(model, load, conditions,
                 coefficient_draws(model, conditions.runtime, options.draws, options.seed),
                 options.rows);
}

Prediction predict(const MachineModel& model, const NetworkLoad& load, const Conditions& conditions,
                   std::span<const CoefficientDraw> draws, RowDetail rows) {
  const Coefficients means = coefficients(model, conditions.runtime);
  const Step step = StepModel(load, means).at(conditions);
  Drawn drawn = drawn_steps(load, conditions, draws, rows);

  Prediction prediction;
  prediction.device = model.device;
  prediction.point = conditions.point;
  if (means.processor == Processor::gpu) prediction.point.gpu_hz = step.gpu_hz;
  prediction.runtime = conditions.runtime;
  prediction.bound = bound_of(step);
  prediction.unfamiliar = unfamiliar_time(model, load, conditions, step);
  for (std::size_t i = 0; rows != RowDetail::none && i < step.rows.size(); ++i) {
    const StepRow& row = step.rows[i];
    std::vector<double> none;
    const bool intervals = rows == RowDetail::intervals && !draws.empty();
    PredictedDemand predicted;
    predicted.demand = load.kernels[i].name;
    predicted.time_s = estimate_of(row.time_s, intervals ? drawn.row_time[i] : none);
    if (step.power_w) {
      const double energy_j = energy_of(step, row);
      predicted.energy_j = estimate_of(energy_j, intervals ? drawn.row_energy[i] : none);
      if (row.time_s > 0)
        predicted.power_w =
            estimate_of(energy_j / row.time_s, intervals ? drawn.row_power[i] : none);
    }
    predicted.bound = bound_of(row);
    predicted.terms = terms_of(step, row, means.power.byte_joule);
    prediction.demands.push_back(std::move(predicted));
  }
  if (step.tail_s > 0)
    prediction.overheads.push_back(
        {"host beside the kernels", step.tail_s, step.constant_w.value_or(0) * step.tail_s});
  if (step.jitter_s > 0)
    prediction.overheads.push_back({"host and device waiting for each other", step.jitter_s,
                                    step.constant_w.value_or(0) * step.jitter_s});
  prediction.time_s = estimate_of(step.time_s, drawn.time);
  if (step.power_w) {
    prediction.power_w = estimate_of(*step.power_w, drawn.power);
    prediction.energy_j = estimate_of(*step.power_w * step.time_s, drawn.energy);
  }
  return prediction;
}

}  // namespace ridgeline
