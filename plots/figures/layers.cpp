// The roofs come from plots/figures/roofline.cpp; bubbles, their labels and the legend are added
// here.
#include "plots/figures/layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "base/text_table.h"
#include "base/units.h"
#include "plots/figures/roofline.h"
#include "roofline/ceilings/names.h"

namespace ridgeline {
namespace {

constexpr std::size_t most_layer_labels = 6;
constexpr double least_labelled_share = 0.01;
constexpr double room_above = 4;        // the highest roof, for labels
constexpr double room_right = 30;       // of the layers, for labels
constexpr int longest_layer_name = 28;  // columns
constexpr int shortest_layer_name = 20;

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

// As ExplainedLayer names its roofs: "TF32 matrix".
std::string share_name(const Roof& roof) {
  return fmt::format("{} {}", upper_case(to_string(roof.dtype)), to_string(roof.unit));
}

// The roof that most of the time is compared with: TensorRT runs fp32 networks in TF32, for
// example.
std::optional<std::size_t> used_roof(const Explanation& explanation, const Roofline& roofline) {
  std::vector<double> times(roofline.roofs.size());
  for (const ExplainedLayer& layer : explanation.layers)
    for (const RoofShare& share : layer.roofs) {  // the nearest first
      constexpr double above = 1.02;              // such as the scalar roof of a vectorised layer
      if (share.share > above) continue;
      const auto roof =
          std::find_if(roofline.roofs.begin(), roofline.roofs.end(), [&](const Roof& each) {
            return each.chosen && !each.sustained && share.roof == share_name(each);
          });
      if (roof == roofline.roofs.end()) continue;
      times[static_cast<std::size_t>(roof - roofline.roofs.begin())] += layer.time_s;
      break;
    }
  const auto most = std::max_element(times.begin(), times.end());
  if (most == times.end() || !(*most > 0)) return std::nullopt;
  return static_cast<std::size_t>(most - times.begin());
}

// Only what the layers run on: the others would crowd the picture.
void keep_used_roofs(const Explanation& explanation, Roofline& roofline) {
  std::set<std::string> used;
  for (const ExplainedLayer& layer : explanation.layers)
    for (const RoofShare& share : layer.roofs) used.insert(share.roof);
  std::vector<Roof> kept;
  std::vector<std::optional<std::size_t>> places;
  for (std::size_t i = 0; i < roofline.roofs.size(); ++i) {
    const bool is_kept = i == roofline.main_roof || used.count(share_name(roofline.roofs[i])) > 0;
    places.push_back(is_kept ? std::optional(kept.size()) : std::nullopt);
    if (is_kept) kept.push_back(roofline.roofs[i]);
  }
  std::vector<Ridge> ridges;
  for (Ridge ridge : roofline.ridges)
    if (places[ridge.roof]) {
      ridge.roof = *places[ridge.roof];
      ridges.push_back(ridge);
    }
  if (roofline.main_roof) roofline.main_roof = places[*roofline.main_roof];
  roofline.roofs = std::move(kept);
  roofline.ridges = std::move(ridges);
}

}  // namespace

Roofline roofline_under(const Explanation& explanation, const Ceilings& ceilings) {
  RooflineOptions options;
  options.dtype = explanation.run.dtype;
  const bool known = std::any_of(
      ceilings.peaks.begin(), ceilings.peaks.end(),
      [&](const Peak& peak) { return peak.dtype == explanation.run.dtype && !peak.sparse; });
  if (!known) options.dtype.reset();
  Roofline roofline = roofline_of(ceilings, std::nullopt, explanation.run.machine, options);
  if (const auto used = used_roof(explanation, roofline)) roofline.main_roof = used;
  keep_used_roofs(explanation, roofline);
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

namespace {

// Colours say the bound here, so roofs are black and grey: their labels say the rest.
void without_colours(Panel& panel) {
  const auto plain = [](Ink ink, bool strong) {
    return ink == Ink::pale ? ink : strong ? Ink::black : Ink::grey;
  };
  for (Series& series : panel.series)
    series.style.ink =
        plain(series.style.ink, series.style.width > 2 || series.style.marker != Marker::none);
  for (Label& label : panel.labels)
    label.ink = plain(label.ink, label.emphasis || label.place != LabelPlace::right_margin);
}

// Everything that ended at the right end ends at the new one.
void extend_right(Panel& panel, double high) {
  const double end = panel.x.high;
  const auto extend = [&](XY& at) {
    if (at.x >= end * (1 - 1e-9)) at.x = high;
  };
  for (Series& series : panel.series)
    for (XY& at : series.points) extend(at);
  for (Zone& zone : panel.zones)
    for (XY& at : zone.outline) extend(at);
  for (Label& label : panel.labels)
    if (label.place == LabelPlace::right_margin) extend(label.anchor);
  panel.x.high = high;
}

// Layers that are alike, as one label.
struct LabelledLayers {
  const ExplainedLayer* longest = nullptr;
  int count = 0;
  double time_share = 0;

  std::string text(int columns) const {
    const std::string percent = format_percent(time_share);
    return count == 1 ? fmt::format("{}: {}", short_layer_name(longest->name, columns), percent)
                      : fmt::format("{}, {} layers: {}",
                                    short_layer_name(without_block_number(longest->name), columns),
                                    count, percent);
  }
};

// The most time first.
std::vector<LabelledLayers> labelled_layers(const Explanation& explanation) {
  // Alike is also where they stand: in steps of a quarter of a decade.
  const auto step = [](double value) {
    return static_cast<int>(std::lround(4 * std::log10(value)));
  };
  std::map<std::tuple<std::string, BoundBy, int, int>, LabelledLayers> groups;
  for (const ExplainedLayer* layer : longest_layers(explanation)) {
    if (!has_place(*layer)) continue;
    LabelledLayers& group = groups[{without_block_number(layer->name), layer->bound,
                                    step(place_of(*layer).x), step(place_of(*layer).y)}];
    if (!group.longest) group.longest = layer;
    ++group.count;
    group.time_share += layer->time_share;
  }
  std::vector<LabelledLayers> sorted;
  for (const auto& row : groups) sorted.push_back(row.second);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.time_share > b.time_share; });
  return sorted;
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
    figure_.panels.front().y.high *= room_above;
    make_room_at_the_right();
    without_colours(figure_.panels.front());
    add_bubbles();
    add_labels();
    figure_.caption = caption();
    figure_.description = fmt::format(
        "The layers of a network as bubbles on a log-log roofline; area is the share of time. {}.",
        verdict(explanation_));
    return std::move(figure_);
  }

