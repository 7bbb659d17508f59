// Layers on the roofline: which are drawn, their size and colour; hostile names.
#include <gtest/gtest.h>

#include <set>

#include "plots/figures/layers.h"
#include "plots/figures/roofline.h"
#include "plots/renderers/svg.h"
#include "tests/roofline/explained_network.h"

namespace ridgeline::testing {
namespace {

std::vector<Series> bubbles(const Figure& figure) {
  std::vector<Series> found;
  for (const Series& series : figure.panels.front().series)
    if (!series.areas.empty()) found.push_back(series);
  return found;
}

TEST(LayersFigure, OneBubblePerLayerWithArithmetic) {
  const Explanation explanation = made_up_explanation();
  const Figure figure = layers_figure(explanation, made_up_ceilings());
  const auto series = bubbles(figure);
  ASSERT_EQ(series.size(), 2u);  // bound by compute, by memory; a copy has no intensity
  EXPECT_EQ(series[0].name, "bound by compute");
  ASSERT_EQ(series[0].points.size(), 1u);
  EXPECT_DOUBLE_EQ(series[0].points[0].x, 1000);
  EXPECT_DOUBLE_EQ(series[0].points[0].y, 4e12);
  EXPECT_DOUBLE_EQ(series[0].areas[0], 0.5);  // share of the time
  EXPECT_NE(series[0].style.ink, series[1].style.ink);
  EXPECT_NE(figure.caption.find("25 % of the time is in layers without arithmetic"),
            std::string::npos)
      << figure.caption;
}

TEST(LayersFigure, EveryBubbleIsWithinTheAxes) {
  const Figure figure = layers_figure(made_up_explanation(), made_up_ceilings());
  const Panel& panel = figure.panels.front();
  for (const Series& series : bubbles(figure))
    for (const XY& point : series.points) {
      EXPECT_GE(point.x, panel.x.low);
      EXPECT_LE(point.x, panel.x.high);
      EXPECT_GE(point.y, panel.y.low);
      EXPECT_LE(point.y, panel.y.high);
    }
}

TEST(LayersFigure, NamesAreEscaped) {
  const std::string text = svg(layers_figure(made_up_explanation(), made_up_ceilings()));
  EXPECT_EQ(text.find("<&>"), std::string::npos);
  EXPECT_NE(text.find("norm &lt;&amp;&gt;"), std::string::npos);
  EXPECT_EQ(text, svg(layers_figure(made_up_explanation(), made_up_ceilings())));
}

TEST(LayersFigure, EachBoundHasItsOwnColour) {
  std::set<Ink> inks;
  for (const auto& row : TokenTable<BoundBy>::rows) inks.insert(ink_of(row.first));
  EXPECT_EQ(inks.size(), TokenTable<BoundBy>::rows.size());
}

TEST(LayersFigure, NoBoundHasTheColourOfADataType) {
  for (const auto& bound : TokenTable<BoundBy>::rows)
    for (const auto& dtype : TokenTable<DType>::rows)
      EXPECT_NE(ink_of(bound.first), ink_of(dtype.first)) << bound.second << ", " << dtype.second;
}

TEST(LayersFigure, EqualLayersShareALabelThatKeepsTheEndOfTheirName) {
  Explanation explanation = made_up_explanation();
  ExplainedLayer layer = explanation.layers.front();
  explanation.layers.clear();
  for (int i = 0; i < 12; ++i) {
    layer.name = "bert.encoder.layer." + std::to_string(i) + ".attention.output.dense + add";
    layer.time_share = 0.03;
    explanation.layers.push_back(layer);
  }
  layer.name = "downsample.0 + 1";
  layer.intensity = 2;
  explanation.layers.push_back(layer);
  std::string labels;
  const Figure figure = layers_figure(explanation, made_up_ceilings());
  for (const Label& label : figure.panels[0].labels) labels += label.text + "|";
  EXPECT_NE(labels.find("…attention.output.dense + …, 12 layers: 36 %|"), std::string::npos)
      << labels;
  EXPECT_NE(labels.find("downsample.0 + 1: 3 %|"), std::string::npos) << labels;
}

// TensorRT runs fp32 networks in TF32.
TEST(LayersFigure, TheMainRoofIsTheOneThatTheLayersUse) {
  Explanation explanation = made_up_explanation();
  explanation.run.dtype = DType::fp32;
  for (ExplainedLayer& layer : explanation.layers)
    layer.roofs = {{"TF32 matrix", 0.4}, {"DRAM", 0.1}, {"FP32 vector", 0.01}};
  const Figure figure = layers_figure(explanation, made_up_ceilings());
  for (const Label& label : figure.panels[0].labels)
    if (label.emphasis) {
      EXPECT_EQ(label.text.substr(0, 4), "TF32");
    }
}

// A type without a roof on the device: the picture is drawn with another main roof.
TEST(LayersFigure, WithoutARoofOfItsType) {
  Explanation explanation = made_up_explanation();
  explanation.run.dtype = DType::int4;
  EXPECT_NO_THROW(layers_figure(explanation, made_up_ceilings()));
}

}  // namespace
}  // namespace ridgeline::testing
