// A catalog entry as a MachineModel: the parameters that a fit starts from, with their names.
// Facts of the hardware have no variance, so a fit leaves them alone; priors carry their own.
#pragma once

#include "base/machine_model.h"
#include "devices/catalog/catalog.h"

namespace ridgeline::catalog {

MachineModel machine_model(const Device& device);

// What stands behind a number, in the words of the model: what a maker or the trade prints, and
// what follows from it by arithmetic, is datasheet.
Source source_of(Confidence confidence);

}  // namespace ridgeline::catalog
