// Roofline → text tables for people: roofs, slopes, ridges and given points with their values.
// The picture is terminal.h; the full numbers are in the JSON and CSV forms.
#pragma once

#include <string>

#include "roofline/ceilings/roofline.h"

namespace ridgeline {

// At most `width` columns; columns that do not fit are left out, the least important first.
std::string roofline_tables(const Roofline& roofline, int width);

// "Example CPU · as found, 4 cores · 4 threads · 2026-01-02 · example.json", wrapped.
std::string roofline_heading(const Roofline& roofline, int width);

}  // namespace ridgeline
