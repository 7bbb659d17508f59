// CPUs that go on or off are one line; every other node has its own.
#include "report/mode_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/json.h"
#include "base/text_table.h"
#include "devices/modes/mode_space.h"

namespace ridgeline {
namespace {

using control::Change;
using control::value_text;

std::string_view kind_word(ModeChange::Kind kind) {
  switch (kind) {
    case ModeChange::Kind::preview:
      return "preview";
    case ModeChange::Kind::applied:
      return "applied";
    case ModeChange::Kind::restored:
      return "restored";
    case ModeChange::Kind::reboot:
      return "reboot";
  }
  return "?";
}

// A change with what was read back; empty where nothing was written.
struct ChangeLine {
  Change change;
  std::string got;
  bool rounded = false;
};

std::vector<ChangeLine> change_lines(const ModeChange& change) {
  std::vector<ChangeLine> lines;
  for (const Change& each : change.changes) lines.push_back({each, {}, false});
  for (const control::Written& each : change.written)
    lines.push_back({each.change, each.got, each.rounded});
  return lines;
}

bool is_switch(const ChangeLine& line) { return line.change.node.ends_with("/online"); }

std::string node_path(const std::string& node) {
  return node.find(':') == std::string::npos || node.starts_with("sys/") ? '/' + node : node;
}

TextTable change_table(const ModeChange& change) {
  const bool has_got = !change.written.empty();
  TextTable table{{{"knob"}, {"now", Align::right}, {"then", Align::right}}, {}};
  if (has_got) {
    table.columns[1].title = "before";
    table.columns[2].title = "asked";
    table.columns.push_back({"read back", Align::right});
  }
  if (change.kind == ModeChange::Kind::restored) {
    table.columns[1].title = "was";
    table.columns[2].title = "restored to";
  }
  table.columns.push_back({"file", Align::left, true, 1});
  int on = 0, off = 0;
  for (const ChangeLine& line : change_lines(change)) {
    const Change& each = line.change;
    if (is_switch(line)) {
      (each.to == "0" ? off : on) += 1;
      continue;
    }
    std::vector<std::string> cells{
        each.knob.empty() ? each.node.substr(each.node.rfind('/') + 1) : each.knob,
        each.from.empty() ? "" : value_text(each.node, each.from), value_text(each.node, each.to)};
    if (has_got)
      cells.push_back(value_text(each.node, line.got) + (line.rounded ? " (rounded)" : ""));
    cells.push_back(node_path(each.node));
    table.rows.push_back(std::move(cells));
  }
  const auto add_switch = [&](int count, const char* from, const char* to) {
    if (count == 0) return;
    std::vector<std::string> cells{fmt::format("{} CPU{}", count, count == 1 ? "" : "s"), from, to};
    if (has_got) cells.emplace_back(to);
    cells.emplace_back("/sys/devices/system/cpu/cpu*/online");
    table.rows.push_back(std::move(cells));
  };
  add_switch(on, "off", "on");
  add_switch(off, "on", "off");
  return table;
}

std::string reboot_text(const ModeChange& change) {
  std::string text =
      fmt::format("{} has {} SMs on, which is not how the GPU runs now: that needs a reboot.\n",
                  change.asked, change.units ? std::to_string(*change.units) : "other");
  if (change.nvpmodel_id)
    text += fmt::format("  sudo nvpmodel -m {}\n  sudo reboot\n", *change.nvpmodel_id);
  if (!change.offer.empty())
    text += fmt::format("The same clocks on the SMs that are on now, without a reboot:\n  {}\n",
                        change.offer);
  return text;
}

}  // namespace

std::string mode_change_text(const ModeChange& change, int width) {
  std::string text = change.device;
  if (!change.present.label.empty()) text += ", mode " + change.present.label;
  text += '\n';
  for (const std::string& note : change.notes) text += note + '\n';
  if (change.kind == ModeChange::Kind::reboot) return text + '\n' + reboot_text(change);
  if (change_lines(change).empty())
    return text + (change.kind == ModeChange::Kind::restored
                       ? "nothing to restore: no knob was changed by ridgeline\n"
                       : "nothing to change: the machine is in this mode\n");
  text += '\n' + render_text(change_table(change), width) + '\n';
  switch (change.kind) {
    case ModeChange::Kind::preview:
      return text + "nothing was changed; add --apply to do it\n";
    case ModeChange::Kind::applied:
      return text + "undo with: sudo ridgeline modes restore\n";
    default:
      return text + "restored\n";
  }
}

std::string mode_change_json(const ModeChange& change) {
  Json rows = Json::array();
  for (const ChangeLine& line : change_lines(change))
    rows.push_back({{"knob", line.change.knob},
                    {"node", node_path(line.change.node)},
                    {"from", line.change.from},
                    {"to", line.change.to},
                    {"read_back", line.got.empty() ? Json() : Json(line.got)},
                    {"rounded", line.rounded}});
  Json reboot;
  if (change.kind == ModeChange::Kind::reboot) {
    Json commands = Json::array();
    if (change.nvpmodel_id)
      commands = {fmt::format("sudo nvpmodel -m {}", *change.nvpmodel_id), "sudo reboot"};
    reboot = {{"gpu_units", nullable(change.units)},
              {"commands", commands},
              {"offer", change.offer.empty() ? Json() : Json(change.offer)}};
  }
  return dump_json({{"schema", ModeChange::schema},
                    {"device", change.device},
                    {"asked", change.asked.empty() ? Json() : Json(change.asked)},
                    {"outcome", kind_word(change.kind)},
                    {"present", to_json(change.present)},
                    {"changes", rows},
                    {"reboot", reboot},
                    {"notes", Json(change.notes)}});
}

std::string mode_change_csv(const ModeChange& change) {
  TextTable table{{{"knob"}, {"node"}, {"from"}, {"to"}, {"read_back"}, {"rounded"}}, {}};
  for (const ChangeLine& line : change_lines(change))
    table.rows.push_back({line.change.knob, node_path(line.change.node), line.change.from,
                          line.change.to, line.got, line.rounded ? "yes" : "no"});
  return render_csv(table);
}

}  // namespace ridgeline
