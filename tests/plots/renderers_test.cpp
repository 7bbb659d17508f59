// Every renderer draws every kind of figure, always with the same bytes.
// Looks are judged by eye and kept by golden files.
#include "plots/renderers/renderers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/child_process.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text_table.h"
#include "plots/figures/energy.h"
#include "plots/figures/roofline.h"
#include "plots/figures/roofline_panels.h"
#include "plots/renderers/gnuplot.h"
#include "plots/renderers/matplot/matplot.h"
#include "plots/renderers/raster.h"
#include "plots/renderers/svg.h"
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
  for (const auto render : {svg, gnuplot_script})
    for (const Figure& figure : kinds_of_figures()) {
      const std::string picture = render(figure);
      EXPECT_FALSE(picture.empty()) << figure.title;
      EXPECT_EQ(picture, render(figure)) << figure.title;
    }
}

// No program is found while one of these lives.
class EmptyPath {
 public:
  EmptyPath() : before_(std::getenv("PATH")) { setenv("PATH", "/nowhere", 1); }
  ~EmptyPath() { setenv("PATH", before_.c_str(), 1); }
  EmptyPath(const EmptyPath&) = delete;
  EmptyPath& operator=(const EmptyPath&) = delete;

 private:
  std::string before_;
};

Figure hostile_figure() {
  Figure figure = roofline_figure(hostile_roofline());
  figure.title = "it's \"quoted\" `touch pwned` \\ \n$(x) @plot {/a_b^c}";
  figure.panels.front().labels.front().text = "a'b\nplot sin(x)";
  figure.panels.front().labels.back().text = std::string(10000, 'W');
  figure.legend.front().text = "<script>alert(1)</script> & ]]> <!-- \x01";
  // No UTF-8: a stray byte, an overlong slash, half a surrogate pair, a letter cut short.
  figure.caption = "caf\xc3\xa9 \xff \xe0\x80\xaf \xed\xa0\x80 \xef\xbf\xbf 層 \xe5\xb1";
  return figure;
}

// UTF-8 whose every '&' begins an entity and whose every '<' a tag that the renderer knows.
void expect_xml(const std::string& picture) {
  EXPECT_NO_THROW(Json(picture).dump()) << "not UTF-8";
  for (std::size_t at = picture.find('&'); at != std::string::npos; at = picture.find('&', at + 1))
    EXPECT_LT(picture.find(';', at) - at, 7U) << picture.substr(at, 40);
  for (const char* harm : {"<script", "]]>", "\x01"})
    EXPECT_EQ(picture.find(harm), std::string::npos) << harm;
}

TEST(Renderers, NamesCannotBreakASvg) {
  const std::string picture = svg(hostile_figure());
  expect_xml(picture);
  EXPECT_EQ(picture.find("<!--"), std::string::npos);
  EXPECT_NE(picture.find("caf\xc3\xa9"), std::string::npos);  // what is right stays
  if (!find_in_path("rsvg-convert")) GTEST_SKIP() << "rsvg-convert is not installed";
  EXPECT_EQ(png(hostile_figure()).substr(0, 4), "\x89PNG");
}

// Child programs take a few hundredths of a second each: one figure through each of them.
TEST(Renderers, PngAndPdfComeFromAnotherProgram) {
  if (!find_in_path("rsvg-convert") && !find_in_path("gnuplot"))
    GTEST_SKIP() << "neither rsvg-convert nor gnuplot is installed";
  const Figure figure = roofline_figure(example_roofline());
  const std::string picture = png(figure);
  EXPECT_EQ(picture.substr(0, 4), "\x89PNG");
  EXPECT_EQ(picture, png(figure));
  const std::string page = pdf(figure);
  EXPECT_EQ(page.substr(0, 5), "%PDF-");
  EXPECT_EQ(page, pdf(figure));
}

TEST(Renderers, WithoutTheProgramsOneLineSaysWhatToInstall) {
  const EmptyPath path;
  try {
    png(roofline_figure(example_roofline()));
    FAIL() << "drawn without a program";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::incomplete);
    EXPECT_NE(error.fix().find("librsvg2-bin"), std::string::npos) << error.fix();
  }
}

// Names must neither end a string nor reach the shell.
TEST(Renderers, GnuplotScriptsQuoteEveryName) {
  std::istringstream lines(gnuplot_script(hostile_figure()));
  for (std::string line; std::getline(lines, line);) {
    EXPECT_NE(line.substr(0, 11), "plot sin(x)") << line;
    if (line.find("touch") == std::string::npos || line.front() == '#') continue;
    EXPECT_EQ(line.substr(0, 11), "set label '") << line;
    EXPECT_EQ(std::count(line.begin(), line.end(), '\'') % 2, 0) << line;
  }
}

TEST(Renderers, GnuplotRunsTheScripts) {
  if (!find_in_path("gnuplot")) GTEST_SKIP() << "gnuplot is not installed";
  for (const Figure& figure : {hostile_figure(), energy_panels(made_up_energies())}) {
    ChildRequest request{.command = {"gnuplot"}};
    request.is_captured = true;
    request.input = gnuplot_script(figure);
    const ChildResult result = run_child(request);
    EXPECT_EQ(result.exit_code, 0) << result.output.substr(0, 400);
    EXPECT_NE(result.output.find("</svg>"), std::string::npos) << result.output.substr(0, 400);
    expect_xml(result.output);
    EXPECT_EQ(result.output.find("warning"), std::string::npos);
  }
}

TEST(Renderers, MatplotDrawsEveryKindOfFigure) {
  if (!has_matplot()) GTEST_SKIP() << "built without Matplot++";
  if (!find_in_path("gnuplot")) GTEST_SKIP() << "gnuplot is not installed";
  for (const Figure& figure : kinds_of_figures())
    EXPECT_NE(matplot_svg(figure).find("</svg>"), std::string::npos) << figure.title;
  const std::string picture = matplot_svg(hostile_figure());
  EXPECT_NE(picture.find("</svg>"), std::string::npos);
  expect_xml(picture);
}

TEST(Renderers, MatplotSaysWhatIsMissing) {
  const EmptyPath path;
  try {
    matplot_svg(roofline_figure(example_roofline()));
    FAIL() << "drawn without gnuplot";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::incomplete);
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
