// The catalog as a list and this machine beside it: one row of headline numbers per device.
// All of a device is on its own page, report/device.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/operating_point.h"
#include "devices/catalog/catalog.h"
#include "devices/machine/identification.h"

namespace ridgeline {

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
