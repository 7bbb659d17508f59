// Files of other tools as measured values: the time of a run from trtexec's output, the power while
// it ran from a log of tegrastats or jtop. Reads and averages; the fit is elsewhere.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "devices/sensors/power_record.h"

namespace ridgeline {

// GPU time of one run, from trtexec's log or --exportTimes. A file with times of layers alone is an
// Error: profiling slows every layer down.
double measured_time_s(const std::string& path);

struct BusyPower {
  double power_w = 0;
  double seconds = 0;        // that it is the mean of
  std::size_t left_out = 0;  // readings before and after the run
};

// Mean power of the machine while it worked: where the log steps up and down, the longest stretch
// between the steps, without the sensor's lag at its beginning.
BusyPower busy_power(const PowerRecord& record, const std::string& path);
BusyPower measured_power(const std::string& path);

}  // namespace ridgeline
