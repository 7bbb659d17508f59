// The clock table of one knob: which values it can be locked at, and what a request becomes.
// Tables are facts of the catalog; a table that is not complete rounds nothing away.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "devices/catalog/catalog.h"

namespace ridgeline {

// Boards report a clock up to half a percent off its table: 611 for 612 MHz.
bool same_clock(double a_hz, double b_hz);

// "612 MHz", "1300.5 MHz": in MHz with the digits that the tables have.
std::string clock_text(double hz);

// The lockable steps with the ceiling, ascending and without doubles.
std::vector<double> lockable_clocks(const catalog::ClockDomain& domain);

// The highest clock that an unclamped knob reaches; nullopt where no source states it.
std::optional<double> ceiling_clock(const catalog::ClockDomain& domain);

// The steps around a clock: equal where it is one of them, absent where the table has none on that
// side or is not complete.
std::pair<std::optional<double>, std::optional<double>> neighbours(
    const catalog::ClockDomain& domain, double hz);

// For errors and notes: the device, the knob's word and the option.
struct ClockAsker {
  std::string device;
  std::string knob;
  std::string where;
};

// The step nearest to a wanted clock, with a note where it is another one; as wanted where the
// table is not complete. Below the lowest or above the highest clock is a usage error.
double lockable_clock(const catalog::ClockDomain& domain, double wanted_hz, const ClockAsker& asker,
                      std::vector<std::string>& notes);

}  // namespace ridgeline
