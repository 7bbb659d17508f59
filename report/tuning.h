// A tuning for people and programs: the choice with what it was measured to take, then each run
// with the expected regret after it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/estimate.h"
#include "base/json_fwd.h"
#include "base/observation.h"
#include "validation/tuning.h"

namespace ridgeline {

struct TunedSetting {
  int threads = 1;
  std::int64_t batch = 1;
  Estimate predicted_s;                // of one step, before any run
  std::optional<Estimate> time_s{};    // measured; absent if it was not run
  std::optional<Estimate> power_w{};   // with a sensor
  std::optional<Estimate> energy_j{};  // of one step
  bool disturbed = false;              // others used the machine meanwhile
};

struct ReportedTuning {
  static constexpr std::string_view schema = "ridgeline.tuning/1";
  std::string network;  // name, or file name
  std::string options;  // "seq=128"
  Task task = Task::inference;
  DType dtype = DType::fp32;
  std::string device;   // id in the catalog
  std::string library;  // "LibTorch 1.13.1"
  TuningOptions wanted;
  std::vector<TunedSetting> settings;
  Tuning tuning;
  double limits_hold = 1;  // probability for the choice
  std::vector<std::string> notes;
};

std::string tuning_text(const ReportedTuning& reported, int width);
Json to_json(const ReportedTuning& reported);
std::string to_csv(const ReportedTuning& reported);  // one row per run

}  // namespace ridgeline
