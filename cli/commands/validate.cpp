// `ridgeline validate TABLE`: how well the model predicts what was measured.
// Parses, scores, writes; scoring is in validation/.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "base/json.h"
#include "cli/answer.h"
#include "cli/requests/machine.h"
#include "cli/requests/values.h"
#include "plots/figures/validation.h"
#include "report/validation.h"
#include "roofline/model/machine.h"
#include "validation/predictor.h"
#include "validation/validation.h"

namespace ridgeline::cli {
namespace {

void declare_validate(OptionsDescription& options) {
  options.add_text("on", "DEVICE|FILE",
                   "score this model, a fitted one ('ridgeline calibrate') or a device's, on the "
                   "rows of its device; default: catalog and priors of every row's device");
  options.add_text("probes", "K",
                   "fit the model to K modes of each group and score the others; default: 0");
  options.add_text("probe-modes", "MODES", "fit to these modes instead: 15W,MAXN");
  options.add_text("cross-validate", "model|device",
                   "refit the priors without the network, or device, being scored");
  options.add_text(
      "where", "COLUMN=VALUE,...",
      "use only matching rows: device=a10-24gb,batch=8; repeat a column to allow several values");
  options.add_text(
      "profile", "FILE",
      "profile of the CPU, for rows measured on one; default: the newest of this machine");
  add_host_cpu_option(options);
  add_picture_options(options, "plot predicted against measured times; - is standard output");
}

std::vector<std::string> comma_words(const Options& options, const char* name) {
  if (!options.has(name)) return {};
  const std::vector<std::string> words = split_words(options.text(name));
  if (words.empty()) throw usage_error(fmt::format("--{}", name), "is empty");
  return words;
}

ValidationOptions validation_options(const Options& options) {
  ValidationOptions chosen;
  chosen.probes =
      static_cast<int>(std::min<std::int64_t>(count_option(options, "probes", 0, 0), 1000));
  chosen.probe_modes = comma_words(options, "probe-modes");
  if (chosen.probes > 0 && !chosen.probe_modes.empty())
    throw usage_error("--probe-modes", "cannot be combined with --probes", "choose one");
  if (options.has("cross-validate")) {
    chosen.cross_validate = options.text("cross-validate");
    if (chosen.cross_validate != "model" && chosen.cross_validate != "device")
      throw usage_error("--cross-validate " + chosen.cross_validate, "is neither model nor device");
  }
  if (!chosen.cross_validate.empty())
    refuse(options, "on", "cannot be combined with --cross-validate",
           "a model that is given is not refitted");
  return chosen;
}

// The model of --on. A profile has rates and no rows of its own: CPUs are scored with --profile.
std::optional<ScoredModel> scored_model(const Options& options) {
  if (!options.has("on")) return std::nullopt;
  const std::string word = options.text("on");
  if (word.empty()) throw usage_error("--on", "is empty");
  MachineSource source = machine_source({.on = word, .mode = {}, .jetpack = {}, .threads = {}});
  if (!source.known && source.model.observations.empty())
    throw usage_error(as_typed("on", word), "is a profile, and profiles predict the rows of a CPU",
                      "write --profile " + word);
  return ScoredModel{source.known && catalog::names_device(word) ? source.name : word,
                     std::move(source.model)};
}

MeasurementOptions measurement_options(const std::vector<std::string>& filter) {
  MeasurementOptions options;
  for (const std::string& word : filter) {
    const auto equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
      throw usage_error("--where " + word, "is not COLUMN=VALUE", "write for example batch=8");
    const std::string column = word.substr(0, equals);
    options.where[column == "net" ? "model" : column].push_back(word.substr(equals + 1));
  }
  return options;
}

Figure figure_of(const Validation& validation) {
  std::vector<ValidationPoint> points;
  for (const ScoredRow& row : validation.rows) {
    ValidationPoint point{
        row.observation.device + ", " + std::string(to_string(row.observation.conditions.runtime)),
        {row.observation.time_s, row.forecast.time_s}};
    if (row.observation.power_w && row.forecast.power_w)
      point.power_w = {*row.observation.power_w, *row.forecast.power_w};
    if (const auto energy_j = row.energy_j(); energy_j && row.forecast.energy_j)
      point.energy_j = {*energy_j, *row.forecast.energy_j};
    points.push_back(std::move(point));
  }
  if (points.empty()) throw Error(validation.file, "no row could be scored, there is no picture");
  std::string caption = fmt::format(
      "{}; {} rows", std::filesystem::path(validation.file).filename().string(), points.size());
  for (const std::string& note : validation.notes) caption += "; " + note;
  return validation_figure(points, validation.total.time_mape.value_or(0), caption);
}

ExitCode run_validate(const Options& options, Console& console) {
  const std::string path =
      required_word(options, "'validate' needs a table of measurements", "validate table.csv");
  ValidationOptions chosen = validation_options(options);
  check_answer_files(options, picture_options());
  chosen.on = scored_model(options);
  const std::vector<std::string> filter = comma_words(options, "where");
  MeasurementOptions reading = measurement_options(filter);
  if (chosen.on) reading.device = chosen.on->model.device;
  MeasurementTable table = read_measurement_table(path, reading);
  Predictor predictor = model_predictor(table.devices, options.text_or_empty("profile"),
                                        options.text_or_empty("host-cpu"));
  if (chosen.on) predictor = with_model(std::move(predictor), chosen.on->model);
  Validation validation = validate(std::move(table), predictor, chosen);
  validation.filter = filter;
  Answer answer;
  answer.name = "validation";
  answer.text = [&](std::ostream& out) { out << validation_text(validation, console.width); };
  answer.json = [&](std::ostream& out) { out << dump_json(to_json(validation)); };
  answer.csv = [&](std::ostream& out) { out << validation_csv(validation); };
  answer.files = picture_files([&] { return figure_of(validation); });
  if (chosen.on) answer.beside_csv = as_notes(validation.notes);
  write_answer(answer, options, console);
  return ExitCode::ok;
}

}  // namespace

Command validate_command() {
  return {
      .name = "validate",
      .summary = "compare predictions with a table of measurements",
      .positional = "TABLE",
      .max_positional = 1,
      .description =
          "Predicts every row of a table of measured runs (CSV: device, mode or clocks, model, "
          "options, batch, dtype, runtime, task, time_ms, power_w …) and scores the predictions: "
          "mean absolute error (MAPE), bias, coverage of the 90 % interval, ranking of modes "
          "(Kendall's τ), and the cost of choosing the mode with the least predicted energy. Rows "
          "that differ only in mode form a group. With --probes, some modes of each group are "
          "treated as measured and the others are scored; a network with one mode is probed at "
          "several batch sizes. With --on, a calibrated model is scored: rows that it was fitted "
          "to are recognised and left out, rows of other devices are skipped. Rows that cannot be "
          "compared are listed with the reason.",
      .examples = {{"validate table.csv", "from the catalog and priors alone"},
                   {"validate table.csv --probes 2",
                    "with two modes of each group treated as measured"},
                   {"validate table.csv --probe-modes 15W,MAXN", "these two modes"},
                   {"validate table.csv --on my-board.json", "a calibrated board, on other rows"},
                   {"validate table.csv --cross-validate model --json",
                    "with priors refitted without the network being scored"},
                   {"validate table.csv --where device=a10-24gb --svg errors.svg",
                    "one device, with a plot"}},
      .add_options = declare_validate,
      .run = run_validate};
}

}  // namespace ridgeline::cli
