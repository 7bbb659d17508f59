// Words the nearest candidate as a question.
// Used for commands and options; kernels and devices have their own places.
#include "cli/suggestion.h"

namespace ridgeline::cli {

std::string suggestion(std::string_view, const std::vector<std::string>&) { return {}; }

}  // namespace ridgeline::cli
