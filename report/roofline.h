// Roofline → text tables for people: roofs, slopes, ridges and given points with their values.
// The picture is in plots/; the full numbers are in the JSON and CSV forms.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "roofline/ceilings/roofline.h"

namespace ridgeline {

// At most `width` columns; columns that do not fit are left out, the least important first.
std::string roofline_tables(const Roofline& roofline, int width);

// "Example CPU · as found, 4 cores · 4 threads · 2026-01-02 · example.json", wrapped.
std::string roofline_heading(const Roofline& roofline, int width);

// One row per mode: units, clocks, roofs by data type, bandwidths, main ridge.
std::string roofline_modes_table(const std::vector<Roofline>& rooflines, int width);

// "759 … 764 GFLOP/s"; both with their unit where the prefixes differ. "-" for an exact number.
std::string interval_text(const Estimate& estimate, std::string_view unit);

}  // namespace ridgeline
