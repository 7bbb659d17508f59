// Explanation → Figure: the layers of a network as bubbles on the roofline of the machine, where
// area is the share of the time and colour the bound. No drawing: that is done in
// plots/renderers.
#pragma once

#include <string>
#include <string_view>

#include "base/ceilings.h"
#include "plots/figure.h"
#include "roofline/ceilings/roofline.h"
#include "roofline/explain/explanation.h"

namespace ridgeline {

// `ceilings` are those of the explanation's operating point. Layers that compute or move nothing
// have no place on a roofline; the caption says what share of the time they take.
Figure layers_figure(const Explanation& explanation, const Ceilings& ceilings);

// The roofs that the layers use, with the layers as points. The main roof is the one that most of
// the time is compared with.
Roofline roofline_under(const Explanation& explanation, const Ceilings& ceilings);

Ink ink_of(BoundBy bound);
std::string bound_words(BoundBy bound);  // "power cap"

// "encoder.layer.*.output.dense", and "relu" for relu_12: layers of a network's blocks are alike if
// their names differ in the number of the block, the first number of a name.
std::string without_block_number(std::string_view name);

// At most `width` columns. The end of a name says what a layer is, its beginning only where:
// "…output.dense + add".
std::string elide_front(std::string_view text, int width);

// The same for a kernel: what was fused into it goes first, "layer3.*.conv2 + …".
std::string short_layer_name(std::string_view name, int width);

}  // namespace ridgeline
