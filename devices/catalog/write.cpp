// Writes a device of the catalog as JSON. What no source states is left out, as in the files.
// Reading and its checks are devices/catalog/read.cpp.
#include "base/json.h"
#include "devices/catalog/catalog.h"

namespace ridgeline::catalog {
namespace {

Json fact_to_json(const Fact& fact) { return {{"value", fact.value}, {"source", fact.source}}; }

void put(Json& json, const char* key, const std::optional<Fact>& fact) {
  if (fact) json[key] = fact_to_json(*fact);
}

void put(Json& json, const char* key, const std::string& text) {
  if (!text.empty()) json[key] = text;
}

template <class Number>
void put_number(Json& json, const char* key, const std::optional<Number>& number) {
  if (number) json[key] = *number;
}

template <class T, class ToJson>
void put_array(Json& json, const char* key, const std::vector<T>& values, ToJson to_json_of_one) {
  if (!values.empty()) json[key] = array_of(values, to_json_of_one);
}

Json rate_to_json(const Rate& rate) {
  Json json = {{"unit", to_string(rate.unit)},
               {"dtype", to_string(rate.dtype)},
               {"accumulate", to_string(rate.accumulate)}};
  if (rate.sparse) json["sparse"] = true;
  json["per_clock"] = rate.per_clock.value;
  json["source"] = rate.per_clock.source;
  put(json, "ceiling_hz", rate.ceiling_hz);
  return json;
}

Json cache_to_json(const CacheSize& cache) {
  return {{"level", to_string(cache.level)},
          {"bytes", static_cast<std::uint64_t>(cache.bytes.value)},
          {"instances", cache.instances},
          {"source", cache.bytes.source}};
}

Json voltage_to_json(const VoltageCurve& curve) {
  Json json = {{"points", array_of(curve.points, [](const VoltagePoint& point) {
                  return Json{{"hz", point.hz}, {"volt", point.volt}};
                })}};
  if (curve.relative) json["relative"] = true;
  json["source"] = curve.source;
  return json;
}

Json gpu_to_json(const GpuSpec& gpu) {
  Json json = {{"architecture", gpu.architecture}};
  put(json, "compute_capability", gpu.compute_capability);
  put(json, "multiprocessors", gpu.multiprocessors);
  put(json, "mask_tpcs", gpu.mask_tpcs);
  put(json, "multiprocessors_per_tpc", gpu.multiprocessors_per_tpc);
  put_array(json, "rates", gpu.rates, rate_to_json);
  put_array(json, "caches", gpu.caches, cache_to_json);
  if (gpu.voltage) json["voltage"] = voltage_to_json(*gpu.voltage);
  return json;
}

Json cluster_to_json(const CpuCluster& cluster) {
  Json json = {{"core", cluster.core}};
  put(json, "cores", cluster.cores);
  put_array(json, "rates", cluster.rates, rate_to_json);
  put_array(json, "caches", cluster.caches, cache_to_json);
  return json;
}

Json dla_to_json(const Dla& dla) {
  Json json = {{"name", dla.name}};
  put(json, "engines", dla.engines);
  put_array(json, "rates", dla.rates, rate_to_json);
  return json;
}

Json memory_to_json(const Memory& memory) {
  Json json = Json::object();
  put(json, "technology", memory.technology);
  put(json, "bytes", memory.bytes);
  put(json, "visible_bytes", memory.visible_bytes);
  put(json, "bus_bits", memory.bus_bits);
  put(json, "transfers_per_clock", memory.transfers_per_clock);
  put(json, "page_cache_bytes", memory.page_cache_bytes);
  return json;
}

// Steps in a row that share a source make one group.
Json domain_to_json(const ClockDomain& domain) {
  Json json = Json::object();
  Json groups = Json::array();
  for (const ClockStep& step : domain.steps) {
    if (groups.empty() || groups.back()["source"] != step.source)
      groups.push_back({{"hz", Json::array()}, {"source", step.source}});
    groups.back()["hz"].push_back(step.hz);
  }
  if (!groups.empty()) json["steps"] = std::move(groups);
  json["complete"] = domain.complete;
  put(json, "ceiling_hz", domain.ceiling_hz);
  return json;
}

Json cluster_clocks_to_json(const std::vector<std::optional<double>>& clocks) {
  return array_of(clocks, [](const std::optional<double>& hz) { return nullable(hz); });
}

Json mode_to_json(const StockMode& mode) {
  Json json = {{"id", mode.id}, {"name", mode.name}};
  if (!mode.cores.empty()) json["cores"] = mode.cores;
  if (!mode.cpu_max_hz.empty()) json["cpu_max_hz"] = cluster_clocks_to_json(mode.cpu_max_hz);
  if (!mode.cpu_min_hz.empty()) json["cpu_min_hz"] = cluster_clocks_to_json(mode.cpu_min_hz);
  put_number(json, "gpu_max_hz", mode.gpu_max_hz);
  put_number(json, "gpu_min_hz", mode.gpu_min_hz);
  put_number(json, "memory_max_hz", mode.memory_max_hz);
  put_number(json, "tpc_pg_mask", mode.tpc_pg_mask);
  put_number(json, "fbp_pg_mask", mode.fbp_pg_mask);
  put_number(json, "multiprocessors", mode.multiprocessors);
  if (!mode.engines.empty()) {
    Json engines = Json::object();
    for (const EngineClock& engine : mode.engines) engines[engine.name] = engine.hz;
    json["engines"] = std::move(engines);
  }
  put_number(json, "budget_w", mode.budget_w);
  json["source"] = mode.source;
  return json;
}

Json configuration_to_json(const Configuration& configuration) {
  Json json = {{"id", configuration.id}};
  if (!configuration.jetpacks.empty()) json["jetpacks"] = configuration.jetpacks;
  put(json, "conf_stem", configuration.conf_stem);
  json["gpu"] = domain_to_json(configuration.gpu);
  json["memory"] = domain_to_json(configuration.memory);
  put_array(json, "cpu", configuration.cpu, domain_to_json);
  put_array(json, "engines", configuration.engines, [](const EngineCeiling& engine) {
    return Json{{"name", engine.name}, {"ceiling_hz", fact_to_json(engine.hz)}};
  });
  put_number(json, "default_mode", configuration.default_mode);
  put_array(json, "modes", configuration.modes, mode_to_json);
  return json;
}

Json rail_to_json(const Rail& rail) {
  Json json = {{"name", rail.name}, {"role", to_string(rail.role)}};
  if (rail.in_sum) json["in_sum"] = true;
  put(json, "sensor", rail.sensor);
  json["source"] = rail.source;
  return json;
}

Json idle_to_json(const IdleReading& reading) {
  Json json = {{"what", reading.what},
               {"power_w", reading.power_w.value},
               {"source", reading.power_w.source}};
  put_number(json, "gpu_hz", reading.gpu_hz);
  return json;
}

Json caps_to_json(const std::vector<Cap>& caps, const char* key) {
  return array_of(caps, [key](const Cap& cap) {
    return Json{{"what", cap.what}, {key, cap.value.value}, {"source", cap.value.source}};
  });
}

Json prior_to_json(const Prior& prior) {
  return {
      {"name", prior.name}, {"mean", prior.mean}, {"sigma", prior.sigma}, {"source", prior.source}};
}

Json published_to_json(const Published& published) {
  Json json = {{"quantity", published.quantity}, {"processor", to_string(published.processor)}};
  if (published.unit) json["unit"] = to_string(*published.unit);
  if (published.dtype) json["dtype"] = to_string(*published.dtype);
  if (published.accumulate) json["accumulate"] = to_string(*published.accumulate);
  if (published.sparse) json["sparse"] = true;
  put(json, "configuration", published.configuration);
  json["per_s"] = published.per_s.value;
  json["source"] = published.per_s.source;
  return json;
}

Json reference_to_json(const Reference& reference) {
  Json json = {{"id", reference.id}, {"title", reference.title}};
  put(json, "url", reference.url);
  json["confidence"] = to_string(reference.confidence);
  put(json, "note", reference.note);
  return json;
}

}  // namespace

Json to_json(const Device& device) {
  Json json = {{"schema", Device::schema},
               {"id", device.id},
               {"name", device.name},
               {"aliases", device.aliases},
               {"kind", to_string(device.kind)},
               {"family", device.family}};
  put(json, "chip", device.chip);
  if (!device.device_trees.empty()) json["device_trees"] = device.device_trees;
  if (device.gpu) json["gpu"] = gpu_to_json(*device.gpu);
  put_array(json, "cpu", device.cpu, cluster_to_json);
  if (device.cluster_switch)
    json["cluster_switch"] = {{"reach", to_string(device.cluster_switch->reach)},
                              {"source", device.cluster_switch->source}};
  if (device.dla) json["dla"] = dla_to_json(*device.dla);
  if (device.memory) json["memory"] = memory_to_json(*device.memory);
  json["configurations"] = array_of(device.configurations, configuration_to_json);
  put_array(json, "rails", device.rails, rail_to_json);
  put_array(json, "idle", device.idle, idle_to_json);
  if (!device.power_caps.empty()) json["power_caps"] = caps_to_json(device.power_caps, "power_w");
  if (!device.thermal_caps.empty())
    json["thermal_caps"] = caps_to_json(device.thermal_caps, "celsius");
  put_array(json, "priors", device.priors, prior_to_json);
  put_array(json, "published", device.published, published_to_json);
  json["sources"] = array_of(device.references, reference_to_json);
  return json;
}

}  // namespace ridgeline::catalog
