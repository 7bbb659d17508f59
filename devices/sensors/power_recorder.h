// Records power in the background, at a steady rate, and knows what its own readings cost.
#pragma once

#include <atomic>
#include <thread>

#include "devices/sensors/power_channels.h"

namespace ridgeline {

class PowerRecorder {
 public:
  // Reads at once and then every `period_s`, until stop().
  PowerRecorder(PowerChannels& channels, double period_s);
  PowerRecorder(const PowerRecorder&) = delete;
  PowerRecorder& operator=(const PowerRecorder&) = delete;
  ~PowerRecorder();

  // Seconds on the record's own clock, which is monotonic.
  double now_s() const;
  PowerRecord stop();

 private:
  void run();
  void take();

  PowerChannels& channels_;
  double period_s_;
  double begin_s_;
  PowerRecord record_;
  std::atomic<bool> ends_ = false;
  double cpu_s_ = 0;
  std::thread thread_;
};

// A program that was run while power was recorded.
struct ProgramRun {
  double begin_s = 0, end_s = 0;  // on the recorder's clock
  int exit_code = 0;              // −1 if a signal ended it
};

// Its output goes to standard error. An Error if it cannot be started.
ProgramRun run_recorded(const PowerRecorder& recorder, const std::vector<std::string>& command);

}  // namespace ridgeline
