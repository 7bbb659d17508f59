// The strokes that SVG pictures are made of: text, lines, markers, in the palette of the inks.
// Pixels only; what they mean is decided by svg.cpp.
#pragma once

#include <string>
#include <string_view>

#include "plots/figure.h"

namespace ridgeline {

struct InkColor {
  std::string_view line;
  std::string_view text;  // darker where the line colour is too light to read
};

InkColor color_of(Ink ink);

// "12.5", "12": two decimals at most, which also makes the bytes stable.
std::string px(double value);

class SvgPen {
 public:
  // White page with title and description for those who cannot see it.
  void open(double width, double height, const std::string& title, const std::string& description);
  std::string close();

  void element(const std::string& xml);  // one line, as it is
  void text(double x, double y, std::string_view content, double size, std::string_view anchor,
            std::string_view fill, std::string_view more = "");
  void line(const std::string& d, const Style& style);
  void fill(const std::string& d, Ink ink, double opacity);  // a zone
  void marker(XY at, const Style& style);
  void bubble(XY at, double area, Ink ink);  // 1 = of the largest; see-through

 private:
  std::string out_;
};

}  // namespace ridgeline
