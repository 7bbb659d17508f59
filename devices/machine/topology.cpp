// Reads the topology with hwloc, limited to the CPUs that this process is allowed to run on.
// Sizes that hwloc does not know stay zero; nothing is guessed.
#include "devices/machine/topology.h"

#include <hwloc.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "base/error.h"

namespace ridgeline {
namespace {

using Handle = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;
using Bitmap = std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)>;

Handle load() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) throw Error("hwloc", "cannot allocate a topology");
  Handle handle(raw, hwloc_topology_destroy);
  if (hwloc_topology_load(raw) != 0) throw Error("hwloc", "cannot read this machine's topology");
  return handle;
}

// What the process may use: the binding it was started with (taskset, cgroup).
Bitmap usable_cpus(hwloc_topology_t topology) {
  Bitmap usable(hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology)), hwloc_bitmap_free);
  Bitmap bound(hwloc_bitmap_alloc(), hwloc_bitmap_free);
  if (hwloc_topology_is_thissystem(topology) &&
      hwloc_get_cpubind(topology, bound.get(), HWLOC_CPUBIND_PROCESS) == 0 &&
      hwloc_bitmap_intersects(usable.get(), bound.get()))
    hwloc_bitmap_and(usable.get(), usable.get(), bound.get());
  return usable;
}

void read_cpus(hwloc_topology_t topology, hwloc_const_bitmap_t usable, Topology& result) {
  // Rank of a processing unit within its core: all first siblings come before all second ones.
  std::map<int, std::vector<int>> by_rank;
  const int cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
  for (int i = 0; i < cores; ++i) {
    const hwloc_obj_t core =
        hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, static_cast<unsigned>(i));
    int rank = 0;
    int cpu = -1;
    while ((cpu = hwloc_bitmap_next(core->cpuset, cpu)) != -1)
      if (hwloc_bitmap_isset(usable, static_cast<unsigned>(cpu))) by_rank[rank++].push_back(cpu);
  }
  if (by_rank.empty()) {  // no core objects: every processing unit stands for itself
    int cpu = -1;
    while ((cpu = hwloc_bitmap_next(usable, cpu)) != -1) by_rank[0].push_back(cpu);
  }
  for (const auto& [rank, cpus] : by_rank)
    result.cpus.insert(result.cpus.end(), cpus.begin(), cpus.end());
  result.cores = by_rank.empty() ? 0 : static_cast<int>(by_rank.begin()->second.size());
}

void read_caches(hwloc_topology_t topology, Topology& result) {
  constexpr std::pair<hwloc_obj_type_t, Level> kinds[] = {{HWLOC_OBJ_L1CACHE, Level::l1},
                                                          {HWLOC_OBJ_L2CACHE, Level::l2},
                                                          {HWLOC_OBJ_L3CACHE, Level::l3}};
  for (const auto& [type, level] : kinds) {
    const int instances = hwloc_get_nbobjs_by_type(topology, type);
    if (instances <= 0) continue;
    const hwloc_obj_t first = hwloc_get_obj_by_type(topology, type, 0);
    if (first->attr->cache.size == 0) continue;
    Cache cache;
    cache.level = level;
    cache.bytes = first->attr->cache.size;
    cache.instances = instances;
    cache.line_bytes = first->attr->cache.linesize;
    cache.cores_per_instance = std::max(
        1, hwloc_get_nbobjs_inside_cpuset_by_type(topology, first->cpuset, HWLOC_OBJ_CORE));
    result.caches.push_back(cache);
  }
}

}  // namespace

Topology read_topology() {
  const Handle topology = load();
  const Bitmap usable = usable_cpus(topology.get());
  Topology result;
  read_cpus(topology.get(), usable.get(), result);
  if (result.cpus.empty()) throw Error("hwloc", "finds no CPU that this process may use");
  read_caches(topology.get(), result);
  result.numa_nodes = std::max(1, hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_NUMANODE));
  const hwloc_obj_t root = hwloc_get_root_obj(topology.get());
  result.memory_bytes = root->total_memory;
  return result;
}

}  // namespace ridgeline
