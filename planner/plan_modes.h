// The modes among which a plan chooses: all of a device, or its stock ones, with how each can be
// entered from the present one. Which is best is choice.h's.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/mode_request.h"
#include "base/operating_point.h"
#include "devices/modes/mode_filter.h"
#include "devices/modes/mode_space.h"

namespace ridgeline {

struct PlanMode {
  OperatingPoint point;  // with a label where it is a stock mode
  Reach reach = Reach::live;
  bool stock = false;
  bool allowed = true;  // false: only compared with

  // Whether it may be chosen where modes are to be entered so.
  bool is_choice(Reach wanted) const {
    return allowed && (wanted == Reach::reboot || reach == Reach::live);
  }
};

struct PlanModes {
  std::vector<PlanMode> modes;              // the stock ones first
  std::optional<std::size_t> default_mode;  // that the device boots into
  std::vector<std::string> notes;           // what is not known of them
  // live: only modes that can be entered without a reboot are chosen.
  Reach reach = Reach::reboot;
};

struct ModeWishes {
  bool stock_only = false;
  Reach reach = Reach::reboot;
  ModeFilter filter;
};

// `from` is the mode that the device is in. An Error with ExitCode::infeasible where nothing is
// left.
PlanModes plan_modes(const catalog::Device& device, const catalog::Configuration& configuration,
                     const DeviceMode& from, const ModeWishes& wishes);

// A machine that has one mode.
PlanModes single_mode(const OperatingPoint& point);

// Lower clocks first: by GPU, memory and CPU clock, cores, SMs.
bool has_lower_clocks(const OperatingPoint& a, const OperatingPoint& b);

// Whether two modes are so close that a person would not tell them apart: equal SMs, every clock
// within 15 %, cores within 2.
bool is_near(const OperatingPoint& a, const OperatingPoint& b);

// The stock mode whose knobs are nearest by ratio; equal SMs go before all else.
std::optional<std::size_t> nearest_stock(const PlanModes& modes, const OperatingPoint& point);

}  // namespace ridgeline
