// Formatting by the rounded decimal exponent, so that 999.7 G becomes 1.00 T and never 1000 G;
// parsing by one table of suffixes per quantity. Independent of the locale.
#include "base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <span>

#include "base/error.h"
#include "base/text.h"

namespace ridgeline {
namespace {

constexpr std::array<std::string_view, 17> prefixes{"y", "z", "a", "f", "p", "n", "µ", "m", "",
                                                    "k", "M", "G", "T", "P", "E", "Z", "Y"};
constexpr int unit_prefix = 8;  // index of ""

// Rounded to `digits` significant digits: ±d.ddd × 10^exponent. Tables have thousands of these, so
// no string is made before the last one.
struct Decimal {
  bool negative = false;
  std::array<char, 24> buffer;  // digits without a point
  std::size_t count = 0;        // of them
  int exponent = 0;

  std::string_view digits() const { return {buffer.data(), count}; }
  void set(std::uint64_t value) {
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
    count = static_cast<std::size_t>(end - buffer.data());
  }
};

// The same for a whole number without the way over its decimal expansion; ties go to even as there.
Decimal round_whole(bool negative, std::uint64_t value, std::size_t digits) {
  Decimal decimal;
  decimal.negative = negative;
  decimal.set(value);
  decimal.exponent = static_cast<int>(decimal.count) - 1;
  while (decimal.count < digits) decimal.buffer[decimal.count++] = '0';
  if (decimal.count == digits) return decimal;
  std::uint64_t step = 1;
  for (std::size_t i = digits; i < decimal.count; ++i) step *= 10;
  std::uint64_t kept = value / step;
  const std::uint64_t rest = value % step;
  if (rest > step / 2 || (rest == step / 2 && kept % 2 == 1)) ++kept;
  decimal.set(kept);
  if (decimal.count > digits) {  // 999.7 → 1000
    decimal.count = digits;
    ++decimal.exponent;
  }
  return decimal;
}

Decimal round_decimal(double value, int wanted_digits) {
  const int digits = std::clamp(wanted_digits, 1, 17);
  constexpr double exact = 0x1p53;
  if (std::abs(value) < exact && value == std::floor(value))
    return round_whole(value < 0, static_cast<std::uint64_t>(std::abs(value)),
                       static_cast<std::size_t>(digits));
  std::array<char, 32> buffer;  // d.ddde±ddd
  const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::abs(value),
                                     std::chars_format::scientific, digits - 1);
  const std::string_view text(buffer.data(), static_cast<std::size_t>(written.ptr - buffer.data()));
  const std::size_t e = text.find('e');
  Decimal decimal;
  decimal.negative = value < 0;
  for (const char c : text.substr(0, e))
    if (c != '.') decimal.buffer[decimal.count++] = c;
  const std::size_t sign = text[e + 1] == '+' ? 1 : 0;  // from_chars reads no plus
  std::from_chars(text.data() + e + 1 + sign, written.ptr, decimal.exponent);
  return decimal;
}

// The digits with a point after `integral` of them (≥ 1), padded with zeros where they end.
std::string place_point(const Decimal& decimal, int integral) {
  const auto before = static_cast<std::size_t>(integral);
  const std::string_view digits = decimal.digits();
  std::string text(decimal.negative ? "-" : "");
  text += digits.substr(0, before);
  if (digits.size() < before) text.append(before - digits.size(), '0');
  if (digits.size() > before) (text += '.') += digits.substr(before);
  return text;
}

std::optional<std::string> format_special(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  if (value == 0) return "0";
  return std::nullopt;
}

std::string with_unit(std::string number, std::string_view unit) {
  return unit.empty() ? number : std::move(number.append(" ").append(unit));
}

int floor_div(int a, int b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

}  // namespace

std::string format_number(double value, int digits) {
  if (const auto special = format_special(value)) return *special;
  const Decimal decimal = round_decimal(value, digits);
  if (decimal.exponent < -4 || decimal.exponent > 6)
    return fmt::format("{:.{}e}", value, std::clamp(digits, 1, 17) - 1);
  if (decimal.exponent >= 0) return place_point(decimal, decimal.exponent + 1);
  const std::string zeros(static_cast<std::size_t>(-decimal.exponent - 1), '0');
  return (decimal.negative ? "-0." : "0.") + zeros + std::string(decimal.digits());
}

std::string format_si(double value, std::string_view unit, int digits) {
  if (const auto special = format_special(value)) return with_unit(*special, unit);
  const Decimal decimal = round_decimal(value, digits);
  const int group = floor_div(decimal.exponent, 3);
  const int prefix = unit_prefix + group;
  if (prefix < 0 || prefix >= static_cast<int>(prefixes.size()))
    return with_unit(fmt::format("{:.{}e}", value, std::clamp(digits, 1, 17) - 1), unit);
  const std::string_view letter = prefixes[static_cast<std::size_t>(prefix)];
  std::string text = place_point(decimal, decimal.exponent - 3 * group + 1);
  if (!letter.empty() || !unit.empty()) ((text += ' ') += letter) += unit;
  return text;
}

std::string format_bytes(double bytes, int digits) {
  if (const auto special = format_special(bytes)) return *special + " B";
  constexpr std::array<std::string_view, 7> units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t step = 0;
  double scaled = bytes;
  // Compared as it would be printed: 1023.7 KiB reads 1.00 MiB.
  while (step + 1 < units.size() && std::abs(std::round(scaled)) >= 1024) {
    scaled /= 1024;
    ++step;
  }
  // Whole numbers are exact sizes ("24 KiB"), and 1000 … 1023 keep their four digits.
  const bool whole = scaled == std::round(scaled) || std::abs(scaled) >= 999.5;
  const bool printable = std::abs(scaled) < 1e6;
  return with_unit(
      whole && printable ? fmt::format("{:.0f}", scaled) : format_number(scaled, digits),
      units[step]);
}

std::string format_seconds(double time_s, int digits) {
  const double rounded = std::round(time_s);
  if (!std::isfinite(time_s) || std::abs(rounded) < 120 || std::abs(rounded) > 1e9)
    return format_si(time_s, "s", digits);
  const std::string sign = rounded < 0 ? "-" : "";
  const auto seconds = static_cast<std::int64_t>(std::abs(rounded));
  if (seconds < 3600) return fmt::format("{}{} min {} s", sign, seconds / 60, seconds % 60);
  return fmt::format("{}{} h {} min", sign, seconds / 3600, seconds % 3600 / 60);
}

std::string format_hz(double hz, int digits) { return format_si(hz, "Hz", digits); }

std::string format_percent(double fraction, int decimals) {
  const double percent = fraction * 100;
  if (!(std::abs(percent) < 1e6)) return format_number(percent) + " %";
  decimals = std::clamp(decimals, 0, 15);
  std::array<char, 32> buffer;  // below a million with 15 decimals
  const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), percent,
                                     std::chars_format::fixed, decimals);
  std::string text(buffer.data(), written.ptr);
  const bool rounds_to_zero = text.find_first_of("123456789") == std::string::npos;
  if (rounds_to_zero && percent > 0) {
    text.back() = '1';
    return "<" + text + " %";
  }
  if (rounds_to_zero && text.front() == '-') text.erase(0, 1);
  return text + " %";
}

