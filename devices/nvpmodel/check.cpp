// Compares modes by their vectors, and values by the device's clock tables, masks and cores.
// Values that the stock file has as well are not complained of, however odd they are.
#include "devices/nvpmodel/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "devices/modes/clock_table.h"
#include "devices/nvpmodel/knob.h"
#include "devices/nvpmodel/stated_mode.h"

namespace ridgeline::nvpmodel {
namespace {

using catalog::Device;
using catalog::StockMode;

std::string clocks_text(const std::vector<double>& clocks) {
  if (clocks.empty()) return "none";
  std::string text;
  for (const double clock : clocks)
    if (clock != clocks.front()) text += " / " + clock_text(clock);
  return clock_text(clocks.front()) + text;
}

std::string count_text(std::optional<int> count) {
  return count ? std::to_string(*count) : "unknown";
}

std::vector<std::string> differences(const DeviceMode& stock, const DeviceMode& mode) {
  std::vector<std::string> lines;
  const auto compare = [&](const char* knob, const auto& was, const auto& is, auto text) {
    if (was != is) lines.push_back(fmt::format("{} {} → {}", knob, text(was), text(is)));
  };
  const auto clock = [](const std::optional<double>& hz) {
    return hz ? clock_text(*hz) : "not stated";
  };
  const OperatingPoint& was = stock.point;
  const OperatingPoint& is = mode.point;
  compare("id", stock.id, mode.id, count_text);
  compare("sm", was.gpu_units, is.gpu_units, count_text);
  compare("gpu", was.gpu_hz, is.gpu_hz, clock);
  compare("emc", was.memory_hz, is.memory_hz, clock);
  compare("cpu", was.cpu_hz, is.cpu_hz, clocks_text);
  compare("cores", was.cpu_cores, is.cpu_cores, count_text);
  compare("tpc_pg_mask", stock.tpc_pg_mask, mode.tpc_pg_mask, count_text);
  compare("fbp_pg_mask", stock.fbp_pg_mask, mode.fbp_pg_mask, count_text);
  return lines;
}

// Minima and caps of engines are not part of the vector. Compared where both files state them.
std::vector<std::string> other_differences(const StockMode& stock, const StockMode& mode) {
  std::vector<std::string> lines;
  const auto text = [](double hz) { return hz < 0 ? "no clamp" : clock_text(hz); };
  const auto compare = [&](const std::string& knob, std::optional<double> was,
                           std::optional<double> is) {
    if (was && is && *was != *is)
      lines.push_back(fmt::format("{} {} → {}", knob, text(*was), text(*is)));
  };
  compare("gpu minimum", stock.gpu_min_hz, mode.gpu_min_hz);
  if (!stock.cpu_min_hz.empty() && !mode.cpu_min_hz.empty())
    compare("cpu minimum", stock.cpu_min_hz.front(), mode.cpu_min_hz.front());
  for (const catalog::EngineClock& was : stock.engines)
    for (const catalog::EngineClock& is : mode.engines)
      if (was.name == is.name) compare(was.name, was.hz, is.hz);
  return lines;
}

// Cap and floor of one clock in one mode.
struct ClockRange {
  std::optional<std::int64_t> minimum;
  std::optional<std::int64_t> maximum;
  int line = 0;
};

class Checker {
 public:
  Checker(const Reading& reading, const Device& device, const catalog::Configuration& configuration)
      : file_(reading.configuration), device_(device), configuration_(configuration) {
    report_.configuration = configuration.id;
    report_.findings = reading.findings;
  }

  CheckReport run() {
    const std::vector<DeviceMode> stock = stock_modes(device_, configuration_);
    for (const PowerModel& model : file_.models) add(model, stock);
    for (const DeviceMode& mode : stock)
      if (std::none_of(report_.modes.begin(), report_.modes.end(), [&](const CheckedMode& one) {
            return one.mode.point.label == mode.point.label;
          }))
        report_.missing.push_back(mode.point.label);
    set_reach();
    std::stable_sort(report_.findings.begin(), report_.findings.end(),
                     [](const Finding& a, const Finding& b) { return a.line < b.line; });
    return std::move(report_);
  }

 private:
  void error(int line, std::string what) {
    report_.findings.push_back({Severity::error, line, std::move(what)});
  }
  void warn(int line, std::string what) {
    report_.findings.push_back({Severity::warning, line, std::move(what)});
  }

