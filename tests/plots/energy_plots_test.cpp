// Energy rooflines as pictures and text: everything within the axes, labels in place, the same
// bytes each time. Looks are judged by eye; golden files catch unintended changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "base/text_table.h"
#include "plots/figures/energy.h"
#include "plots/renderers/svg.h"
#include "plots/renderers/terminal.h"
#include "report/energy_roofline.h"
#include "tests/plots/golden.h"
#include "tests/roofline/made_up_board.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

void expect_within(const Series& series, const Axis& x, const Axis& y) {
  for (const XY& point : series.points) {
    EXPECT_GE(point.x, x.low * (1 - 1e-9)) << series.name;
    EXPECT_LE(point.x, x.high * (1 + 1e-9)) << series.name;
    EXPECT_GE(point.y, y.low * (1 - 1e-9)) << series.name;
    EXPECT_LE(point.y, y.high * (1 + 1e-9)) << series.name;
  }
}

std::vector<EnergyRoofline> shapes() {
  auto shapes = made_up_energies();
  shapes.push_back(made_up_energy("capped", 16, 1.3e9, 40));
  shapes.push_back(made_up_energy("capped to the end", 16, 1.3e9, 30));
  shapes.push_back(made_up_energy("MAXN", 16, 1.3e9, {}, DType::int8));
  shapes.push_back(made_up_energy("slow", 1, 10e6));
  return shapes;
}

TEST(EnergyFigure, EverythingLiesWithinItsAxes) {
  for (const EnergyRoofline& roofline : shapes()) {
    const Figure figure = energy_figure(roofline);
    ASSERT_EQ(figure.panels.size(), 3U);
    for (const Panel& panel : figure.panels) {
      EXPECT_DOUBLE_EQ(panel.x.low, figure.panels[0].x.low);
      EXPECT_DOUBLE_EQ(panel.x.high, figure.panels[0].x.high);
      for (const Series& series : panel.series) expect_within(series, panel.x, panel.y);
      for (const Zone& zone : panel.zones)
        expect_within({zone.name, zone.outline, {}, {}}, panel.x, panel.y);
    }
  }
}

TEST(EnergyFigure, RoofsOfEqualTermsShareALine) {
  const EnergyRoofline roofline = made_up_energy("MAXN", 16, 1.3e9);
  const auto lines = energy_lines(roofline);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1].name, "BF16, FP16 tensor cores");
  EXPECT_EQ(lines[2].name, "FP32 CUDA cores");
  EXPECT_TRUE(lines[2].is_main);
}

TEST(EnergyFigure, CaptionNamesEverySource) {
  const std::string caption = energy_figure(made_up_energy("MAXN", 16, 1.3e9)).caption;
  EXPECT_THAT(caption, HasSubstr("FP32 CUDA cores: 5.32 TFLOP/s (datasheet), 5.00 pJ/FLOP "
                                 "(assumed). DRAM: 190 GB/s (fitted), 60.0 pJ/B (fitted)."));
  EXPECT_THAT(caption, HasSubstr("25.8 W (assumed), idle: 5.00 W (measured)"));
}

TEST(EnergyFigure, Golden) {
  const EnergyRoofline roofline = made_up_energy("MAXN", 16, 1.3e9);
  const Figure figure = energy_figure(roofline);
  expect_golden("energy.svg", svg(figure));
  expect_golden("energy_capped.svg", svg(energy_figure(made_up_energy("MAXN", 16, 1.3e9, 40))));
  expect_golden("energy_80.txt", energy_heading(roofline, 80) + "\n" +
                                     terminal_plot(figure, {80, true, false}) + "\n" +
                                     energy_tables(roofline, 80));
  expect_golden("energy_modes.svg", svg(energy_panels(made_up_energies())));
}

TEST(EnergyFigure, SvgIsWellFormedForEveryShape) {
  for (const EnergyRoofline& roofline : shapes())
    for (const std::string& picture :
         {svg(energy_figure(roofline)), svg(energy_panels({roofline, roofline}))}) {
      EXPECT_THAT(picture, HasSubstr("Made-up &lt;board&gt; &amp; "));
      EXPECT_THAT(picture, HasSubstr("</svg>\n"));
      EXPECT_THAT(picture, Not(HasSubstr("nan")));
      EXPECT_THAT(picture, Not(HasSubstr("inf ")));
    }
}

TEST(EnergyPanels, ThreePerModeWithSharedAxes) {
  const Figure figure = energy_panels(made_up_energies());
  ASSERT_EQ(figure.panels.size(), 9U);
  ASSERT_EQ(figure.columns, 3);
  EXPECT_EQ(figure.panels[3].title, "30W: performance [FLOP/s]");
  for (std::size_t i = 0; i < figure.panels.size(); ++i) {
    const Panel& panel = figure.panels[i];
    EXPECT_EQ(panel.x.high, figure.panels[0].x.high);
    EXPECT_EQ(panel.y.high, figure.panels[i % 3].y.high);
    for (const Series& series : panel.series) expect_within(series, panel.x, panel.y);
  }
}

TEST(EnergyTables, FitTheWidth) {
  for (const EnergyRoofline& roofline : shapes())
    for (const int width : {20, 40, 60, 80, 120}) {
      std::istringstream text(energy_heading(roofline, width) + energy_tables(roofline, width) +
                              energy_modes_table({roofline, roofline}, width) +
                              terminal_plot(energy_figure(roofline), {width, true, false}));
      for (std::string line; std::getline(text, line);)
        EXPECT_LE(display_width(line), width) << line;
    }
}

TEST(EnergyTables, SayWhatFollows) {
  EXPECT_THAT(energy_tables(made_up_energy("MAXN", 16, 1.3e9), 200),
              HasSubstr("race to halt: yes, arithmetic at its peak and constant power take 52.4 W, "
                        "memory at its peak 11.4 W: 4.60 times"));
  EXPECT_THAT(energy_tables(made_up_energy("MAXN", 16, 1.3e9, 40), 200),
              HasSubstr("cap of 40.0 W: slows kernels down from "));
  EXPECT_THAT(energy_tables(made_up_energy("MAXN", 16, 1.3e9, 400), 200),
              HasSubstr("cap of 400 W: above the peak power, slows nothing down"));
}

}  // namespace
}  // namespace ridgeline::testing
