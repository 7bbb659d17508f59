// Small multiples: one panel per mode, shared axes, well-formed bytes, labels that do not collide.
// Looks are judged by eye; the golden file catches unintended changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/text_table.h"
#include "plots/figures/roofline_panels.h"
#include "plots/renderers/svg.h"
#include "plots/renderers/svg_layout.h"
#include "report/roofline.h"
#include "tests/plots/golden.h"
#include "tests/plots/sample_rooflines.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A made-up board: rates and usable bandwidth fall with the clock.
Roofline paper_mode(const std::string& label, int units, double gpu_hz) {
  Ceilings ceilings;
  ceilings.device = "made-up";
  ceilings.point.label = label;
  ceilings.point.gpu_units = units;
  ceilings.point.gpu_hz = gpu_hz;
  ceilings.point.memory_hz = 3.2e9;
  const auto peak = [&](Unit unit, DType dtype, double per_clock) {
    ceilings.peaks.push_back(
        {Processor::gpu, unit, dtype, dtype, units * per_clock * gpu_hz, Source::datasheet, false});
  };
  peak(Unit::vector, DType::fp64, 4);
  peak(Unit::vector, DType::fp32, 256);
  peak(Unit::matrix, DType::fp16, 2048);
  peak(Unit::matrix, DType::bf16, 2048);
  peak(Unit::matrix, DType::int8, 4096);
  const double usable = std::min(190e9, 200 * gpu_hz);
  ceilings.bandwidths = {{Processor::gpu, Level::dram, Direction::read, 204.8e9, Source::datasheet},
                         {Processor::gpu, Level::dram, Direction::read, usable, Source::fitted}};
  return roofline_of(ceilings, Estimate{usable, usable * 0.9, usable * 1.1, Source::fitted},
                     "Made-up <board> & \"more\"", {});
}

std::vector<Roofline> three_modes() {
  return {paper_mode("MAXN", 16, 1.3e9), paper_mode("30W", 8, 612e6), paper_mode("15W", 6, 408e6)};
}

TEST(Panels, OnePerModeWithSharedAxes) {
  const Figure figure = roofline_panels(three_modes());
  ASSERT_EQ(figure.panels.size(), 3U);
  EXPECT_TRUE(figure.shared_y);
  EXPECT_EQ(figure.panels[1].title, "30W");
  EXPECT_EQ(figure.panels[1].note, "8 SM, 612 MHz, memory 3.20 GHz");
  const Panel& first = figure.panels[0];
  for (const Panel& panel : figure.panels)
    for (const Series& series : panel.series)
      for (const XY& point : series.points) {
        EXPECT_GE(point.x, first.x.low * (1 - 1e-9)) << series.name;
        EXPECT_LE(point.x, first.x.high * (1 + 1e-9)) << series.name;
        EXPECT_GE(point.y, first.y.low * (1 - 1e-9)) << series.name;
        EXPECT_LE(point.y, first.y.high * (1 + 1e-9)) << series.name;
      }
}

TEST(Panels, RoofsOfOneHeightShareALabel) {
  const Figure figure = roofline_panels(three_modes());
  std::string labels;
  for (const Label& label : figure.panels[0].labels) labels += label.text + "|";
  EXPECT_THAT(labels, HasSubstr("FP16, BF16 42.6 T|"));
  EXPECT_THAT(labels, Not(HasSubstr("FP64")));
}

// Labels are placed by rank: one without room is dropped, earlier ones stay.
TEST(Panels, LabelsDoNotTouch) {
  const SvgLayout layout = svg_layout(roofline_panels(three_modes()));
  for (const SvgPanel& panel : layout.panels) {
    ASSERT_FALSE(panel.labels.empty());
    EXPECT_EQ(panel.labels.front().label, 0U);
    for (std::size_t i = 0; i < panel.labels.size(); ++i)
      for (std::size_t k = i + 1; k < panel.labels.size(); ++k)
        EXPECT_FALSE(overlap(panel.labels[i].box, panel.labels[k].box))
            << panel.labels[i].text << " and " << panel.labels[k].text;
  }
}

TEST(Panels, Golden) { expect_golden("modes.svg", svg(roofline_panels(three_modes()))); }

TEST(Panels, EscapesNamesAndDrawsEveryShape) {
  EXPECT_THAT(svg(roofline_panels(three_modes())), HasSubstr("Made-up &lt;board&gt; &amp; "));
  for (const auto& [name, roofline] : sample_rooflines())
    for (const std::size_t count : {1U, 4U, 5U}) {
      const std::string picture = svg(roofline_panels(std::vector<Roofline>(count, roofline)));
      EXPECT_THAT(picture, HasSubstr("</svg>\n")) << name;
      EXPECT_THAT(picture, Not(HasSubstr("nan"))) << name;
      EXPECT_THAT(picture, Not(HasSubstr("inf "))) << name;
    }
}

TEST(Panels, TableHasOneRowPerModeAndFits) {
  for (const int width : {60, 80, 200}) {
    const std::string table = roofline_modes_table(three_modes(), width);
    std::size_t begin = 0;
    for (std::size_t end = table.find('\n'); end != std::string::npos;
         begin = end + 1, end = table.find('\n', begin))
      EXPECT_LE(display_width(table.substr(begin, end - begin)), width);
    EXPECT_THAT(table, HasSubstr("30W"));
    EXPECT_THAT(table, HasSubstr("122 GB/s"));
  }
  EXPECT_THAT(roofline_modes_table(three_modes(), 200), HasSubstr("BF16"));
}

}  // namespace
}  // namespace ridgeline::testing