  void add(const PowerModel& model, const std::vector<DeviceMode>& stock) {
    CheckedMode checked;
    const StockMode stated = stated_mode(file_, model, device_);
    checked.mode = device_mode(device_, configuration_, stated);
    checked.name = model.name;
    checked.line = model.line;
    const auto known = std::find_if(stock.begin(), stock.end(), [&](const DeviceMode& one) {
      return one.point.label == checked.mode.point.label;
    });
    if (known == stock.end()) {
      checked.origin = ModeOrigin::added;
    } else {
      checked.differences = differences(*known, checked.mode);
      const StockMode& raw = configuration_.modes[static_cast<std::size_t>(known - stock.begin())];
      for (std::string& line : other_differences(raw, stated))
        checked.differences.push_back(std::move(line));
      if (!checked.differences.empty()) checked.origin = ModeOrigin::changed;
    }
    if (checked.origin != ModeOrigin::stock) check_values(model, checked.mode);
    report_.modes.push_back(std::move(checked));
  }

  // From the file's own default mode.
  void set_reach() {
    const auto from =
        std::find_if(report_.modes.begin(), report_.modes.end(),
                     [&](const CheckedMode& one) { return one.mode.id == file_.default_id; });
    if (from == report_.modes.end()) return;
    const DeviceMode origin = from->mode;
    for (CheckedMode& checked : report_.modes)
      checked.mode.reach = reach_between(device_, origin, checked.mode);
  }

  void check_values(const PowerModel& model, const DeviceMode& mode) {
    std::map<std::string, ClockRange> ranges;
    for (const Statement& statement : model.statements) {
      const auto value = parse_integer(statement.value);
      if (!value) continue;  // the reader has reported it
      const Knob knob = knob_of(file_, statement.parameter, statement.argument);
      switch (knob.kind) {
        case KnobKind::core:
          check_core(statement, knob.index, *value);
          break;
        case KnobKind::cpu_clock:
          check_clock(statement, knob, *value, cpu_domain(knob.index), 1e3);
          break;
        case KnobKind::gpu_clock:
          check_clock(statement, knob, *value, &configuration_.gpu, 1);
          break;
        case KnobKind::memory_clock:
          check_clock(statement, knob, *value, &configuration_.memory, 1);
          break;
        case KnobKind::tpc_mask:
          check_tpc_mask(statement, *value);
          break;
        case KnobKind::fbp_mask:
          check_fbp_mask(statement, *value);
          break;
        case KnobKind::dla_clock:
        case KnobKind::other:
          break;
      }
      if (knob.is_maximum || knob.is_minimum) {
        ClockRange& range = ranges[statement.parameter];
        (knob.is_maximum ? range.maximum : range.minimum) = value;
        range.line = statement.line;
      }
    }
    for (const auto& [parameter, range] : ranges)
      if (range.minimum && range.maximum && *range.maximum > 0 && *range.minimum > *range.maximum)
        error(range.line, fmt::format("{}: MIN_FREQ {} is above MAX_FREQ {}", parameter,
                                      *range.minimum, *range.maximum));
    check_caps_are_there(model, mode);
  }

  void check_core(const Statement& statement, int core, std::int64_t value) {
    const auto total = core_count(device_, configuration_);
    if (core == 0 && value == 0) error(statement.line, "core 0 cannot go offline");
    if (total && core >= *total) {
      const std::string what =
          fmt::format("{} has cores 0 to {}, not core {}", device_.id, *total - 1, core);
      value == 0 ? warn(statement.line, what) : error(statement.line, what);
    }
  }

  const catalog::ClockDomain* cpu_domain(int core) const {
    const auto numbers = core_numbers(device_);
    for (std::size_t cluster = 0; cluster < numbers.size(); ++cluster)
      if (std::find(numbers[cluster].begin(), numbers[cluster].end(), core) !=
              numbers[cluster].end() &&
          cluster < configuration_.cpu.size())
        return &configuration_.cpu[cluster];
    return nullptr;
  }