 private:
  // Labels that stand right of their layers need no leader across the roofs.
  void make_room_at_the_right() {
    double highest = 0;
    for (const ExplainedLayer& layer : explanation_.layers)
      if (has_place(layer)) highest = std::max(highest, *layer.intensity);
    Panel& panel = figure_.panels.front();
    if (highest > 0) extend_right(panel, std::max(panel.x.high, highest * room_right));
  }

  // One series per bound; large bubbles first, so that small ones lie on top.
  void add_bubbles() {
    const auto layers = longest_layers(explanation_);
    for (const auto& row : TokenTable<BoundBy>::rows) {
      const BoundBy bound = row.first;
      Series series{
          "bound by " + bound_words(bound), {}, {ink_of(bound), Dash::solid, 0, Marker::dot}, {}};
      for (const ExplainedLayer* layer : layers) {
        if (layer->bound != bound || !has_place(*layer)) continue;
        series.points.push_back(place_of(*layer));
        series.areas.push_back(layer->time_share);
      }
      if (series.points.empty()) continue;
      if (figure_.legend.back().style.marker == Marker::ring)
        figure_.legend.push_back({"other roofs", {Ink::grey, Dash::solid, 1.4, Marker::none}});
      figure_.legend.push_back({"bound by " + bound_words(bound), series.style});
      figure_.panels.front().series.push_back(std::move(series));
    }
  }

  void add_labels() {
    std::size_t labels = 0;
    for (const LabelledLayers& group : labelled_layers(explanation_)) {
      if (++labels > most_layer_labels) return;
      if (labels > 1 && group.time_share < least_labelled_share) return;
      figure_.panels.front().labels.push_back({group.text(longest_layer_name),
                                               group.text(shortest_layer_name),
                                               LabelPlace::beside,
                                               place_of(*group.longest),
                                               {},
                                               ink_of(group.longest->bound),
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
      return Ink::wine;
    case BoundBy::memory:
      return Ink::teal;
    case BoundBy::launch:
      return Ink::sand;
    case BoundBy::host:
      return Ink::indigo;
    case BoundBy::power_cap:
      return Ink::black;
    case BoundBy::quantisation:
      return Ink::rose;
  }
  return Ink::grey;
}

std::string bound_words(BoundBy bound) {
  return bound == BoundBy::power_cap ? "power cap" : std::string(to_string(bound));
}

std::string without_block_number(std::string_view name) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto ends_part = [](char c) { return c == '.' || c == '/' || c == ' '; };
  std::string out;
  std::optional<std::string_view> block;  // "blocks.7"
  const auto is_of_block = [&](std::size_t begin, std::size_t end) {
    std::size_t word = begin;
    if (word > 0) --word;
    while (word > 0 && !ends_part(name[word - 1])) --word;
    const std::string_view own = name.substr(word, end - word);
    if (!block) block = own;
    return own == *block;
  };
  for (std::size_t i = 0; i < name.size();) {
    std::size_t end = i;
    while (end < name.size() && is_digit(name[end])) ++end;
    const bool is_last = end == name.size() || ends_part(name[end]);
    if (end == i || !is_last || (i > 0 && !ends_part(name[i - 1]) && name[i - 1] != '_')) {
      out += name[i++];
      continue;
    }
    if (i > 0 && name[i - 1] == '_') {
      out.pop_back();  // relu_12 is relu, the thirteenth time
      if (end < name.size() && name[end] != ' ' && !block) block = "";  // encoder_layer_3.mlp.0
    } else if (is_of_block(i, end)) {
      out += '*';
    } else {
      out += name.substr(i, end - i);
    }
    i = end;
  }
  return out;
}

std::string elide_front(std::string_view text, int width) {
  if (display_width(text) <= width) return std::string(text);
  while (!text.empty() && display_width(text) > width - 1) {
    do text.remove_prefix(1);
    while (!text.empty() && (static_cast<unsigned char>(text.front()) & 0xC0) == 0x80);
  }
  // From the beginning of a word on, if not much is lost by it.
  const auto word = text.find_first_of("./ ");
  if (word != std::string_view::npos && word < 10) text.remove_prefix(word + 1);
  return "…" + std::string(text);
}

std::string short_layer_name(std::string_view name, int width) {
  const auto fused = name.find(" + ");
  if (display_width(name) <= width || fused == std::string_view::npos)
    return elide_front(name, width);
  const std::string_view rest = " + …";
  return elide_front(name.substr(0, fused), width - display_width(rest)) + std::string(rest);
}

Figure layers_figure(const Explanation& explanation, const Ceilings& ceilings) {
  const Explanation shown = with_shown_times(explanation);
  return LayersPicture(shown, ceilings).build();
}

}  // namespace ridgeline
