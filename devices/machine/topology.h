// The processors that this process may use, their caches and memory, as hwloc sees them.
// Read once, never changed; the kernels bind threads to them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/machine.h"

namespace ridgeline {

struct Topology {
  std::vector<int> cpus;      // OS indices in binding order: one per core, then the siblings
  int cores = 0;              // physical cores among them
  int numa_nodes = 1;         //
  std::vector<Cache> caches;  // data and unified, ascending level
  // Sum over the NUMA nodes, which may lack hot-plugged memory: see total_memory_bytes().
  std::uint64_t memory_bytes = 0;
};

// HWLOC_XMLFILE and HWLOC_SYNTHETIC, which hwloc itself reads, put another machine in its place.
Topology read_topology();

}  // namespace ridgeline
