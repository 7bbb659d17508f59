// Greedy placement: each label tries its candidate places and takes the cheapest that is free.
// Other labels are never covered; crossing a line or a marker costs, so it is a last resort.
#include "plots/label_layout.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/text_table.h"

namespace ridgeline {
namespace {

// More than the way to any other place: a label lies on a line only where there is none.
constexpr double crossing = 200;

struct Candidate {
  Box box;
  std::optional<Leader> leader;
  double cost = 0;
};

class LabelLayout {
 public:
  LabelLayout(const Panel& panel, const Viewport& view, const LabelMetrics& metrics)
      : panel_(panel), view_(view), metrics_(metrics) {
    for (const Series& series : panel.series) add_obstacles(series);
    if (metrics.ranked) markers_.clear();  // their labels stand at their corners
  }

  // Greedy placement depends on the order: several are tried, and the fullest picture with the
  // least cost counts.
  std::vector<PlacedLabel> run() {
    if (metrics_.ranked) {
      std::vector<std::size_t> as_given(panel_.labels.size());
      std::iota(as_given.begin(), as_given.end(), std::size_t{0});
      place_all(as_given);
      return placed_;
    }
    std::vector<PlacedLabel> best;
    double best_cost = 0;
    for (std::vector<std::size_t> order : first_orders()) {
      for (int attempt = 0; attempt < 3; ++attempt) {
        const std::vector<std::size_t> left_out = place_all(order);
        refine();
        const double cost = total_cost();
        if (placed_.size() > best.size() || (placed_.size() == best.size() && cost < best_cost)) {
          best = placed_;
          best_cost = cost;
        }
        if (left_out.empty()) break;
        // Labels that found no place go first in the next attempt.
        std::stable_partition(order.begin(), order.end(), [&](std::size_t index) {
          return std::find(left_out.begin(), left_out.end(), index) != left_out.end();
        });
      }
    }
    return best;
  }

 private:
  void add_obstacles(const Series& series) {
    for (std::size_t i = 0; i < series.points.size(); ++i) {
      const XY here = view_.screen(series.points[i]);
      const double radius =
          i < series.areas.size() ? metrics_.bubble_radius * std::sqrt(series.areas[i]) : 0;
      if (series.style.marker != Marker::none && series.style.marker != Marker::speck)
        markers_.push_back({here, std::max(2 * metrics_.gap, 1.8 * radius),
                            std::max(metrics_.line_height / 2, 1.8 * radius)});
      const auto add_bar = [&](XY from, XY to) {
        lines_.push_back(segment_box(view_.screen(from), view_.screen(to)));
      };
      const XY at = series.points[i];
      if (i < series.x_intervals.size())
        add_bar({series.x_intervals[i].low, at.y}, {series.x_intervals[i].high, at.y});
      if (i < series.y_intervals.size())
        add_bar({at.x, series.y_intervals[i].low}, {at.x, series.y_intervals[i].high});
      if (series.style.width > 0 && i > 0)
        lines_.push_back(segment_box(view_.screen(series.points[i - 1]), here));
    }
  }

