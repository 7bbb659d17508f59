// Advance widths of DejaVu Sans, the widest of the usual sans-serif fonts.
// Helvetica, Arial and Liberation Sans are about 10 % narrower, so labels never collide there.
#include "plots/text_metrics.h"

#include <array>
#include <cstdint>
#include <sstream>

namespace ridgeline {
namespace {

// Thousandths of the font size for the characters from space to '~'.
constexpr std::array<std::uint16_t, 95> ascii_widths{
    318,  401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337,  // space … /
    636,  636, 636, 636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531,  // 0 … ?
    1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748, 787,  // @ … O
    603,  787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500,  // P … _
    500,  613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612,  // ` … o
    635,  635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838};      // p … ~

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

}  // namespace

double text_width_px(std::string_view text, double font_px) {
  double thousandths = 0;
  for (const char byte : text) {
    const auto code = static_cast<unsigned char>(byte);
    if (code >= 32 && code < 127)
      thousandths += ascii_widths[code - 32U];
    else if (!continues_character(byte))
      thousandths += code >= 0xE3 ? 1100 : 838;  // beyond Latin: full-width and emoji
  }
  return thousandths * font_px / 1000;
}

std::vector<std::string> wrapped_lines(const std::string& text, double font_px, double width) {
  std::vector<std::string> lines;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const bool fits = !lines.empty() && text_width_px(lines.back() + " " + word, font_px) <= width;
    if (fits)
      lines.back() += " " + word;
    else
      lines.push_back(word);
  }
  return lines;
}

}  // namespace ridgeline