std::string format_probability(double probability) {
  if (probability > 0.99) return "> 99 %";
  if (probability < 0.01) return "< 1 %";
  return format_percent(probability);
}

std::string format_half_width(double fraction, int decimals) {
  return fraction > 1 ? "over ± 100 %" : "± " + format_percent(fraction, decimals);
}

namespace {

struct Suffix {
  std::string_view text;
  double factor;
};

constexpr std::array<Suffix, 12> byte_suffixes{{{"", 1},
                                                {"b", 1},
                                                {"kb", 1e3},
                                                {"mb", 1e6},
                                                {"gb", 1e9},
                                                {"tb", 1e12},
                                                {"pb", 1e15},
                                                {"kib", 0x1p10},
                                                {"mib", 0x1p20},
                                                {"gib", 0x1p30},
                                                {"tib", 0x1p40},
                                                {"pib", 0x1p50}}};
// Nobody means millihertz, so case does not matter.
constexpr std::array<Suffix, 4> hz_suffixes{{{"hz", 1}, {"khz", 1e3}, {"mhz", 1e6}, {"ghz", 1e9}}};
constexpr std::array<Suffix, 7> second_suffixes{
    {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"µs", 1e-6}, {"ns", 1e-9}, {"min", 60}, {"h", 3600}}};