  // Zone names first: they have a fixed corner. Then lines, then points, which can move most,
  // from the left, from the right, from the top and as given.
  std::vector<std::vector<std::size_t>> first_orders() const {
    std::vector<std::size_t> fixed, points;
    for (const LabelPlace place :
         {LabelPlace::left_of, LabelPlace::right_of, LabelPlace::along, LabelPlace::above_end})
      for (std::size_t i = 0; i < panel_.labels.size(); ++i)
        if (panel_.labels[i].place == place) fixed.push_back(i);
    for (std::size_t i = 0; i < panel_.labels.size(); ++i)
      if (panel_.labels[i].place == LabelPlace::beside ||
          panel_.labels[i].place == LabelPlace::above)
        points.push_back(i);
    std::vector<std::vector<std::size_t>> orders;
    const auto add = [&](const auto& key) {
      std::stable_sort(points.begin(), points.end(),
                       [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
      orders.push_back(fixed);
      orders.back().insert(orders.back().end(), points.begin(), points.end());
    };
    add([](std::size_t i) { return static_cast<double>(i); });
    if (points.size() < 2) return orders;
    add([&](std::size_t i) { return view_.screen(panel_.labels[i].anchor).x; });
    add([&](std::size_t i) { return -view_.screen(panel_.labels[i].anchor).x; });
    add([&](std::size_t i) { return view_.screen(panel_.labels[i].anchor).y; });
    return orders;
  }

  // Returns those that found no place.
  std::vector<std::size_t> place_all(const std::vector<std::size_t>& order) {
    placed_.clear();
    costs_.assign(panel_.labels.size(), 0);
    place_margin();
    std::vector<std::size_t> left_out;
    for (const std::size_t index : order)
      if (!place_one(index)) left_out.push_back(index);
    return left_out;
  }

  double total_cost() const {
    double sum = 0;
    for (const PlacedLabel& placed : placed_) sum += costs_[placed.label];
    return sum;
  }

  std::string text_of(std::size_t index) const {
    const Label& label = panel_.labels[index];
    const bool shorten =
        label.place == LabelPlace::right_margin ? metrics_.short_margin : metrics_.short_inside;
    return shorten && !label.short_text.empty() ? label.short_text : label.text;
  }

  // The middle of a text that is too wide is left out.
  std::string fitted(const std::string& text, double width) const {
    std::string shorter = text;
    for (int columns = display_width(text); columns > 1 && metrics_.width(shorter) > width + 0.01;)
      shorter = elide_middle(text, --columns);
    return shorter;
  }

  // Right of the frame: one column, moved apart, joined to their lines by leaders.
  void place_margin() {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < panel_.labels.size(); ++i)
      if (panel_.labels[i].place == LabelPlace::right_margin) order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return panel_.labels[a].anchor.y > panel_.labels[b].anchor.y;
    });
    const auto line_y = [&](std::size_t index) {
      return view_.screen_y(panel_.labels[index].anchor.y);
    };
    std::vector<double> wanted;
    for (const std::size_t index : order) {
      const double y = line_y(index);
      wanted.push_back(metrics_.whole_steps ? std::floor(y) + 0.5 : y);
    }
    const double half = metrics_.line_height / 2;
    auto heights =
        moved_apart(wanted, metrics_.line_height, view_.top + half, view_.bottom() - half);
    for (std::size_t k = 0; k < order.size(); ++k) {
      const double y = metrics_.whole_steps ? std::floor(heights[k]) + 0.5 : heights[k];
      const std::string text =
          fitted(text_of(order[k]), metrics_.margin_right - metrics_.margin_left);
      const double width = metrics_.width(text);
      placed_.push_back({order[k],
                         text,
                         {{metrics_.margin_left + width / 2, y}, width, metrics_.line_height},
                         Leader{{view_.right(), line_y(order[k])}, {metrics_.margin_left, y}}});
    }
  }

  std::vector<Candidate> places_for(const Label& label, double width) const {
    switch (label.place) {
      case LabelPlace::along:
        return metrics_.ranked ? under(label, width) : along(label, width);
      case LabelPlace::above_end:
        return above_end(label, width);
      case LabelPlace::beside:
        return metrics_.ranked ? at_corners(label, width) : beside(label, width);
      case LabelPlace::above:
        return at_corners(label, width);
      case LabelPlace::left_of:
        return upwards(label, width, -1);
      case LabelPlace::right_of:
        return upwards(label, width, +1);
      case LabelPlace::right_margin:
        break;
    }
    return {};
  }

  // A label of a point that would lie on a line is shortened, and left out where that does not
  // help: tables have every point.
  bool place_one(std::size_t index) {
    const Label& label = panel_.labels[index];
    if (place_text(index, text_of(index))) return true;
    return !label.short_text.empty() && label.short_text != text_of(index) &&
           place_text(index, label.short_text);
  }

