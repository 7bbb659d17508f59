// Explanation → Figure: the layers of a network as bubbles on the roofline of the machine, where
// area is the share of the time and colour the bound. No drawing: that is done in
// plots/renderers.
#pragma once

#include "base/ceilings.h"
#include "plots/figure.h"
#include "roofline/explain/explanation.h"

namespace ridgeline {

// `ceilings` are those of the explanation's operating point. Layers that compute or move nothing
// have no place on a roofline; the caption says what share of the time they take.
Figure layers_figure(const Explanation& explanation, const Ceilings& ceilings);

Ink ink_of(BoundBy bound);

}  // namespace ridgeline
