// Quantities as people write and read them: SI prefixes, binary bytes, three significant digits.
// The only place where prefixes exist; inside, every quantity is an SI double.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ridgeline {

// "183", "12.4", "0.250", "1.2e-09": significant digits without a prefix, for pure numbers and
// intensities. "0", "inf" and "nan" are spelled so, here and below.
std::string format_number(double value, int digits = 3);

std::string format_si(double value, std::string_view unit, int digits = 3);  // "183 GFLOP/s"
std::string format_bytes(double bytes, int digits = 3);                      // "24 KiB", "1.02 GiB"
std::string format_seconds(double time_s, int digits = 3);      // "1.73 µs", "12.4 s", "2 min 5 s"
std::string format_hz(double hz, int digits = 3);               // "612 MHz", "1.30 GHz"
std::string format_percent(double fraction, int decimals = 0);  // "48 %"; "<1 %" for a trace
std::string format_probability(double probability);             // "90 %"; never certain: "> 99 %"
// Half of an interval relative to its middle: "± 4.1 %", and "over ± 100 %" where it is wider than
// its middle, since a larger number would say nothing more.
std::string format_half_width(double fraction, int decimals = 0);

// Parsers of option values. `where` names the option; failures are usage errors.
std::uint64_t parse_bytes(std::string_view text, const std::string& where = {});  // 4MiB 1GB 512
double parse_hz(std::string_view text, const std::string& where = {});            // 612MHz
double parse_seconds(std::string_view text, const std::string& where = {});       // 10ms 2min
double parse_joules(std::string_view text, const std::string& where = {});        // 500mJ 50Wh
double parse_watts(std::string_view text, const std::string& where = {});         // 30W 7500mW
std::uint64_t parse_count(std::string_view text, const std::string& where = {});  // 64 64k 2M

}  // namespace ridgeline
