// From a wanted mode to the values of nodes, and the order in which they are written. Everything
// that must be refused is refused here, before anything is written.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/mode_request.h"
#include "devices/catalog/catalog.h"
#include "devices/control/knobs.h"
#include "devices/modes/mode_space.h"

namespace ridgeline::control {

// A mode as nodes can hold it. What is absent is left as it is.
struct Wanted {
  std::optional<int> nvpmodel;  // first the stock mode, then the rest
  std::optional<double> gpu_hz, memory_hz, cpu_hz;
  std::vector<int> cpus_on = {};        // empty: as they are
  std::optional<double> cap_w;          // of a card
  bool locked = false;                  // clocks held at these values; else only capped
  std::vector<std::string> notes = {};  // about steps that were rounded
};

struct Change {
  std::string knob;  // "GPU clock, upper limit"
  std::string node;
  std::string from, to;  // values of the node

  friend bool operator==(const Change&, const Change&) = default;
};

// "612 MHz" for 612000000 in a node of a clock; other values as they are.
std::string value_text(const std::string& node, const std::string& value);

// Whether the mode has another TPC mask than the one in force: ridgeline never writes a mask.
bool needs_reboot(const Knobs& knobs, const DeviceMode& mode);

// What a request asks of this machine. Steps come from the system's own tables, else from the
// catalog. Unknown modes, clocks outside a table and cores that the machine does not have are usage
// errors, other SMs than now an Error with ExitCode::infeasible; `where` names the option.
Wanted wanted_mode(const Knobs& knobs, const catalog::Device& device,
                   const catalog::Configuration& configuration, const ModeRequest& request,
                   bool locked, const std::string& where);

// Values of nodes before ridgeline changed them; the present value if it did not.
using Original = std::function<std::optional<std::string>(const std::string& node)>;

// The nodes that differ from what is wanted, in the order of writing. What a cap of the present
// mode forbids is an Error with ExitCode::infeasible.
std::vector<Change> changes_to(const World& world, const Knobs& knobs, const Wanted& wanted,
                               const Original& original);

// nvpmodel first, CPUs on, limits of clocks such that no minimum is ever above its maximum, the
// memory's lock before its rate and freed after it, CPUs off last and from the highest number.
std::vector<Change> in_order(const World& world, std::vector<Change> changes);

}  // namespace ridgeline::control
