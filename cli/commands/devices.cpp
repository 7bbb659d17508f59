// `ridgeline devices`: this machine and the catalog, or one device with all that is known of it.
// Looks only; what a device really does is measured by `ridgeline measure`.
#include <future>
#include <ostream>
#include <string>
#include <vector>

#include "base/json.h"
#include "cli/answer.h"
#include "devices/machine/identification.h"
#include "devices/modes/present_mode.h"
#include "report/device.h"

namespace ridgeline::cli {
namespace {

void declare_devices(OptionsDescription& options) {
  options.add_flag("missing", "list only the numbers that no source states");
}

// Every file of the catalog is read, which is most of the command's time: half of them at a time.
std::vector<DeviceRow> catalog_rows() {
  const auto index = catalog::index();
  std::vector<DeviceRow> rows(index.size());
  const auto read = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) rows[i] = device_row(catalog::load(index[i].id));
  };
  const std::size_t half = index.size() / 2;
  std::future<void> other = std::async(std::launch::async, read, 0, half);
  read(half, index.size());
  other.get();
  return rows;
}

DeviceList catalog_list(const SystemRoot& root) {
  DeviceList list;
  const Identity identity = identify(root);
  const catalog::Device here = this_device(identity, root);
  list.device = device_here(identity, here);
  list.here = device_row(here);
  list.mode = present_mode(root);
  list.devices = catalog_rows();
  return list;
}

ExitCode print_list(const Options& options, Console& console) {
  if (flag(options, "missing"))
    throw usage_error("--missing", "needs a device",
                      "write for example 'ridgeline devices a100-40gb-pcie --missing'");
  const DeviceList list = catalog_list({});
  Answer answer;
  answer.text = [&](std::ostream& out) { out << list_text(list, console.width); };
  answer.json = [&](std::ostream& out) { out << dump_json(to_json(list)); };
  answer.csv = [&](std::ostream& out) { out << list_csv(list); };
  write_answer(answer, options, console);
  return ExitCode::ok;
}

ExitCode run_devices(const Options& options, Console& console) {
  const auto words = positional(options);
  if (words.empty()) return print_list(options, console);
  if (flag(options, "csv"))
    throw usage_error("--csv", "only the list has a table", "use --json for one device");
  const DeviceFacts facts = device_facts(named_device(words.front(), "devices"));
  Answer answer;
  answer.text = [&](std::ostream& out) {
    out << (flag(options, "missing") ? missing_text(facts, console.width)
                                     : device_text(facts, console.width));
  };
  answer.json = [&](std::ostream& out) { out << dump_json(to_json(facts)); };
  write_answer(answer, options, console);
  return ExitCode::ok;
}

}  // namespace

Command devices_command() {
  return {.name = "devices",
          .summary = "this machine and the catalog of devices, with sources",
          .positional = "[DEVICE]",
          .max_positional = 1,
          .description =
              "Without DEVICE: this machine, and the catalog as a table. With DEVICE: its units, "
              "peaks per data type, memory, clock tables, power modes, rails and the starting "
              "values of a fit, each number with its source. Numbers that no source states are "
              "left out; --missing lists them. Names are ids or aliases; case does not matter.",
          .examples = {{"devices", "this machine, and the catalog"},
                       {"devices jetson-agx-orin-64gb", "everything about a device"},
                       {"devices a100-40gb-pcie --missing", "numbers that no source states"},
                       {"devices t4 --json", "the same as JSON, for scripts"}},
          .add_options = declare_devices,
          .run = run_devices};
}

}  // namespace ridgeline::cli
