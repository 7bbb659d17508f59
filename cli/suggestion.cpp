// Words the nearest candidate as a question.
// Used for commands and options; kernels and devices have their own places.
#include "cli/suggestion.h"

#include "base/nearest.h"

namespace ridgeline::cli {

std::string suggestion(std::string_view word, const std::vector<std::string>& candidates) {
  const auto found = nearest(word, candidates);
  return found ? "did you mean '" + *found + "'?" : std::string{};
}

}  // namespace ridgeline::cli
