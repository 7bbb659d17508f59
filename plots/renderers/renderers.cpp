// The table of renderers.
#include "plots/renderers/renderers.h"

#include <array>

#include "plots/renderers/svg.h"

namespace ridgeline {
namespace {

constexpr std::array<Renderer, 1> rows{{
    {"svg", "SVG", ".svg", svg},
}};

}  // namespace

std::span<const Renderer> renderers() { return rows; }

}  // namespace ridgeline