// Here case matters: mW and MW are both in use.
constexpr std::array<Suffix, 3> watt_suffixes{{{"W", 1}, {"mW", 1e-3}, {"kW", 1e3}}};
constexpr std::array<Suffix, 6> joule_suffixes{
    {{"J", 1}, {"mJ", 1e-3}, {"kJ", 1e3}, {"mWh", 3.6}, {"Wh", 3600}, {"kWh", 3.6e6}}};
constexpr std::array<Suffix, 6> count_suffixes{
    {{"", 1}, {"k", 1e3}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}}};

enum class Case { matters, ignored };

double parse_quantity(std::string_view text, const std::string& where, std::string_view noun,
                      std::string_view example, std::span<const Suffix> suffixes, Case letters) {
  const auto fail = [&](std::string_view why) {
    throw usage_error(where, fmt::format("{} is not {}{}", quote(text), noun, why),
                      fmt::format("write for example {}", example));
  };
  const char* const end = text.data() + text.size();
  double number = 0;
  const auto [rest, status] = std::from_chars(text.data(), end, number);
  if (status == std::errc::result_out_of_range) fail(", it is out of range");
  if (status != std::errc() || !std::isfinite(number)) fail("");
  if (std::signbit(number)) fail(", it is negative");
  std::string_view suffix(rest, static_cast<std::size_t>(end - rest));
  if (suffix.starts_with(' ')) suffix.remove_prefix(1);
  const std::string folded = letters == Case::ignored ? lower(suffix) : std::string(suffix);
  const auto found = std::find_if(suffixes.begin(), suffixes.end(),
                                  [&](const Suffix& known) { return known.text == folded; });
  if (found == suffixes.end() && folded.empty())
    throw usage_error(where, fmt::format("{} has no unit", quote(text)),
                      fmt::format("write for example {}", example));
  if (found == suffixes.end()) fail(fmt::format(", unknown unit {}", quote(suffix)));
  // "ms" is best divided: 10 / 1000 is the double that 0.01 is, 10 × 0.001 need not be.
  return found->factor < 1 ? number / std::round(1 / found->factor) : number * found->factor;
}

std::uint64_t whole(double number, std::string_view text, const std::string& where) {
  constexpr double limit = 1152921504606846976.0;  // 2^60
  if (number > limit) throw usage_error(where, fmt::format("{} is too large", quote(text)));
  // 2.14 × 10^9 is not quite whole in doubles.
  constexpr double rounding = 1e-12;
  const double rounded = std::round(number);
  if (std::abs(number - rounded) > rounding * number)
    throw usage_error(where, fmt::format("{} is not a whole number", quote(text)));
  return static_cast<std::uint64_t>(rounded);
}

}  // namespace

std::uint64_t parse_bytes(std::string_view text, const std::string& where) {
  return whole(
      parse_quantity(text, where, "a size in bytes", "64KiB or 1GB", byte_suffixes, Case::ignored),
      text, where);
}

double parse_hz(std::string_view text, const std::string& where) {
  const double hz =
      parse_quantity(text, where, "a frequency", "612MHz", hz_suffixes, Case::ignored);
  // 1065.6 × 10^6 is not quite whole in doubles.
  const std::string unit = text.size() > 3 ? lower(text.substr(text.size() - 3)) : std::string();
  const bool is_scaled = unit == "khz" || unit == "mhz" || unit == "ghz";
  constexpr double rounding = 1e-15;
  const double rounded = std::round(hz);
  return is_scaled && std::abs(hz - rounded) < rounding * hz ? rounded : hz;
}

double parse_seconds(std::string_view text, const std::string& where) {
  return parse_quantity(text, where, "a time", "10ms or 2min", second_suffixes, Case::matters);
}

double parse_watts(std::string_view text, const std::string& where) {
  return parse_quantity(text, where, "a power", "30W", watt_suffixes, Case::matters);
}

double parse_joules(std::string_view text, const std::string& where) {
  return parse_quantity(text, where, "an energy", "500mJ or 50Wh", joule_suffixes, Case::matters);
}

std::uint64_t parse_count(std::string_view text, const std::string& where) {
  return whole(parse_quantity(text, where, "a count", "64 or 64k", count_suffixes, Case::matters),
               text, where);
}

}  // namespace ridgeline
