// Limits by their kinds; what an option's words mean is quantity_option.h's.
#include "cli/requests/plan_goal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/nearest.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/requests/quantity_option.h"
#include "cli/requests/token_option.h"
#include "planner/periodic.h"
#include "workloads/options.h"

namespace ridgeline::cli {
namespace {

// "10ms", "10ms@p95".
void add_latency(const Options& options, Objective& objective) {
  const auto text = word_of(options, "latency");
  if (!text) return;
  const std::string where = as_typed("latency", *text);
  const std::size_t at = text->find('@');
  const std::string time = text->substr(0, at);
  Limit limit{LimitKind::latency, seconds_of(time, where), 0, where};
  if (at != std::string::npos) {
    const std::string quantile = text->substr(at + 1);
    if (!quantile.starts_with("p"))
      throw usage_error(where, quote(quantile) + " is not a quantile", "write for example @p95");
    const double share = plain_number(quantile.substr(1), where, "@p95") / 100;
    if (share < 0.5 || share > 0.999) throw usage_error(where, "a quantile is from p50 to p99.9");
    objective.latency_quantile = share;
    limit.probability = share;
  }
  objective.limits.push_back(limit);
}

template <class Parse>
void add_limit(const Options& options, Objective& objective, LimitKind kind, Parse parse) {
  const std::string name(to_string(kind));
  if (const auto text = word_of(options, name.c_str())) {
    const std::string where = as_typed(name.c_str(), *text);
    objective.limits.push_back({kind, parse(*text, where), 0, where});
  }
}

// Energy that all epochs of a training may take.
void add_training_battery(const Options& options, const std::string& battery,
                          Objective& objective) {
  const std::string where = as_typed("battery", battery);
  if (options.has("energy")) throw usage_error(where, "cannot be combined with --energy");
  const auto epochs = word_of(options, "epochs");
  if (!epochs)
    throw usage_error("--battery", "must last for a time, or for a number of epochs",
                      "write --hours 4 or --epochs 10");
  objective.limits.push_back({LimitKind::energy,
                              joules_of(battery, where, "Wh or J") /
                                  plain_number(*epochs, as_typed("epochs", *epochs), "10"),
                              0, where + " " + as_typed("epochs", *epochs)});
}

void add_battery(const Options& options, Objective& objective, Scenario task) {
  const auto battery = word_of(options, "battery"), hours = word_of(options, "hours");
  if (battery && !hours && task == Scenario::training)
    return add_training_battery(options, *battery, objective);
  if (battery.has_value() != hours.has_value())
    throw usage_error(battery ? "--battery" : "--hours", "a battery needs both energy and time",
                      "write --battery 50Wh --hours 4");
  if (!battery) return;
  const std::string where = as_typed("battery", *battery);
  const double energy_j = joules_of(*battery, where, "Wh or J");
  const double time_h = plain_number(*hours, as_typed("hours", *hours), "4");
  objective.limits.push_back(
      {LimitKind::battery, energy_j / (time_h * 3600), 0, where + " " + as_typed("hours", *hours)});
}

void add_arrivals(const Options& options, Objective& objective) {
  const auto frames = word_of(options, "fps"), rate = word_of(options, "rate");
  if (frames && rate)
    throw usage_error("--rate", "cannot be combined with --fps",
                      "--fps is for samples that come evenly, --rate for those at random");
  if (!frames && !rate) return;
  const std::string where = frames ? as_typed("fps", *frames) : as_typed("rate", *rate);
  const double per_s = frames ? plain_number(*frames, where, "30") : per_second(*rate, where);
  objective.arrivals = Arrivals{per_s, rate.has_value()};
  objective.limits.push_back({LimitKind::arrivals, 1 / per_s, 0, where});
}

// Gathering a batch takes longer than a sample may wait, in any mode.
void check_gathering(const Objective& objective, const std::vector<std::int64_t>& batches) {
  if (!objective.arrivals) return;
  for (const Limit& limit : objective.limits) {
    if (limit.kind != LimitKind::latency) continue;
    double least = INFINITY;
    for (const std::int64_t batch : batches)
      least = std::min(least,
                       latency_at_rate(0, batch, *objective.arrivals, objective.latency_quantile));
    if (least >= limit.bound)
      throw usage_error(limit.text,
                        fmt::format("contradicts the rate and the batch: samples wait {} for their "
                                    "batch in any mode",
                                    format_seconds(least)),
                        "give a smaller --batch");
  }
}

}  // namespace

void add_plan_options(OptionsDescription& options) {
  options.add_text(
      "runtime", "NAME",
      "who executes: ideal, tensorrt, torch-eager, torch-eager-hooks, torch-compiled, cuda-graph "
      "or onnxruntime (default: tensorrt on a GPU, torch-eager on a CPU and for training)");
  options.add_text(
      "minimize", "energy|time|power|edp",
      "what is to be least: energy per sample or epoch (default; with --infer: time per trained "
      "sample), time, mean power, or energy × delay");
  options.add_text(
      "latency", "TIME[@pNN]",
      "most time from a sample to its result: 10ms, or 10ms@p95 for 95 of 100 requests");
  options.add_text("throughput", "N/s",
                   "fewest samples per second; with --train: that are trained");
  options.add_text("power", "WATT", "most power on average");
  options.add_text("peak-power", "WATT", "most power while a batch runs");
  options.add_text("max-slowdown", "N%",
                   "most time over that of the fastest mode of the same batch");
  options.add_text("energy", "JOULE",
                   "most energy per sample, for example 500mJ; of training per epoch");
  options.add_text("battery", "WH", "energy that must last for --hours, or for --epochs: 50Wh");
  options.add_text("hours", "N", "how long --battery must last");
  options.add_text("fps", "N",
                   "samples come evenly at this rate; the idle time between them counts");
  options.add_text("rate", "N/s",
                   "samples come at random at this mean rate, and queue; with --infer: evenly");
  options.add_text("filter", "MODES",
                   "choose among these modes only: gpu>=600MHz,emc=max,cores=4/6");
  options.add_flag("stock-only", "choose among the modes that the device comes with");
  options.add_text(
      "reach", "live|reboot",
      "live: only modes that can be entered at once from --mode; default: all, and the best "
      "without a reboot is shown too");
  options.add_text("risk", "P", "probability with which all limits must hold (default: 0.9)");
  options.add_text("board-offset", "WATT",
                   "power of the carrier board that is to be added, for example 5.5W");
  options.add_flag(
      "allow-unknown",
      "operators that nobody has described are no error: no FLOP, their tensors are moved");
}

Objective objective_of(const Options& options, const std::vector<std::int64_t>& batches,
                       Scenario task) {
  Objective objective;
  objective.goal =
      token_option(options, "minimize", task == Scenario::concurrent ? Goal::time : Goal::energy);
  if (const auto text = word_of(options, "risk")) {
    const std::string where = as_typed("risk", *text);
    objective.risk =
        text->ends_with("%") ? percent(*text, where) : plain_number(*text, where, "0.9");
    if (objective.risk < 0.5 || objective.risk > 0.99)
      throw usage_error(where, "a probability from 0.5 to 0.99 is wanted");
  }
  add_latency(options, objective);
  add_limit(options, objective, LimitKind::throughput,
            [](const std::string& text, const std::string& where) {
              return 1 / per_second(text, where);
            });
  add_limit(options, objective, LimitKind::power, watts_of);
  add_limit(options, objective, LimitKind::peak_power, watts_of);
  add_limit(options, objective, LimitKind::slowdown, percent);
  add_limit(
      options, objective, LimitKind::energy,
      [](const std::string& text, const std::string& where) { return joules_of(text, where); });
  add_limit(options, objective, LimitKind::epoch_time, seconds_of);
  add_limit(options, objective, LimitKind::training_time, seconds_of);
  add_battery(options, objective, task);
  if (task == Scenario::concurrent) return objective;
  add_arrivals(options, objective);
  check_gathering(objective, batches);
  return objective;
}

CandidateOptions mode_wishes(const Options& options) {
  CandidateOptions wishes;
  wishes.stock_only = flag(options, "stock-only");
  wishes.reach = token_option(options, "reach", Reach::reboot);
  if (const auto text = word_of(options, "filter")) wishes.filter = parse_mode_filter(*text);
  return wishes;
}

std::vector<std::int64_t> batches_of(const Options& options) {
  std::vector<std::int64_t> batches;
  const auto text = word_of(options, "batch");
  if (!text) return batches;
  for (const std::string& word : list_of(*text, as_typed("batch", *text))) {
    WorkloadOptions parsed;
    set_option(parsed, WorkloadOption::batch, word);
    if (std::find(batches.begin(), batches.end(), *parsed.batch) == batches.end())
      batches.push_back(*parsed.batch);
  }
  return batches;
}

std::vector<DType> dtypes_of(const Options& options) {
  std::vector<DType> dtypes;
  const auto text = word_of(options, "dtype");
  if (!text) return dtypes;
  const std::string where = as_typed("dtype", *text);
  for (const std::string& word : list_of(*text, where)) {
    const auto dtype = parse_token<DType>(word);
    if (!dtype) {
      std::vector<std::string> names;
      for (const auto& row : TokenTable<DType>::rows) names.emplace_back(row.second);
      const auto near = nearest(word, names);
      throw usage_error(where, quote(word) + " is not a type of numbers",
                        near ? "did you mean " + *near + "?" : "write for example fp16,int8");
    }
    if (std::find(dtypes.begin(), dtypes.end(), *dtype) == dtypes.end()) dtypes.push_back(*dtype);
  }
  return dtypes;
}

Options with_value(Options options, const char* name, const std::string& value) {
  options.set(name, value);
  return options;
}

}  // namespace ridgeline::cli
