// All workloads by name, and the one function that builds them.
// What a network consists of is in the file of its family.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/graph/graph.h"
#include "workloads/workload.h"

namespace ridgeline {

// In the order of the families.
const std::vector<Workload>& all_workloads();

std::optional<Workload> find_workload(std::string_view name);

// The same; an unknown name is a usage error that offers the nearest.
Workload workload_named(std::string_view name);

// Defaults filled in. An option that the network does not have is a usage error, and so are a
// prompt's length for decoding, a context for a prompt, and a number out of range.
Settings resolve(const Workload& workload, const WorkloadOptions& options);

Graph build_workload(const Workload& workload, const Settings& settings);
Graph build_workload(std::string_view name, const WorkloadOptions& options = {});

}  // namespace ridgeline
