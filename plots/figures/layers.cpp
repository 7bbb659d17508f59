// The roofs come from plots/figures/roofline.cpp; bubbles, their labels and the legend are added
// here.
#include "plots/figures/layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text_table.h"
#include "base/units.h"
#include "plots/figures/roofline.h"
#include "roofline/ceilings/roofline.h"

namespace ridgeline {
namespace {

constexpr std::size_t most_layer_labels = 7;
constexpr int longest_layer_name = 26;  // columns

bool has_place(const ExplainedLayer& layer) {
  return layer.time_s > 0 && layer.operations > 0 && layer.intensity && *layer.intensity > 0;
}

XY place_of(const ExplainedLayer& layer) {
  return {*layer.intensity, layer.operations / layer.time_s};
}

bool is_measured(const Explanation& explanation) {
  return explanation.measured && explanation.measured->total_s > 0;
}

// With measured times in the place of the predicted ones, if there are any.
Explanation with_shown_times(Explanation explanation) {
  if (!is_measured(explanation)) return explanation;
  for (auto* layers : {&explanation.layers, &explanation.groups})
    for (ExplainedLayer& layer : *layers) {
      layer.time_s = layer.measured_s.value_or(0);
      layer.time_share = layer.time_s / explanation.measured->total_s;
    }
  return explanation;
}

// The roof that the picture is about: the type that most of the work is done in.
Roofline roofline_under(const Explanation& explanation, const Ceilings& ceilings) {
  RooflineOptions options;
  options.dtype = explanation.run.dtype;
  const bool known = std::any_of(
      ceilings.peaks.begin(), ceilings.peaks.end(),
      [&](const Peak& peak) { return peak.dtype == explanation.run.dtype && !peak.sparse; });
  if (!known) options.dtype.reset();
  Roofline roofline = roofline_of(ceilings, std::nullopt, explanation.run.machine, options);
  for (const ExplainedLayer& layer : explanation.layers) {
    if (!has_place(layer)) continue;
    const XY at = place_of(layer);
    Point point;
    point.name = layer.name;
    point.kind = PointKind::layer;
    const Source source = is_measured(explanation) ? Source::measured : Source::predicted;
    point.flop_per_byte = exact(at.x, Source::predicted);
    point.flops_per_s = exact(at.y, source);
    roofline.points.push_back(std::move(point));
  }
  return roofline;
}

std::string words_of(BoundBy bound) {
  return bound == BoundBy::power_cap ? "power cap" : std::string(to_string(bound));
}

class LayersPicture {
 public:
  LayersPicture(const Explanation& explanation, const Ceilings& ceilings)
      : explanation_(explanation), figure_(roofline_figure(roofline_under(explanation, ceilings))) {
    for (const ExplainedLayer& layer : explanation.layers)
      if (has_place(layer)) shown_ += layer.time_share;
  }

  Figure build() {
    const ExplainedRun& run = explanation_.run;
    figure_.title = fmt::format("Layers of {}, batch {}, {}, {} on {}", run.network, run.batch,
                                to_string(run.dtype), to_string(explanation_.runtime), run.machine);
    add_bubbles();
    add_labels();
    figure_.caption = caption();
    figure_.description = fmt::format(
        "The layers of a network as bubbles on a log-log roofline; area is the share of time. {}.",
        verdict(explanation_));
    return std::move(figure_);
  }

 private:
  // One series per bound; large bubbles first, so that small ones lie on top.
  void add_bubbles() {
    const auto layers = longest_layers(explanation_);
    for (const auto& row : TokenTable<BoundBy>::rows) {
      const BoundBy bound = row.first;
      Series series{
          "bound by " + words_of(bound), {}, {ink_of(bound), Dash::solid, 0, Marker::dot}, {}};
      for (const ExplainedLayer* layer : layers) {
        if (layer->bound != bound || !has_place(*layer)) continue;
        series.points.push_back(place_of(*layer));
        series.areas.push_back(layer->time_share);
      }
      if (series.points.empty()) continue;
      figure_.legend.push_back({"bound by " + words_of(bound), series.style});
      figure_.panels.front().series.push_back(std::move(series));
    }
  }

  void add_labels() {
    std::size_t labels = 0;
    for (const ExplainedLayer* layer : longest_layers(explanation_)) {
      if (!has_place(*layer)) continue;
      if (++labels > most_layer_labels) return;
      figure_.panels.front().labels.push_back(
          {fmt::format("{} {}", elide_middle(layer->name, longest_layer_name),
                       format_percent(layer->time_share)),
           elide_middle(layer->name, 12),
           LabelPlace::beside,
           place_of(*layer),
           {},
           ink_of(layer->bound),
           false});
    }
  }

  std::string caption() const {
    std::string text =
        fmt::format("{}; mode: {}. Bubbles: {} rate of each layer, area = share of the time; {}{}.",
                    explanation_.run.machine, mode_text(explanation_.point),
                    is_measured(explanation_) ? "measured" : "predicted",
                    is_measured(explanation_) ? "colours and verdict are predicted: " : "",
                    verdict(explanation_));
    constexpr double worth_saying = 0.005;
    if (1 - shown_ > worth_saying)
      text += fmt::format(
          " {} of the time is in layers without arithmetic and in overheads, which "
          "have no place here.",
          format_percent(1 - shown_));
    return is_measured(explanation_) ? text : text + " Nothing was measured.";
  }

  const Explanation& explanation_;
  Figure figure_;
  double shown_ = 0;
};

}  // namespace

Ink ink_of(BoundBy bound) {
  switch (bound) {
    case BoundBy::compute:
      return Ink::vermillion;
    case BoundBy::memory:
      return Ink::blue;
    case BoundBy::launch:
      return Ink::orange;
    case BoundBy::host:
      return Ink::purple;
    case BoundBy::power_cap:
      return Ink::black;
    case BoundBy::quantisation:
      return Ink::green;
  }
  return Ink::grey;
}

Figure layers_figure(const Explanation& explanation, const Ceilings& ceilings) {
  const Explanation shown = with_shown_times(explanation);
  return LayersPicture(shown, ceilings).build();
}

}  // namespace ridgeline
