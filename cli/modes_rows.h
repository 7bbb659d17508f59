// All modes of a grid, one line each, in the three forms.
// Tens of thousands of rows: the text of each value is made once per axis, not once per row.
#pragma once

#include <string>

#include "cli/modes_listing.h"

namespace ridgeline::cli {

std::string grid_text(const ModesListing& listing);  // with a heading
std::string grid_csv(const ModesListing& listing);   // without one
std::string grid_json(const ModesListing& listing);  // elements of an array, without brackets

// "1300.5", "612": MHz as tables show it; empty where unknown.
std::string megahertz(std::optional<double> hz);

// "612000000": whole numbers without an exponent.
std::string hertz(double hz);

}  // namespace ridgeline::cli
