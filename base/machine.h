// Machine: the facts that identify where something was measured.
// Facts only, no rates: those are rows of a Profile. No serial numbers, no host name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/tokens.h"

namespace ridgeline {

struct Cache {
  Level level = Level::l1;
  std::uint64_t bytes = 0;       // of one instance
  int instances = 0;             // in the machine
  int cores_per_instance = 0;    // that share one instance
  std::uint32_t line_bytes = 0;  //

  friend bool operator==(const Cache&, const Cache&) = default;
};

struct MachineGpu {
  std::string name;          // as its driver calls it
  std::string architecture;  // "sm_87"
  int multiprocessors = 0;
  std::uint64_t memory_bytes = 0;
  std::string driver;  // version; empty where unknown

  friend bool operator==(const MachineGpu&, const MachineGpu&) = default;
};

struct Machine {
  std::string name;               // CPU brand, or the board's name
  std::string architecture;       // "x86_64", "aarch64"
  std::string microarchitecture;  // "Golden Cove"; empty where unknown
  int cores = 0;                  // physical
  int hardware_threads = 0;       //
  int numa_nodes = 1;             //
  std::uint64_t memory_bytes = 0;
  std::vector<Cache> caches;       // data and unified caches, ascending level
  std::vector<std::string> isa;    // instruction sets that really run here: "avx2", "neon" …
  std::string os;                  // "Debian GNU/Linux 12 (bookworm)"
  std::string kernel;              // "6.1.0"
  std::string hypervisor;          // "KVM"; empty on bare metal
  std::vector<MachineGpu> gpus{};  // that were measured
  std::string device{};            // its name in the catalog; empty if it is not there

  friend bool operator==(const Machine&, const Machine&) = default;
};

Json to_json(const Machine& machine);
Machine machine_from_json(const JsonCursor& cursor);

}  // namespace ridgeline
