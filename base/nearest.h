// "Did you mean …?": the candidate that a mistyped word is nearest to.
// Silent when nothing is near: a wrong guess is worse than none.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ridgeline {

// By edits (insert, delete, replace, swap of neighbours), ignoring case; a beginning of at least
// three letters counts as near. The first of equals wins.
std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates);

// "did you mean 'measure'?", or empty where nothing is near.
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates);

// All that are equally near, in their order.
std::vector<std::string> all_nearest(std::string_view word,
                                     const std::vector<std::string>& candidates);

}  // namespace ridgeline
