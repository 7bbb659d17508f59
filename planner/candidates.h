// The modes among which a plan chooses: all modes of a device or its stock modes, with how each can
// be entered from the present one.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/mode_request.h"
#include "base/operating_point.h"
#include "devices/modes/mode_filter.h"
#include "devices/modes/mode_space.h"

namespace ridgeline {

struct CandidateMode {
  OperatingPoint point;  // with a label if it is a stock mode
  Reach reach = Reach::live;
  bool stock = false;
  bool allowed = true;         // false: only for comparison
  std::optional<int> id = {};  // nvpmodel's number of a stock mode

  // Whether a plan may choose it; with Reach::live only if it needs no reboot.
  bool is_eligible(Reach within) const {
    return allowed && (within == Reach::reboot || reach == Reach::live);
  }
};

struct CandidateModes {
  std::vector<CandidateMode> modes;         // stock modes first
  std::optional<std::size_t> default_mode;  // that the device boots into
  std::vector<std::string> notes;           // what is unknown about the modes
  Reach reach = Reach::reboot;              // live: modes that need a reboot are not eligible
  std::optional<catalog::Kind> kind;        // of the device; absent for a measured machine

  bool is_eligible(std::size_t mode) const { return modes[mode].is_eligible(reach); }
};

// The knobs that a plan may set; the others stay as in a stock mode. `cpu` is clock and cores.
struct TunedKnobs {
  bool gpu = true, memory = true, cpu = true, units = true;

  bool all() const { return gpu && memory && cpu && units; }
};

struct CandidateOptions {
  bool stock_only = false;
  Reach reach = Reach::reboot;
  ModeFilter filter{};
  TunedKnobs tuned{};  // beside those that the filter names
  // What the rest of the application needs; modes with less are not eligible.
  int least_cores = 0;
  double least_cpu_hz = 0;
};

// `from` is the mode that the device is in. If no mode is left: an Error with
// ExitCode::infeasible.
CandidateModes candidate_modes(const catalog::Device& device,
                               const catalog::Configuration& configuration, const DeviceMode& from,
                               const CandidateOptions& options);

// For a machine that has one mode.
CandidateModes single_mode(const OperatingPoint& point);

// Order by GPU clock, then memory clock, CPU clock, cores and SMs.
bool has_lower_clocks(const OperatingPoint& a, const OperatingPoint& b);

// Whether two modes are practically the same: equal SMs, every clock within 15 %, cores within 2.
bool is_near(const OperatingPoint& a, const OperatingPoint& b);

// The stock mode whose knobs are nearest by ratio; one with equal SMs if there is one.
std::optional<std::size_t> nearest_stock(const CandidateModes& modes, const OperatingPoint& point);

// The shell command that enters the mode and holds its clocks; empty if there is none.
std::string enter_command(const CandidateModes& modes, const CandidateMode& mode);

// The label of a stock mode, else its vector in the grammar of --mode.
std::string mode_name(const OperatingPoint& point);

}  // namespace ridgeline
