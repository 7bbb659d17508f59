// The knobs of a generation's nvpmodel file, for when no such file is at hand.
// Names that public files of the generation share; engines that not all of them name are left out.
#pragma once

#include "devices/catalog/catalog.h"
#include "devices/nvpmodel/configuration.h"

namespace ridgeline::nvpmodel {

// Declarations and the stock modes of the catalog. A generation whose names no source states is an
// Error that asks for the device's own file.
Configuration generation_file(const catalog::Device& device,
                              const catalog::Configuration& configuration);

}  // namespace ridgeline::nvpmodel
