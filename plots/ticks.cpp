// Ticks of logarithmic axes at decades (or every n-th) and of linear axes at round steps.
// Layout of the labels is left to the renderers.
#include "plots/ticks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

namespace ridgeline {
namespace {

std::string superscript(int exponent) {
  static constexpr std::array<std::string_view, 10> digits{"⁰", "¹", "²", "³", "⁴",
                                                           "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = exponent < 0 ? "⁻" : "";
  for (const char c : std::to_string(std::abs(exponent)))
    text += digits[static_cast<std::size_t>(c - '0')];
  return text;
}

// factor · 10^exponent, factor 1, 2 or 5.
std::string power_label(int factor, int exponent, bool si_prefixes, bool powers, bool utf8) {
  static constexpr std::array<std::string_view, 7> prefixes{"", "k", "M", "G", "T", "P", "E"};
  if (si_prefixes && exponent >= 0 && exponent < 21) {  // below and above: powers
    const auto group = static_cast<std::size_t>(exponent / 3);
    const int digits = factor * (exponent % 3 == 0 ? 1 : exponent % 3 == 1 ? 10 : 100);
    return group == 0 ? std::to_string(digits) : fmt::format("{} {}", digits, prefixes[group]);
  }
  if (powers) {
    if (factor == 1 && exponent == 0) return "1";
    if (!utf8) return fmt::format("{}e{}", factor, exponent);
    return (factor == 1 ? "10" : fmt::format("{}·10", factor)) + superscript(exponent);
  }
  return fmt::format("{:.{}f}", factor * std::pow(10.0, exponent), std::max(0, -exponent));
}

std::vector<Tick> log_ticks(const Axis& axis, double length, double min_gap, bool utf8) {
  const double decades = std::log10(axis.high / axis.low);
  const double decade_length = length / decades;
  int step = 1;
  for (const int wider : {2, 3, 6, 12, 24, 48, 96})
    if (decade_length * step < min_gap) step = wider;
  // Few decades and much room: 2 and 5 are labelled as well.
  const bool fine = decade_length * std::log10(2.0) >= min_gap && decades < 2.5;

  // Plain numbers as long as all of them are short.
  const bool powers = axis.low < 1e-4 || axis.high > 1e5;

  std::vector<Tick> ticks;
  const auto add = [&](int factor, int exponent, bool labelled) {
    const double value = factor * std::pow(10.0, exponent);
    // The slack keeps a tick that rounding pushed just over the end of the axis.
    if (value < axis.low * (1 - 1e-9) || value > axis.high * (1 + 1e-9)) return;
    ticks.push_back(
        {value, labelled ? power_label(factor, exponent, axis.si_prefixes, powers, utf8) : ""});
  };
  const int first = static_cast<int>(std::floor(std::log10(axis.low)));
  const int last = static_cast<int>(std::ceil(std::log10(axis.high)));
  for (int exponent = first; exponent <= last; ++exponent) {
    add(1, exponent, exponent % step == 0);
    if (step > 1) continue;
    for (int factor = 2; factor <= 9; ++factor)
      add(factor, exponent, fine && (factor == 2 || factor == 5));
  }
  return ticks;
}

std::vector<Tick> linear_ticks(const Axis& axis, double length, double min_gap) {
  const double raw = (axis.high - axis.low) * min_gap / length;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.0, 1.0})
    if (factor * power >= raw) step = factor * power;
  std::vector<Tick> ticks;
  for (double k = std::ceil(axis.low / step - 1e-9); k * step <= axis.high + step * 1e-9; k += 1)
    ticks.push_back({k * step, fmt::format("{:.6g}", k * step + 0.0)});  // no "-0"
  return ticks;
}

// Round steps on a logarithmic axis: the distance at its upper end is the least one.
std::vector<Tick> narrow_log_ticks(const Axis& axis, double length, double min_gap) {
  const double per_pixel = std::log(axis.high / axis.low) / length;
  Axis linear = axis;
  linear.scale = Scale::linear;
  const double least_step = axis.high * (1 - std::exp(-per_pixel * min_gap));
  return linear_ticks(linear, axis.high - axis.low, least_step);
}

std::size_t labelled(const std::vector<Tick>& ticks) {
  return static_cast<std::size_t>(std::count_if(
      ticks.begin(), ticks.end(), [](const Tick& tick) { return !tick.label.empty(); }));
}

}  // namespace

std::vector<Tick> ticks_of(const Axis& axis, double length, double min_gap, bool utf8) {
  if (!axis.has_ticks) return {};
  Axis shown = axis;
  shown.low /= axis.unit_size;
  shown.high /= axis.unit_size;
  std::vector<Tick> ticks;
  if (axis.scale == Scale::linear) {
    ticks = linear_ticks(shown, length, min_gap);
  } else {
    ticks = log_ticks(shown, length, min_gap, utf8);
    if (labelled(ticks) < 3 && shown.high / shown.low < 30) {
      const std::vector<Tick> narrow = narrow_log_ticks(shown, length, min_gap);
      if (labelled(narrow) > labelled(ticks)) ticks = narrow;
    }
  }
  for (Tick& tick : ticks) tick.value *= axis.unit_size;
  return ticks;
}

void choose_prefix(Axis& axis) {
  const double middle =
      axis.scale == Scale::log ? std::sqrt(axis.low * axis.high) : std::max(axis.high, -axis.low);
  static constexpr std::array<std::pair<double, std::string_view>, 5> prefixes{
      {{1e-9, "n"}, {1e-6, "µ"}, {1e-3, "m"}, {1, ""}, {1e3, "k"}}};
  const auto* chosen = &prefixes.front();
  for (const auto& row : prefixes)
    if (middle >= row.first) chosen = &row;
  if (chosen->first > 1 && axis.unit == "s") return;  // kiloseconds are unusual
  axis.unit_size = chosen->first;
  axis.unit = std::string(chosen->second) + axis.unit;
  axis.si_prefixes = false;
}

}  // namespace ridgeline
