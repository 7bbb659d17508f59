// A backend of `measure`: the kernels of the CPU, of a GPU, or none. What it plans, and how it
// measures that, in the present mode or in one mode after the other.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/profile.h"
#include "cli/requests/measure.h"
#include "devices/machine/topology.h"
#include "kernels/sampler.h"

namespace ridgeline::cli {

// A planned trial of any backend.
struct ListedTrial {
  std::string section, kernel, what;
  int threads = 1;
  std::string missing;  // why it cannot run; empty: it can
};

struct Backend {
  std::vector<ListedTrial> plan;
  std::function<ProfileMode(const SamplerWorld&)> measure;
  bool all = true;  // whether nothing was left out of the plan
  std::vector<MachineGpu> gpus = {};
};

// Runs a backend with what is watched beside it: other processes, temperatures, throttling. `more`
// measures further sections of the same mode; it may be empty.
ProfileMode measured_mode(const Backend& backend, const Topology& topology, const char* title,
                          const Console& console,
                          const std::function<void(const SamplerWorld&, ProfileMode&)>& more);

// The kernels that a request asks for; `topology` may be a part of the machine's.
Backend measure_backend(const MeasureRequest& request, const Topology& topology);

// `measure --modes`: one power mode after the other into one profile.
ExitCode measure_modes(const MeasureRequest& request, const Options& options, Console& console);

}  // namespace ridgeline::cli
