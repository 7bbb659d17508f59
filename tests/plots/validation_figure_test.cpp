// The picture of predicted against measured times: its content, and that it stays in the frame.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plots/figures/validation.h"
#include "plots/renderers/svg.h"

namespace ridgeline {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

std::vector<ValidationPoint> points() {
  return {{"orin", {0.010, exact(0.011, Source::predicted)}},
          {"orin", {0.500, {0.400, 0.3, 0.6, Source::predicted}}},
          {"a100", {0.001, exact(0.002, Source::predicted)}}};
}

TEST(ValidationFigure, HasEveryRowTheDiagonalAndTheBand) {
  const Figure figure = validation_figure(points(), 0.43, "t.csv");
  ASSERT_THAT(figure.panels, SizeIs(1));
  const Panel& panel = figure.panels.front();
  ASSERT_THAT(panel.series, SizeIs(3));  // the diagonal and two devices
  EXPECT_THAT(panel.series[1].points, SizeIs(2));
  EXPECT_THAT(panel.series[2].points, SizeIs(1));
  EXPECT_EQ(panel.x.low, panel.y.low);
  EXPECT_EQ(panel.x.high, panel.y.high);
  ASSERT_THAT(panel.zones, SizeIs(1));
  for (const XY& at : panel.zones[0].outline) {
    EXPECT_GE(at.x, panel.x.low * 0.999);
    EXPECT_LE(at.x, panel.x.high * 1.001);
    EXPECT_GE(at.y, panel.y.low * 0.999);
    EXPECT_LE(at.y, panel.y.high * 1.001);
  }
  EXPECT_THAT(figure.description, HasSubstr("43"));
}

TEST(ValidationFigure, PowerAndEnergyHaveTheirOwnPanels) {
  auto rows = points();
  rows[0].power_w = {12, {13, 10, 300, Source::predicted}};
  rows[0].energy_j = {0.12, exact(0.14, Source::predicted)};
  const Figure figure = validation_figure(rows, 0.43, "t.csv");
  ASSERT_THAT(figure.panels, SizeIs(3));
  EXPECT_EQ(figure.panels[0].title, "time [ms]");
  EXPECT_EQ(figure.panels[1].title, "power [W]");
  EXPECT_EQ(figure.panels[2].title, "energy [mJ]");
  for (const Panel& panel : figure.panels)
    for (const Series& series : panel.series)
      for (const Interval& interval : series.y_intervals) {
        EXPECT_GE(interval.low, panel.y.low);
        EXPECT_LE(interval.high, panel.y.high);
      }
  EXPECT_LT(figure.panels[0].series[1].style.opacity, 1);
}

TEST(ValidationFigure, OneRowIsEnough) {
  const std::string picture =
      svg(validation_figure({{"orin", {1, exact(1, Source::predicted)}}}, 0, "t.csv"));
  EXPECT_THAT(picture, HasSubstr("Predicted against measured time"));
  EXPECT_THAT(picture, HasSubstr("t.csv"));
}

}  // namespace
}  // namespace ridgeline
