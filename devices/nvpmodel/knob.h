// What a knob of an nvpmodel configuration turns: cores, a clock, a mask.
// Recognised by the declared path, since names drift; by the name only if there is no path.
#pragma once

#include <string_view>

#include "devices/nvpmodel/configuration.h"

namespace ridgeline::nvpmodel {

enum class KnobKind {
  core,          // CPU_ONLINE CORE_n: 0 or 1
  cpu_clock,     // kHz, of the cluster or core of that number
  gpu_clock,     // Hz
  memory_clock,  // Hz
  tpc_mask,      // bit set = TPC switched off
  fbp_mask,      // likewise for frame-buffer partitions
  dla_clock,     // Hz, of an accelerator core
  other          // power control, falcon, PVA, over-current limits …
};

struct Knob {
  KnobKind kind = KnobKind::other;
  int index = -1;           // number of the core, of the cluster's first core, or of the DLA
  bool is_maximum = false;  // MAX_FREQ
  bool is_minimum = false;  // MIN_FREQ
};

Knob knob_of(const Configuration& configuration, std::string_view parameter,
             std::string_view argument);

// Values of this kind are whole numbers, whatever TYPE the section has.
bool is_number(KnobKind kind);

// How "no cap" is written for the memory clock: as this file's own modes do it, else 0 for the
// emc_iso_cap file of older kernels and -1 for the newer one.
int unclamped_memory_value(const Configuration& configuration);

// The unit address of a GPU's device node: "17000000" of …/17000000.ga10b/…; empty if none.
std::string_view gpu_address(std::string_view path);

}  // namespace ridgeline::nvpmodel
