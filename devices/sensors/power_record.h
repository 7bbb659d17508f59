// A record of power over time, of a live sensor or a log: channels, readings, and what they add up
// to. Channels that are parts of another one are shown and never added.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace ridgeline {

struct PowerChannel {
  std::string label;    // "VDD_GPU_SOC", "package 0", "GPU"
  bool in_sum = false;  // the machine's power is the sum of these
  double lag_s = 0;     // that a reading trails the load by, or averages over
  double step_w = 0;    // between two neighbouring readings; 0 = finer than matters

  friend bool operator==(const PowerChannel&, const PowerChannel&) = default;
};

struct PowerSample {
  double time_s = 0;
  std::vector<double> power_w;  // of each channel; NaN where it could not be read

  friend bool operator==(const PowerSample&, const PowerSample&) = default;
};

struct PowerRecord {
  std::string source;  // "INA3221 rails", "tegrastats log run.log"
  std::vector<PowerChannel> channels;
  std::vector<PowerSample> samples;
  std::vector<std::string> notes;
  // Energy of each channel over the window where the sensor itself counts it, else empty.
  std::vector<std::optional<double>> counted_j = {};
  double sampler_cpu_s = 0;  // that reading took; 0 for logs
};

// Minimum, mean and maximum over time; energy by the trapezoid rule or the sensor's own count.
struct ChannelPower {
  std::string label;
  bool in_sum = false;
  std::size_t readings = 0, missing = 0;
  double min_w = 0, mean_w = 0, max_w = 0, energy_j = 0;
};

struct PowerSummary {
  std::string source;
  double seconds = 0;
  std::size_t readings = 0;
  std::vector<ChannelPower> channels;
  std::optional<ChannelPower> total;  // absent where no rails are known to make up the machine
  double step_w = 0;                  // of the total
  double lag_s = 0;
  double sampler_share = 0;  // of one core
  std::vector<std::string> notes;
};

// Of the whole record, or of a window within it (for the run of a program), whose ends are
// interpolated. An Error if no reading is left.
PowerSummary summarize(const PowerRecord& record, std::optional<double> from_s = {},
                       std::optional<double> to_s = {});

// Marks the channels that make up a board's power by the rails of the catalog: those of the device
// whose rails have most labels in common with these. False where the catalog has no such board.
bool mark_summed_rails(std::vector<PowerChannel>& channels);

}  // namespace ridgeline