  bool is_on_a_line(const Box& box) const {
    return std::any_of(lines_.begin(), lines_.end(),
                       [&](const Box& line) { return overlap(box, line); });
  }

  bool may_cross(const Label& label) const {
    return metrics_.ranked || metrics_.whole_steps || label.place != LabelPlace::beside;
  }

  bool place_text(std::size_t index, const std::string& text) {
    const double width = metrics_.width(text);
    std::vector<Candidate> candidates = places_for(panel_.labels[index], width);
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.cost < b.cost; });
    const Candidate* best = nullptr;
    double best_cost = 0;
    for (const Candidate& candidate : candidates) {
      if (best && candidate.cost >= best_cost) break;
      if (!is_free(candidate)) continue;
      const double cost = candidate.cost + crossing_cost(candidate);
      if (best && cost >= best_cost) continue;
      best = &candidate;
      best_cost = cost;
    }
    if (!best || (!may_cross(panel_.labels[index]) && is_on_a_line(best->box))) return false;
    placed_.push_back({index, text, best->box, best->leader});
    costs_[index] = best_cost;
    return true;
  }

  // Early labels did not know the later ones: each may move again, where that is cheaper.
  void refine() {
    const std::vector<PlacedLabel> before = placed_;
    for (const PlacedLabel& old : before) {
      if (panel_.labels[old.label].place == LabelPlace::right_margin) continue;
      placed_.erase(std::find_if(placed_.begin(), placed_.end(), [&](const PlacedLabel& placed) {
        return placed.label == old.label;
      }));
      if (!place_one(old.label)) placed_.push_back(old);
    }
  }

  bool is_free(const Candidate& candidate) const {
    if (!inside(candidate.box, view_.left, view_.top, view_.right(), view_.bottom())) return false;
    for (const PlacedLabel& other : placed_) {
      if (overlap(candidate.box, other.box)) return false;
      if (candidate.leader && overlap(candidate.leader->box, with_room(other.box))) return false;
      if (other.leader && overlap(other.leader->box, with_room(candidate.box))) return false;
    }
    return true;
  }

  // A leader that touches another label seems to be its own.
  Box with_room(Box box) const {
    if (!metrics_.whole_steps) box.width += metrics_.gap;
    return box;
  }

  double crossing_cost(const Candidate& candidate) const {
    double cost = 0;
    for (const Box& line : lines_)
      if (overlap(candidate.box, line)) cost += crossing;
    // Text in a large bubble is hard to read, and hides what it names.
    for (const Box& marker : markers_)
      if (overlap(candidate.box, marker))
        cost += 30 + 8 * std::max(0.0, marker.height - metrics_.line_height);
    if (!candidate.leader) return cost;
    const Box leader = candidate.leader->box;
    for (const Box& line : lines_)
      if (overlap(leader, line)) cost += 40;
    for (const Box& marker : markers_)
      if (overlap(leader, marker)) cost += 10;
    for (const PlacedLabel& other : placed_)
      if (other.leader && overlap(leader, other.leader->box)) cost += 30;
    return cost;
  }

  // On a line: just above or below it, the nearer to its beginning the better.
  std::vector<Candidate> along(const Label& label, double width) const {
    const XY from = view_.screen(label.anchor), to = view_.screen(label.end);
    const double length = std::hypot(to.x - from.x, to.y - from.y);
    if (length <= 0) return beside(label, width);
    const XY u{(to.x - from.x) / length, (to.y - from.y) / length};
    std::vector<Candidate> found;
    for (double at = metrics_.step_x; at < length; at += metrics_.step_x / 2) {
      const XY here{from.x + u.x * at, from.y + u.y * at};
      const double steps = at / metrics_.step_x;
      if (metrics_.turns_text) {
        const double offset = metrics_.line_height / 2 + metrics_.gap / 2;
        for (const double side : {-1.0, +1.0})
          found.push_back({{{here.x + u.x * width / 2 - u.y * offset * side,
                             here.y + u.y * width / 2 + u.x * offset * side},
                            width,
                            metrics_.line_height,
                            u},
                           {},
                           steps * 0.5 + (side > 0 ? 5 : 0)});
      } else {
        // Upright text stands left of a rising line, or right of it as second choice.
        const double offset = metrics_.gap + width / 2;
        for (const double side : {-1.0, +1.0})
          found.push_back({snapped({{here.x + side * offset, here.y}, width, metrics_.line_height}),
                           {},
                           steps * 0.5 + (side > 0 ? 2 : 0)});
      }
    }
    // Lines that lie too close for text between them: away from them, with a leader.
    if (metrics_.turns_text)
      for (const double share : {0.35, 0.65}) {
        const XY on_line{from.x + u.x * length * share, from.y + u.y * length * share};
        for (Candidate& candidate : around(on_line, width)) {
          candidate.cost += 60;
          if (!candidate.leader)
            candidate.leader = Leader{on_line, nearest_on(candidate.box, on_line)};
          found.push_back(std::move(candidate));
        }
      }
    return found;
  }

  // Under a line and near its foot: above it another may run, and at its top are the roofs.
  std::vector<Candidate> under(const Label& label, double width) const {
    const XY from = view_.screen(label.anchor), to = view_.screen(label.end);
    const double length = std::hypot(to.x - from.x, to.y - from.y), offset = 2 * metrics_.gap;
    if (length < width + 3 * metrics_.gap) return {};
    const XY u{(to.x - from.x) / length, (to.y - from.y) / length};
    const double at = std::max(0.3 * length, width / 2 + 2.5 * metrics_.gap);
    return {{{{from.x + u.x * at - u.y * offset, from.y + u.y * at + u.x * offset},
              width,
              metrics_.line_height,
              u},
             {},
             0}};
  }

  // Over the end of a line; under it where another line runs there.
  std::vector<Candidate> above_end(const Label& label, double width) const {
    const XY end = view_.screen(label.anchor);
    const auto at = [&](double side) {
      return snapped({{end.x - 1.25 * metrics_.gap - width / 2,
                       end.y + side * (0.75 * metrics_.gap + metrics_.line_height / 2)},
                      width,
                      metrics_.line_height});
    };
    return {{at(-1), {}, 0}, {at(+1), {}, 1}};
  }

  // Off a corner of a point, or over it.
  std::vector<Candidate> at_corners(const Label& label, double width) const {
    const XY here = view_.screen(label.anchor);
    const XY first = label.place == LabelPlace::above ? XY{0, -1.4} : XY{1, 1};
    std::vector<Candidate> found;
    for (const XY toward : {first, XY{-1, -1}, XY{1, -1}, XY{-1, 1}})
      found.push_back({snapped({{here.x + toward.x * (1.5 * metrics_.gap + width / 2),
                                 here.y + toward.y * (metrics_.gap + metrics_.line_height / 2)},
                                width,
                                metrics_.line_height}),
                       {},
                       static_cast<double>(found.size())});
    return found;
  }

  std::vector<Candidate> beside(const Label& label, double width) const {
    return around(view_.screen(label.anchor), width);
  }

  // Around a point: next to it, then in widening square rings with a leader.
  std::vector<Candidate> around(XY here, double width) const {
    // Right, left, the corners, above, below, then what lies between; most readable first.
    constexpr std::array<XY, 16> directions{{{1, 0},
                                             {-1, 0},
                                             {1, -1},
                                             {1, 1},
                                             {-1, -1},
                                             {-1, 1},
                                             {0, -1},
                                             {0, 1},
                                             {1, -0.5},
                                             {1, 0.5},
                                             {-1, -0.5},
                                             {-1, 0.5},
                                             {0.5, -1},
                                             {0.5, 1},
                                             {-0.5, -1},
                                             {-0.5, 1}}};
    std::vector<Candidate> found;
    for (int ring = 0; ring < metrics_.rings; ++ring) {
      double cost = ring * 2.0;
      for (const XY& toward : directions) {
        const XY reach{here.x + toward.x * (metrics_.gap + ring * metrics_.step_x),
                       here.y + toward.y * (metrics_.line_height / 2 + metrics_.gap / 2 +
                                            ring * metrics_.step_y)};
        // The label hangs on the reached point by its middle or by the side that faces the thing.
        const double side = toward.x > 0 ? 1 : toward.x < 0 ? -1 : 0;
        add_hanging(found, here, reach, side, width, cost, ring > 0);
        if (ring > 0 && std::abs(toward.x) < 1)
          for (const double other : {-1.0, 0.0, 1.0})
            if (other != side) add_hanging(found, here, reach, other, width, cost + 0.5, true);
        cost += 0.1;
      }
    }
    return found;
  }

  void add_hanging(std::vector<Candidate>& found, XY here, XY reach, double side, double width,
                   double cost, bool needs_leader) const {
    Candidate candidate{
        snapped({{reach.x + side * width / 2, reach.y}, width, metrics_.line_height}), {}, cost};
    if (needs_leader) candidate.leader = Leader{here, nearest_on(candidate.box, here)};
    found.push_back(std::move(candidate));
  }

  // In a corner: above the anchor, moving up where that is taken.
  std::vector<Candidate> upwards(const Label& label, double width, double side) const {
    const XY here = view_.screen(label.anchor);
    std::vector<Candidate> found;
    for (int step = 0; step < 6; ++step)
      found.push_back({snapped({{here.x + side * (2 * metrics_.gap + width / 2),
                                 here.y - metrics_.line_height * (0.5 + step) - metrics_.gap / 2},
                                width,
                                metrics_.line_height}),
                       {},
                       step * 1.0});
    return found;
  }

  // On a terminal text begins in a whole column and stands on a whole line.
  Box snapped(Box box) const {
    if (!metrics_.whole_steps) return box;
    box.center.x = std::floor(box.center.x - box.width / 2 + 0.5) + box.width / 2;
    box.center.y = std::floor(box.center.y) + 0.5;
    return box;
  }

  const Panel& panel_;
  const Viewport& view_;
  const LabelMetrics& metrics_;
  std::vector<Box> lines_, markers_;
  std::vector<PlacedLabel> placed_;
  std::vector<double> costs_;  // by label
};

}  // namespace

