// The difference that a mode makes to a configuration file, as a unified diff that patch applies.
// A mode of the same name is replaced, any other is put behind the last one; nothing is written.
#pragma once

#include <string>
#include <string_view>

#include "devices/nvpmodel/configuration.h"

namespace ridgeline::nvpmodel {

// `text` is what `file` was read from. The ID of a replaced mode is kept. Lines end as the file's
// own do. Empty where the file already has exactly this mode.
std::string diff_of(std::string_view text, const Configuration& file, PowerModel model,
                    const std::string& file_name);

}  // namespace ridgeline::nvpmodel
