// The power modes of a device as clock vectors: its stock modes, a requested one, or all of them.
// Nothing is set here, and what a board reads back may differ by a rounding.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mode_request.h"
#include "base/operating_point.h"
#include "base/tokens.h"
#include "devices/catalog/catalog.h"

namespace ridgeline {

// Who holds a clock down: the mode's own cap, or the limit of the board's firmware.
enum class ClockLimit { bpmp, nvpmodel };

template <>
struct TokenTable<ClockLimit> {
  static constexpr std::string_view noun = "limit of a clock";
  static constexpr std::array<std::pair<ClockLimit, std::string_view>, 2> rows{
      {{ClockLimit::bpmp, "bpmp"}, {ClockLimit::nvpmodel, "nvpmodel"}}};
};

struct DeviceMode {
  OperatingPoint point;   // its cap_w is a limit that hardware holds; stock modes have none
  std::optional<int> id;  // nvpmodel's number of a stock mode
  std::optional<double> budget_w;  // what the maker calls a stock mode: a name for its clocks
  std::optional<std::uint32_t> tpc_pg_mask;
  std::optional<std::uint32_t> fbp_pg_mask;
  std::vector<int> cores;               // online per cluster of the catalog; empty = not stated
  std::optional<ClockLimit> gpu_limit;  // nullopt where no ceiling is known
  std::optional<ClockLimit> memory_limit;
  std::optional<ClockLimit> cpu_limit;     // of the first cluster that is online
  Reach reach = Reach::live;               // from the configuration's default mode
  std::vector<std::string> between_steps;  // caps of a stock mode that are not lockable steps
  std::vector<std::string> notes;          // all else that was rounded or is not known
};

// The label is nvpmodel's name without MODE_; −1 and 0 become the ceilings. A cap between two
// lockable steps stays as written, with a note: only the board knows how it rounds.
std::vector<DeviceMode> stock_modes(const catalog::Device& device,
                                    const catalog::Configuration& configuration);

// A mode that nvpmodel's file describes, made into a vector as the stock ones are.
DeviceMode device_mode(const catalog::Device& device, const catalog::Configuration& configuration,
                       const catalog::StockMode& mode);

// The power that belongs to a mode in tables: a stock mode's budget, else a cap.
std::optional<double> stated_power_w(const DeviceMode& mode);

// A request as the device would run it: a stock mode by label or number, or caps per knob, where a
// knob that is not named stands at its ceiling. Clocks are rounded to the nearest lockable step,
// with a note. What the device cannot do is a usage error; `where` names the option.
DeviceMode resolve(const catalog::Device& device, const catalog::Configuration& configuration,
                   const ModeRequest& request, const std::string& where = "--mode");

// The same for a request as text: a label, or caps such as gpu=612MHz,cores=4.
DeviceMode named_mode(const catalog::Device& device, const catalog::Configuration& configuration,
                      const std::string& text, const char* option);

// The mode that the device boots into; without stock modes the one with every knob at its ceiling.
DeviceMode default_mode(const catalog::Device& device, const catalog::Configuration& configuration);

// A reboot is needed for another mask, and where a cluster is switched on or off as a whole unless
// the catalog says that this device does it live.
Reach reach_between(const catalog::Device& device, const DeviceMode& from, const DeviceMode& to);

// SMs that a mask leaves on; nullopt where the catalog does not say what its bits mean.
std::optional<int> multiprocessors_on(const catalog::GpuSpec& gpu,
                                      std::optional<std::uint32_t> tpc_pg_mask);

// All cores of the device, from its clusters or else from the mode with the most.
std::optional<int> core_count(const catalog::Device& device,
                              const catalog::Configuration& configuration);

// Cores online per cluster when `count` of all are: the clusters that a stock mode switches off are
// filled last.
std::vector<int> cores_per_cluster(const catalog::Device& device,
                                   const catalog::Configuration& configuration, int count);

// The vector in the grammar of requests: "gpu=612MHz,emc=2133MHz,cpu=1113.6MHz,cores=4,sm=8".
std::string request_text(const OperatingPoint& point);

}  // namespace ridgeline
