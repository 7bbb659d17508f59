// Words to fields; an empty word is one that was not given.
#include "cli/requests/machine.h"

#include "base/units.h"

namespace ridgeline::cli {

void add_machine_options(OptionsDescription& options) {
  options.add_text(
      "on", "DEVICE|FILE",
      "machine: a name of the catalog, a fitted model or a profile; default: this machine");
  options.add_text(
      "mode", "MODE",
      "a label such as 30W or caps such as gpu=612MHz,sm=8; default: the device's own default, the "
      "profile's first");
  options.add_text("jetpack", "RELEASE",
                   "modes and clocks of a device with this release; default: the newest");
  options.add_integer(
      "threads", "N",
      "of a profile: the rows with N threads; default: the most that were measured");
}

void add_board_offset_option(OptionsDescription& options) {
  options.add_text("board-offset", "WATT",
                   "power of the carrier board that is to be added, for example 5.5W");
}

MachineRequest machine_request(const Options& options) {
  MachineRequest request;
  request.on = options.text_or_empty("on");
  request.mode = options.text_or_empty("mode");
  request.jetpack = options.text_or_empty("jetpack");
  if (options.has("threads")) request.threads = options.integer("threads");
  if (const auto watts = options.word("board-offset"))
    request.board_offset_w = parse_watts(*watts, "--board-offset");
  return request;
}

}  // namespace ridgeline::cli