std::vector<PlacedLabel> place_labels(const Panel& panel, const Viewport& view,
                                      const LabelMetrics& metrics) {
  return LabelLayout(panel, view, metrics).run();
}

std::vector<double> moved_apart(std::vector<double> positions, double spacing, double low,
                                double high) {
  // With the k-th position shifted by −k·spacing the task is isotonic regression: neighbours in
  // the wrong order are pooled and share their mean.
  struct Block {
    double sum;
    std::size_t count;
    double mean() const { return sum / static_cast<double>(count); }
  };
  std::vector<Block> blocks;
  for (std::size_t k = 0; k < positions.size(); ++k) {
    blocks.push_back({positions[k] - spacing * static_cast<double>(k), 1});
    while (blocks.size() > 1 && blocks[blocks.size() - 2].mean() > blocks.back().mean()) {
      const Block last = blocks.back();
      blocks.pop_back();
      blocks.back().sum += last.sum;
      blocks.back().count += last.count;
    }
  }
  const double shifted_high = std::max(
      low, high - spacing * static_cast<double>(positions.empty() ? 0 : positions.size() - 1));
  std::size_t k = 0;
  for (const Block& block : blocks)
    for (std::size_t i = 0; i < block.count; ++i, ++k)
      positions[k] = std::clamp(block.mean(), low, shifted_high) + spacing * static_cast<double>(k);
  return positions;
}

}  // namespace ridgeline
