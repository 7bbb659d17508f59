// ModeRequest: the mode that a user wants, as caps on knobs. What the machine then does is an
// OperatingPoint. Text has one grammar: `30W`, `MAXN` or `gpu=612MHz,emc=2133MHz,cores=4`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/tokens.h"

namespace ridgeline {

// Whether the mode can be entered now, or only through a reboot.
enum class Reach { live, reboot };

template <>
struct TokenTable<Reach> {
  static constexpr std::string_view noun = "reach";
  static constexpr std::array<std::pair<Reach, std::string_view>, 2> rows{
      {{Reach::live, "live"}, {Reach::reboot, "reboot"}}};
};

struct ModeRequest {
  std::string label;                // name of a stock mode; empty for a list of caps
  std::optional<double> cap_w;      // cap=30W, or 30W alone
  std::optional<double> gpu_hz;     // gpu=612MHz
  std::optional<double> memory_hz;  // emc=2133MHz
  std::optional<double> cpu_hz;     // cpu=1.2GHz
  std::optional<int> cpu_cores;     // cores=4
  std::optional<int> gpu_units;     // sm=8
  bool locked = false;              // clocks held at their caps; false = left to the governor
  Reach reach = Reach::live;

  friend bool operator==(const ModeRequest&, const ModeRequest&) = default;
};

// Failures are usage errors; `where` names the option. A single word is a label, and a power cap
// too if it reads as one. `locked` and `reach` are not part of the grammar.
ModeRequest parse_mode_request(std::string_view text, const std::string& where = {});

// The label if there is one, else the caps in a fixed order: parse_mode_request reads it back.
std::string to_text(const ModeRequest& request);

Json to_json(const ModeRequest& request);
ModeRequest mode_request_from_json(const JsonCursor& cursor);

}  // namespace ridgeline
