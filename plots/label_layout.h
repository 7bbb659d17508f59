// Label layout: where each label of a panel goes, so that no two overlap and none leaves the
// picture. Done here for every renderer; it moves labels, never data.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plots/figure.h"
#include "plots/geometry.h"

namespace ridgeline {

// What a renderer says about its text, in its own length unit.
struct LabelMetrics {
  std::function<double(std::string_view)> width;
  double line_height = 14;
  double gap = 4;             // between a label and what it belongs to
  double step_x = 8;          // how far to move in search of a free place
  double step_y = 8;          //
  double margin_left = 0;     // the strip right of the frame
  double margin_right = 0;    //
  int rings = 14;             // how far from a point its label may stray
  double bubble_radius = 0;   // of a bubble with area 1
  bool turns_text = true;     // can draw text along a slope
  bool short_inside = false;  // short texts within the frame
  bool short_margin = false;  // short texts right of it
  bool whole_steps = false;   // labels stand on whole lines (terminal)
  // Small panels: few places per label, no leaders, lines may be crossed, and a label gives way to
  // those before it.
  bool ranked = false;
};

// The line from a thing to its label.
struct Leader {
  Leader(XY start, XY end) : from(start), to(end), box(segment_box(start, end)) {}

  XY from;
  XY to;
  Box box;
};

struct PlacedLabel {
  std::size_t label = 0;  // index in the panel
  std::string text;
  Box box;
  std::optional<Leader> leader;  // absent where thing and label are next to each other
};

// A label that finds no free place is left out; margin labels always find one as long as their
// number times the line height is at most the height of the frame.
std::vector<PlacedLabel> place_labels(const Panel& panel, const Viewport& view,
                                      const LabelMetrics& metrics);

// Moves ascending positions apart to at least `spacing`, as little as possible, within [low, high].
std::vector<double> moved_apart(std::vector<double> positions, double spacing, double low,
                                double high);

}  // namespace ridgeline
