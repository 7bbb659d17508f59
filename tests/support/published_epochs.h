// Published epochs of training on two Jetson boards (HiPC SRS 2021), from
// $RIDGELINE_DATA/measurements/hipc21_training.csv if the tester has it: MobileNetV3-Large as its
// authors wrote it, minibatches of 16, GLD-23k.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace ridgeline::testing {

struct PublishedEpoch {
  std::string device, mode, storage;
  int workers = 0;
  bool first = false;  // else the median of three, which is a later one
  std::optional<double> stall_s, time_s;
};

// Empty if the table does not exist.
std::vector<PublishedEpoch> published_epochs();

// What ridgeline says of the same epoch.
struct PredictedEpoch {
  double stall_s = 0, time_s = 0;
};

// Every published value of the row is met within a tenth or ten seconds.
bool is_close(const PublishedEpoch& published, const PredictedEpoch& predicted);

// "jetson-agx-xavier, hdd, 1 worker, first epoch: stall 420 s (published 408)".
std::string compared(const PublishedEpoch& published, const PredictedEpoch& predicted);

}  // namespace ridgeline::testing
