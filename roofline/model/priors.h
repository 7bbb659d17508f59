// Prior values for libraries, runtimes, power and energy, used until a board is measured: a table
// of named parameters with spread and source, added to those of a catalog entry.
#pragma once

#include <span>
#include <string_view>

#include "base/machine_model.h"

namespace ridgeline {

struct PriorRow {
  std::string_view device;  // kind or architecture that it applies to; empty = all
  std::string_view name;    // carries the unit
  double mean = 0;
  double sigma = 0;  // relative; one sigma of the logarithm
  Source source = Source::assumed;
  std::string_view origin;  // source of the value, in one line
};

std::span<const PriorRow> prior_rows();

// Adds every parameter that the formulas need and the model lacks, from the rows that apply to the
// catalog's device of its name. A device outside the catalog is taken for a CPU.
MachineModel with_priors(MachineModel model);

}  // namespace ridgeline
