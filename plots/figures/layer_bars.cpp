// Bars are zones of a panel whose y axis counts rows from the top.
#include "plots/figures/layer_bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/units.h"
#include "plots/figures/layers.h"
#include "plots/figures/roofline.h"
#include "plots/ticks.h"

namespace ridgeline {
namespace {

constexpr std::size_t most_bars = 18;
constexpr int longest_bar_name = 40;  // columns

struct Bar {
  std::string text;
  double from = 0, to = 0;
  Ink ink = Ink::grey;
};

// Room right of the longest bar for its label.
constexpr double label_room = 2.1;

Panel panel_of_bars(const std::vector<Bar>& bars, const char* title, const char* unit) {
  Panel panel;
  double high = 0;
  for (const Bar& bar : bars) high = std::max(high, bar.to);
  panel.x = {title, unit, Scale::linear, 0, high > 0 ? high * label_room : 1, false};
  panel.y = {"", "", Scale::linear, 0, static_cast<double>(bars.size()), false};
  panel.y.has_ticks = false;
  choose_prefix(panel.x);
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const double top = static_cast<double>(bars.size() - i) - 0.14, bottom = top - 0.72;
    const Bar& bar = bars[i];
    panel.zones.push_back({bar.text,
                           {{bar.from, bottom}, {bar.to, bottom}, {bar.to, top}, {bar.from, top}},
                           bar.ink,
                           0.85});
    panel.labels.push_back(
        {bar.text, "", LabelPlace::beside, {bar.to, (top + bottom) / 2}, {}, Ink::black, false});
  }
  return panel;
}

struct LayerTime {
  const ExplainedLayer* first = nullptr;
  int count = 0;
  double time_s = 0, share = 0;
};

std::string times_caption(const Explanation& explanation) {
  return fmt::format("{}; mode: {}. {} {}.", explanation.run.machine, mode_text(explanation.point),
                     explanation.measured ? "Measured where there are times." : "Predicted;",
                     verdict(explanation));
}

std::string run_text(const Explanation& explanation) {
  const ExplainedRun& run = explanation.run;
  return fmt::format("{}, batch {}, {}, {} on {}", run.network, run.batch, to_string(run.dtype),
                     to_string(explanation.runtime), run.machine);
}

}  // namespace

Figure layer_times_figure(const Explanation& explanation) {
  std::map<std::pair<std::string, BoundBy>, LayerTime> groups;
  const bool is_measured = explanation.measured && explanation.measured->total_s > 0;
  const double total_s = is_measured ? explanation.measured->total_s : explanation.time_s.value;
  for (const ExplainedLayer* layer : longest_layers(explanation)) {
    LayerTime& group = groups[{without_block_number(layer->name), layer->bound}];
    if (!group.first) group.first = layer;
    ++group.count;
    group.time_s += is_measured ? layer->measured_s.value_or(0) : layer->time_s;
  }
  std::vector<LayerTime> sorted;
  for (const auto& row : groups) sorted.push_back(row.second);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const LayerTime& a, const LayerTime& b) { return a.time_s > b.time_s; });

  std::vector<Bar> bars;
  double rest_s = total_s;
  const auto share_text = [&](double time_s) {
    return fmt::format("{}, {}", format_seconds(time_s), format_percent(time_s / total_s));
  };
  std::map<BoundBy, bool> bounds;
  for (std::size_t i = 0; i < sorted.size() && i < most_bars; ++i) {
    const LayerTime& group = sorted[i];
    const std::string name = short_layer_name(
        group.count > 1 ? without_block_number(group.first->name) : group.first->name,
        longest_bar_name);
    bars.push_back({group.count > 1 ? fmt::format("{}, {} layers: {}", name, group.count,
                                                  share_text(group.time_s))
                                    : fmt::format("{}: {}", name, share_text(group.time_s)),
                    0, group.time_s, ink_of(group.first->bound)});
    bounds[group.first->bound] = true;
    rest_s -= group.time_s;
  }
  constexpr double worth_a_bar = 0.001;
  if (rest_s > worth_a_bar * total_s)
    bars.push_back({"other layers and overheads: " + share_text(rest_s), 0, rest_s, Ink::pale});

  Figure figure;
  figure.title = "Time by layer of " + run_text(explanation);
  figure.panels.push_back(panel_of_bars(bars, "Time", "s"));
  for (const auto& row : bounds)
    figure.legend.push_back({fmt::format("bound by {}", bound_words(row.first)),
                             {ink_of(row.first), Dash::solid, 6, Marker::none}});
  figure.caption = times_caption(explanation);
  figure.description = fmt::format("Bars of the time of each layer, {} in all; {}.",
                                   format_seconds(total_s), verdict(explanation));
  return figure;
}

Figure energy_build_up_figure(const Explanation& explanation) {
  if (!explanation.energy_j)
    throw Error("--figure energy", "no power data for " + explanation.run.machine,
                "without energy there is no such picture", ExitCode::incomplete);
  const double total_j = explanation.energy_j->value;
  const auto ink_for = [](const std::string& name) {
    return name == "compute"          ? Ink::wine
           : name == "memory"         ? Ink::teal
           : name == "constant power" ? Ink::grey
           : name == "host"           ? Ink::indigo
                                      : Ink::sand;
  };
  std::vector<Bar> bars;
  double at = 0;
  constexpr double worth_a_bar = 1e-4;
  const auto add = [&](const std::string& name, double energy_j) {
    if (!(energy_j > worth_a_bar * total_j)) return;
    bars.push_back({fmt::format("{}: {}, {}", name, format_si(energy_j, "J"),
                                format_percent(energy_j / total_j)),
                    at, at + energy_j, ink_for(name)});
    at += energy_j;
  };
  for (const char* name : {"constant power", "compute", "memory", "host"})
    for (const Term& term : explanation.terms)
      if (term.name == name) add(name, term.energy_j.value_or(0));
  for (const Term& term : explanation.terms)
    if (term.name != "constant power" && term.name != "compute" && term.name != "memory" &&
        term.name != "host")
      add(term.name, term.energy_j.value_or(0));
  bars.push_back({fmt::format("total: {} [{} … {}]", format_si(total_j, "J"),
                              format_si(explanation.energy_j->low, "J"),
                              format_si(explanation.energy_j->high, "J")),
                  0, total_j, Ink::black});
  Figure figure;
  figure.title = "Energy of one run of " + run_text(explanation);
  figure.panels.push_back(panel_of_bars(bars, "Energy", "J"));
  figure.caption =
      times_caption(explanation) +
      " Constant power is what runs whatever the kernels do: idle, clocks and the busy "
      "host core. In brackets: 90\u00a0% interval.";
  figure.description =
      fmt::format("How {} of energy build up, part by part.", format_si(total_j, "J"));
  return figure;
}

}  // namespace ridgeline
