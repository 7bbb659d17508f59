// A grid of terminal cells: braille dots for lines, characters on top of them.
// Knows cells and dots only; what they mean is the figure's business.
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

  int columns() const { return columns_; }
  int rows() const { return rows_; }

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

// ANSI sequence that switches an ink on; black is the terminal's own colour.
std::string ansi(Ink ink);

}  // namespace ridgeline
