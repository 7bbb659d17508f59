// Every renderer draws every kind of figure, always with the same bytes.
// Looks are judged by eye and kept by golden files.
#include "plots/renderers/renderers.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <vector>

#include "base/text_table.h"
#include "plots/figures/energy.h"
#include "plots/figures/roofline.h"
#include "plots/figures/roofline_panels.h"
#include "plots/renderers/terminal.h"
#include "tests/plots/sample_rooflines.h"
#include "tests/roofline/made_up_board.h"

namespace ridgeline::testing {
namespace {

// One panel, stacked panels, small multiples with one y axis and with several.
std::vector<Figure> kinds_of_figures() {
  return {roofline_figure(example_roofline()), energy_figure(made_up_energy("MAXN", 16, 1.3e9)),
          roofline_panels({example_roofline(), crowded_roofline()}),
          energy_panels(made_up_energies())};
}

TEST(Renderers, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names, endings;
  for (const Renderer& renderer : renderers()) {
    EXPECT_TRUE(names.insert(renderer.name).second) << renderer.name;
    EXPECT_TRUE(endings.insert(renderer.ending).second) << renderer.ending;
  }
}

TEST(Renderers, DrawEveryKindOfFigureWithTheSameBytes) {
  for (const Renderer& renderer : renderers())
    for (const Figure& figure : kinds_of_figures()) {
      const std::string picture = renderer.render(figure);
      EXPECT_FALSE(picture.empty()) << renderer.name << ": " << figure.title;
      EXPECT_EQ(picture, renderer.render(figure)) << renderer.name << ": " << figure.title;
    }
}

TEST(Renderers, TerminalsShowEveryKindOfFigure) {
  for (const Figure& figure : kinds_of_figures())
    for (const int width : {36, 50, 80, 130}) {
      const std::string text = terminal_plot(figure, {width, true, false});
      std::istringstream lines(text);
      for (std::string line; std::getline(lines, line);)
        EXPECT_LE(display_width(line), width) << line;
      for (const Panel& panel : figure.panels)
        EXPECT_NE(text.find(elide_middle(panel.title, width)), std::string::npos) << panel.title;
    }
}

}  // namespace
}  // namespace ridgeline::testing
