// Modes that look alike in a picture share one panel or line: "15W, 30W".
#pragma once

#include <string>
#include <vector>

namespace ridgeline {

// In the order of the first of each; the labels of the others are added to its own.
template <class AnyRoofline, class Equal>
std::vector<AnyRoofline> merged_modes(const std::vector<AnyRoofline>& rooflines,
                                      const Equal& equal) {
  std::vector<AnyRoofline> merged;
  for (const AnyRoofline& roofline : rooflines) {
    AnyRoofline* known = nullptr;
    for (AnyRoofline& each : merged)
      if (equal(each, roofline)) known = &each;
    if (known)
      known->mode.label += ", " + roofline.mode.label;
    else
      merged.push_back(roofline);
  }
  return merged;
}

// "one mode", "4 distinct modes".
template <class AnyRoofline>
std::string modes_text(const std::vector<AnyRoofline>& rooflines) {
  return rooflines.size() == 1 ? "one mode" : std::to_string(rooflines.size()) + " distinct modes";
}

}  // namespace ridgeline
