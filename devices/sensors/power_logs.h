// Logs of other tools as power records: NVIDIA's tegrastats of every JetPack, and the CSV that
// jtop's logger writes. Only their power is read.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "devices/sensors/power_record.h"

namespace ridgeline {

// `interval_s` is the time between lines where the log has no clock; without it a second is
// assumed, and a note says so. A text of another tool, or without power, is an Error.
PowerRecord parse_power_log(std::string_view text, const std::string& name,
                            std::optional<double> interval_s = {});

}  // namespace ridgeline
