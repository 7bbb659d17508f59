// Reads a device of the catalog from its JSON file and checks what a schema cannot: that sources
// exist, clocks ascend and modes fit the clusters. The other direction is
// devices/catalog/write.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/json.h"
#include "base/limits.h"
#include "base/parameters.h"
#include "base/text.h"
#include "devices/catalog/catalog.h"

namespace ridgeline::catalog {
namespace {

// Generous bounds: they catch errors of unit.
constexpr double max_value = 1e18;
constexpr std::size_t max_clock_steps = 10'000;
constexpr int max_clusters = 1000;

// Reads with the list of sources at hand, so that an unknown one is found where it is named.
class Reader {
 public:
  explicit Reader(const JsonCursor& sources) {
    references_ = vector_of(sources, [](const JsonCursor& row) {
      Reference reference;
      reference.id = row.at("id").text();
      reference.title = row.at("title").text();
      if (const auto url = row.find("url")) reference.url = url->text();
      reference.confidence = row.at("confidence").token<Confidence>();
      if (const auto note = row.find("note")) reference.note = note->text();
      return reference;
    });
    for (const JsonCursor& row : sources.items())
      if (!ids_.insert(row.at("id").text()).second) row.at("id").fail("is there twice");
  }

  std::vector<Reference> take() { return std::move(references_); }

  std::string source(const JsonCursor& parent) const {
    const JsonCursor cursor = parent.at("source");
    std::string id = cursor.text();
    if (ids_.count(id) == 0) cursor.fail("no source has the id " + quote(id));
    return id;
  }

  Fact fact(const JsonCursor& cursor) const {
    return {bounded(cursor.at("value"), max_value), source(cursor)};
  }

  std::optional<Fact> optional_fact(const JsonCursor& parent, std::string_view key) const {
    const auto cursor = parent.find(key);
    return cursor ? std::optional(fact(*cursor)) : std::nullopt;
  }

  // A number beside its own source: {"per_clock": 256, "source": "…"}.
  Fact flat_fact(const JsonCursor& parent, std::string_view key) const {
    return {bounded(parent.at(key), max_value), source(parent)};
  }

