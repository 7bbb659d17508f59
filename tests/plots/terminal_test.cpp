// The terminal picture and its tables: golden text of the example, any width, plain ASCII.
// Width is in characters, as on a terminal.
#include "plots/renderers/terminal.h"

#include <gtest/gtest.h>

#include <sstream>

#include "base/text_table.h"
#include "plots/figures/roofline.h"
#include "report/roofline.h"
#include "tests/plots/golden.h"
#include "tests/plots/sample_rooflines.h"

namespace ridgeline::testing {
namespace {

std::string whole_text(const Roofline& roofline, int width) {
  return roofline_heading(roofline, width) + "\n" +
         terminal_plot(roofline_figure(roofline), {width, true, false}) + "\n" +
         roofline_tables(roofline, width);
}

TEST(Terminal, Golden) {
  const Roofline roofline = example_roofline();
  expect_golden("example_80.txt", whole_text(roofline, 80));
  expect_golden("example_120.txt", whole_text(roofline, 120));
  expect_golden("example_40.txt", whole_text(roofline, 40));
  expect_golden("example_20.txt", whole_text(roofline, 20));
  expect_golden("example_80_ascii.txt",
                terminal_plot(roofline_figure(roofline), {80, false, false}));
}

// Also: control characters in a name from a file must not reach the terminal.
TEST(Terminal, EveryLineFitsEveryWidth) {
  for (const auto& [name, roofline] : sample_rooflines()) {
    const Figure figure = roofline_figure(roofline);
    for (const int width : {20, 21, 30, 35, 36, 37, 40, 47, 56, 68, 71, 72, 78, 80, 100, 120, 200})
      for (const bool utf8 : {true, false}) {
        std::istringstream lines(terminal_plot(figure, {width, utf8, false}) +
                                 roofline_heading(roofline, width) +
                                 roofline_tables(roofline, width));
        for (std::string line; std::getline(lines, line);) {
          ASSERT_LE(display_width(line), width) << name << ": " << line;
          for (const char c : line) ASSERT_FALSE(c >= 0 && c < 32) << name << ": " << line;
        }
      }
  }
}

TEST(Terminal, TooNarrowForAPictureStillGivesNumbers) {
  const Roofline roofline = example_roofline();
  EXPECT_EQ(terminal_plot(roofline_figure(roofline), {20, true, false}), "");
  EXPECT_NE(roofline_tables(roofline, 20).find("762 GFLOP/s"), std::string::npos);
}

TEST(Terminal, AsciiIsAscii) {
  for (const auto& [name, roofline] : sample_rooflines())
    for (const char c : terminal_plot(roofline_figure(roofline), {80, false, false}))
      ASSERT_TRUE(static_cast<unsigned char>(c) < 128) << name;
  EXPECT_EQ(to_ascii("± µs × … → \xF0\x9F\x98\x80 \xff"), "+- us x ~ -> ? ?");
}

TEST(Terminal, ColourOnlyAddsEscapes) {
  const Figure figure = roofline_figure(example_roofline());
  std::string plain;
  bool escape = false;
  for (const char c : terminal_plot(figure, {80, true, true})) {
    if (c == '\x1b') escape = true;
    if (!escape) plain += c;
    if (escape && c == 'm') escape = false;
  }
  EXPECT_EQ(plain, terminal_plot(figure, {80, true, false}));
}

}  // namespace
}  // namespace ridgeline::testing
