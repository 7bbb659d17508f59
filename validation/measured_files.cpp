// A log begins before the run and ends after it. The middle between low and high readings parts the
// run from what is around it; a log without a step is the run alone.
#include "validation/measured_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/tensorrt/times.h"
#include "base/error.h"
#include "base/text_file.h"
#include "devices/sensors/power_logs.h"

namespace ridgeline {
namespace {

constexpr std::size_t least_readings = 5;
constexpr double least_step = 0.15;  // of the high readings; noise of a steady run is below it

// A reading of the machine; NaN if a rail is missing.
double total_of(const PowerRecord& record, const PowerSample& sample) {
  double total = 0;
  for (std::size_t i = 0; i < record.channels.size(); ++i)
    if (record.channels[i].in_sum) total += sample.power_w[i];
  return total;
}

struct Stretch {
  std::size_t begin = 0, end = 0;
  std::size_t size() const { return end - begin; }
};

// The longest one above `least_w`; a single reading below it does not end it.
Stretch longest_stretch(const std::vector<double>& watts, double least_w) {
  Stretch best, now;
  for (std::size_t i = 0; i < watts.size(); ++i) {
    const bool high = watts[i] >= least_w;
    const bool goes_on =
        high || (now.size() > 0 && i + 1 < watts.size() && watts[i + 1] >= least_w);
    if (!goes_on) {
      now = {i + 1, i + 1};
      continue;
    }
    now.end = i + 1;
    if (now.size() > best.size()) best = now;
  }
  return best;
}

}  // namespace

double measured_time_s(const std::string& path) {
  const tensorrt::EngineTimes times = tensorrt::read_times_file(path);
  if (times.run_s) return *times.run_s;
  throw Error(path, "has times of layers, but not of a whole run",
              "give trtexec's output without --dumpProfile, or the file of --exportTimes");
}

BusyPower busy_power(const PowerRecord& record, const std::string& path) {
  if (std::ranges::none_of(record.channels, &PowerChannel::in_sum))
    throw Error(path, "which of its rails make up the board's power is not known",
                "write the mean into power_w", ExitCode::incomplete);
  std::vector<double> watts, times;
  double lag_s = 0;
  for (const PowerChannel& channel : record.channels)
    if (channel.in_sum) lag_s = std::max(lag_s, channel.lag_s);
  for (const PowerSample& sample : record.samples) {
    const double total = total_of(record, sample);
    if (!std::isfinite(total)) continue;
    watts.push_back(total);
    times.push_back(sample.time_s);
  }
  const auto too_short = [&](std::size_t readings) {
    return Error(path, fmt::format("has {} readings of the run, which is too few", readings),
                 "log at least ten seconds: tegrastats --interval 100", ExitCode::incomplete);
  };
  if (watts.size() < least_readings) throw too_short(watts.size());
  std::vector<double> sorted = watts;
  std::ranges::sort(sorted);
  const double low = sorted[sorted.size() / 20];
  const auto has_step = [&](double high) { return high - low > least_step * high; };
  double high = sorted[sorted.size() - 1 - sorted.size() / 20];
  // A run that is less than a twentieth of its log, not single readings that stand out.
  if (const double peak = sorted[sorted.size() - least_readings];
      !has_step(high) && has_step(peak) &&
      longest_stretch(watts, (low + peak) / 2).size() >= least_readings)
    high = peak;
  Stretch run{0, watts.size()};
  if (has_step(high)) {
    run = longest_stretch(watts, (low + high) / 2);
    // Readings trail the load: three time constants are within 5 % of the step.
    const double settled_s = times[run.begin] + 3 * lag_s;
    while (run.size() > least_readings && times[run.begin] < settled_s) ++run.begin;
  }
  if (run.size() < least_readings) throw too_short(run.size());
  BusyPower power;
  for (std::size_t i = run.begin; i < run.end; ++i) power.power_w += watts[i];
  power.power_w /= static_cast<double>(run.size());
  power.seconds = times[run.end - 1] - times[run.begin];
  power.left_out = watts.size() - run.size();
  return power;
}

BusyPower measured_power(const std::string& path) {
  return busy_power(parse_power_log(read_text_file(path), path), path);
}

}  // namespace ridgeline
