// The table of renderers.
#include "plots/renderers/renderers.h"

#include <array>

#include "plots/renderers/gnuplot.h"
#include "plots/renderers/matplot/matplot.h"
#include "plots/renderers/raster.h"
#include "plots/renderers/svg.h"

namespace ridgeline {
namespace {

constexpr std::array<Renderer, 5> rows{{
    {"svg", "SVG", ".svg", svg},
    {"png", "PNG", ".png", png},
    {"pdf", "PDF", ".pdf", pdf},
    {"gnuplot", "a gnuplot script", ".gp", gnuplot_script},
    {"matplot", "SVG drawn by Matplot++", ".matplot.svg", matplot_svg},
}};

}  // namespace

std::span<const Renderer> renderers() { return rows; }

}  // namespace ridgeline
