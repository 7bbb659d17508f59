// Dots are 2 × 4 per cell, as the braille block has them; ASCII shows one stroke per cell.
// Lines are walked dot by dot, which is exact enough for a terminal.
#include "plots/renderers/canvas.h"

#include <algorithm>
#include <cmath>

namespace ridgeline {
namespace {

// Whether the n-th dot of a line is drawn.
bool dash_on(Dash dash, int n) {
  switch (dash) {
    case Dash::solid:
      return true;
    case Dash::long_dash:
      return n % 9 < 6;
    case Dash::dashed:
      return n % 6 < 3;
    case Dash::dotted:
      return n % 3 == 0;
    case Dash::dash_dot:
      return n % 8 < 4 || n % 8 == 6;
  }
  return true;
}

// Bits of the Unicode braille block for (column, row) of the dot.
constexpr std::uint8_t braille_bits[2][4] = {{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}};

std::string braille(std::uint8_t dots) {
  // U+2800 + dots in UTF-8.
  return {static_cast<char>(0xE2), static_cast<char>(0xA0 | (dots >> 6)),
          static_cast<char>(0x80 | (dots & 0x3F))};
}

// Splits UTF-8 into characters; continuation bytes follow their lead byte.
std::vector<std::string> characters(std::string_view text) {
  std::vector<std::string> out;
  for (const char byte : text) {
    if ((static_cast<unsigned char>(byte) & 0xC0) == 0x80 && !out.empty())
      out.back() += byte;
    else  // names come from files: nothing may steer the terminal
      out.emplace_back(1, byte >= 0 && byte < 32 ? '?' : byte);
  }
  return out;
}

// Sequence that switches an ink on; black is the terminal's own colour.
std::string ansi(Ink ink) {
  switch (ink) {
    case Ink::black:
      return "\x1b[39m";
    case Ink::grey:
    case Ink::pale:
      return "\x1b[38;5;245m";
    case Ink::blue:
      return "\x1b[38;5;32m";
    case Ink::vermillion:
      return "\x1b[38;5;166m";
    case Ink::green:
      return "\x1b[38;5;36m";
    case Ink::purple:
      return "\x1b[38;5;175m";
    case Ink::orange:
      return "\x1b[38;5;178m";
    case Ink::sky:
      return "\x1b[38;5;74m";
    case Ink::indigo:
      return "\x1b[38;5;62m";
    case Ink::wine:
      return "\x1b[38;5;125m";
    case Ink::teal:
      return "\x1b[38;5;73m";
    case Ink::rose:
      return "\x1b[38;5;168m";
    case Ink::sand:
      return "\x1b[38;5;186m";
    case Ink::ramp_1:
      return "\x1b[38;5;24m";
    case Ink::ramp_2:
      return "\x1b[38;5;60m";
    case Ink::ramp_3:
      return "\x1b[38;5;102m";
    case Ink::ramp_4:
      return "\x1b[38;5;143m";
    case Ink::ramp_5:
      return "\x1b[38;5;221m";
  }
  return "";
}

}  // namespace

Canvas::Canvas(int columns, int rows, bool utf8)
    : columns_(columns),
      rows_(rows),
      utf8_(utf8),
      cells_(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows)) {}

Canvas::Cell* Canvas::at(int column, int row) {
  if (column < 0 || column >= columns_ || row < 0 || row >= rows_) return nullptr;
  return &cells_[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) +
                 static_cast<std::size_t>(column)];
}

void Canvas::line(XY from, XY to, Dash dash, Ink ink) {
  const double dx = (to.x - from.x) * 2, dy = (to.y - from.y) * 4;  // in dots
  const int steps = std::max(1, static_cast<int>(std::ceil(std::max(std::abs(dx), std::abs(dy)))));
  const char stroke = std::abs(dy) < 0.5 ? '-' : std::abs(dx) < 0.5 ? ':' : dy < 0 ? '/' : '\\';
  for (int n = 0; n <= steps; ++n) {
    if (!dash_on(dash, n)) continue;
    const double t = static_cast<double>(n) / steps;
    // The far end of the frame belongs to the last cell.
    const double x = std::min(from.x + (to.x - from.x) * t, columns_ - 1e-6);
    const double y = std::min(from.y + (to.y - from.y) * t, rows_ - 1e-6);
    Cell* cell = at(static_cast<int>(std::floor(x)), static_cast<int>(std::floor(y)));
    if (!cell) continue;
    const auto dot_x = static_cast<std::size_t>((x - std::floor(x)) * 2);
    const auto dot_y = static_cast<std::size_t>((y - std::floor(y)) * 4);
    cell->dots = static_cast<std::uint8_t>(cell->dots | braille_bits[dot_x][dot_y]);
    cell->stroke = stroke;
    cell->ink = ink;
  }
}

void Canvas::text(int column, int row, std::string_view text, Ink ink) {
  for (const std::string& character : characters(text))
    if (Cell* cell = at(column++, row)) {
      cell->character = character;
      cell->ink = ink;
    }
}

std::string Canvas::row(int row, bool color) const {
  const auto begin = cells_.begin() + static_cast<std::ptrdiff_t>(row) * columns_;
  const auto blank = [](const Cell& cell) {
    return cell.dots == 0 && (cell.character.empty() || cell.character == " ");
  };
  auto end = begin + columns_;
  while (end != begin && blank(*(end - 1))) --end;
  std::string out;
  Ink ink = Ink::black;
  for (auto cell = begin; cell != end; ++cell) {
    if (color && !blank(*cell) && cell->ink != ink) out += ansi(ink = cell->ink);
    if (!cell->character.empty())
      out += cell->character;
    else if (cell->dots == 0)
      out += ' ';
    else
      out += utf8_ ? braille(cell->dots) : std::string(1, cell->stroke);
  }
  if (color && ink != Ink::black) out += ansi(Ink::black);
  return out;
}

}  // namespace ridgeline