 private:
  std::vector<Reference> references_;
  std::set<std::string> ids_;
};

template <class FromJson>
auto optional_vector(const JsonCursor& parent, std::string_view key, FromJson one_from_json) {
  const auto array = parent.find(key);
  return array ? vector_of(*array, one_from_json) : decltype(vector_of(*array, one_from_json)){};
}

std::string optional_text(const JsonCursor& parent, std::string_view key) {
  const auto cursor = parent.find(key);
  return cursor ? cursor->text() : std::string();
}

std::vector<std::string> optional_words(const JsonCursor& parent, std::string_view key) {
  return optional_vector(parent, key, [](const JsonCursor& word) { return word.text(); });
}

bool optional_flag(const JsonCursor& parent, std::string_view key) {
  const auto cursor = parent.find(key);
  return cursor && cursor->boolean();
}

// Clocks of a mode keep −1 and 0 as written.
double mode_clock(const JsonCursor& cursor) {
  const double hz = cursor.number();
  if (hz != -1 && (hz < 0 || hz > max_clock_hz)) cursor.fail("neither -1 nor a clock in Hz");
  return hz;
}

std::optional<double> optional_mode_clock(const JsonCursor& parent, std::string_view key) {
  const auto cursor = parent.find(key);
  return cursor ? std::optional(mode_clock(*cursor)) : std::nullopt;
}

std::optional<std::uint32_t> optional_mask(const JsonCursor& parent, std::string_view key) {
  const auto cursor = parent.find(key);
  return cursor ? std::optional(static_cast<std::uint32_t>(cursor->count())) : std::nullopt;
}

std::vector<Rate> read_rates(const JsonCursor& parent, const Reader& reader) {
  return optional_vector(parent, "rates", [&](const JsonCursor& row) {
    return Rate{row.at("unit").token<Unit>(),        row.at("dtype").token<DType>(),
                row.at("accumulate").token<DType>(), optional_flag(row, "sparse"),
                reader.flat_fact(row, "per_clock"),  reader.optional_fact(row, "ceiling_hz")};
  });
}

std::vector<CacheSize> read_caches(const JsonCursor& parent, const Reader& reader) {
  return optional_vector(parent, "caches", [&](const JsonCursor& row) {
    return CacheSize{row.at("level").token<Level>(), reader.flat_fact(row, "bytes"),
                     bounded_units(row.at("instances"))};
  });
}

VoltageCurve read_voltage(const JsonCursor& cursor, const Reader& reader) {
  VoltageCurve curve;
  curve.points = vector_of(cursor.at("points"), [](const JsonCursor& row) {
    return VoltagePoint{bounded(row.at("hz"), max_clock_hz), bounded(row.at("volt"), 100)};
  });
  for (std::size_t i = 1; i < curve.points.size(); ++i)
    if (!(curve.points[i - 1].hz < curve.points[i].hz))
      cursor.at("points").items()[i].at("hz").fail("not above the clock before it");
  curve.relative = optional_flag(cursor, "relative");
  curve.source = reader.source(cursor);
  return curve;
}

GpuSpec read_gpu(const JsonCursor& cursor, const Reader& reader) {
  GpuSpec gpu;
  gpu.architecture = cursor.at("architecture").text();
  gpu.compute_capability = optional_text(cursor, "compute_capability");
  gpu.multiprocessors = reader.optional_fact(cursor, "multiprocessors");
  gpu.mask_tpcs = reader.optional_fact(cursor, "mask_tpcs");
  gpu.multiprocessors_per_tpc = reader.optional_fact(cursor, "multiprocessors_per_tpc");
  gpu.rates = read_rates(cursor, reader);
  gpu.caches = read_caches(cursor, reader);
  if (const auto voltage = cursor.find("voltage")) gpu.voltage = read_voltage(*voltage, reader);
  return gpu;
}

// A row stands for as many equal clusters as it says.
std::vector<CpuCluster> read_clusters(const JsonCursor& cursor, const Reader& reader) {
  std::vector<CpuCluster> clusters;
  for (const JsonCursor& row : cursor.items()) {
    const CpuCluster cluster{row.at("core").text(), reader.optional_fact(row, "cores"),
                             read_rates(row, reader), read_caches(row, reader)};
    const auto count = optional_units(row, "clusters").value_or(1);
    if (count > max_clusters) row.at("clusters").fail("too many");
    clusters.insert(clusters.end(), static_cast<std::size_t>(count), cluster);
  }
  return clusters;
}

Dla read_dla(const JsonCursor& cursor, const Reader& reader) {
  return {cursor.at("name").text(), reader.optional_fact(cursor, "engines"),
          read_rates(cursor, reader)};
}

Memory read_memory(const JsonCursor& cursor, const Reader& reader) {
  return {optional_text(cursor, "technology"),
          reader.optional_fact(cursor, "bytes"),
          reader.optional_fact(cursor, "visible_bytes"),
          reader.optional_fact(cursor, "bus_bits"),
          reader.optional_fact(cursor, "transfers_per_clock"),
          reader.optional_fact(cursor, "page_cache_bytes")};
}

// A group of steps is a list, or an arithmetic sequence from … to with a step.
void add_steps(std::vector<ClockStep>& steps, const JsonCursor& group, const Reader& reader) {
  const std::string source = reader.source(group);
  if (const auto list = group.find("hz")) {
    for (const JsonCursor& hz : list->items()) steps.push_back({bounded(hz, max_clock_hz), source});
    return;
  }
  const double from = bounded(group.at("from_hz"), max_clock_hz);
  const double to = bounded(group.at("to_hz"), max_clock_hz);
  const double step = bounded(group.at("step_hz"), max_clock_hz);
  const double count = step > 0 ? (to - from) / step : -1;
  if (!(count >= 0) || count != static_cast<double>(static_cast<long long>(count)) ||
      count > static_cast<double>(max_clock_steps))
    group.at("step_hz").fail("does not lead from from_hz to to_hz");
  for (int i = 0; i <= static_cast<int>(count); ++i) steps.push_back({from + i * step, source});
}

ClockDomain read_domain(const JsonCursor& cursor, const Reader& reader) {
  ClockDomain domain;
  if (const auto groups = cursor.find("steps"))
    for (const JsonCursor& group : groups->items()) add_steps(domain.steps, group, reader);
  std::sort(domain.steps.begin(), domain.steps.end(),
            [](const ClockStep& a, const ClockStep& b) { return a.hz < b.hz; });
  for (std::size_t i = 1; i < domain.steps.size(); ++i)
    if (domain.steps[i - 1].hz == domain.steps[i].hz)
      cursor.at("steps").fail(fmt::format("{} Hz is there twice", domain.steps[i].hz));
  domain.complete = cursor.at("complete").boolean();
  domain.ceiling_hz = reader.optional_fact(cursor, "ceiling_hz");
  return domain;
}

std::vector<std::optional<double>> read_cluster_clocks(const JsonCursor& parent,
                                                       std::string_view key) {
  return optional_vector(parent, key, [](const JsonCursor& hz) -> std::optional<double> {
    if (hz.value().is_null()) return std::nullopt;
    return mode_clock(hz);
  });
}

StockMode read_mode(const JsonCursor& cursor, const Reader& reader, std::size_t clusters) {
  StockMode mode;
  mode.id = cursor.at("id").count();
  mode.name = cursor.at("name").text();
  mode.cores = optional_vector(cursor, "cores", [](const JsonCursor& n) { return n.count(); });
  mode.cpu_max_hz = read_cluster_clocks(cursor, "cpu_max_hz");
  mode.cpu_min_hz = read_cluster_clocks(cursor, "cpu_min_hz");
  const auto check = [&](const char* key, std::size_t size) {
    if (size != 0 && size != clusters)
      cursor.at(key).fail(fmt::format("has {} entries for {} clusters", size, clusters));
  };
  check("cores", mode.cores.size());
  check("cpu_max_hz", mode.cpu_max_hz.size());
  check("cpu_min_hz", mode.cpu_min_hz.size());
  mode.gpu_max_hz = optional_mode_clock(cursor, "gpu_max_hz");
  mode.gpu_min_hz = optional_mode_clock(cursor, "gpu_min_hz");
  mode.memory_max_hz = optional_mode_clock(cursor, "memory_max_hz");
  mode.tpc_pg_mask = optional_mask(cursor, "tpc_pg_mask");
  mode.fbp_pg_mask = optional_mask(cursor, "fbp_pg_mask");
  mode.multiprocessors = optional_units(cursor, "multiprocessors");
  if (const auto engines = cursor.find("engines"))
    for (const auto& [name, hz] : engines->members())
      mode.engines.push_back({name, mode_clock(hz)});
  mode.budget_w = optional_bounded(cursor, "budget_w", max_power_w);
  mode.source = reader.source(cursor);
  return mode;
}

Configuration read_configuration(const JsonCursor& cursor, const Reader& reader,
                                 std::size_t clusters) {
  Configuration result;
  result.id = cursor.at("id").text();
  result.jetpacks = optional_words(cursor, "jetpacks");
  result.conf_stem = optional_text(cursor, "conf_stem");
  if (const auto gpu = cursor.find("gpu")) result.gpu = read_domain(*gpu, reader);
  if (const auto memory = cursor.find("memory")) result.memory = read_domain(*memory, reader);
  result.cpu = optional_vector(cursor, "cpu",
                               [&](const JsonCursor& row) { return read_domain(row, reader); });
  // One entry holds for all clusters.
  if (result.cpu.size() == 1) result.cpu.resize(clusters, result.cpu.front());
  if (!result.cpu.empty() && result.cpu.size() != clusters)
    cursor.at("cpu").fail(
        fmt::format("has {} entries for {} clusters", result.cpu.size(), clusters));
  result.engines = optional_vector(cursor, "engines", [&](const JsonCursor& row) {
    return EngineCeiling{row.at("name").text(), reader.fact(row.at("ceiling_hz"))};
  });
  result.modes = optional_vector(
      cursor, "modes", [&](const JsonCursor& row) { return read_mode(row, reader, clusters); });
  for (std::size_t i = 1; i < result.modes.size(); ++i)
    if (result.modes[i - 1].id >= result.modes[i].id)
      cursor.at("modes").items()[i].at("id").fail("not above the id before it");
  if (const auto id = cursor.find("default_mode")) {
    result.default_mode = id->count();
    if (std::none_of(result.modes.begin(), result.modes.end(),
                     [&](const StockMode& mode) { return mode.id == *result.default_mode; }))
      id->fail("no mode has this id");
  }
  return result;
}

std::vector<Cap> read_caps(const JsonCursor& parent, std::string_view key, std::string_view value,
                           const Reader& reader) {
  return optional_vector(parent, key, [&](const JsonCursor& row) {
    return Cap{row.at("what").text(), reader.flat_fact(row, value)};
  });
}

Published read_published(const JsonCursor& row, const Reader& reader) {
  Published published;
  published.quantity = row.at("quantity").text();
  published.processor = row.at("processor").token<Processor>();
  if (const auto unit = row.find("unit")) published.unit = unit->token<Unit>();
  if (const auto dtype = row.find("dtype")) published.dtype = dtype->token<DType>();
  if (const auto type = row.find("accumulate")) published.accumulate = type->token<DType>();
  published.sparse = optional_flag(row, "sparse");
  published.configuration = optional_text(row, "configuration");
  published.per_s = reader.flat_fact(row, "per_s");
  return published;
}

void read_power(Device& device, const JsonCursor& cursor, const Reader& reader) {
  device.rails = optional_vector(cursor, "rails", [&](const JsonCursor& row) {
    return Rail{row.at("name").text(), row.at("role").token<RailRole>(),
                optional_flag(row, "in_sum"), optional_text(row, "sensor"), reader.source(row)};
  });
  device.idle = optional_vector(cursor, "idle", [&](const JsonCursor& row) {
    return IdleReading{row.at("what").text(), reader.flat_fact(row, "power_w"),
                       optional_bounded(row, "gpu_hz", max_clock_hz)};
  });
  device.power_caps = read_caps(cursor, "power_caps", "power_w", reader);
  device.thermal_caps = read_caps(cursor, "thermal_caps", "celsius", reader);
}

}  // namespace

Device device_from_json(const JsonCursor& cursor) {
  check_schema(cursor, Device::schema);
  Reader reader(cursor.at("sources"));
  Device device;
  device.id = cursor.at("id").text();
  device.name = cursor.at("name").text();
  device.aliases = optional_words(cursor, "aliases");
  device.kind = cursor.at("kind").token<Kind>();
  device.family = cursor.at("family").text();
  device.chip = optional_text(cursor, "chip");
  device.device_trees = optional_words(cursor, "device_trees");
  if (const auto gpu = cursor.find("gpu")) device.gpu = read_gpu(*gpu, reader);
  if (const auto cpu = cursor.find("cpu")) device.cpu = read_clusters(*cpu, reader);
  if (const auto row = cursor.find("cluster_switch"))
    device.cluster_switch = ClusterSwitch{row->at("reach").token<Reach>(), reader.source(*row)};
  if (const auto dla = cursor.find("dla")) device.dla = read_dla(*dla, reader);
  if (const auto memory = cursor.find("memory")) device.memory = read_memory(*memory, reader);
  device.configurations = vector_of(cursor.at("configurations"), [&](const JsonCursor& row) {
    return read_configuration(row, reader, device.cpu.size());
  });
  if (device.configurations.empty()) cursor.at("configurations").fail("is empty");
  read_power(device, cursor, reader);
  device.priors = optional_vector(cursor, "priors", [&](const JsonCursor& row) {
    const std::string name = row.at("name").text();
    if (!find_parameter_row(name)) row.at("name").fail(unknown_parameter_text(name));
    return Prior{name, row.at("mean").number(), row.at("sigma").non_negative(), reader.source(row)};
  });
  device.published = optional_vector(
      cursor, "published", [&](const JsonCursor& row) { return read_published(row, reader); });
  device.references = reader.take();
  return device;
}

}  // namespace ridgeline::catalog
