// Built where Matplot++ is not: says so.
#include "base/error.h"
#include "plots/renderers/matplot/matplot.h"

namespace ridgeline {

bool has_matplot() { return false; }

std::string matplot_svg(const Figure&) {
  throw Error("--matplot", "this program was built without Matplot++",
              "install the library and build again (docs/plots.md), or write --svg",
              ExitCode::incomplete);
}

}  // namespace ridgeline
