// What follows from a catalog entry, the sections of its page, and the list of all devices.
// Values of the text have three digits; the JSON forms have all of them.
#include "report/device.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "base/csv.h"
#include "base/json.h"
#include "base/text_table.h"
#include "base/units.h"
#include "base/wrap.h"
#include "devices/catalog/model.h"
#include "devices/modes/mode_space.h"
#include "roofline/ceilings/datasheet.h"
#include "roofline/ceilings/names.h"

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

using catalog::CacheSize;
using catalog::ClockDomain;
using catalog::Configuration;
using catalog::CpuCluster;
using catalog::Fact;
using catalog::Rate;

class DevicePage {
 public:
  DevicePage(const DeviceFacts& facts, int width)
      : facts_(facts), device_(facts.device), width_(std::max(width, 40)) {}

  std::string whole() {
    heading();
    processors();
    rates();
    memory();
    for (std::size_t i = 0; i < device_.configurations.size(); ++i)
      configuration(device_.configurations[i], facts_.configurations[i]);
    power();
    published();
    priors();
    sources();
    if (!facts_.missing.empty())
      line(fmt::format("{} more numbers have no source: see --missing.", facts_.missing.size()));
    return std::move(text_);
  }

  std::string gaps() {
    if (facts_.missing.empty()) {
      line(device_.id + ": nothing is missing");
      return std::move(text_);
    }
    TextTable table{{{"part"}, {"numbers that no source states", Align::left, true}}, {}};
    for (const catalog::Gap& gap : facts_.missing) table.rows.push_back({gap.where, gap.what});
    text_ += device_.name + " (" + device_.id + ")\n\n" + render_text(table, width_);
    return std::move(text_);
  }

