// `measure --modes`: one power mode after the other into one profile.
#pragma once

#include "cli/requests/measure.h"

namespace ridgeline::cli {

ExitCode measure_modes(const MeasureRequest& request, const Options& options, Console& console);

}  // namespace ridgeline::cli
