// What machine is this: the facts of the system that the program runs on.
// Text files are read below a root that tests replace; serial numbers are never read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/machine.h"
#include "devices/machine/microarchitecture.h"
#include "devices/machine/system_files.h"

namespace ridgeline {

// Everything but `isa`, which only the kernels can find out.
Machine identify_machine(const SystemRoot& root = {});

// The row of the microarchitecture table for this CPU; nullptr where there is none.
const Microarchitecture* identify_microarchitecture(const SystemRoot& root = {});

// The CPU frequency governor ("schedutil"); empty where the system has none.
std::string cpu_governor(const SystemRoot& root = {});

// Memory that the kernel manages (MemTotal); 0 where the system does not say.
std::uint64_t total_memory_bytes(const SystemRoot& root = {});

// Memory that could be allocated now without swapping, within the limit of this process' cgroup
// (version 2).
std::uint64_t available_memory_bytes(const SystemRoot& root = {});

// CPUs' worth of time that the cgroup (version 2) allows; nullopt = no limit.
std::optional<double> cpu_quota(const SystemRoot& root = {});

}  // namespace ridgeline
