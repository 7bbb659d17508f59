// The SVG: golden bytes of the example, well-formed XML for hostile names, no external resources.
// Looks are judged by eye; label positions are in label_layout_test.cpp.
#include "plots/renderers/svg.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "plots/figures/roofline.h"
#include "tests/plots/golden.h"
#include "tests/plots/sample_rooflines.h"

namespace ridgeline::testing {
namespace {

// The first XML fault: mismatched tags, stray markup, unknown entities.
// Enough for our own output; not a general parser.
std::string xml_fault(const std::string& xml) {
  std::vector<std::string> open;
  std::size_t at = 0;
  while (at < xml.size()) {
    if (static_cast<unsigned char>(xml[at]) < 32 && xml[at] != '\n') return "control character";
    if (xml[at] == '&') {
      const auto end = xml.find(';', at);
      const std::string entity = xml.substr(at, end - at + 1);
      if (entity != "&amp;" && entity != "&lt;" && entity != "&gt;" && entity != "&quot;")
        return "entity " + entity.substr(0, 10);
    }
    if (xml[at] == '>') return "stray >";
    if (xml[at] != '<') {
      ++at;
      continue;
    }
    const auto end = xml.find('>', at);
    if (end == std::string::npos) return "tag without end";
    const std::string tag = xml.substr(at + 1, end - at - 1);
    if (tag.find('<') != std::string::npos) return "tag within a tag";
    if (std::count(tag.begin(), tag.end(), '"') % 2 != 0) return "open quote in " + tag;
    if (tag.front() == '/') {
      if (open.empty() || open.back() != tag.substr(1)) return "unmatched </" + tag.substr(1);
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(tag.substr(0, tag.find(' ')));
    }
    at = end + 1;
  }
  return open.empty() ? "" : "not closed: " + open.back();
}

TEST(Svg, Golden) {
  expect_golden("example.svg", svg(roofline_figure(example_roofline())));
  expect_golden("tiny.svg",
                svg(roofline_figure(roofline_of(simple_mode(), made_up_machine(), {}))));
}

TEST(Svg, IsWellFormedAndSelfContained) {
  for (const auto& [name, roofline] : sample_rooflines()) {
    const std::string text = svg(roofline_figure(roofline));
    EXPECT_EQ(xml_fault(text), "") << name;
    EXPECT_NE(text.find("<title"), std::string::npos);
    EXPECT_NE(text.find("<desc"), std::string::npos);
    EXPECT_EQ(text.find("href"), std::string::npos);
    EXPECT_EQ(text.find("url("), std::string::npos);
    EXPECT_EQ(text.find("<script"), std::string::npos);
    for (const char* bad : {"nan", "inf", "e+", "e-0"})
      EXPECT_EQ(text.find("\"" + std::string(bad)), std::string::npos) << name;
  }
}

TEST(Svg, TheCheckerSeesFaults) {
  EXPECT_EQ(xml_fault("<a><b/></a>\n"), "");
  for (const char* broken : {"<a>", "<a></b>", "<a", "a & b", "<a>></a>", "<a b=\"></a>", "\x01"})
    EXPECT_NE(xml_fault(broken), "") << broken;
}

TEST(Svg, SameFigureSameBytes) {
  const Figure figure = roofline_figure(crowded_roofline());
  EXPECT_EQ(svg(figure), svg(figure));
}

TEST(RooflineFigure, KeepsItsDataWithinItsAxes) {
  for (const auto& [name, roofline] : sample_rooflines()) {
    const Figure figure = roofline_figure(roofline);
    ASSERT_EQ(figure.panels.size(), 1U) << name;
    const Panel& panel = figure.panels.front();
    const auto within = [](const Axis& axis, double value) {
      return std::isfinite(value) && value >= axis.low * (1 - 1e-9) &&
             value <= axis.high * (1 + 1e-9);
    };
    ASSERT_TRUE(panel.x.low > 0 && panel.x.low < panel.x.high) << name;
    ASSERT_TRUE(panel.y.low > 0 && panel.y.low < panel.y.high) << name;
    for (const Series& series : panel.series)
      for (const XY& point : series.points)
        EXPECT_TRUE(within(panel.x, point.x) && within(panel.y, point.y))
            << name << ": " << series.name << " " << point.x << ", " << point.y;
    for (const Zone& zone : panel.zones)
      for (const XY& point : zone.outline)
        EXPECT_TRUE(within(panel.x, point.x) && within(panel.y, point.y))
            << name << ": " << zone.name;
  }
}

TEST(RooflineFigure, EachRoofAndLabelledSlopeCarriesItsValue) {
  const Figure figure = roofline_figure(example_roofline());
  const auto has = [&](const std::string& text) {
    for (const Label& label : figure.panels.front().labels)
      if (label.text == text) return true;
    return false;
  };
  EXPECT_TRUE(has("FP32 AVX-512 762 GFLOP/s"));
  EXPECT_TRUE(has("INT8 AMX 46.8 TOP/s (throttled)"));
  EXPECT_TRUE(has("L1 read 1.52 TB/s"));
  EXPECT_TRUE(has("L3 read 181 GB/s ± 3 %"));
  EXPECT_TRUE(has("ridge 10.2 FLOP/byte"));
}

}  // namespace
}  // namespace ridgeline::testing
