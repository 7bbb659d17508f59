// `ridgeline validate TABLE`: how well the model predicts what was measured.
// Options in, calls, output; scoring lives in the files validation_*.
#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/requests/model_file.h"
#include "plots/figures/validation.h"
#include "plots/renderers/svg.h"
#include "validation/predictor.h"
#include "validation/run.h"
#include "validation/validation.h"

namespace ridgeline::cli {
namespace {

void declare_validate(OptionsDescription& options) {
  options.add_text(
      "probes", "K",
      "fit the model to K modes of each group first, and score the others; default: 0");
  options.add_text("probe-modes", "MODES", "fit to these modes instead: 15W,MAXN");
  options.add_text("cross-validate", "model|device",
                   "refit the priors without the network, or the device, that is scored");
  options.add_text(
      "where", "COLUMN=VALUE,...",
      "only rows with these: device=a10-24gb,batch=8; the same column twice means either");
  options.add_text(
      "profile", "FILE",
      "profile of the processor, for rows measured on one; default: the newest of this machine");
  options.add_text("svg", "FILE", "draw predicted against measured times; - is standard output");
}

std::vector<std::string> comma_words(const Options& options, const char* name) {
  std::vector<std::string> words;
  if (!options.has(name)) return words;
  std::string_view text = options.text(name);
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (!word.empty()) words.emplace_back(word);
  }
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
  return chosen;
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

std::string picture_of(const Validation& validation) {
  std::vector<ValidationPoint> points;
  for (const ScoredRow& row : validation.rows)
    points.push_back(
        {row.observation.device + ", " + std::string(to_string(row.observation.conditions.runtime)),
         row.observation.time_s, row.forecast.time_s});
  if (points.empty()) throw Error(validation.file, "no row could be scored, there is no picture");
  std::string caption = fmt::format("{}; {} rows", validation.file, points.size());
  for (const std::string& note : validation.notes) caption += "; " + note;
  return svg(validation_figure(points, validation.total.time_mape.value_or(0), caption));
}

ExitCode run_validate(const Options& options, Console& console) {
  const auto words = positional(options);
  if (words.empty())
    throw usage_error({}, "'validate' needs a table of measurements",
                      "write for example ridgeline validate table.csv");
  const ValidationOptions chosen = validation_options(options);
  const std::string svg_path = options.has("svg") ? options.text("svg") : "";
  if (svg_path == "-" && (flag(options, "json") || flag(options, "csv")))
    throw usage_error("--svg", "standard output cannot hold both the picture and the data",
                      "give --svg a file name");
  const std::vector<std::string> filter = comma_words(options, "where");
  Validation validation =
      validate(read_measurement_table(words.front(), measurement_options(filter)),
               model_predictor(options.has("profile") ? options.text("profile") : ""), chosen);
  validation.filter = filter;
  const std::string picture = svg_path.empty() ? "" : picture_of(validation);
  if (svg_path == "-") {
    console.out << picture;
    return ExitCode::ok;
  }
  if (!svg_path.empty()) write_file_atomically(svg_path, picture);
  if (flag(options, "json"))
    console.out << dump_json(to_json(validation));
  else if (flag(options, "csv"))
    console.out << validation_csv(validation);
  else
    console.out << validation_text(validation, console.width);
  if (!svg_path.empty()) console.talk("wrote " + svg_path);
  return ExitCode::ok;
}

}  // namespace

Command validate_command() {
  return {.name = "validate",
          .summary = "hold predictions against a table of measurements",
          .positional = "TABLE",
          .max_positional = 1,
          .description =
              "Predicts every row of a table of measured runs (CSV: device, mode or clocks, model, "
              "options, batch, dtype, runtime, task, time_ms, power_w …) and says how far off it "
              "is: mean absolute error (MAPE), bias, how many rows the 90 % interval holds, the "
              "order of modes (Kendall's τ), and what choosing the mode of least predicted energy "
              "costs. Rows that differ in the mode only are a group. With --probes some modes of "
              "each group are measured, as it were, and the others scored; a network with one mode "
              "is probed at batches. Rows that cannot be compared are listed with the reason.",
          .examples = {{"validate table.csv", "without any measurement of the board"},
                       {"validate table.csv --probes 2", "after measuring two modes of each"},
                       {"validate table.csv --probe-modes 15W,MAXN", "these two"},
                       {"validate table.csv --cross-validate model --json",
                        "priors refitted without the network that is scored"},
                       {"validate table.csv --where device=a10-24gb --svg errors.svg",
                        "one device, with the picture"}},
          .add_options = declare_validate,
          .run = run_validate};
}

}  // namespace ridgeline::cli
