// The table of media. Access times of HDD, SD and SSD are derived from published epochs of training
// on Jetson boards (HiPC SRS 2021, MobileNetV3 on 23,080 images of 121 kB): fetch time per sample,
// less its bytes at the rate of the medium.
#include "planner/training/storage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/error.h"
#include "base/nearest.h"
#include "base/text.h"
#include "base/units.h"

namespace ridgeline {

const FetchCost cached_fetch{10e9, 5e-6, 0.1};

const std::vector<StorageMedium>& storage_media() {
  using enum Source;
  // clang-format off
  static const std::vector<StorageMedium> media = {
    {"hdd",  {100e6, 17.5e-3, 0.75}, "Xavier NX, USB disk: 18.7 ms per image; more readers help a quarter of it", fitted, 1.5},
    {"sd",   {80e6,  2.1e-3,  0.75}, "Xavier NX: 3.6 ms per image; another card on AGX Xavier took 14 ms", fitted, 4},
    {"emmc", {250e6, 0.3e-3,  0.5},  "eMMC 5.1 at its usual rate", assumed, 2},
    {"ssd",  {500e6, 0.8e-3,  0.5},  "AGX Xavier: 1 ms per image", fitted, 1.5},
    {"nvme", {2e9,   0.1e-3,  0.25}, "PCIe 3 drives at half their rate", assumed, 2},
    {"ram",  cached_fetch,           "page cache", assumed, 1},
  };
  // clang-format on
  return media;
}

namespace {

// Other words for a medium.
std::string_view meant_medium(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> words[] = {
      {"sdcard", "sd"},    {"microsd", "sd"}, {"usbdisk", "hdd"}, {"harddisk", "hdd"},
      {"nvmessd", "nvme"}, {"m2", "nvme"},    {"satassd", "ssd"}, {"sata", "ssd"},
      {"memory", "ram"},   {"tmpfs", "ram"}};
  for (const auto& [word, medium] : words)
    if (same_name(word, name)) return medium;
  return name;
}

// "90MB/s" or "90MB/s,0.2ms". A share of the fetch that more readers do not speed up is assumed.
StorageMedium stated_medium(std::string_view text, const std::string& where) {
  const std::size_t comma = text.find(',');
  std::string_view rate = text.substr(0, comma);
  if (!rate.ends_with("/s"))
    throw usage_error(where, quote(rate) + " is neither a rate nor an access time with its unit",
                      "write for example 90MB/s,0.2ms");
  rate.remove_suffix(2);
  StorageMedium medium{std::string(text), {}, "as given", Source::assumed};
  medium.cost.bytes_per_s = static_cast<double>(parse_bytes(rate, where));
  if (!(medium.cost.bytes_per_s > 0)) throw usage_error(where, "the rate is zero");
  if (comma != std::string_view::npos)
    medium.cost.access_s = parse_seconds(text.substr(comma + 1), where);
  medium.cost.serial_share = 0.75;
  return medium;
}

}  // namespace

StorageMedium storage_medium(std::string_view name, std::string_view where) {
  if (!name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) != 0)
    return stated_medium(name, std::string(where));
  const auto& media = storage_media();
  const auto found = std::find_if(media.begin(), media.end(), [&](const StorageMedium& medium) {
    return same_name(medium.name, meant_medium(name));
  });
  if (found != media.end()) return *found;
  std::vector<std::string> names;
  for (const StorageMedium& medium : media) names.push_back(medium.name);
  const auto near = nearest(std::string(name), names);
  throw usage_error(std::string(where), "no storage medium is called " + quote(name),
                    near ? "did you mean " + *near + "?"
                         : fmt::format("there are {}, a rate such as 90MB/s, or a profile",
                                       fmt::join(names, ", ")));
}

double fetch_s(const FetchCost& cost, double bytes) {
  return cost.access_s + bytes / cost.bytes_per_s;
}

}  // namespace ridgeline
