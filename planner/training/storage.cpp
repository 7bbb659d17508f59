// The table of media. Access times of HDD, SD and SSD are derived from published epochs of training
// on Jetson boards (HiPC SRS 2021, MobileNetV3 on 23,080 images of 121 kB): fetch time per sample,
// less its bytes at the rate of the medium.
#include "planner/training/storage.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/nearest.h"
#include "base/text.h"

namespace ridgeline {

const FetchCost cached_fetch{10e9, 5e-6, 0.1};

const std::vector<StorageMedium>& storage_media() {
  using enum Source;
  // clang-format off
  static const std::vector<StorageMedium> media = {
    {"hdd",  {100e6, 17.5e-3, 0.75}, "Xavier NX, USB disk: 18.7 ms per image; more readers help a quarter of it", fitted},
    {"sd",   {80e6,  2.1e-3,  0.75}, "Xavier NX: 3.6 ms per image; another card on AGX Xavier took 14 ms", fitted},
    {"emmc", {250e6, 0.3e-3,  0.5},  "eMMC 5.1 at its usual rate", assumed},
    {"ssd",  {500e6, 0.8e-3,  0.5},  "AGX Xavier: 1 ms per image", fitted},
    {"nvme", {2e9,   0.1e-3,  0.25}, "PCIe 3 drives at half their rate", assumed},
    {"ram",  cached_fetch,           "page cache", assumed},
  };
  // clang-format on
  return media;
}

const StorageMedium& storage_medium(std::string_view name, std::string_view where) {
  const auto& media = storage_media();
  const auto found = std::find_if(media.begin(), media.end(),
                                  [&](const StorageMedium& medium) { return medium.name == name; });
  if (found != media.end()) return *found;
  std::vector<std::string> names;
  for (const StorageMedium& medium : media) names.push_back(medium.name);
  const auto near = nearest(std::string(name), names);
  throw usage_error(std::string(where), "no storage medium is called " + quote(name),
                    near ? "did you mean " + *near + "?"
                         : fmt::format("there are {}, or a profile", fmt::join(names, ", ")));
}

double fetch_s(const FetchCost& cost, double bytes) {
  return cost.access_s + bytes / cost.bytes_per_s;
}

}  // namespace ridgeline
