// Devices of the catalog: one with all that follows from it as a page, and all of them as a list
// with this machine beside it. Every number of a page is followed by the number of its source.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ceilings.h"
#include "base/estimate.h"
#include "base/json_fwd.h"
#include "base/operating_point.h"
#include "devices/catalog/catalog.h"
#include "devices/catalog/missing.h"
#include "devices/machine/identification.h"
#include "devices/modes/mode_space.h"

namespace ridgeline {

struct ConfigurationFacts {
  std::string id;
  Ceilings ceilings;               // every knob at its ceiling, accelerators included
  std::optional<Estimate> usable;  // DRAM bandwidth that the GPU's clock lets through
  std::vector<DeviceMode> modes;   // stock modes
};

// A published figure beside the one that follows from the entry.
struct PublishedCheck {
  catalog::Published published;
  std::optional<double> computed_per_s;  // absent where rate or clock is
};

struct DeviceFacts {
  catalog::Device device;
  std::vector<ConfigurationFacts> configurations;
  std::vector<PublishedCheck> published;
  std::vector<catalog::Gap> missing;
};

DeviceFacts device_facts(catalog::Device device);

// ridgeline.device/1: the catalog's document, with ceilings, checks and gaps.
Json to_json(const DeviceFacts& facts);

std::string device_text(const DeviceFacts& facts, int width);

// Only what no source states.
std::string missing_text(const DeviceFacts& facts, int width);

// Peaks are dense, with every knob at its ceiling in the newest configuration.
struct DeviceRow {
  std::string id;
  std::string name;
  std::vector<std::string> aliases;
  catalog::Kind kind = catalog::Kind::gpu;
  std::optional<int> gpu_units;
  std::optional<double> gpu_hz;
  std::optional<double> fp32_flops_per_s;         // of the vector units
  std::optional<double> fp16_matrix_flops_per_s;  // the fastest accumulate type
  std::optional<double> int8_matrix_ops_per_s;
  std::optional<double> dram_bytes_per_s;
  int stock_modes = 0;
};

DeviceRow device_row(const catalog::Device& device);

struct DeviceList {
  static constexpr std::string_view schema = "ridgeline.devices/1";
  DeviceHere device;    // what this machine is
  DeviceRow here;       // and its numbers
  OperatingPoint mode;  // present mode
  std::vector<DeviceRow> devices;
};

std::string list_text(const DeviceList& list, int width);
std::string list_csv(const DeviceList& list);
Json to_json(const DeviceList& list);

}  // namespace ridgeline
