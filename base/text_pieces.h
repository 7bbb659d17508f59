// Pieces of text that tables and headings share: intervals, clocks, wrapped lines, harmless names.
// Nothing of what they are about.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/estimate.h"
#include "base/operating_point.h"
#include "base/text_table.h"

namespace ridgeline {

// "759 … 764 GFLOP/s"; both with their unit where the prefixes differ. "-" for an exact number.
std::string interval_text(const Estimate& estimate, std::string_view unit);

// Names come from files: nothing may steer the terminal.
std::string printable(std::string text);

// Words until the line is full, continued lines indented; a word that is too long loses its middle.
std::string wrapped(const std::string& text, int width, std::string_view indent = "  ");

// Takes columns away, the first named first, until the table is at most `width` columns wide.
void drop_columns(TextTable& table, int width, std::initializer_list<const char*> least_first);

// "8 SM, 612 MHz, memory 3.20 GHz".
std::string clocks_text(const OperatingPoint& point);

}  // namespace ridgeline
