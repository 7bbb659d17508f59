// All modes on one pair of axes: a line per distinct mode, everything within the axes.
#include "plots/figures/overlay.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "plots/renderers/svg.h"
#include "tests/plots/sample_rooflines.h"
#include "tests/roofline/made_up_board.h"

namespace ridgeline::testing {
namespace {

void expect_within_axes(const Figure& figure) {
  for (const Panel& panel : figure.panels)
    for (const Series& series : panel.series)
      for (const XY& at : series.points) {
        EXPECT_GE(at.x, panel.x.low * (1 - 1e-9)) << series.name;
        EXPECT_LE(at.x, panel.x.high * (1 + 1e-9)) << series.name;
        EXPECT_GE(at.y, panel.y.low * (1 - 1e-9)) << series.name;
        EXPECT_LE(at.y, panel.y.high * (1 + 1e-9)) << series.name;
      }
}

TEST(Overlay, ModesThatLookAlikeShareALine) {
  Roofline slow = example_roofline(), same = example_roofline();
  slow.mode.label = "15W";
  for (Roof& roof : slow.roofs) roof.flops_per_s.value /= 3;
  same.mode.label = "fast too";
  const Figure figure = roofline_overlay({example_roofline(), slow, same});
  ASSERT_EQ(figure.panels.size(), 1U);
  EXPECT_EQ(figure.panels[0].labels.size(), 2U);
  EXPECT_NE(figure.panels[0].labels[0].text.find("fast too"), std::string::npos);
  EXPECT_NE(figure.panels[0].series[0].style.ink, figure.panels[0].series[2].style.ink);
  expect_within_axes(figure);
  EXPECT_EQ(svg(figure), svg(figure));
}

TEST(Overlay, EnergyHasThreePanelsOfOneLinePerMode) {
  const Figure figure = energy_overlay(made_up_energies());
  ASSERT_EQ(figure.panels.size(), 3U);
  for (const Panel& panel : figure.panels) EXPECT_EQ(panel.labels.size(), 3U);
  expect_within_axes(figure);
}

TEST(Overlay, AModeWithoutASlopeIsAnError) {
  EXPECT_THROW(roofline_overlay({one_sided_roofline(true)}), Error);
}

}  // namespace
}  // namespace ridgeline::testing