 private:
  // "[3]": the place of a source in the list at the end.
  std::string mark(const std::string& source) const {
    const auto& all = device_.references;
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.id == source; });
    return fmt::format("[{}]", found - all.begin() + 1);
  }
  std::string with_mark(const std::string& text, const Fact& fact) const {
    return text + " " + mark(fact.source);
  }

  void line(const std::string& text, int indent = 0) {
    text_ += std::string(static_cast<std::size_t>(indent), ' ') +
             wrap(text, width_, indent + 2, indent) + '\n';
  }
  void fact(const std::string& name, const std::string& value) {
    constexpr int column = 16;
    if (value.empty()) return;
    text_ += "  " + name +
             std::string(static_cast<std::size_t>(column - 2 - display_width(name)), ' ') +
             wrap(value, width_, column, column) + '\n';
  }
  void title(const std::string& text) {
    text_ += '\n';
    line(text);
  }
  void table(const TextTable& content) {
    if (!content.rows.empty()) text_ += render_text(content, width_);
  }

  void heading() {
    line(device_.name + " (" + device_.id + ")");
    fact("also", fmt::format("{}", fmt::join(device_.aliases, ", ")));
    fact("family", device_.family + (device_.chip.empty() ? "" : ", chip " + device_.chip));
    fact("device tree", fmt::format("{}", fmt::join(device_.device_trees, ", ")));
  }

  std::string caches_text(const std::vector<CacheSize>& caches) const {
    std::string text;
    for (const CacheSize& cache : caches) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", to_string(cache.level),
                          format_bytes(cache.bytes.value));
      if (cache.instances > 1) text += fmt::format(" × {}", cache.instances);
      text += " " + mark(cache.bytes.source);
    }
    return text;
  }

  std::string cluster_text(const CpuCluster& cluster, int count) const {
    std::string text = count > 1 ? fmt::format("{} clusters of ", count) : "";
    text += cluster.cores ? with_mark(fmt::format("{:g} × {}", cluster.cores->value, cluster.core),
                                      *cluster.cores)
                          : cluster.core;
    const std::string caches = caches_text(cluster.caches);
    return caches.empty() ? text : text + "; " + caches;
  }

  void processors() {
    if (device_.gpu) {
      const catalog::GpuSpec& gpu = *device_.gpu;
      std::string text = gpu.architecture;
      if (!gpu.compute_capability.empty()) text += ", compute capability " + gpu.compute_capability;
      if (gpu.multiprocessors)
        text += ", " + with_mark(fmt::format("{:g} SMs", gpu.multiprocessors->value),
                                 *gpu.multiprocessors);
      fact("GPU", text);
      fact("GPU memory", caches_text(gpu.caches));
      if (gpu.voltage && !gpu.voltage->points.empty()) voltage(*gpu.voltage);
    }
    for (std::size_t i = 0; i < device_.cpu.size();) {
      std::size_t end = i + 1;
      while (end < device_.cpu.size() && device_.cpu[end] == device_.cpu[i]) ++end;
      fact("CPU", cluster_text(device_.cpu[i], static_cast<int>(end - i)));
      i = end;
    }
    if (device_.dla)
      fact("DLA",
           device_.dla->engines
               ? with_mark(fmt::format("{:g} × {}", device_.dla->engines->value, device_.dla->name),
                           *device_.dla->engines)
               : device_.dla->name);
  }

  void voltage(const catalog::VoltageCurve& curve) {
    const auto& low = curve.points.front();
    const auto& top = curve.points.back();
    const char* unit = curve.relative ? " of the top's" : " V";
    fact("GPU voltage",
         fmt::format("{}{} at {}, {}{} at {} {}", format_number(low.volt), unit, format_hz(low.hz),
                     format_number(top.volt), curve.relative ? "" : unit, format_hz(top.hz),
                     mark(curve.source)));
  }

  void rates() {
    TextTable content{{{"unit"},
                       {"dtype"},
                       {"sums in"},
                       {"per clock", Align::right},
                       {"peak", Align::right},
                       {"sparse", Align::right},
                       {"source"}},
                      {}};
    if (device_.gpu) add_rates(content, device_.gpu->rates, Processor::gpu, "SM");
    for (std::size_t i = 0; i < device_.cpu.size(); ++i)
      if (i == 0 || device_.cpu[i].rates != device_.cpu[i - 1].rates)
        add_rates(content, device_.cpu[i].rates, Processor::cpu, "core");
    if (device_.dla) add_rates(content, device_.dla->rates, Processor::dla, "DLA");
    if (content.rows.empty()) return;
    title("Operations per unit and clock, and peaks at the highest clocks (" +
          facts_.configurations.front().id + ")");
    table(content);
  }

  std::string peak_text(Processor processor, const Rate& rate, bool sparse) const {
    for (const Peak& peak : facts_.configurations.front().ceilings.peaks)
      if (peak.processor == processor && peak.unit == rate.unit && peak.dtype == rate.dtype &&
          peak.accumulate == rate.accumulate && peak.sparse == sparse)
        return format_si(peak.flops_per_s, rate_unit(peak.dtype));
    return "-";
  }

  void add_rates(TextTable& content, const std::vector<Rate>& rates, Processor processor,
                 const char* noun) const {
    for (const Rate& rate : rates)
      if (!rate.sparse)
        content.rows.push_back(
            {fmt::format("{} {}", noun, to_string(rate.unit)), std::string(to_string(rate.dtype)),
             std::string(to_string(rate.accumulate)), fmt::format("{:g}", rate.per_clock.value),
             peak_text(processor, rate, false), peak_text(processor, rate, true),
             mark(rate.per_clock.source)});
  }

  void memory() {
    if (!device_.memory) return;
    const catalog::Memory& memory = *device_.memory;
    title("Memory");
    std::string text = memory.technology;
    if (memory.bytes)
      text +=
          (text.empty() ? "" : ", ") + with_mark(format_bytes(memory.bytes->value), *memory.bytes);
    if (memory.visible_bytes)
      text += ", " + with_mark(format_bytes(memory.visible_bytes->value) + " visible",
                               *memory.visible_bytes);
    if (memory.bus_bits)
      text += ", " + with_mark(fmt::format("{:g} bits", memory.bus_bits->value), *memory.bus_bits);
    if (memory.transfers_per_clock)
      text += ", " +
              with_mark(fmt::format("{:g} transfers per clock", memory.transfers_per_clock->value),
                        *memory.transfers_per_clock);
    if (memory.page_cache_bytes)
      text += ", " + with_mark(fmt::format("page cache of {} while training",
                                           format_si(memory.page_cache_bytes->value, "B")),
                               *memory.page_cache_bytes);
    line(text, 2);
    for (const ConfigurationFacts& each : facts_.configurations)
      for (const Bandwidth& bandwidth : each.ceilings.bandwidths)
        if (bandwidth.processor == Processor::gpu || !device_.gpu)
          line(fmt::format(
                   "{}: {} {}", each.id, format_si(bandwidth.bytes_per_s, "B/s"),
                   bandwidth.source == Source::fitted ? "usable at the highest GPU clock" : "peak"),
               2);
  }

  std::string domain_text(const ClockDomain& domain) const {
    if (domain.steps.empty())
      return domain.ceiling_hz
                 ? "up to " + with_mark(format_hz(domain.ceiling_hz->value, 5), *domain.ceiling_hz)
                 : "";
    std::string text;
    const auto& steps = domain.steps;
    constexpr std::size_t few = 5;
    if (steps.size() <= few)
      for (const auto& step : steps) text += (text.empty() ? "" : ", ") + format_hz(step.hz, 5);
    else
      text = fmt::format("{} … {}, {} steps", format_hz(steps.front().hz, 5),
                         format_hz(steps.back().hz, 5), steps.size());
    std::vector<std::string> marks;
    for (const auto& step : steps)
      if (std::find(marks.begin(), marks.end(), mark(step.source)) == marks.end())
        marks.push_back(mark(step.source));
    text += fmt::format(" {}", fmt::join(marks, ""));
    if (!domain.complete) text += " and others";
    return text;
  }

  void configuration(const Configuration& configuration, const ConfigurationFacts& facts) {
    std::string head = "Configuration " + configuration.id;
    if (!configuration.jetpacks.empty())
      head += fmt::format(": JetPack {}", fmt::join(configuration.jetpacks, ", "));
    if (!configuration.conf_stem.empty())
      head += fmt::format(", nvpmodel_{}.conf", configuration.conf_stem);
    title(head);
    fact("GPU clock", domain_text(configuration.gpu));
    fact("memory clock", domain_text(configuration.memory));
    for (std::size_t i = 0; i < configuration.cpu.size(); ++i)
      if (i == 0 || configuration.cpu[i] != configuration.cpu[i - 1])
        fact("CPU clock", domain_text(configuration.cpu[i]));
    modes(configuration, facts);
  }

  void modes(const Configuration& configuration, const ConfigurationFacts& facts) {
    if (facts.modes.empty()) return;
    TextTable content{{{"mode"},
                       {"id", Align::right},
                       {"SMs", Align::right},
                       {"GPU", Align::right},
                       {"memory", Align::right},
                       {"CPU", Align::right},
                       {"cores", Align::right},
                       {"source"}},
                      {}};
    const auto clock = [](const std::optional<double>& hz) {
      return hz ? format_hz(*hz, 4) : std::string("-");
    };
    const auto count = [](const std::optional<int>& number) {
      return number ? std::to_string(*number) : std::string("-");
    };
    for (std::size_t i = 0; i < facts.modes.size(); ++i) {
      const OperatingPoint& point = facts.modes[i].point;
      const catalog::StockMode& stock = configuration.modes[i];
      content.rows.push_back({point.label + (stock.id == configuration.default_mode ? " *" : ""),
                              std::to_string(stock.id), count(point.gpu_units), clock(point.gpu_hz),
                              clock(point.memory_hz),
                              point.cpu_hz.empty() ? "-" : format_hz(point.cpu_hz.front(), 4),
                              count(point.cpu_cores), mark(stock.source)});
    }
    text_ += '\n';
    table(content);
    text_ += "  * default\n";
  }

  void power() {
    if (device_.rails.empty() && device_.idle.empty() && device_.power_caps.empty()) return;
    title("Power");
    for (const catalog::Cap& cap : device_.power_caps)
      fact("cap", fmt::format("{}: {} {}", cap.what, format_si(cap.value.value, "W"),
                              mark(cap.value.source)));
    for (const catalog::Cap& cap : device_.thermal_caps)
      fact("limit",
           fmt::format("{}: {:g} °C {}", cap.what, cap.value.value, mark(cap.value.source)));
    for (const catalog::IdleReading& reading : device_.idle)
      fact("idle", fmt::format("{}: {} {}", reading.what, format_si(reading.power_w.value, "W"),
                               mark(reading.power_w.source)));
    for (const catalog::Rail& rail : device_.rails)
      fact("rail", fmt::format("{}: {}{}, {} {}", rail.name, to_string(rail.role),
                               rail.in_sum ? ", counts" : "", rail.sensor, mark(rail.source)));
  }

  void published() {
    TextTable content{{{"published", Align::left, true},
                       {"configuration"},
                       {"figure", Align::right},
                       {"from rates", Align::right},
                       {"differs", Align::right},
                       {"source"}},
                      {}};
    for (const PublishedCheck& check : facts_.published) {
      const catalog::Published& published = check.published;
      const std::string_view unit = published.dtype ? rate_unit(*published.dtype) : "B/s";
      content.rows.push_back(
          {upper_case(to_string(published.processor)) + " " + published.quantity,
           published.configuration.empty() ? facts_.configurations.front().id
                                           : published.configuration,
           format_si(published.per_s.value, unit),
           check.computed_per_s ? format_si(*check.computed_per_s, unit) : "-",
           check.computed_per_s
               ? fmt::format("{:+.1f} %", 100 * (*check.computed_per_s / published.per_s.value - 1))
               : "-",
           mark(published.per_s.source)});
    }
    if (content.rows.empty()) return;
    title("Published figures");
    table(content);
  }

  void priors() {
    if (device_.priors.empty()) return;
    TextTable content{{{"parameter", Align::left, true},
                       {"mean", Align::right},
                       {"sigma", Align::right},
                       {"source"}},
                      {}};
    for (const catalog::Prior& prior : device_.priors)
      content.rows.push_back(
          {prior.name, format_number(prior.mean), format_number(prior.sigma), mark(prior.source)});
    title("What a fit starts from");
    table(content);
  }

  void sources() {
    if (device_.references.empty()) return;
    title("Sources");
    for (const catalog::Reference& reference : device_.references) {
      std::string text = fmt::format("{} {} ({})", mark(reference.id), reference.title,
                                     to_string(reference.confidence));
      if (!reference.url.empty()) text += " " + reference.url;
      if (!reference.note.empty()) text += "; " + reference.note;
      line(text, 2);
    }
    text_ += '\n';
  }

  const DeviceFacts& facts_;
  const catalog::Device& device_;
  int width_;
  std::string text_;
};

