// All workloads by name, and the function that builds them.
// Each network is defined in the file of its family.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/graph/graph.h"
#include "workloads/workload.h"

namespace ridgeline {

// In the order of the families.
const std::vector<Workload>& all_workloads();

std::optional<Workload> find_workload(std::string_view name);

// The same; for an unknown name, a usage error that suggests the nearest one.
Workload workload_named(std::string_view name);

// Fills in defaults. Usage errors: an option that the network does not have, a prompt length when
// decoding, a context for a prompt, a number out of range.
Settings resolve(const Workload& workload, const WorkloadOptions& options);

// "image=224;classes=1000": all options of a network with their values, except batch and type.
// Equal for two requests of the same network, however they were written.
std::string full_options(const Workload& workload, const WorkloadOptions& options);

Graph build_workload(const Workload& workload, const Settings& settings);
Graph build_workload(std::string_view name, const WorkloadOptions& options = {});

// The network as its own library runs it at inference.
Graph as_run(const Workload& workload, Graph graph);

}  // namespace ridgeline
