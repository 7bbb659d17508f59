// --on and --mode: the machine that a network is to run on, as a model, and where it stands.
// DEVICE|FILE is a name of the catalog, a fitted model or a profile; default: this machine.
// Choosing only; what the model says is roofline/'s.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/machine_model.h"
#include "base/operating_point.h"
#include "cli/command.h"
#include "devices/catalog.h"

namespace ridgeline::cli {

// The catalog's entry of a device in the configuration that was asked for.
struct KnownDevice {
  catalog::Device device;
  catalog::Configuration configuration;
};

struct MachineSource {
  std::string name;    // for people: "NVIDIA Jetson AGX Orin 64GB"
  MachineModel model;  // with what is believed of software
  std::optional<KnownDevice> known;
  OperatingPoint point;            // of --mode, else the default
  std::vector<std::string> notes;  // what was rounded or is not known
};

void add_machine_options(OptionsDescription& options);

// A file that is neither a model nor a profile, a mode that the device cannot enter: one Error.
MachineSource machine_source(const Options& options);

bool has_gpu(const MachineModel& model);

}  // namespace ridgeline::cli
