// Collects the parameters under the names of base/parameters.h.
#include "devices/catalog/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/csv.h"
#include "base/parameters.h"

namespace ridgeline::catalog {
namespace {

class Facts {
 public:
  explicit Facts(const Device& device) : device_(device), parameters_(device.id) {}

  void add(std::string name, double mean, const std::string& source, double sigma = 0) {
    parameters_.add({std::move(name), mean, source_of(reference(device_, source).confidence)},
                    sigma);
  }

  void add(const char* name, const std::optional<Fact>& fact, double scale = 1) {
    if (fact) add(std::string(name), fact->value * scale, fact->source);
  }

  void add(const std::string& processor, const std::vector<Rate>& rates) {
    for (const Rate& rate : rates) {
      const RateName name{processor, rate.unit, rate.dtype, rate.accumulate, rate.sparse};
      add(rate_parameter(name), rate.per_clock.value, rate.per_clock.source);
      if (rate.ceiling_hz)
        add(ceiling_parameter(name), rate.ceiling_hz->value, rate.ceiling_hz->source);
    }
  }

  void add_caches(const std::string& processor, const std::vector<CacheSize>& caches) {
    for (const CacheSize& cache : caches) {
      const char* level = cache.level == Level::l1       ? "l1"
                          : cache.level == Level::shared ? "shared"
                          : cache.level == Level::l2     ? "l2"
                                                         : "l3";
      add(fmt::format("{}_{}_bytes", processor, level), cache.bytes.value, cache.bytes.source);
    }
  }

  // Flat up to the knee, then rising to the top: V = max(floor, v0 + v1 f).
  void add(const VoltageCurve& curve) {
    if (curve.points.empty()) return;
    const VoltagePoint& top = curve.points.back();
    const double floor = curve.points.front().volt;
    double knee_hz = curve.points.front().hz;
    for (const VoltagePoint& point : curve.points)
      if (point.volt == floor) knee_hz = point.hz;
    // A published curve is a fact. One that explains power readings has no volts of its own, and
    // one that holds for a middle chip differs from chip to chip.
    const Confidence confidence = reference(device_, curve.source).confidence;
    const bool published = confidence == Confidence::vendor || confidence == Confidence::measured;
    const double floor_ratio = floor / top.volt;
    add("gpu_voltage_floor_ratio", floor_ratio, curve.source, published ? 0 : 0.05 * floor_ratio);
    add("gpu_voltage_knee_hz", knee_hz, curve.source, published ? 0 : 0.15 * knee_hz);
    add("gpu_voltage_top_hz", top.hz, curve.source);
    if (!curve.relative) add("gpu_voltage_top_v", top.volt, curve.source);
  }

  MachineModel take() { return parameters_.take(); }

 private:
  const Device& device_;
  ParameterCollector parameters_;
};

}  // namespace

Source source_of(Confidence confidence) {
  switch (confidence) {
    case Confidence::vendor:
    case Confidence::stated:
    case Confidence::inferred:
      return Source::datasheet;
    case Confidence::measured:
      return Source::measured;
    case Confidence::fitted:
      return Source::fitted;
    case Confidence::assumed:
      return Source::assumed;
  }
  return Source::assumed;
}

MachineModel machine_model(const Device& device) {
  Facts model(device);
  if (device.gpu) {
    model.add("gpu_multiprocessors", device.gpu->multiprocessors);
    model.add("gpu", device.gpu->rates);
    model.add_caches("gpu", device.gpu->caches);
    if (device.gpu->voltage) model.add(*device.gpu->voltage);
  }
  for (std::size_t i = 0; i < device.cpu.size(); ++i) {
    const std::string processor = fmt::format("cpu{}", i);
    model.add((processor + "_cores").c_str(), device.cpu[i].cores);
    model.add(processor, device.cpu[i].rates);
    model.add_caches(processor, device.cpu[i].caches);
  }
  if (device.dla) {
    model.add("dla_engines", device.dla->engines);
    model.add("dla", device.dla->rates);
  }
  if (device.memory) {
    model.add("memory_bytes", device.memory->bytes);
    model.add("memory_visible_bytes", device.memory->visible_bytes);
    model.add("memory_bus_bytes", device.memory->bus_bits, 1.0 / 8);
    model.add("memory_transfers_per_clock", device.memory->transfers_per_clock);
    model.add("page_cache_bytes", device.memory->page_cache_bytes);
  }
  bool idle_without_clock = false;
  for (const IdleReading& reading : device.idle) {
    if (reading.gpu_hz)
      model.add(fmt::format("idle_at_{}_mhz_w", csv_number(*reading.gpu_hz / 1e6)),
                reading.power_w.value, reading.power_w.source);
    else if (!std::exchange(idle_without_clock, true))
      model.add("idle_w", reading.power_w.value, reading.power_w.source);
  }
  for (const Prior& prior : device.priors)
    model.add(prior.name, prior.mean, prior.source, prior.sigma);
  return model.take();
}

}  // namespace ridgeline::catalog
