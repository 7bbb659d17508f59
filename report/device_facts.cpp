// Collects what follows from a catalog entry; the arithmetic is devices/' and roofline/'s.
// The JSON form is the entry's own with three members more.
#include "report/device_facts.h"

#include <algorithm>

#include "base/json.h"
#include "devices/catalog/model.h"
#include "roofline/ceilings/datasheet.h"

namespace ridgeline {
namespace {

using catalog::Configuration;
using catalog::Device;
using catalog::Published;

ConfigurationFacts facts_of(const Device& device, const Configuration& configuration,
                            const MachineModel& model) {
  ConfigurationFacts facts;
  facts.id = configuration.id;
  OperatingPoint point = resolve(device, configuration, {}).point;
  point.label = "ceiling";
  facts.ceilings = datasheet_ceilings(model, point);
  facts.usable = usable_bandwidth(model, point);
  for (const catalog::EngineCeiling& engine : configuration.engines)
    if (engine.name == "dla0_core")
      for (const Peak& peak : datasheet_dla_peaks(model, engine.hz.value))
        facts.ceilings.peaks.push_back(peak);
  facts.modes = stock_modes(device, configuration);
  return facts;
}

std::optional<double> computed(const Published& published, const ConfigurationFacts& facts) {
  if (!published.unit) {
    for (const Bandwidth& bandwidth : facts.ceilings.bandwidths)
      if (bandwidth.processor == published.processor && bandwidth.source != Source::fitted)
        return bandwidth.bytes_per_s;
    return std::nullopt;
  }
  for (const Peak& peak : facts.ceilings.peaks)
    if (peak.processor == published.processor && peak.unit == *published.unit &&
        peak.dtype == published.dtype && peak.accumulate == published.accumulate &&
        peak.sparse == published.sparse)
      return peak.flops_per_s;
  return std::nullopt;
}

}  // namespace

DeviceFacts device_facts(Device device) {
  DeviceFacts facts;
  const MachineModel model = catalog::machine_model(device);
  for (const Configuration& configuration : device.configurations)
    facts.configurations.push_back(facts_of(device, configuration, model));
  for (const Published& published : device.published) {
    const auto found = std::find_if(
        facts.configurations.begin(), facts.configurations.end(),
        [&](const ConfigurationFacts& each) { return each.id == published.configuration; });
    facts.published.push_back({published, computed(published, found == facts.configurations.end()
                                                                  ? facts.configurations.front()
                                                                  : *found)});
  }
  facts.missing = catalog::missing(device);
  facts.device = std::move(device);
  return facts;
}

Json to_json(const DeviceFacts& facts) {
  Json json = catalog::to_json(facts.device);
  json["ceilings"] = array_of(facts.configurations, [](const ConfigurationFacts& each) {
    return Json{{"configuration", each.id},
                {"ceilings", ridgeline::to_json(each.ceilings)},
                {"usable_bytes_per_s", nullable(each.usable)}};
  });
  json["checks"] = array_of(facts.published, [](const PublishedCheck& check) {
    return Json{{"quantity", check.published.quantity},
                {"configuration", check.published.configuration},
                {"published_per_s", check.published.per_s.value},
                {"computed_per_s", nullable(check.computed_per_s)}};
  });
  json["missing"] = array_of(facts.missing, [](const catalog::Gap& gap) {
    return Json{{"where", gap.where}, {"what", gap.what}};
  });
  return json;
}

}  // namespace ridgeline