  // `unit` is what the file's numbers are multiples of: CPU clocks are in kHz, the others in Hz.
  void check_clock(const Statement& statement, const Knob& knob, std::int64_t value,
                   const catalog::ClockDomain* domain, double unit) {
    const bool is_free =
        value < 0 || (value == 0 && (knob.is_minimum || knob.kind == KnobKind::memory_clock));
    if (is_free || !domain) return;
    const std::vector<double> clocks = lockable_clocks(*domain);
    if (clocks.empty()) return;
    const double hz = static_cast<double>(value) * unit;
    const std::string knob_text = statement.parameter + " " + statement.argument;
    const auto is_possible = [&](double clock) {
      return clock >= 0.5 * clocks.front() && clock <= 1.05 * clocks.back();
    };
    if (hz > clocks.back() && !same_clock(hz, clocks.back())) {
      if (unit > 1 && is_possible(static_cast<double>(value)))
        error(statement.line,
              fmt::format("{} {} looks like Hz, CPU clocks are in kHz", knob_text, value));
      else if (domain->ceiling_hz)
        warn(statement.line, fmt::format("{} is above the ceiling of {}, where the firmware holds "
                                         "it",
                                         knob_text, clock_text(clocks.back())));
      return;
    }
    if (hz < clocks.front() && !same_clock(hz, clocks.front())) {
      if (unit == 1 && is_possible(hz * 1e3))
        error(statement.line,
              fmt::format("{} {} looks like kHz, this clock is in Hz", knob_text, value));
      else if (domain->complete)
        warn(statement.line, fmt::format("{} is below the lowest step of {}", knob_text,
                                         clock_text(clocks.front())));
      return;
    }
    const auto [below, above] = neighbours(*domain, hz);
    if (below && above && *below != *above)
      warn(statement.line,
           fmt::format("{} of {} lies between the steps {} and {}, the board "
                       "rounds it silently",
                       knob_text, clock_text(hz), clock_text(*below), clock_text(*above)));
  }

  void check_tpc_mask(const Statement& statement, std::int64_t value) {
    if (value < 0 || value > UINT32_MAX) {
      error(statement.line, fmt::format("{} is not a mask", value));
      return;
    }
    const auto mask = static_cast<std::uint32_t>(value);
    const bool is_known =
        std::any_of(configuration_.modes.begin(), configuration_.modes.end(),
                    [&](const StockMode& mode) { return mode.tpc_pg_mask == mask; });
    if (is_known || !device_.gpu) return;
    const auto units = multiprocessors_on(*device_.gpu, mask);
    const auto& all = device_.gpu->multiprocessors;
    if (units && *units <= 0)
      error(statement.line, fmt::format("TPC_PG_MASK {} switches every TPC off", value));
    else if (units && all && *units > static_cast<int>(all->value))
      error(statement.line, fmt::format("TPC_PG_MASK {} leaves {} SMs on, {} has {}", value, *units,
                                        device_.id, all->value));
    else
      warn(statement.line, fmt::format("TPC_PG_MASK {} is in no stock mode, whether it works is "
                                       "not known",
                                       value));
  }

  void check_fbp_mask(const Statement& statement, std::int64_t value) {
    const bool is_known = std::any_of(
        configuration_.modes.begin(), configuration_.modes.end(), [&](const StockMode& mode) {
          return mode.fbp_pg_mask && static_cast<std::int64_t>(*mode.fbp_pg_mask) == value;
        });
    if (!is_known)
      warn(statement.line, fmt::format("FBP_PG_MASK {} is in no stock mode, whether it works is "
                                       "not known",
                                       value));
  }

  // What a mode does not set stays as the mode before left it.
  void check_caps_are_there(const PowerModel& model, const DeviceMode& mode) {
    const auto clusters_on = static_cast<std::size_t>(
        std::count_if(mode.cores.begin(), mode.cores.end(), [](int cores) { return cores > 0; }));
    std::string missing;
    const auto note = [&](const char* knob) {
      missing += (missing.empty() ? "" : ", ") + std::string(knob);
    };
    if (mode.point.cpu_hz.size() < clusters_on) note("CPU");
    if (!mode.gpu_limit && device_.gpu) note("GPU");
    if (!mode.memory_limit) note("memory");
    if (!missing.empty())
      warn(model.line, fmt::format("{} sets no cap for: {}; that stays as the mode before left it",
                                   model.name, missing));
  }

  const Configuration& file_;
  const Device& device_;
  const catalog::Configuration& configuration_;
  CheckReport report_;
};

}  // namespace

CheckReport check(const Reading& reading, const Device& device,
                  const catalog::Configuration& configuration) {
  return Checker(reading, device, configuration).run();
}

const catalog::Configuration& closest_configuration(const Configuration& file,
                                                    const Device& device) {
  const catalog::Configuration* closest = &device.configurations.front();
  std::ptrdiff_t most = -1;
  for (const catalog::Configuration& one : device.configurations) {
    const CheckReport report = check({file, {}}, device, one);
    const auto common =
        std::count_if(report.modes.begin(), report.modes.end(),
                      [](const CheckedMode& mode) { return mode.origin == ModeOrigin::stock; });
    if (common <= most) continue;
    most = common;
    closest = &one;
  }
  return *closest;
}

}  // namespace ridgeline::nvpmodel
