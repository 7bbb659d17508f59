// Words what was identified; looking is devices/machine/identification.h's part.
// A machine that the catalog lacks says so, with what is used in its place.
#include "devices/machine/device_here.h"

#include <fmt/format.h>

#include "base/json.h"

namespace ridgeline {

DeviceHere device_here(const Identity& identity, const catalog::Device& device) {
  return {identity, device.id, present_configuration(identity, device).id};
}

std::string device_text(const DeviceHere& here) {
  const Identity& identity = here.identity;
  if (!identity.catalog_id.empty())
    return fmt::format("{}, configuration {}", identity.catalog_id, here.configuration);
  if (!identity.chip.empty())
    return fmt::format(
        "not in the catalog: a Jetson with chip {}, used with what its device tree, "
        "clocks and nvpmodel file tell",
        identity.chip);
  return here.id + ", filled from this machine";
}

std::string release_text(const DeviceHere& here) {
  const Identity& identity = here.identity;
  if (identity.l4t.empty()) return {};
  return fmt::format("Jetson Linux {}{}", identity.l4t,
                     identity.jetpack.empty() ? "" : ", JetPack " + identity.jetpack);
}

Json to_json(const DeviceHere& here) {
  const Identity& identity = here.identity;
  return {{"board", identity.board},
          {"chip", identity.chip},
          {"l4t", identity.l4t},
          {"jetpack", identity.jetpack},
          {"super_firmware", identity.super_firmware},
          {"catalog_id", identity.catalog_id.empty() ? Json() : Json(identity.catalog_id)},
          {"configuration", here.configuration}};
}

}  // namespace ridgeline
