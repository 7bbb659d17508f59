// "Did you mean …?": the candidate that a mistyped word is nearest to.
// Silent when nothing is near: a wrong guess is worse than none.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ridgeline {

// Names are compared without regard to case and punctuation: "ResNet-50" is resnet50.
std::string plain_name(std::string_view name);  // letters and digits, in lower case
bool same_name(std::string_view a, std::string_view b);

// By edits (insert, delete, replace, swap of neighbours), ignoring case; a beginning of at least
// three letters counts as near, and so do all words of a name in any place ("jetson-thor"). The
// first of equals wins.
std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates);

// "did you mean 'measure'?", or empty where nothing is near.
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates);

// All that are equally near, in their order.
std::vector<std::string> all_nearest(std::string_view word,
                                     const std::vector<std::string>& candidates);

}  // namespace ridgeline
