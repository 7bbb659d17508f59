// Measured times beside an explanation: the share of its roof that each layer attained, and layers
// that were faster than the machine can be. Such a contradiction means that the times, the machine,
// the mode or the counted work are not what they are said to be; the likeliest suspect is named.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/demand.h"
#include "roofline/explain/explanation.h"
#include "roofline/model/machine.h"

namespace ridgeline {

// Of one run, measured elsewhere.
struct MeasuredTimes {
  std::vector<std::optional<double>> layers_s;  // one per Demand
  // Layers whose algorithm multiplies less often than is counted (Winograd); empty: none.
  std::vector<bool> fewer_products;
  MeasuredRun run;
};

// `demands` are those of the explanation; `batch_given`: the user chose the batch.
void add_measured(Explanation& explanation, std::span<const Demand> demands,
                  const MeasuredTimes& times, const MachineSource& machine, bool batch_given);

// "3 layers were faster than … can be: conv1 took 3.2 µs, but FP16 matrix needs 6.4 µs; …"
std::string contradiction_text(const Explanation& explanation);

}  // namespace ridgeline
