// What the host does for a layer beside launching kernels, in runtimes that walk one by one.
// Calls are counted here; what one of them costs is roofline's.
#pragma once

#include "analyzer/graph/graph.h"
#include "base/demand.h"
#include "base/runtime.h"

namespace ridgeline {

HostCalls host_calls_of(const Layer& layer, Runtime runtime);

}  // namespace ridgeline
