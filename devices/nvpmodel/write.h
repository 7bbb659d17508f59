// A mode as a POWER_MODEL block that fits a given configuration file, and the diff that adds it.
// Names, order and the settings of engines are those of the file; nothing is written to a system.
#pragma once

#include <string>
#include <string_view>

#include "devices/modes/mode_space.h"
#include "devices/nvpmodel/configuration.h"

namespace ridgeline::nvpmodel {

struct BlockOptions {
  std::string name;     // empty = CUSTOM_<id>
  bool locked = false;  // minimum = maximum: the governor has no choice
};

// A mode of the space as the file would write it: a clock at its ceiling is not clamped.
catalog::StockMode block_values(const Configuration& file, const DeviceMode& mode,
                                const BlockOptions& options);

// The statements of a mode after the pattern of one that the file has: the first with the same
// mask, else its first. Without modes they follow the order of NVIDIA's files. A knob that the file
// does not declare, though the mode needs it, is an Error.
PowerModel compose(const Configuration& file, const catalog::Device& device,
                   const catalog::StockMode& values, const std::string& file_name);

// The number above all that the file uses.
int next_id(const Configuration& file);

std::string to_text(const PowerModel& model);
std::string to_text(const Configuration& file);  // sections of knobs, modes, the default

// The difference that a mode makes to a file, as a unified diff that patch applies: a mode of the
// same name is replaced and keeps its ID, any other goes after the last one. `text` is what `file`
// was read from; lines end as they do there. Empty if the file already has exactly this mode.
std::string unified_diff(std::string_view text, const Configuration& file, PowerModel model,
                         const std::string& file_name);

}  // namespace ridgeline::nvpmodel
