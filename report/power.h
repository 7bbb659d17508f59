// Power over a time as text, JSON and CSV: rails with their units, the total, energy, and what
// limits how far it can be trusted.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "devices/sensors/power_record.h"

namespace ridgeline {

struct PowerReport {
  static constexpr std::string_view schema = "ridgeline.power/1";
  PowerRecord record;
  PowerSummary summary;
  std::vector<std::string> command = {};  // of the program whose run was recorded
  double begin_s = 0, end_s = 0;          // of that run
};

// Adds what must be said about a window that is short for its sensor.
void judge_window(PowerReport& report);

std::string power_text(const PowerReport& report, int width);
std::string power_json(const PowerReport& report);
std::string power_csv(const PowerReport& report);  // one line per reading

}  // namespace ridgeline
