// Storage media that datasets lie on: what reading one sample costs before any page cache.
// Defaults by name; `ridgeline measure --only storage` gives those of a real path.
#pragma once

#include <span>
#include <string_view>

namespace ridgeline {

struct StorageMedium {
  std::string_view name;    // "hdd", "ssd" …
  double bytes_per_s = 0;   // of long reads
  double access_s = 0;      // of each file, before its bytes flow
  double serial_share = 1;  // of the fetch that more readers do not make faster
  std::string_view origin;  // where the numbers come from, in one line
};

std::span<const StorageMedium> storage_media();

// An unknown name is a usage error that offers the nearest; `where` names the option.
const StorageMedium& storage_medium(std::string_view name, std::string_view where = "--storage");

// Time that one reader takes for one sample.
double fetch_s(const StorageMedium& medium, double bytes);

}  // namespace ridgeline
