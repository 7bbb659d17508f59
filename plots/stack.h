// FigureStack: several plots one below the other over the same x axis, as a value.
// Titles, legends and captions of the single figures are not shown; the stack has its own.
#pragma once

#include <string>
#include <vector>

#include "plots/figure.h"

namespace ridgeline {

struct FigureStack {
  std::string title;
  std::string description;
  std::vector<Figure> figures;  // from top to bottom; equal x axes
  std::vector<double> heights;  // one per figure, relative
  std::vector<LegendEntry> legend;
  std::string caption;
};

}  // namespace ridgeline
