// Words to fields; an empty word is one that was not given.
#include "cli/requests/machine.h"

#include "base/units.h"

namespace ridgeline::cli {

void add_machine_options(OptionsDescription& options, const std::string& without) {
  options.add_text("on", "DEVICE|FILE",
                   "machine: a catalog device, a fitted model or a profile; default: " + without);
  options.add_text("mode", "MODE",
                   "power mode: a label such as 30W or caps such as gpu=612MHz,sm=8; default: the "
                   "device's default, or the profile's first");
  options.add_text("jetpack", "RELEASE",
                   "JetPack release that sets modes and clocks; default: the newest");
  options.add_integer("threads", "N",
                      "profiles only: use the rows measured with N threads; default: the most");
}

void add_board_offset_option(OptionsDescription& options) {
  options.add_text("board-offset", "WATT", "carrier-board power to add, for example 5.5W");
}

void add_host_cpu_option(OptionsDescription& options) {
  options.add_text("host-cpu", "NAME|FACTOR",
                   "graphics cards only: CPU of the server, for example 'Xeon 8480', or the speed "
                   "of one thread (1: EPYC 7742); default: 1, uncertain by 50 %");
}

MachineRequest machine_request(const Options& options) {
  MachineRequest request;
  request.on = options.text_or_empty("on");
  request.mode = options.text_or_empty("mode");
  request.jetpack = options.text_or_empty("jetpack");
  request.host_cpu = options.text_or_empty("host-cpu");
  if (options.has("threads")) request.threads = options.integer("threads");
  if (const auto watts = options.word("board-offset"))
    request.board_offset_w = parse_watts(*watts, "--board-offset " + *watts);
  return request;
}

Runtime usual_runtime(const MachineModel& model, bool trains) {
  return !trains && has_gpu(model) ? Runtime::tensorrt : Runtime::torch_eager;
}

}  // namespace ridgeline::cli
