// Power of rails over time → Figure: one line per rail and a heavy one for their sum.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plots/figure.h"

namespace ridgeline {

struct PowerTrace {
  std::string name;          // "VDD_GPU_SOC"
  std::vector<XY> readings;  // s, W; in order of time
  bool is_total = false;
};

// `window`: the run of a program within the record, which is shaded. An Error where nothing was
// read.
Figure power_figure(const std::vector<PowerTrace>& traces, const std::optional<Interval>& window,
                    const std::string& source, const std::string& caption);

}  // namespace ridgeline
