// What a mode of an nvpmodel file says, as the catalog's StockMode; and which cores a cluster has.
// As written: -1, 0 and values between two steps stay what they are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "devices/catalog/catalog.h"
#include "devices/nvpmodel/configuration.h"

namespace ridgeline::nvpmodel {

// Numbers of the cores of each cluster, in the order of Device::cpu. Clusters follow each other,
// but in TX2 the Denver cores stand between the first and the other A57 cores.
std::vector<std::vector<int>> core_numbers(const catalog::Device& device);

// The power that a name states: 30 of "MODE_30W_6CORE"; nullopt for MAXN.
std::optional<double> budget_of_name(std::string_view name);

// A core that no line names is on if it is core 0 and unknown, thus not counted, otherwise. Of
// several caps of one cluster the last counts, as the kernel has one clock for all its cores.
catalog::StockMode stated_mode(const Configuration& file, const PowerModel& model,
                               const catalog::Device& device);

}  // namespace ridgeline::nvpmodel
