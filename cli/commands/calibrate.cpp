// `ridgeline calibrate`: a few measured runs, or a profile, turn what the catalog believes of a
// board into what is known of this one.
#include <fmt/format.h>

#include <filesystem>
#include <ostream>
#include <string>

#include "base/csv.h"
#include "base/json.h"
#include "base/profile.h"
#include "base/units.h"
#include "base/wrap.h"
#include "cli/answer.h"
#include "cli/requests/machine.h"
#include "cli/requests/values.h"
#include "report/calibration.h"
#include "roofline/model/profile_model.h"
#include "validation/calibration.h"
#include "validation/measured_files.h"
#include "validation/predictor.h"
#include "validation/probes.h"
#include "workloads/registry.h"

namespace ridgeline::cli {
namespace {

void declare_calibrate(OptionsDescription& options) {
  options.add_text(
      "on", "DEVICE|FILE",
      "starting point: a catalog device or an earlier calibrated model; default: this machine");
  options.add_text("jetpack", "RELEASE",
                   "JetPack release that sets modes and clocks; default: the newest");
  options.add_text("output,o", "FILE", "write the fitted model, for --on of other commands");
  options.add_flag("suggest", "suggest the mode most worth measuring next, and why");
  options.add_text(
      "for", "NETWORK",
      "the network of --time or --suggest; default of --suggest: that of the last row");
  options.add_text("runtime", "NAME",
                   "with --for: its runtime (default: tensorrt with --time, else torch-eager)");
  options.add_text("time", "TIME|FILE",
                   "one run instead of a table: its time, 12.3ms or trtexec's output");
  options.add_text("power", "WATT|FILE",
                   "with --time: its power, 9.4W or a log of tegrastats or jtop");
  options.add_text("mode", "MODE", "with --time: the mode it ran in, such as 15W or gpu=612MHz");
  options.add_text("batch", "N", "with --time: its batch (default: the network's)");
  options.add_text("dtype", "NAME", "with --time: its type (default: the network's)");
}

// Lines of the table that could not even be read as a run.
void talk_of_skipped(const MeasurementTable& table, const Console& console) {
  for (const SkippedRow& row : table.skipped)
    console.talk(fmt::format("{}:{}: skipped: {}", table.file, row.line, row.reason));
}

std::vector<Observation> checked_rows(const MeasurementTable& table, const std::string& device,
                                      const Console& console) {
  const std::string& path = table.file;
  talk_of_skipped(table, console);
  for (const Observation& row : table.rows)
    if (row.device != device)
      throw Error(fmt::format("{}:{}", path, row.line),
                  fmt::format("was measured on {}, not on {}", row.device, device),
                  row.device.starts_with("generic-")
                      ? "'ridgeline tune MODEL -o FILE' fits a model of a CPU"
                      : "give --on that device, or leave the row out");
  if (table.rows.empty())
    throw Error(path, "holds no measured run",
                table.skipped.empty() ? "" : table.skipped.front().reason, ExitCode::incomplete);
  return table.rows;
}

// A number instead of a file: "12.3ms", "9.4W".
bool is_stated(const std::string& text) {
  return text.find_first_of("0123456789.") == 0 && !std::filesystem::exists(text);
}

std::string typed_option(const Options& options, const char* name) {
  return as_typed(name, options.text(name));
}

// The run of --time as the one row of a table.
MeasurementTable stated_run(const Options& options, const MachineSource& source) {
  if (!options.has("for"))
    throw usage_error("--time", "needs the network that ran", "write for example --for yolov8n");
  if (!options.has("mode"))
    throw usage_error("--time", "needs the mode that it ran in", "write for example --mode 15W");
  const Settings settings = resolve(workload_named(options.text("for")), {});
  const OperatingPoint& point = source.point;
  const auto megahertz = [](std::optional<double> hz) { return hz ? csv_number(*hz / 1e6) : ""; };
  const auto count = [](std::optional<int> value) { return value ? std::to_string(*value) : ""; };
  const double time_s = is_stated(options.text("time"))
                            ? seconds_of(options.text("time"), typed_option(options, "time"))
                            : measured_time_s(options.text("time"));
  std::string watts;
  if (options.has("power"))
    watts = csv_number(is_stated(options.text("power"))
                           ? watts_of(options.text("power"), typed_option(options, "power"))
                           : measured_power(options.text("power")).power_w);
  const std::string text =
      csv_row({"mode", "gpu_mhz", "memory_mhz", "cpu_mhz", "cpu_cores", "gpu_units", "model",
               "batch", "dtype", "runtime", "time_ms", "power_w"}) +
      csv_row({point.label, megahertz(point.gpu_hz), megahertz(point.memory_hz),
               point.cpu_hz.empty() ? "" : megahertz(point.cpu_hz.front()), count(point.cpu_cores),
               count(point.gpu_units), options.text("for"),
               options.word("batch").value_or(std::to_string(settings.batch)),
               options.word("dtype").value_or(std::string(to_string(settings.dtype))),
               std::string(to_string(token_option(options, "runtime", Runtime::tensorrt))),
               csv_number(time_s * 1e3), watts});
  MeasurementTable table =
      parse_measurement_table(text, options.text("time"), {.device = source.model.device});
  if (table.rows.empty()) throw usage_error("--time", table.skipped.front().reason);
  return table;
}

bool is_profile(const std::string& path) {
  return path.ends_with(".json") && std::filesystem::exists(path);
}

Calibration fitted_to(const MeasurementTable& table, const MachineSource& source,
                      const Predictor& predictor, const Console& console) {
  const std::string& path = table.file;
  try {
    return calibrate(source.model, checked_rows(table, source.model.device, console), predictor);
  } catch (const Error& error) {
    if (!error.where().empty()) throw;
    throw Error(path, error.cause(), error.fix(), error.code());
  }
}

Calibration calibrated(const std::string& path, const MachineSource& source,
                       const Predictor& predictor, const Console& console) {
  if (is_profile(path)) {
    const Profile profile = load_profile(path);
    return calibrate(source.model, profiled_machine(profile, profile.modes.front()).model);
  }
  return fitted_to(read_measurement_table(path, {.device = source.model.device}), source, predictor,
                   console);
}

// The run that a suggestion is about.
Observation wanted_run(const MachineModel& model, const Options& options) {
  if (!options.has("for")) {
    if (model.observations.empty())
      throw usage_error("--suggest", "needs a network", "write for example --for resnet50");
    return model.observations.back();
  }
  Observation row;
  row.device = model.device;
  row.network = options.text("for");
  const Settings settings = resolve(workload_named(row.network), {});
  row.batch = settings.batch;
  row.dtype = compute_dtype(settings.dtype).value_or(DType::fp32);
  row.conditions.runtime = token_option(options, "runtime", Runtime::torch_eager);
  return row;
}

Suggestion next_suggestion(const MachineModel& model, const MachineSource& source,
                           const Options& options, const Predictor& predictor) {
  if (!source.known)
    throw Error(model.device, "no modes are known to choose from",
                "give --on a device of the catalog", ExitCode::incomplete);
  std::vector<OperatingPoint> measured;
  for (const Observation& observation : model.observations)
    measured.push_back(observation.conditions.point);
  const Observation row = wanted_run(model, options);
  const auto suggested =
      suggest_probe(model, row, probe_candidates(*source.known), measured, predictor);
  if (!suggested)
    throw Error(model.device, "every candidate mode was measured already", {},
                ExitCode::infeasible);
  return *suggested;
}

ExitCode run_calibrate(const Options& options, Console& console) {
  const auto words = positional(options);
  const bool suggest = flag(options, "suggest");
  const bool has_run = options.has("time");
  for (const char* name : {"power", "mode", "batch", "dtype"})
    if (options.has(name) && !has_run)
      throw usage_error(std::string("--") + name, "needs --time FILE, the time of the run");
  if (has_run && !words.empty())
    throw usage_error("--time", "is a run instead of a table", "leave out one of the two");
  if (words.empty() && !suggest && !has_run)
    throw usage_error({}, "'calibrate' needs measured runs",
                      "write for example ridgeline calibrate --on jetson-orin-nano-8gb probes.csv "
                      "-o my-board.json");
  if (options.has("output") && words.empty() && !has_run)
    throw usage_error("--output", "nothing was measured that could be written");
  check_answer_files(options, {"output"});
  const MachineSource source = machine_source(machine_request(options));
  LoadedDevices devices;
  if (source.known) devices.emplace(source.known->device.id, source.known->device);
  const Predictor predictor = model_predictor(std::move(devices));
  std::optional<Calibration> calibration;
  if (!words.empty()) calibration = calibrated(words.front(), source, predictor, console);
  if (has_run) calibration = fitted_to(stated_run(options, source), source, predictor, console);
  const MachineModel& model = calibration ? calibration->model : source.model;
  std::optional<Suggestion> probe;
  if (suggest) probe = next_suggestion(model, source, options, predictor);

  Answer answer;
  answer.text = [&](std::ostream& out) {
    if (calibration) out << calibration_text(*calibration, console.width);
    if (probe) out << suggestion_text(*probe, console.width);
  };
  answer.json = [&](std::ostream& out) {
    Calibration nothing;
    nothing.model.device = model.device;
    Json json = to_json(calibration ? *calibration : nothing);
    json["suggestion"] = probe ? probe_to_json(probe->any) : Json();
    json["stock_suggestion"] = probe && probe->stock ? probe_to_json(*probe->stock) : Json();
    out << dump_json(json);
  };
  answer.files = {{"output", [&](std::ostream& out) { out << dump_json(to_json(model)); }}};
  write_answer(answer, options, console);
  return ExitCode::ok;
}

}  // namespace

Command calibrate_command() {
  return {.name = "calibrate",
          .summary = "fit the model of a board to a few measured runs",
          .positional = "[TABLE|PROFILE]",
          .max_positional = 1,
          .description =
              "Takes one to five measured runs on a board (a CSV table with the columns of "
              "'ridgeline validate': network, mode, batch, dtype, runtime, time and, where known, "
              "power) and fits the catalog's model of the board to them: the most probable "
              "parameters, given both. Impossible rows and outliers are rejected with the reason. "
              "The fitted model keeps its prior and the measured runs; pass it to --on, also here "
              "to add more runs. Cells of a table may be files instead (time_file, power_file): "
              "outputs "
              "of trtexec, tegrastats and jtop. A profile of 'ridgeline measure' does the same for "
              "rates.",
          .examples = {{"calibrate --on jetson-orin-nano-8gb probes.csv -o my-board.json",
                        "from the catalog entry to this board"},
                       {"calibrate --on my-board.json more.csv -o my-board.json", "with more runs"},
                       {"calibrate --on jetson-orin-nano-8gb --for yolov8n --dtype fp16 --mode 15W "
                        "--time trtexec.log --power tegrastats.log -o my-board.json",
                        "one run, from the files of its tools"},
                       {"calibrate --on jetson-orin-nano-8gb --suggest --for resnet50",
                        "the mode to measure first"}},
          .add_options = declare_calibrate,
          .run = run_calibrate,
          .has_csv = false};
}

}  // namespace ridgeline::cli
