// What is believed of libraries, runtimes, power and energy before anything was measured on a
// board: a table of named parameters with spread and source, added to a catalog entry's own.
#pragma once

#include <span>
#include <string_view>

#include "base/machine_model.h"

namespace ridgeline {

struct PriorRow {
  std::string_view device;  // kind or architecture that it holds for; empty = all
  std::string_view name;    // carries the unit
  double mean = 0;
  double sigma = 0;  // relative; one sigma of the logarithm
  Source source = Source::assumed;
  std::string_view origin;  // where the value comes from, in one line
};

std::span<const PriorRow> prior_rows();

// The model with every parameter that the formulas need and it does not have yet: rows that hold
// for the catalog's device of its name, or those of every device where the catalog has none.
MachineModel with_priors(MachineModel model);

}  // namespace ridgeline
