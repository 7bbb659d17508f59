// Conditions: how a network runs and is measured: operating point, runtime, locked clocks or a
// governor, and where power is read.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "base/operating_point.h"
#include "base/runtime.h"
#include "base/tokens.h"

namespace ridgeline {

// Rails of the module · the card as NVML sees it · at the plug.
enum class PowerKind { module, board, wall };

template <>
struct TokenTable<PowerKind> {
  static constexpr std::string_view noun = "kind of power";
  static constexpr std::array<std::pair<PowerKind, std::string_view>, 3> rows{
      {{PowerKind::module, "module"}, {PowerKind::board, "board"}, {PowerKind::wall, "wall"}}};
};

struct Conditions {
  OperatingPoint point;  // with a governor: the caps
  Runtime runtime = Runtime::ideal;
  bool locked = true;  // false: a governor moves the clocks below the caps
  PowerKind power_kind = PowerKind::module;

  friend bool operator==(const Conditions&, const Conditions&) = default;
};

}  // namespace ridgeline
