// All modes of a grid, one line each, in the three forms.
// Tens of thousands of rows: the text of each value is made once per axis, not once per row.
#pragma once

#include <string>

#include "report/modes.h"

namespace ridgeline {

void append_grid_text(const ModesListing& listing, std::string& text);  // with a heading
void append_grid_csv(const ModesListing& listing, std::string& text);   // without one
void append_grid_json(const ModesListing& listing, std::string& text);  // an array

// "1300.5", "612": MHz as tables show it; empty where unknown.
std::string megahertz(std::optional<double> hz);

// "612000000": whole numbers without an exponent.
std::string hertz(double hz);

// The CPU clock: one number where all clusters agree, else one for each: "1200/2000".
std::string cpu_megahertz(const OperatingPoint& point);
std::string cpu_hertz(const OperatingPoint& point);

}  // namespace ridgeline
