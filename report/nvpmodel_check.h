// The report on a user's nvpmodel file, as text, CSV and JSON.
// The check itself: devices/nvpmodel/check.h.
#pragma once

#include <string>

#include "devices/nvpmodel/check.h"

namespace ridgeline {

struct ModesCheck {
  static constexpr std::string_view schema = "ridgeline.modes_check/1";
  std::string file;
  const catalog::Device& device;
  const nvpmodel::Configuration& configuration;  // the file as read
  nvpmodel::CheckReport report;
};

std::string check_text(const ModesCheck& check, int width);
std::string check_csv(const ModesCheck& check);
std::string check_json(const ModesCheck& check);

// Fails with the first error of the report, if it has one.
void throw_first_error(const ModesCheck& check);

}  // namespace ridgeline
