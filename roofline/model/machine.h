// --on and --mode: the model and the operating point of the machine that a network is to run on.
// DEVICE|FILE is a catalog name, a fitted model or a profile; default: this machine. Selection
// only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/machine_model.h"
#include "base/operating_point.h"
#include "devices/catalog/catalog.h"
#include "devices/modes/mode_space.h"

namespace ridgeline {

// The user's choice of a machine; empty fields mean the default.
struct MachineRequest {
  std::string on;                          // a name of the catalog, a fitted model or a profile
  std::string mode;                        // a label or caps
  std::string jetpack;                     // a release
  std::optional<int> threads;              // of a profile's rows
  std::string host_cpu{};                  // of a graphics card's server: a name or a factor
  std::optional<double> board_offset_w{};  // power of the carrier board, added to the prediction
};

struct MachineSource {
  std::string name;    // display name: "NVIDIA Jetson AGX Orin 64GB"
  MachineModel model;  // including the priors for software
  std::optional<KnownDevice> known;
  OperatingPoint point;            // of --mode, else the default
  std::optional<DeviceMode> mode;  // the same as a mode of a known device
  std::vector<std::string> notes;  // rounded or unknown values
};

// Throws an Error for a file that is neither model nor profile or a mode the device cannot enter.
MachineSource machine_source(const MachineRequest& request);

bool has_gpu(const MachineModel& model);

}  // namespace ridgeline
