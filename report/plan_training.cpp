// One table of totals, then a sentence for each thing that sets the pace.
#include "report/plan_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text_table.h"
#include "base/units.h"
#include "base/wrap.h"

namespace ridgeline {
namespace {

std::string seconds(double value) { return format_seconds(value); }
std::string joules(double value) { return format_si(value, "J"); }
std::string watts(double value) { return format_si(value, "W"); }

template <class Format>
void add_row(TextTable& table, const char* what, const std::optional<Estimate>& estimate,
             Format format) {
  if (!estimate) return;
  table.rows.push_back({what, format(estimate->value),
                        interval_text(*estimate, format(estimate->low), format(estimate->high)),
                        std::string(to_string(estimate->source))});
}

TextTable totals_table(const char* what) {
  return {{{what}, {"value", Align::right}, {"90 % interval"}, {"source"}}, {}};
}

std::string epoch_line(const char* which, const TrainedEpoch& epoch) {
  std::string text = fmt::format("{}: {}", which, seconds(epoch.time_s));
  if (epoch.energy_j > 0) text += ", " + joules(epoch.energy_j);
  return text + fmt::format("; the device works {} and waits {}, {} of the samples from memory",
                            seconds(epoch.device_s), seconds(epoch.stall_s),
                            format_percent(epoch.hit_share));
}

const char* bound_text(TrainingBound bound) {
  switch (bound) {
    case TrainingBound::device:
      return "the device";
    case TrainingBound::input:
      return "the input pipeline";
    case TrainingBound::host:
      return "the host";
  }
  return "";
}

std::string workers_text(const PlannedTraining& training) {
  if (!training.fewest_workers)
    return fmt::format("no number of workers keeps the device busy on {} core{} at {}",
                       training.cores, training.cores == 1 ? "" : "s", format_hz(training.core_hz));
  const int fewest = *training.fewest_workers;
  return fmt::format("{} worker{} keep{} the device busy", fewest, fewest == 1 ? "" : "s",
                     fewest == 1 ? "s" : "");
}

std::string clock_text(const PlannedTraining& training) {
  if (!training.lowest_core_hz)
    return "fetching alone is too slow for the device at any core clock";
  const int workers = std::max(1, training.run.pipeline.workers);
  return fmt::format("with {} worker{} and {} core{}, a core clock of {} is enough (now {})",
                     workers, workers == 1 ? "" : "s", training.cores,
                     training.cores == 1 ? "" : "s", format_hz(*training.lowest_core_hz),
                     format_hz(training.core_hz));
}

std::string input_text(const TrainingRun& run, int width) {
  std::string text;
  const auto line = [&](const char* what, const std::string& facts, const std::string& origin) {
    text += wrap(fmt::format("{}: {} ({})", what, facts, origin), width, 2) + "\n";
  };
  line("dataset",
       fmt::format("{:.0f} samples of {}, {}", run.dataset.samples,
                   format_si(run.dataset.bytes_per_sample, "B"),
                   format_si(run.dataset.samples * run.dataset.bytes_per_sample, "B")),
       run.sources.dataset);
  const StorageMedium& storage = run.sources.storage;
  line("storage",
       fmt::format("{}, {} per sample, {}", storage.name,
                   seconds(fetch_s(storage.cost, run.dataset.bytes_per_sample)),
                   to_string(storage.source)),
       storage.origin);
  line("decoding",
       fmt::format("{} clocks of a core per sample", format_si(run.pipeline.decode_clocks, "")),
       run.sources.decode);
  line("page cache", format_si(run.pipeline.free_memory_bytes, "B"), run.sources.memory);
  return text;
}

}  // namespace

std::string interval_text(const Estimate& estimate, const std::string& low,
                          const std::string& high) {
  return estimate.low < estimate.high ? low + " to " + high : "no interval";
}

std::string training_text(const Plan& plan, int width) {
  if (!plan.training) return "";
  const PlannedTraining& training = *plan.training;
  TextTable table = totals_table(training.run.epochs ? "mean epoch" : "later epoch");
  add_row(table, "time", training.epoch_s, seconds);
  add_row(table, "power", training.mean_power_w, watts);
  add_row(table, "energy", training.epoch_j, joules);
  if (training.run.epochs) {
    const std::string all = fmt::format("all {:.0f}: ", *training.run.epochs);
    add_row(table, (all + "time").c_str(), training.run_s, seconds);
    add_row(table, (all + "energy").c_str(), training.run_j, joules);
  }
  std::string text = render_text(table, width) + "\n";
  text += wrap(epoch_line("first epoch", training.first), width, 2) + "\n";
  text += wrap(epoch_line("later epochs", training.later), width, 2) + "\n";
  text += wrap(fmt::format("bound by {}; {}; {}", bound_text(training.bound),
                           workers_text(training), clock_text(training)),
               width, 2) +
          "\n\n";
  return text + input_text(training.run, width) + "\n";
}

std::string concurrent_text(const Plan& plan, int width) {
  if (!plan.concurrent) return "";
  const PlannedConcurrency& both = *plan.concurrent;
  TextTable step = totals_table("one training step");
  add_row(step, "time", both.step_s, seconds);
  add_row(step, "power", both.step_w, watts);
  add_row(step, "energy", both.step_j, joules);
  TextTable table = totals_table("both at once");
  add_row(table, "trained", both.samples_per_s,
          [](double value) { return format_number(value) + " /s"; });
  add_row(table, "latency", both.latency_s, seconds);
  add_row(table, "power", both.mean_power_w, watts);
  std::string text = render_text(step, width) + "\n" + render_text(table, width) + "\n";
  text += wrap(fmt::format(
                   "{} trains minibatches of {} in {}; every {} a batch of {} is due: "
                   "inference takes {} of the time, training {}, {} is left",
                   both.run.network, both.minibatch, to_string(both.run.dtype),
                   seconds(static_cast<double>(plan.chosen.batch) / both.run.stream.requests_per_s),
                   plan.chosen.batch, format_percent(both.inference_share),
                   format_percent(both.training_share), format_percent(both.turns.idle_share)),
               width, 2) +
          "\n";
  std::string slack = fmt::format("without training a result would be {} earlier than it must",
                                  seconds(both.turns.slack_s));
  if (std::isfinite(both.turns.peak_w)) slack += "; power peaks at " + watts(both.turns.peak_w);
  text += wrap(slack, width, 2) + "\n";
  if (both.run.input) {
    if (both.turns.lost_to_input > 0)
      text +=
          wrap(fmt::format("loaders are too slow: {} of the steps that would find time are lost",
                           format_percent(both.turns.lost_to_input)),
               width, 2) +
          "\n";
    text += "\n" + input_text(*both.run.input, width);
  }
  return text + "\n";
}

}  // namespace ridgeline
