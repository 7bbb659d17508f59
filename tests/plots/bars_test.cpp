// Bars: times and energies add up to the totals that the explanation has.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "plots/figures/layer_bars.h"
#include "plots/figures/layers.h"
#include "plots/figures/power_trace.h"
#include "tests/roofline/explained_network.h"

namespace ridgeline::testing {
namespace {

double length(const Zone& bar) { return bar.outline[1].x - bar.outline[0].x; }

TEST(LayerBars, TimesAddUpToTheTotal) {
  const Explanation explanation = made_up_explanation();
  const Figure figure = layer_times_figure(explanation);
  double sum = 0;
  for (const Zone& bar : figure.panels[0].zones) sum += length(bar);
  EXPECT_NEAR(sum, explanation.time_s.value, 1e-12);
  EXPECT_EQ(figure.panels[0].x.unit, "ms");
  EXPECT_NE(figure.panels[0].zones[0].name.find("conv: 1.00 ms, 50 %"), std::string::npos)
      << figure.panels[0].zones[0].name;
}

TEST(LayerBars, EnergyBuildsUpToTheTotal) {
  Explanation explanation = made_up_explanation();
  explanation.terms = {
      {"compute", 1e-3, 7e-3}, {"memory", 1e-3, 4e-3}, {"constant power", 0, 26e-3}};
  const Figure figure = energy_build_up_figure(explanation);
  const auto& bars = figure.panels[0].zones;
  ASSERT_EQ(bars.size(), 4U);
  for (std::size_t i = 1; i < 3; ++i)
    EXPECT_DOUBLE_EQ(bars[i].outline[0].x, bars[i - 1].outline[1].x);
  EXPECT_NEAR(bars[2].outline[1].x, bars[3].outline[1].x, 1e-12);
  EXPECT_THROW(energy_build_up_figure(made_up_explanation(false)), Error);
}

TEST(LayerNames, NumbersAreStarsAndEndsStay) {
  EXPECT_EQ(without_block_number("encoder.layer.11.output.dense"), "encoder.layer.*.output.dense");
  EXPECT_EQ(without_block_number("layer1.0.conv2 + bn2 + relu_11"), "layer1.*.conv2 + bn2 + relu");
  // Other numbers say which layer of the block it is.
  EXPECT_EQ(without_block_number("features.3.block.0.0 + 1 + 2"), "features.*.block.0.0 + 1 + 2");
  EXPECT_EQ(without_block_number("/features/features.3/features.3.0/Conv"),
            "/features/features.*/features.*.0/Conv");
  EXPECT_EQ(without_block_number("encoder.encoder_layer_3.mlp.0 + 1"),
            "encoder.encoder_layer.mlp.0 + 1");
  EXPECT_EQ(elide_front("encoder.layer.*.output.dense + add", 20), "…output.dense + add");
  EXPECT_EQ(elide_front("conv", 20), "conv");
  EXPECT_EQ(elide_front("層層層層層層", 5), "…層層");
  EXPECT_EQ(short_layer_name("layer3.*.conv2 + bn2 + relu", 20), "layer3.*.conv2 + …");
  EXPECT_EQ(short_layer_name("layer3.*.conv2 + bn2", 20), "layer3.*.conv2 + bn2");
  EXPECT_EQ(short_layer_name("encoder.layer.*.output.dense + add", 20), "…*.output.dense + …");
}

TEST(PowerFigure, HasALinePerRailAndStaysWithinItsAxes) {
  const Figure figure =
      power_figure({{"GPU", {{0, 3}, {1, 5}, {2, 4}}}, {"total", {{0, 8}, {1, 12}, {2, 9}}, true}},
                   Interval{0.5, 3}, "run.log", "made up.");
  const Panel& panel = figure.panels[0];
  ASSERT_EQ(panel.series.size(), 2U);
  EXPECT_EQ(panel.labels[1].text, "total, mean 9.67 W");
  EXPECT_LE(panel.zones[0].outline[1].x, panel.x.high);
  EXPECT_THROW(power_figure({{"GPU", {{0, 3}}}}, {}, "run.log", ""), Error);
}

TEST(PowerFigure, LongRecordsAreThinnedToTheirMean) {
  PowerTrace trace{"GPU", {}};
  for (int i = 0; i < 100000; ++i) trace.readings.push_back({i * 0.01, i % 2 ? 4.0 : 6.0});
  const Figure figure = power_figure({trace}, {}, "run.log", "");
  EXPECT_LE(figure.panels[0].series[0].points.size(), 1200U);
  for (const XY& at : figure.panels[0].series[0].points) EXPECT_NEAR(at.y, 5, 0.1);
}

}  // namespace
}  // namespace ridgeline::testing
