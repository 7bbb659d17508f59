// The ways to draw a Figure into a file, one row each: a new one costs its own file and a row.
// What a terminal shows depends on its width and is in terminal.h.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "plots/figure.h"

namespace ridgeline {

struct Renderer {
  const char* name;         // of the option that asks for it: "svg"
  std::string_view title;   // for people: "SVG"
  std::string_view ending;  // of its files: ".svg"
  std::string (*render)(const Figure& figure);
};

std::span<const Renderer> renderers();

}  // namespace ridgeline
