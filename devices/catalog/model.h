// A catalog entry as a MachineModel: the parameters that a fit starts from, with their names.
// Facts of the hardware have no variance, so a fit leaves them alone; priors carry their own.
//
// Names: <processor>_<unit>_<dtype>_<accumulate>[_sparse]_{flop,op}_per_{sm,core,engine}_clock for
// rates, the same stem with _ceiling_hz where a unit is counted at a lower clock; cpu0, cpu1 … are
// the clusters. Others say what they are: gpu_multiprocessors, memory_bus_bytes …
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/machine_model.h"
#include "devices/catalog/catalog.h"

namespace ridgeline::catalog {

MachineModel machine_model(const Device& device);

// What stands behind a number, in the words of the model: what a maker or the trade prints, and
// what follows from it by arithmetic, is datasheet.
Source source_of(Confidence confidence);

// The parts of a rate's name; nullopt for every other parameter.
struct RateName {
  std::string processor;  // "gpu", "cpu0", "dla"
  Unit unit = Unit::vector;
  DType dtype = DType::fp32;
  DType accumulate = DType::fp32;
  bool sparse = false;

  friend bool operator==(const RateName&, const RateName&) = default;
};

std::string rate_parameter(const RateName& name);
std::string ceiling_parameter(const RateName& name);
std::optional<RateName> parse_rate_parameter(std::string_view parameter);

}  // namespace ridgeline::catalog