std::optional<double> fastest(const Ceilings& ceilings, Unit unit, DType dtype) {
  std::optional<double> best;
  const bool has_gpu =
      std::any_of(ceilings.peaks.begin(), ceilings.peaks.end(),
                  [](const Peak& peak) { return peak.processor == Processor::gpu; });
  for (const Peak& peak : ceilings.peaks)
    if (peak.processor == (has_gpu ? Processor::gpu : Processor::cpu) && peak.unit == unit &&
        peak.dtype == dtype && !peak.sparse && (!best || peak.flops_per_s > *best))
      best = peak.flops_per_s;
  return best;
}

std::string text_of(const std::optional<double>& value, std::string_view unit) {
  return value ? format_si(*value, unit) : std::string("-");
}

Json row_to_json(const DeviceRow& row) {
  return {{"id", row.id},
          {"name", row.name},
          {"aliases", row.aliases},
          {"kind", to_string(row.kind)},
          {"gpu_units", nullable(row.gpu_units)},
          {"gpu_hz", nullable(row.gpu_hz)},
          {"fp32_flops_per_s", nullable(row.fp32_flops_per_s)},
          {"fp16_matrix_flops_per_s", nullable(row.fp16_matrix_flops_per_s)},
          {"int8_matrix_ops_per_s", nullable(row.int8_matrix_ops_per_s)},
          {"dram_bytes_per_s", nullable(row.dram_bytes_per_s)},
          {"stock_modes", row.stock_modes}};
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

std::string device_text(const DeviceFacts& facts, int width) {
  return DevicePage(facts, width).whole();
}
std::string missing_text(const DeviceFacts& facts, int width) {
  return DevicePage(facts, width).gaps();
}

DeviceRow device_row(const catalog::Device& device) {
  const catalog::Configuration& configuration = device.configurations.front();
  const Ceilings ceilings =
      datasheet_ceilings(catalog::machine_model(device), resolve(device, configuration, {}).point);
  DeviceRow row;
  row.id = device.id;
  row.name = device.name;
  row.aliases = device.aliases;
  row.kind = device.kind;
  row.gpu_units = ceilings.point.gpu_units;
  row.gpu_hz = ceilings.point.gpu_hz;
  row.fp32_flops_per_s = fastest(ceilings, Unit::vector, DType::fp32);
  row.fp16_matrix_flops_per_s = fastest(ceilings, Unit::matrix, DType::fp16);
  row.int8_matrix_ops_per_s = fastest(ceilings, Unit::matrix, DType::int8);
  for (const Bandwidth& bandwidth : ceilings.bandwidths)
    if (bandwidth.source != Source::fitted) row.dram_bytes_per_s = bandwidth.bytes_per_s;
  row.stock_modes = static_cast<int>(configuration.modes.size());
  return row;
}

std::string list_text(const DeviceList& list, int width) {
  std::string text = "This machine\n";
  const auto line = [&](const std::string& name, const std::string& value) {
    constexpr int column = 11;
    if (!value.empty())
      text += fmt::format("  {:<9}", name) + wrap(value, width, column, column) + '\n';
  };
  line("name", list.here.name);
  if (const std::string& board = list.device.identity.board; board != list.here.name)
    line("board", board);
  line("device", device_text(list.device));
  line("system", release_text(list.device));
  line("mode", list.mode.label);

  TextTable table;
  table.columns = {{"device"},
                   {"SMs", Align::right},
                   {"GPU clock", Align::right},
                   {"FP32", Align::right},
                   {"FP16 matrix", Align::right},
                   {"INT8 matrix", Align::right},
                   {"DRAM", Align::right},
                   {"modes", Align::right}};
  for (const DeviceRow& row : list.devices)
    table.rows.push_back(
        {row.id, row.gpu_units ? std::to_string(*row.gpu_units) : "-",
         row.gpu_hz ? format_hz(*row.gpu_hz) : "-", text_of(row.fp32_flops_per_s, "FLOP/s"),
         text_of(row.fp16_matrix_flops_per_s, "FLOP/s"), text_of(row.int8_matrix_ops_per_s, "OP/s"),
         text_of(row.dram_bytes_per_s, "B/s"),
         row.stock_modes > 0 ? std::to_string(row.stock_modes) : "-"});
  // From the right, until the rest fits.
  constexpr std::size_t least_columns = 4;
  const auto too_wide = [&] {
    const std::string drawn = render_text(table, 1000);
    return display_width(drawn.substr(0, drawn.find('\n'))) > width;
  };
  for (const std::size_t column : {2U, 6U, 4U, 3U}) {
    if (table.columns.size() <= least_columns || !too_wide()) break;
    table.columns.erase(table.columns.begin() + static_cast<std::ptrdiff_t>(column));
    for (auto& row : table.rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
  }
  text += "\nCatalog\n" + render_text(table, width);
  text += wrap(
              "Dense peaks with every clock at its maximum, from the datasheet. 'ridgeline devices "
              "NAME' shows a device with its sources.",
              width) +
          '\n';
  return text;
}

std::string list_csv(const DeviceList& list) {
  const auto cell = [](const std::optional<double>& value) {
    return value ? csv_number(*value) : std::string();
  };
  std::string csv = csv_row({"id", "name", "aliases", "kind", "gpu_units", "gpu_hz",
                             "fp32_flops_per_s", "fp16_matrix_flops_per_s", "int8_matrix_ops_per_s",
                             "dram_bytes_per_s", "stock_modes"});
  for (const DeviceRow& row : list.devices)
    csv += csv_row({row.id, row.name, fmt::format("{}", fmt::join(row.aliases, " ")),
                    std::string(to_string(row.kind)),
                    row.gpu_units ? std::to_string(*row.gpu_units) : "", cell(row.gpu_hz),
                    cell(row.fp32_flops_per_s), cell(row.fp16_matrix_flops_per_s),
                    cell(row.int8_matrix_ops_per_s), cell(row.dram_bytes_per_s),
                    std::to_string(row.stock_modes)});
  return csv;
}

Json to_json(const DeviceList& list) {
  Json here = to_json(list.device);
  here["device"] = row_to_json(list.here);
  here["mode"] = ridgeline::to_json(list.mode);
  return {{"schema", DeviceList::schema},
          {"this_machine", std::move(here)},
          {"devices", array_of(list.devices, row_to_json)}};
}

}  // namespace ridgeline
