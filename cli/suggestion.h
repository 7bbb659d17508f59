// "did you mean …": the help that an unknown word gets.
// The distance between words is base/nearest.h's matter.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ridgeline::cli {

// "did you mean 'measure'?", or empty where nothing is near.
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace ridgeline::cli
