// The JSON form of a Machine.
// Finding these facts is the work of devices/.
#include "base/machine.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/limits.h"

namespace ridgeline {
namespace {

// Zero is allowed: a fact that the system did not report.
int known_units(const JsonCursor& cursor) { return cursor.size() == 0 ? 0 : bounded_units(cursor); }

Json to_json(const Cache& cache) {
  return {{"level", to_string(cache.level)},
          {"bytes", cache.bytes},
          {"instances", cache.instances},
          {"cores_per_instance", cache.cores_per_instance},
          {"line_bytes", cache.line_bytes}};
}

Cache cache_from_json(const JsonCursor& cursor) {
  Cache cache;
  cache.level = cursor.at("level").token<Level>();
  cache.bytes = bounded_bytes(cursor.at("bytes"));
  cache.instances = known_units(cursor.at("instances"));
  cache.cores_per_instance = known_units(cursor.at("cores_per_instance"));
  const JsonCursor line = cursor.at("line_bytes");
  const std::uint64_t line_bytes = line.size();
  if (line_bytes > 65536)
    line.fail(fmt::format("{} is out of range, the limit is 65536", line_bytes));
  cache.line_bytes = static_cast<std::uint32_t>(line_bytes);
  return cache;
}

Json to_json(const MachineGpu& gpu) {
  return {{"name", gpu.name},
          {"architecture", gpu.architecture},
          {"multiprocessors", gpu.multiprocessors},
          {"memory_bytes", gpu.memory_bytes},
          {"driver", gpu.driver}};
}

MachineGpu gpu_from_json(const JsonCursor& cursor) {
  MachineGpu gpu;
  gpu.name = cursor.at("name").text();
  gpu.architecture = cursor.at("architecture").text();
  gpu.multiprocessors = known_units(cursor.at("multiprocessors"));
  gpu.memory_bytes = bounded_bytes(cursor.at("memory_bytes"));
  gpu.driver = cursor.at("driver").text();
  return gpu;
}

}  // namespace

Json to_json(const Machine& machine) {
  Json caches = Json::array();
  for (const Cache& cache : machine.caches) caches.push_back(to_json(cache));
  Json gpus = Json::array();
  for (const MachineGpu& gpu : machine.gpus) gpus.push_back(to_json(gpu));
  return {{"name", machine.name},
          {"architecture", machine.architecture},
          {"microarchitecture", machine.microarchitecture},
          {"cores", machine.cores},
          {"hardware_threads", machine.hardware_threads},
          {"numa_nodes", machine.numa_nodes},
          {"memory_bytes", machine.memory_bytes},
          {"caches", std::move(caches)},
          {"isa", Json(machine.isa)},
          {"os", machine.os},
          {"kernel", machine.kernel},
          {"hypervisor", machine.hypervisor},
          {"gpus", std::move(gpus)},
          {"device", machine.device}};
}

Machine machine_from_json(const JsonCursor& cursor) {
  Machine machine;
  machine.name = cursor.at("name").text();
  machine.architecture = cursor.at("architecture").text();
  machine.microarchitecture = cursor.at("microarchitecture").text();
  machine.cores = known_units(cursor.at("cores"));
  machine.hardware_threads = known_units(cursor.at("hardware_threads"));
  machine.numa_nodes = known_units(cursor.at("numa_nodes"));
  machine.memory_bytes = bounded_bytes(cursor.at("memory_bytes"));
  for (const JsonCursor& cache : cursor.at("caches").items())
    machine.caches.push_back(cache_from_json(cache));
  for (const JsonCursor& isa : cursor.at("isa").items()) machine.isa.push_back(isa.text());
  machine.os = cursor.at("os").text();
  machine.kernel = cursor.at("kernel").text();
  machine.hypervisor = cursor.at("hypervisor").text();
  if (const auto gpus = cursor.find("gpus")) machine.gpus = vector_of(*gpus, gpu_from_json);
  if (const auto device = cursor.find("device")) machine.device = device->text();
  return machine;
}

}  // namespace ridgeline
