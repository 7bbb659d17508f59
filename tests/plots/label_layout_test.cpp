// No labels overlap or leave the picture, for any machine.
// Checked on the boxes, for SVG and for terminals.
#include "plots/label_layout.h"

#include <gtest/gtest.h>

#include "plots/figures/roofline.h"
#include "plots/renderers/svg_layout.h"
#include "tests/plots/sample_rooflines.h"

namespace ridgeline::testing {
namespace {

std::string describe(const PlacedLabel& label) {
  return "'" + label.text + "' at " + std::to_string(label.box.center.x) + ", " +
         std::to_string(label.box.center.y);
}

TEST(LabelLayout, NoTwoLabelsOverlap) {
  for (const auto& [name, roofline] : sample_rooflines()) {
    const auto labels = svg_layout(roofline_figure(roofline)).panels.front().labels;
    for (std::size_t i = 0; i < labels.size(); ++i)
      for (std::size_t k = i + 1; k < labels.size(); ++k)
        EXPECT_FALSE(overlap(labels[i].box, labels[k].box))
            << name << ": " << describe(labels[i]) << " and " << describe(labels[k]);
  }
}

TEST(LabelLayout, AllLabelsAreWithinThePage) {
  for (const auto& [name, roofline] : sample_rooflines()) {
    const Figure figure = roofline_figure(roofline);
    const SvgLayout layout = svg_layout(figure);
    const Viewport& view = layout.panels.front().view;
    for (const PlacedLabel& label : layout.panels.front().labels) {
      const bool margin =
          figure.panels.front().labels[label.label].place == LabelPlace::right_margin;
      EXPECT_TRUE(margin ? inside(label.box, view.right(), 0, layout.width, layout.height)
                         : inside(label.box, view.left, view.top, view.right(), view.bottom()))
          << name << ": " << describe(label);
    }
  }
}

TEST(LabelLayout, NoLabelIsLost) {
  for (const auto& [name, roofline] : sample_rooflines()) {
    const Figure figure = roofline_figure(roofline);
    const Panel& panel = figure.panels.front();
    const SvgLayout layout = svg_layout(figure);
    std::vector<bool> placed(panel.labels.size());
    int lost_points = 0;
    for (const PlacedLabel& label : layout.panels.front().labels) placed[label.label] = true;
    for (std::size_t i = 0; i < placed.size(); ++i) {
      const Label& label = panel.labels[i];
      // Only a zone's name may be dropped: the zone can be narrower than its name. And of points
      // among many lines a few, rather than to lie on a line.
      const bool zone = label.place == LabelPlace::left_of || label.place == LabelPlace::right_of;
      const bool point = label.place == LabelPlace::beside;
      lost_points += point && !placed[i] ? 1 : 0;
      EXPECT_TRUE(placed[i] || zone || point) << name << ": '" << label.text << "'";
    }
    EXPECT_LE(lost_points, name == "crowded" ? 2 : 0) << name;
  }
}

TEST(LabelLayout, LeadersDoNotCrossLabels) {
  for (const auto& [name, roofline] : sample_rooflines()) {
    const auto labels = svg_layout(roofline_figure(roofline)).panels.front().labels;
    for (const PlacedLabel& from : labels)
      for (const PlacedLabel& over : labels)
        EXPECT_FALSE(from.leader && from.label != over.label && overlap(from.leader->box, over.box))
            << name << ": leader of " << describe(from) << " over " << describe(over);
  }
}

TEST(LabelLayout, MovesApartAndStaysInside) {
  EXPECT_EQ(moved_apart({10, 50}, 14, 0, 100), (std::vector<double>{10, 50}));
  EXPECT_EQ(moved_apart({50, 50}, 14, 0, 100), (std::vector<double>{43, 57}));
  EXPECT_EQ(moved_apart({0, 1}, 14, 0, 100), (std::vector<double>{0, 14}));
  EXPECT_EQ(moved_apart({99, 100}, 14, 0, 100), (std::vector<double>{86, 100}));
  EXPECT_EQ(moved_apart({}, 14, 0, 100), std::vector<double>{});
}

TEST(Geometry, TurnedBoxes) {
  const double s = std::sqrt(0.5);
  const Box upright{{0, 0}, 10, 2};
  const Box turned{{0, 0}, 10, 2, {s, s}};
  EXPECT_TRUE(overlap(upright, turned));
  const Box apart{{6, 6}, 10, 2, {s, -s}};
  EXPECT_FALSE(overlap(upright, apart));  // although their axis-aligned bounding boxes overlap
  EXPECT_TRUE(overlap(segment_box({-1, -1}, {1, 1}), upright));
  EXPECT_FALSE(overlap(segment_box({0, 1.5}, {9, 1.5}), upright));
  EXPECT_TRUE(inside(turned, -5, -5, 5, 5));
  EXPECT_FALSE(inside(turned, -4, -4, 4, 4));
}

}  // namespace
}  // namespace ridgeline::testing
