// The picture of a plan: every stock mode by name, the choice, and the zones that limits exclude.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plots/figures/plan.h"
#include "plots/renderers/svg.h"
#include "tests/planner/planned.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;

TEST(PlanFigure, ShowsModesFrontStockModesAndTheChoice) {
  const Planned planned("jetson-orin-nano-8gb", "resnet50", Runtime::tensorrt);
  const PlanResult result =
      planned.plan(least(Goal::energy, {{LimitKind::latency, 0.02, 0, "--latency 20ms"},
                                        {LimitKind::power, 15, 0, "--power 15W"}}));
  const Figure figure = plan_figure(planned.problem, result);
  ASSERT_EQ(figure.panels.size(), 1U);
  const Panel& panel = figure.panels.front();
  EXPECT_EQ(panel.zones.size(), 2U);
  std::size_t stock = 0;
  for (const CandidateMode& mode : planned.problem.candidates.modes) stock += mode.stock;
  EXPECT_EQ(panel.labels.size(), stock + 1);
  ASSERT_GE(panel.series.size(), 5U);  // steps of the GPU clock, front, stock modes, choice
  EXPECT_EQ(panel.series.back().style.marker, Marker::star);
  EXPECT_EQ(panel.series.back().x_intervals.size(), 1U);
  EXPECT_EQ(panel.series.back().y_intervals.size(), 1U);
  EXPECT_EQ(panel.x.unit, "ms");
  for (const Series& series : panel.series)
    for (const XY& at : series.points) {
      EXPECT_GE(at.x, panel.x.low);
      EXPECT_LE(at.x, panel.x.high);
      EXPECT_GE(at.y, panel.y.low);
      EXPECT_LE(at.y, panel.y.high);
    }
  for (const Zone& zone : panel.zones)
    for (const XY& at : zone.outline) {
      EXPECT_GE(at.x, panel.x.low);
      EXPECT_LE(at.y, panel.y.high);
    }
  const std::string picture = svg(figure);
  EXPECT_THAT(picture, HasSubstr("MAXN_SUPER"));
  EXPECT_LT(picture.size(), 1000000U);
  EXPECT_EQ(picture, svg(plan_figure(planned.problem, result)));
}

TEST(PlanFigure, ShadesWhatARateForbidsAndSaysWhatIsPlotted) {
  const Planned planned("jetson-orin-nano-8gb", "resnet50", Runtime::tensorrt);
  Objective objective = least(Goal::energy, {{LimitKind::arrivals, 1 / 20.0, 0, "--fps 20"}});
  objective.arrivals = Arrivals{20, false};
  const PlanResult result = planned.plan(objective);
  const Figure figure = plan_figure(planned.problem, result, ColourKnob::memory);
  const Panel& panel = figure.panels.front();
  ASSERT_EQ(panel.zones.size(), 1U);
  EXPECT_NEAR(panel.zones[0].outline[0].x, 1 / 20.0, 1e-9);
  EXPECT_THAT(figure.caption, HasSubstr("per sample, idle time included"));
  EXPECT_THAT(figure.legend.front().text, HasSubstr("memory"));
}

}  // namespace
}  // namespace ridgeline::testing
