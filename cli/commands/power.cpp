// `ridgeline power`: the power of this machine now, during a program's run, or in a recorded log.
// Parses, records, writes; the sensors are in devices/sensors.
#include "report/power.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <ostream>
#include <thread>

#include "base/text_file.h"
#include "base/units.h"
#include "cli/answer.h"
#include "cli/requests/values.h"
#include "devices/sensors/power_channels.h"
#include "devices/sensors/power_logs.h"
#include "devices/sensors/power_recorder.h"
#include "plots/figures/power_trace.h"

namespace ridgeline::cli {
namespace {

constexpr double usual_seconds = 10, usual_rate = 10, highest_rate = 1000;

void declare_power(OptionsDescription& options) {
  options.add_text("seconds", "N", "how long to read, for example 10; default: 10");
  options.add_text("rate", "N", "readings per second, up to 1000; default: 10");
  options.add_text("log", "FILE", "read a recorded log instead: tegrastats, or jtop's CSV");
  add_picture_options(options, "plot the power of each rail over time as {}");
  options.add_text("interval", "TIME",
                   "with --log: time between the lines of a log without a clock; default: 1s");
}

double number_option(const Options& options, const char* name, double fallback, double most) {
  const auto text = options.word(name);
  if (!text) return fallback;
  const std::string where = as_typed(name, *text);
  const double value = plain_number(*text, where, "10");
  if (!(value > 0) || value > most)
    throw usage_error(where, fmt::format("must be more than 0 and at most {:g}", most));
  return value;
}

PowerReport logged_power(const Options& options) {
  for (const char* name : {"seconds", "rate"})
    if (options.has(name))
      throw usage_error("--" + std::string(name), "cannot be combined with --log",
                        "a log has its own time");
  if (!positional(options).empty())
    throw usage_error("--log", "cannot be combined with a program", "leave one of them out");
  std::optional<double> interval_s;
  if (const auto text = options.word("interval"))
    interval_s = seconds_of(*text, as_typed("interval", *text));
  const std::string path = options.text("log");
  PowerReport report;
  report.record = parse_power_log(read_text_file(path), path, interval_s);
  report.summary = summarize(report.record);
  return report;
}

PowerReport live_power(const Options& options, Console& console) {
  if (options.has("interval")) throw usage_error("--interval", "goes with --log");
  PowerReport report;
  report.command = positional(options);
  if (!report.command.empty() && options.has("seconds"))
    throw usage_error("--seconds", "cannot be combined with a program",
                      "power is read as long as it runs");
  const double seconds = number_option(options, "seconds", usual_seconds, 1e6);
  const double rate = number_option(options, "rate", usual_rate, highest_rate);
  const OpenedChannels opened = open_power_channels({});
  if (!opened.channels)
    throw Error({}, "no power sensor: " + opened.why_not, opened.fix, ExitCode::incomplete);
  PowerRecorder recorder(*opened.channels, 1 / rate);
  ProgramRun run;
  if (report.command.empty()) {
    const InterruptGuard guard;
    ProgressLine progress(console, "reading power");
    while (recorder.now_s() < seconds && !InterruptGuard::interrupted()) {
      progress.show(recorder.now_s() / seconds, seconds - recorder.now_s());
      std::this_thread::sleep_for(
          std::chrono::duration<double>(std::clamp(seconds - recorder.now_s(), 0.001, 0.2)));
    }
  } else {
    run = run_recorded(recorder, report.command);
    report.begin_s = run.begin_s;
    report.end_s = run.end_s;
  }
  report.record = recorder.stop();
  for (const std::string& note : opened.notes) report.record.notes.push_back(note);
  report.summary = report.command.empty() ? summarize(report.record)
                                          : summarize(report.record, run.begin_s, run.end_s);
  judge_window(report);
  if (run.exit_code != 0)
    report.summary.notes.push_back(
        run.exit_code < 0 ? "the program was ended by a signal"
                          : fmt::format("the program ended with exit code {}", run.exit_code));
  return report;
}

Figure figure_of(const PowerReport& report) {
  const PowerRecord& record = report.record;
  std::vector<PowerTrace> traces;
  PowerTrace total{"total", {}, true};
  for (std::size_t i = 0; i < record.channels.size(); ++i) {
    traces.push_back({record.channels[i].label, {}, false});
    for (const PowerSample& sample : record.samples)
      if (std::isfinite(sample.power_w[i]))
        traces.back().readings.push_back({sample.time_s, sample.power_w[i]});
  }
  for (const PowerSample& sample : record.samples) {
    double sum_w = 0;
    for (std::size_t i = 0; i < record.channels.size(); ++i)
      if (record.channels[i].in_sum) sum_w += sample.power_w[i];
    if (report.summary.total && std::isfinite(sum_w))
      total.readings.push_back({sample.time_s, sum_w});
  }
  if (!total.readings.empty() && record.channels.size() > 1) traces.push_back(std::move(total));
  std::string caption = fmt::format("{} readings over {}", report.summary.readings,
                                    format_seconds(report.summary.seconds));
  if (report.summary.total)
    caption +=
        fmt::format("; {} of energy, {} on average", format_si(report.summary.total->energy_j, "J"),
                    format_si(report.summary.total->mean_w, "W"));
  for (const std::string& note : report.summary.notes) caption += "; " + note;
  const bool has_window = report.end_s > report.begin_s;
  return power_figure(
      traces, has_window ? std::optional(Interval{report.begin_s, report.end_s}) : std::nullopt,
      std::filesystem::path(record.source).filename().string(),
      caption.ends_with('?') ? caption : caption + ".");
}

ExitCode run_power(const Options& options, Console& console) {
  check_answer_files(options, picture_options());
  const PowerReport report =
      options.has("log") ? logged_power(options) : live_power(options, console);
  Answer answer;
  answer.name = "power";
  answer.text = [&](std::ostream& out) { out << power_text(report, console.width); };
  answer.json = [&](std::ostream& out) { out << power_json(report); };
  answer.csv = [&](std::ostream& out) { out << power_csv(report); };
  answer.files = picture_files([&] { return figure_of(report); });
  for (const std::string& note : report.summary.notes) answer.beside_csv.push_back(note);
  write_answer(answer, options, console);
  return ExitCode::ok;
}

}  // namespace

Command power_command() {
  return {.name = "power",
          .summary = "power of this machine: live rails, a program's energy, or a recorded log",
          .positional = "[-- PROGRAM [ARGUMENT ...]]",
          .max_positional = 100'000,
          .description =
              "Reads every power rail of a Jetson, the sensor of an NVIDIA card or the counters of "
              "a CPU, and shows minimum, mean and maximum over time and the energy. Rails that are "
              "a part of another rail are shown and not added. With a program, it runs it and "
              "counts the energy from its start to its end; the program's output goes to standard "
              "error. --log reads what tegrastats or jtop recorded. --csv prints every reading. "
              "Without a sensor it says which ones it looked for, with exit code 4.",
          .examples = {{"power --seconds 5", "the rails of this machine for five seconds"},
                       {"power --rate 100 -- ./program --batch 8", "energy of a program's run"},
                       {"power --log tegrastats.log --svg power.svg",
                        "the same of a recorded log, with a plot"},
                       {"power --seconds 60 --csv", "every reading, for a spreadsheet"}},
          .add_options = declare_power,
          .run = run_power};
}

}  // namespace ridgeline::cli
