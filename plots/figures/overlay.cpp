// Colour and dashes repeat what the label at the end of a line says.
#include "plots/figures/overlay.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "base/units.h"
#include "plots/figures/merged_modes.h"
#include "plots/figures/roofline.h"
#include "plots/figures/roofline_panels.h"

namespace ridgeline {
namespace {

// Neighbours differ in both; more lines than colours differ in dashes alone.
Style mode_style(std::size_t index) {
  static constexpr std::array<Ink, 6> inks{Ink::blue,   Ink::vermillion, Ink::green,
                                           Ink::purple, Ink::orange,     Ink::sky};
  static constexpr std::array<Dash, 4> dashes{Dash::solid, Dash::long_dash, Dash::dash_dot,
                                              Dash::dotted};
  return {inks[index % inks.size()], dashes[(index + index / inks.size()) % dashes.size()], 2,
          Marker::none};
}

std::string overlaid_name(const OperatingPoint& mode) {
  return mode.label.empty() ? clocks_text(mode) : mode.label;
}

// One line per mode, labelled at its end and ringed at its balance.
struct ModeLine {
  std::string name, value;
  std::vector<XY> points;
  XY ridge;
};

void add_line(Panel& panel, const ModeLine& line, std::size_t index) {
  const Style style = mode_style(index);
  panel.series.push_back({line.name, line.points, style, {}});
  panel.series.push_back(
      {"ridge of " + line.name, {line.ridge}, {style.ink, Dash::solid, 0, Marker::ring}, {}});
  panel.labels.push_back({line.name + ": " + line.value,
                          line.name,
                          LabelPlace::right_margin,
                          line.points.back(),
                          {},
                          style.ink,
                          false});
}

const LegendEntry ring_entry{"ridge", {Ink::black, Dash::solid, 0, Marker::ring}};

bool look_alike(const Roofline& a, const Roofline& b) {
  return main_rate(a) == main_rate(b) &&
         main_slope(a)->bytes_per_s.value == main_slope(b)->bytes_per_s.value;
}

bool look_alike(const EnergyRoofline& a, const EnergyRoofline& b) {
  return a.main_roof().terms == b.main_roof().terms;
}

template <class AnyRoofline>
std::vector<AnyRoofline> distinct(const std::vector<AnyRoofline>& rooflines) {
  return merged_modes(rooflines, [](const auto& a, const auto& b) { return look_alike(a, b); });
}

std::string main_roof_name(const Roofline& roofline) {
  return roofline.roofs[*roofline.main_roof].name;
}

}  // namespace

Figure roofline_overlay(const std::vector<Roofline>& rooflines) {
  for (const Roofline& roofline : rooflines)
    if (!roofline.main_roof || !roofline.main_slope)
      throw Error("--overlay", overlaid_name(roofline.mode) + " has no roof or no slope",
                  "leave that mode out of --modes", ExitCode::incomplete);
  const std::vector<Roofline> modes = distinct(rooflines);
  Interval ridges{INFINITY, 0}, rates{INFINITY, 0};
  for (const Roofline& roofline : modes) {
    const double rate = main_rate(roofline), ridge = rate / main_slope(roofline)->bytes_per_s.value;
    ridges = {std::min(ridges.low, ridge), std::max(ridges.high, ridge)};
    rates = {std::min(rates.low, rate), std::max(rates.high, rate)};
  }
  Figure figure;
  Panel panel;
  panel.x = {"Arithmetic intensity", "FLOP/byte",      Scale::log,
             ridges.low / 10,        ridges.high * 10, false};
  panel.y = {"Performance", "FLOP/s", Scale::log, rates.low / 10, rates.high * 1.6, true};
  for (std::size_t i = 0; i < modes.size(); ++i) {
    const double rate = main_rate(modes[i]), slope = main_slope(modes[i])->bytes_per_s.value;
    const double begin = std::max(panel.x.low, panel.y.low / slope);
    add_line(panel,
             {overlaid_name(modes[i].mode),
              fmt::format("{}, {}", format_si(rate, "FLOP/s"), format_si(slope, "B/s")),
              {{begin, slope * begin}, {rate / slope, rate}, {panel.x.high, rate}},
              {rate / slope, rate}},
             i);
  }
  const Roofline& first = modes.front();
  figure.title =
      fmt::format("{} of {}, all modes", is_datasheet(first) ? "Datasheet rooflines" : "Rooflines",
                  first.machine);
  figure.legend = {ring_entry};
  figure.caption = fmt::format(
      "{}; {}. Per mode the {} roof and the DRAM slope, {}. Modes that look alike share a line.",
      first.machine, modes_text(modes), main_roof_name(first),
      is_datasheet(first) ? "from the datasheet and fitted; nothing was measured" : "measured");
  figure.description =
      fmt::format("Log-log rooflines of {} on one pair of axes.", modes_text(modes));
  figure.panels.push_back(std::move(panel));
  return figure;
}

Figure energy_overlay(const std::vector<EnergyRoofline>& rooflines) {
  const std::vector<EnergyRoofline> modes = distinct(rooflines);
  const IntensityRange range = intensity_range(modes);
  struct Plotted {
    const char* title;
    const char* unit;
    double EnergySample::*value;
    Scale scale;
  };
  static constexpr std::array<Plotted, 3> plotted{
      {{"Performance", "FLOP/s", &EnergySample::flops_per_s, Scale::log},
       {"Efficiency", "FLOP/J", &EnergySample::flop_per_joule, Scale::log},
       {"Power", "W", &EnergySample::power_w, Scale::linear}}};
  Figure figure;
  for (const Plotted& quantity : plotted) {
    Panel panel;
    panel.x = {"Arithmetic intensity", "FLOP/byte", Scale::log, range.low, range.high, false};
    std::vector<ModeLine> lines;
    Interval values{INFINITY, 0};
    for (const EnergyRoofline& roofline : modes) {
      ModeLine line{overlaid_name(roofline.mode), "", {}, {}};
      for (const EnergySample& sample :
           energy_curve(roofline.main_roof().terms, range.low, range.high)) {
        line.points.push_back({sample.flop_per_byte, sample.*quantity.value});
        values.low = std::min(values.low, line.points.back().y);
        values.high = std::max(values.high, line.points.back().y);
        if (sample.flop_per_byte <= roofline.main_roof().time_balance.value * (1 + 1e-9))
          line.ridge = line.points.back();
      }
      line.value = format_si(line.points.back().y, quantity.unit);
      lines.push_back(std::move(line));
    }
    const bool is_log = quantity.scale == Scale::log;
    panel.y = {quantity.title,
               quantity.unit,
               quantity.scale,
               is_log ? values.low / 1.3 : 0,
               is_log ? values.high * 1.6 : values.high * 1.15,
               is_log};
    for (std::size_t i = 0; i < lines.size(); ++i) add_line(panel, lines[i], i);
    figure.panels.push_back(std::move(panel));
  }
  const EnergyRoofline& first = modes.front();
  figure.title =
      (first.profile.empty() ? "Predicted energy rooflines of " : "Energy rooflines of ") +
      first.machine + ", all modes";
  figure.legend = {{"time balance", ring_entry.style}};
  figure.caption = fmt::format(
      "{}; {}. {}; values at {} FLOP/byte. Energy per operation: {}, per byte: {}, constant power: "
      "{}. Modes that look alike share a line.{}",
      first.machine, modes_text(modes), first.main_roof().name, format_number(range.high, 4),
      to_string(first.main_roof().joule_per_flop.source), to_string(first.joule_per_byte.source),
      to_string(first.constant_power_w.source),
      first.profile.empty() ? " Nothing was measured on your machine." : "");
  figure.description = fmt::format(
      "Performance, energy efficiency and power over arithmetic intensity, {} on shared axes.",
      modes_text(modes));
  return figure;
}

}  // namespace ridgeline
