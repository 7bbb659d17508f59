// The mode that is most worth measuring next: where what is believed of the machine leaves most
// open. Candidates are the stock modes and the corners of the clocks' grid.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/machine_model.h"
#include "roofline/model/machine.h"
#include "validation/run.h"

namespace ridgeline {

struct NextProbe {
  OperatingPoint point;
  Forecast forecast;       // there
  double open = 0;         // the wider of the relative intervals of time and power: high/low − 1
  std::string why;         // "time 12 ms to 31 ms, the widest of 20 modes"
  std::size_t candidates;  // that were looked at
};

std::vector<OperatingPoint> stock_candidates(const KnownDevice& known);
std::vector<OperatingPoint> probe_candidates(const KnownDevice& known);  // and the corners

// `row` is a run like those that are wanted; its mode does not count. Modes in `measured` are left
// out; nothing where no other is left.
std::optional<NextProbe> next_probe(const MachineModel& model, const Observation& row,
                                    const std::vector<OperatingPoint>& candidates,
                                    const std::vector<OperatingPoint>& measured,
                                    const Predictor& predictor);

}  // namespace ridgeline
