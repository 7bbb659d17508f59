// Knobs are compared with the ceilings of the device's newest configuration.
#include "validation/measured_point.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/csv.h"
#include "devices/modes/mode_space.h"

namespace ridgeline {
namespace {

// A clock as its column has it.
std::string in_mhz(double hz) { return csv_number(hz / 1e6); }

struct Knob {
  const char* column;
  std::optional<double> stated;
  std::optional<double> ceiling;
};

std::optional<double> top_of(const std::vector<double>& clocks) {
  if (clocks.empty()) return std::nullopt;
  return *std::max_element(clocks.begin(), clocks.end());
}

std::array<Knob, 3> clocks_of(const StatedPoint& stated, const OperatingPoint& ceilings) {
  return {{{"gpu_mhz", stated.gpu_hz, ceilings.gpu_hz},
           {"memory_mhz", stated.memory_hz, ceilings.memory_hz},
           {"cpu_mhz", stated.cpu_hz, top_of(ceilings.cpu_hz)}}};
}

// Without a ceiling of the catalog: no clock of a processor is outside this range.
constexpr double slowest_hz = 10e6, fastest_hz = 20e9;

std::string wrong_unit_of(const Knob& knob) {
  if (!knob.stated) return {};
  const double least = knob.ceiling ? *knob.ceiling / 200 : slowest_hz;
  const double most = knob.ceiling ? *knob.ceiling * 20 : fastest_hz;
  if (*knob.stated > least && *knob.stated < most) return {};
  const bool is_large = *knob.stated >= most;
  // 1300500 is kHz, 1300500000 is Hz.
  const char* unit = !is_large ? "GHz" : *knob.stated < most * 1000 ? "kHz" : "Hz";
  return fmt::format(
      "{} {} looks like {}, about {} times {} (the column is in MHz{})", knob.column,
      in_mhz(*knob.stated), unit,
      unit[0] == 'k'   ? "1000"
      : unit[0] == 'H' ? "1000000"
                       : "1/1000",
      knob.ceiling ? "what the device can do" : "what a clock can be",
      knob.ceiling ? fmt::format(", the device reaches {}", in_mhz(*knob.ceiling)) : std::string());
}

}  // namespace

MeasuredDevice::MeasuredDevice(catalog::Device device) : device_(std::move(device)) {
  ceilings_ = resolve(device_, catalog::configuration(device_), {}).point;
}

std::string MeasuredDevice::wrong_unit(const StatedPoint& stated) const {
  for (const Knob& knob : clocks_of(stated, ceilings_))
    if (std::string text = wrong_unit_of(knob); !text.empty()) return text;
  return {};
}

std::string MeasuredDevice::out_of_range(const StatedPoint& stated) const {
  // Read-backs differ from the table by a rounding, and boards by a step.
  constexpr double tolerance = 1.05;
  for (const Knob& knob : clocks_of(stated, ceilings_))
    if (knob.stated && knob.ceiling && *knob.stated > *knob.ceiling * tolerance)
      return fmt::format("{} {} is above the {} of {}", knob.column, in_mhz(*knob.stated),
                         in_mhz(*knob.ceiling), device_.id);
  const auto too_many = [&](const char* column, std::optional<int> count, std::optional<int> most) {
    return count && most && *count > *most
               ? fmt::format("{} {}: {} has {}", column, *count, device_.id, *most)
               : std::string();
  };
  const std::string units = too_many("gpu_units", stated.gpu_units, ceilings_.gpu_units);
  return units.empty() ? too_many("cpu_cores", stated.cpu_cores, ceilings_.cpu_cores) : units;
}

OperatingPoint MeasuredDevice::unstated(const std::string& label) const {
  const catalog::Configuration& configuration = catalog::configuration(device_);
  for (const DeviceMode& mode : stock_modes(device_, configuration))
    if (mode.point.label == label) return mode.point;
  OperatingPoint point = ceilings_;
  if (configuration.modes.empty()) point.cap_w = default_mode(device_, configuration).point.cap_w;
  return point;
}

OperatingPoint MeasuredDevice::point(const StatedPoint& stated, bool locked) const {
  OperatingPoint point = unstated(stated.label);
  if (stated.gpu_units) point.gpu_units = stated.gpu_units;
  if (stated.gpu_hz) point.gpu_hz = stated.gpu_hz;
  if (stated.memory_hz) point.memory_hz = stated.memory_hz;
  if (stated.cpu_hz) point.cpu_hz = {*stated.cpu_hz};
  if (stated.cpu_cores) point.cpu_cores = stated.cpu_cores;
  if (locked && stated.gpu_hz) point.cap_w.reset();
  point.label = stated.label.empty() ? request_text(point) : stated.label;
  return point;
}

}  // namespace ridgeline
