// A grid of terminal cells: braille dots for lines, characters on top of them.
// Knows cells and dots only, not what they mean.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plots/figure.h"

namespace ridgeline {

class Canvas {
 public:
  Canvas(int columns, int rows, bool utf8);

  // A line between two places in cell units (a cell is 1 × 1), dashed as wished.
  void line(XY from, XY to, Dash dash, Ink ink);
  // UTF-8 text from a cell on; what leaves the grid is cut.
  void text(int column, int row, std::string_view text, Ink ink);

  // One row without trailing blanks, with colour where wanted.
  std::string row(int row, bool color) const;

 private:
  struct Cell {
    std::string character;  // wins over the dots
    std::uint8_t dots = 0;  // braille bits
    char stroke = ' ';      // what stands for the dots in ASCII
    Ink ink = Ink::black;
  };

  Cell* at(int column, int row);

  int columns_, rows_;
  bool utf8_;
  std::vector<Cell> cells_;
};

}  // namespace ridgeline
