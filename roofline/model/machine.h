// --on and --mode: the machine that a network is to run on, as a model, and where it stands.
// DEVICE|FILE is a name of the catalog, a fitted model or a profile; default: this machine.
// Choosing only; what the model says is roofline/'s.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/machine_model.h"
#include "base/operating_point.h"
#include "devices/catalog/catalog.h"
#include "devices/modes/mode_space.h"

namespace ridgeline {

// What a user says of the machine; empty is the default.
struct MachineRequest {
  std::string on;                          // a name of the catalog, a fitted model or a profile
  std::string mode;                        // a label or caps
  std::string jetpack;                     // a release
  std::optional<int> threads;              // of a profile's rows
  std::optional<double> board_offset_w{};  // power of the carrier board, to be added
};

struct MachineSource {
  std::string name;    // for people: "NVIDIA Jetson AGX Orin 64GB"
  MachineModel model;  // with what is believed of software
  std::optional<KnownDevice> known;
  OperatingPoint point;            // of --mode, else the default
  std::optional<DeviceMode> mode;  // the same of a known device
  std::vector<std::string> notes;  // what was rounded or is not known
};

// A file that is neither a model nor a profile, a mode that the device cannot enter: one Error.
MachineSource machine_source(const MachineRequest& request);

bool has_gpu(const MachineModel& model);

}  // namespace ridgeline
