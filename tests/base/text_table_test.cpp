// Tables as text at every terminal width, as Markdown and as CSV.
#include "base/text_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <sstream>

#include "base/csv.h"

namespace ridgeline::testing {
namespace {

TextTable layers() {
  return {{{"layer", Align::left, true}, {"time", Align::right}, {"bound"}},
          {{"conv_1_very_long_name_bn", "1.73 µs", "memory"}, {"fc", "12.4 s", "compute ± 3"}}};
}

int widest_line(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  int widest = 0;
  while (std::getline(lines, line)) widest = std::max(widest, display_width(line));
  return widest;
}

TEST(TextTable, AlignsByDisplayWidth) {
  EXPECT_EQ(render_text(layers(), 80),
            "layer                        time  bound\n"
            "conv_1_very_long_name_bn  1.73 µs  memory\n"
            "fc                         12.4 s  compute ± 3\n");
}

TEST(TextTable, ElidesTheMiddleOfTheFlexibleColumn) {
  EXPECT_EQ(render_text(layers(), 34),
            "layer            time  bound\n"
            "conv_1…me_bn  1.73 µs  memory\n"
            "fc             12.4 s  compute ± 3\n");
}

TEST(TextTable, BecomesBlocksWhenNarrow) {
  EXPECT_EQ(render_text(layers(), 20),
            "layer:\n"
            "  conv_1_very_long_n\n"
            "  ame_bn\n"
            "time: 1.73 µs\n"
            "bound: memory\n"
            "\n"
            "layer: fc\n"
            "time: 12.4 s\n"
            "bound: compute ± 3\n");
}

TEST(TextTable, NeverWiderThanItMayBe) {
  for (int width = 8; width < 60; ++width)
    EXPECT_LE(widest_line(render_text(layers(), width)), width) << width;
  for (const int width : {-1, 0, 1, 2, 3}) render_text(layers(), width);  // must terminate
}

TEST(TextTable, EmptyAndRaggedTables) {
  EXPECT_EQ(render_text({}, 80), "");
  EXPECT_EQ(render_text({{{"a"}, {"b"}}, {}}, 80), "a  b\n");
  EXPECT_EQ(render_text({{{"a"}, {"b"}}, {{"1"}, {"1", "2", "3"}}}, 80), "a  b\n1\n1  2\n");
}

TEST(TextTable, SpareColumnsGoWhereFlexibleOnesCannotShrinkEnough) {
  const TextTable table{{{"name", Align::left, true},
                         {"a", Align::right, false, 1},
                         {"b", Align::right, false, 2},
                         {"c", Align::right}},
                        {{"abcdefghijkl", "1111", "2222", "3333"}}};
  EXPECT_EQ(render_text(table, 30),
            "name             a     b     c\nabcdefghijkl  1111  2222  3333\n");
  EXPECT_EQ(render_text(table, 26), "name         a     b     c\nabcd…jkl  1111  2222  3333\n");
  EXPECT_EQ(render_text(table, 25), "name             a     c\nabcdefghijkl  1111  3333\n");
  EXPECT_EQ(render_text(table, 14), "name         c\nabcd…jkl  3333\n");
  EXPECT_EQ(render_text(table, 13), "name:\n  abcdefghijk\n  l\na: 1111\nb: 2222\nc: 3333\n");
}

TEST(TextTable, AFlexibleColumnKeepsItsWishAsLongAsSpareOnesAreLeft) {
  const TextTable table{{{"name", Align::left, true, 0, 12},
                         {"a", Align::right, false, 1},
                         {"b", Align::right, false, 2},
                         {"c", Align::right}},
                        {{"abcdefghijkl", "1111", "2222", "3333"}}};
  EXPECT_EQ(render_text(table, 29), "name             a     c\nabcdefghijkl  1111  3333\n");
  EXPECT_EQ(render_text(table, 14), "name         c\nabcd…jkl  3333\n");
}

TEST(TextTable, PathsLoseTheirFrontAndOtherTextItsMiddle) {
  const auto shown = [](const std::string& name, int width) {
    const std::string text = render_text({{{"", Align::left, true}}, {{name}}}, width);
    return text.substr(1, text.size() - 2);
  };
  EXPECT_EQ(shown("/layer1/layer1.0/conv1/Conv", 27), "/layer1/layer1.0/conv1/Conv");
  EXPECT_EQ(shown("/layer1/layer1.0/conv1/Conv", 21), "…layer1.0/conv1/Conv");
  EXPECT_EQ(shown("/layer1/layer1.0/conv1/Conv", 12), "…conv1/Conv");
  EXPECT_EQ(shown("/a_name_without_an_end/Conv", 20), "…without_an_end/Conv");
  EXPECT_EQ(shown("BatchNormalization", 14), "BatchNo…zation");
  EXPECT_EQ(shown("encoder_layer_11.self_attention.in_proj", 26), "…11…self_attention.in_proj");
  EXPECT_EQ(shown("encoder_layer_11.self_attention.in_proj", 20), "…11…in_proj");
  EXPECT_EQ(shown("layers.5.post_attention_layernorm", 20), "…5…tention_layernorm");
  EXPECT_EQ(shown("layer4.0.downsample.0", 18), "…4.0…downsample.0");
  EXPECT_EQ(shown("layer4.0.downsample.0", 16), "…4.0…ownsample.0");
  EXPECT_EQ(shown("features.5.3.attn.proj", 16), "…5.3.attn.proj");
  EXPECT_EQ(shown("/model/layers.7/self_attn/Softmax", 20), "…7/self_attn/Softmax");
  EXPECT_EQ(shown("layer1.0.conv1 + bn1 + relu", 27), "layer1.0.conv1 + bn1 + relu");
  EXPECT_EQ(shown("layer1.0.conv1 + bn1 + relu", 26), "layer1.0.conv1 +2");
  EXPECT_EQ(shown("layer1.0.conv1 + bn1 + relu", 12), "…0.conv1 +2");
}

TEST(TextTable, ControlCharactersDoNotReachTheTerminal) {
  EXPECT_EQ(render_text({{{"a"}}, {{"x\x1b[31m\ny\x7f"}, {"\xff"}, {"\xc2\x9b"}}}, 80),
            "a\nx?[31m?y?\n?\n?\n");
}

TEST(TextTable, Markdown) {
  EXPECT_EQ(render_markdown({{{"a"}, {"b", Align::right}}, {{"x|y", "1"}}}),
            "| a | b |\n| --- | ---: |\n| x\\|y | 1 |\n");
}

TEST(TextTable, Csv) {
  EXPECT_EQ(render_csv({{{"a"}, {"b"}}, {{"x,y", "say \"hi\""}, {"two\nlines"}}}),
            "a,b\n\"x,y\",\"say \"\"hi\"\"\"\n\"two\nlines\",\n");
}

TEST(TextTable, DisplayWidth) {
  for (const char* one : {"a", "µ", "±", "×", "–", "…", "⣿", "≤", "\xff"})
    EXPECT_EQ(display_width(one), 1) << one;
  EXPECT_EQ(display_width("e\xcc\x81"), 1);  // e with a combining accent
  EXPECT_EQ(display_width("層"), 2);
  EXPECT_EQ(display_width("\xe2\x80"), 2);  // truncated: two bytes that are not UTF-8
}

TEST(TextTable, ElideMiddle) {
  EXPECT_EQ(elide_middle("conv_1_bn", 9), "conv_1_bn");
  EXPECT_EQ(elide_middle("conv_1_relu_bn", 10), "conv_…u_bn");
  EXPECT_EQ(elide_middle("abc", 2), "a…");
  EXPECT_EQ(elide_middle("abc", 1), "…");
  EXPECT_EQ(elide_middle("abc", 0), "");
  for (int width = 0; width < 12; ++width)
    EXPECT_LE(display_width(elide_middle("層層µ層層e\xcc\x81層", width)), width);
}

TEST(Csv, Fields) {
  EXPECT_EQ(csv_field("plain"), "plain");
  EXPECT_EQ(csv_field(" padded "), "\" padded \"");
  EXPECT_EQ(csv_row({""}), "\"\"\n");
  EXPECT_EQ(csv_row({"", ""}), ",\n");
  EXPECT_EQ(csv_number(0.1), "0.1");
  EXPECT_EQ(csv_number(-0.0), "0");
  EXPECT_EQ(csv_number(1e300), "1e+300");
  EXPECT_EQ(csv_number(std::numeric_limits<double>::infinity()), "");
}

TEST(Printable, NothingSteersTheTerminal) {
  EXPECT_EQ(printable("a\x1b[2Jb\rc\td\x7f\ne"), "a?[2Jb?c?d?\ne");
  EXPECT_EQ(printable("\xe0\x80\xaf \xed\xa0\x80 \xf4\x90\x80\x80 \xef\xbf\xbf"), "??? ??? ???? ?");
  EXPECT_EQ(printable("caf\xc3\xa9 \xc2\x9b"
                      "1m \xe2\x80\xa6"),
            "caf\xc3\xa9 ?1m \xe2\x80\xa6");
  EXPECT_EQ(printable("\x9b"
                      "31m\xff"),
            "?31m?");  // not UTF-8
  EXPECT_EQ(printable("\x1b[1;31mred\x1b[0m\x1b[2J\x1b[", Colors::kept),
            "\x1b[1;31mred\x1b[0m?[2J?[");
  EXPECT_EQ(printable("\x1b[31mred", Colors::removed), "?[31mred");
  EXPECT_EQ(printable(""), "");
}

}  // namespace
}  // namespace ridgeline::testing
