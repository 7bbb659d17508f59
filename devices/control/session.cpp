// The order is always the same: journal, node, read back. CPUs that come online bring nodes with
// them, so clocks are worked out again after that, and journalled before they are written.
#include "devices/control/session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include "base/error.h"
#include "devices/modes/clock_table.h"

namespace ridgeline::control {
namespace {

std::string journal_path(const World& world, const std::string& name) {
  return world.root().at("var/lib/ridgeline/" + name);
}

bool same_value(const std::string& a, const std::string& b) {
  double x = 0, y = 0;
  const auto first = std::from_chars(a.data(), a.data() + a.size(), x);
  const auto second = std::from_chars(b.data(), b.data() + b.size(), y);
  if (first.ec != std::errc{} || second.ec != std::errc{}) return a == b;
  return x == y;
}

// Clocks of boards read up to half a percent off what was written.
bool close_enough(const std::string& a, const std::string& b) {
  if (same_value(a, b)) return true;
  double x = 0, y = 0;
  if (std::from_chars(a.data(), a.data() + a.size(), x).ec != std::errc{} ||
      std::from_chars(b.data(), b.data() + b.size(), y).ec != std::errc{})
    return false;
  return x > 1000 && y > 1000 && same_clock(x, y);
}

// What differs from the originals, as changes back.
std::vector<Change> changes_back(const World& world, const Journal& journal, bool same_boot) {
  std::vector<Change> changes;
  for (const JournalEntry& entry : journal.entries) {
    // After a reboot the kernel has its own values again; nvpmodel keeps its mode.
    if (!same_boot && entry.node != nvpmodel_mode) continue;
    const auto now = world.read(entry.node);
    // A card does not report locked clocks: they are freed in any case.
    if (entry.node != card_gpu_clock && now && same_value(*now, entry.original)) continue;
    changes.push_back({"", entry.node, now.value_or(""), entry.original});
  }
  return changes;
}

Restored put_back(World& world, const Journal& journal, const std::string& name) {
  Restored restored;
  const bool same_boot = journal.boot == world.boot_id();
  if (!same_boot)
    restored.notes.push_back(
        "the machine was booted since: the kernel's clocks and cores are its own again, and only "
        "nvpmodel's mode is put back");
  std::vector<std::string> failures;
  // nvpmodel sets other knobs too, and CPUs bring their clocks along: look again after each kind.
  const auto attempt = [&](const auto& is_meant) {
    std::vector<Change> changes = changes_back(world, journal, same_boot);
    std::erase_if(changes, [&](const Change& change) { return !is_meant(change); });
    for (const Change& change : in_order(world, std::move(changes))) {
      // Clocks of CPUs that were off before are gone with them.
      if (change.from.empty() && !world.read(change.node)) continue;
      try {
        world.write(change.node, change.to);
        const auto now = world.read(change.node);
        if (change.node != card_gpu_clock && (!now || !close_enough(*now, change.to)))
          failures.push_back(fmt::format("/{} is {} instead of {}", change.node,
                                         now.value_or("unreadable"), change.to));
        restored.changes.push_back(change);
      } catch (const Error& error) {
        failures.push_back(error.what());
      }
    }
  };
  const auto is_mode = [](const Change& change) { return change.node == nvpmodel_mode; };
  const auto is_on = [](const Change& change) {
    return change.node.ends_with("/online") && change.to != "0";
  };
  const auto is_off = [](const Change& change) {
    return change.node.ends_with("/online") && change.to == "0";
  };
  attempt(is_mode);
  attempt(is_on);
  attempt(
      [&](const Change& change) { return !is_mode(change) && !change.node.ends_with("/online"); });
  attempt(is_off);
  if (!failures.empty())
    throw Error(journal_path(world, name),
                fmt::format("not everything could be restored: {}", fmt::join(failures, "; ")),
                "run 'sudo ridgeline modes restore' again; the values are in this file");
  world.remove_journal(name);
  return restored;
}

std::string restored_text(const Journal& journal, const Restored& restored) {
  std::string text = fmt::format(
      "an earlier ridgeline ended while it had changed the mode ({}): {}", journal.asked,
      restored.changes.empty() ? std::string("nothing was left to restore")
                               : fmt::format("{} knob{} restored first", restored.changes.size(),
                                             restored.changes.size() == 1 ? "" : "s"));
  for (const std::string& note : restored.notes) text += "; " + note;
  return text;
}

}  // namespace

std::optional<Journal> present_journal(const World& world, const char* name) {
  const auto text = world.load_journal(name);
  if (!text) return std::nullopt;
  return parse_journal(*text, journal_path(world, name));
}

std::vector<Change> preview(const World& world, const Wanted& wanted) {
  const auto own = present_journal(world, user_journal);
  return changes_to(world, find_knobs(world), wanted, [&](const std::string& node) {
    const std::string* original = own ? own->original(node) : nullptr;
    return original ? std::optional(*original) : world.read(node);
  });
}

Session::Session(World& world, const char* journal) : world_(world), name_(journal) {
  world_.lock();
  // A sweep stands on top of a user's mode, so it goes first.
  for (const char* name : {sweep_journal, user_journal}) {
    const auto left = present_journal(world_, name);
    if (!left) continue;
    if (left->state == JournalState::kept && left->boot == world_.boot_id()) {
      (name_ == name ? journal_ : beneath_) = *left;
      continue;
    }
    const Restored restored = put_back(world_, *left, name);
    notes_.push_back(restored_text(*left, restored));
    restored_first_.insert(restored_first_.end(), restored.changes.begin(), restored.changes.end());
  }
  kept_ = has_changes();
}

Session::~Session() {
  if (kept_) return;
  try {
    restore();
  } catch (...) {  // the journal stays, and the next start tries again
  }
}

std::optional<std::string> Session::original(const std::string& node) const {
  for (const Journal* journal : {&beneath_, &journal_})  // the older one first
    if (const std::string* value = journal->original(node)) return *value;
  return world_.read(node);
}

std::vector<Change> Session::preview(const Wanted& wanted) const {
  return changes_to(world_, find_knobs(world_), wanted,
                    [&](const std::string& node) { return original(node); });
}

void Session::remember(const std::vector<Change>& changes, const std::string& asked) {
  Journal next = journal_;
  next.boot = world_.boot_id();
  next.asked = asked;
  next.state = JournalState::changing;
  for (const Change& change : changes)
    if (!next.original(change.node)) next.entries.push_back({change.node, change.from});
  if (next == journal_) return;
  world_.save_journal(name_, journal_text(next));
  journal_ = std::move(next);
}

std::vector<Written> Session::write(const std::vector<Change>& changes) {
  std::vector<Written> written;
  for (const Change& change : changes) {
    world_.write(change.node, change.to);
    if (change.node == card_gpu_clock) {  // cannot be read back
      written.push_back({change, change.to, false});
      continue;
    }
    const auto got = world_.read(change.node);
    if (!got) throw Error('/' + change.node, "cannot be read back");
    if (!close_enough(*got, change.to) && same_value(*got, change.from))
      throw change.node == nvpmodel_mode
          ? Error("nvpmodel",
                  fmt::format("took mode {} and the board is still in mode {}", change.to, *got),
                  "in a container: run ridgeline on the host")
          : Error(
                '/' + change.node,
                fmt::format("the kernel took {} and did nothing: it still is {}", change.to, *got),
                "in a container: run ridgeline on the host");
    written.push_back({change, *got, !close_enough(*got, change.to)});
  }
  return written;
}

std::vector<Written> Session::set(const Wanted& wanted, const std::string& asked) {
  const std::vector<Change> all = preview(wanted);  // refuses before anything is written
  for (const Change& change : all) world_.check_writable(change.node);
  std::vector<Written> written;
  if (all.empty()) return written;
  kept_ = false;
  try {
    const auto stage = [&](const auto& is_meant) {
      std::vector<Change> changes = preview(wanted);
      std::erase_if(changes, [&](const Change& change) { return !is_meant(change); });
      if (changes.empty()) return;
      remember(changes, asked);
      for (Written& each : write(changes)) written.push_back(std::move(each));
    };
    const auto is_mode = [](const Change& change) { return change.node == nvpmodel_mode; };
    const auto is_on = [](const Change& change) {
      return change.node.ends_with("/online") && change.to == "1";
    };
    if (std::ranges::any_of(all, is_mode)) {
      // nvpmodel moves nearly every knob: all of them go into the journal with it.
      std::vector<Change> moved = all;
      const Knobs knobs = find_knobs(world_);
      const auto add = [&](const std::string& node) {
        if (const auto now = world_.read(node); now && !node.empty())
          moved.push_back({"", node, *now, *now});
      };
      for (const ClockKnob& clock : knobs.cpu_clocks) {
        add(clock.min);
        add(clock.max);
      }
      if (knobs.gpu) {
        add(knobs.gpu->min);
        add(knobs.gpu->max);
      }
      add(knobs.memory_cap);
      for (const CpuKnob& cpu : knobs.cpus)
        if (!cpu.online.empty()) add(cpu.online);
      remember(moved, asked);
    }
    stage(is_mode);
    stage(is_on);
    stage([&](const Change& change) {
      return !is_mode(change) && !change.node.ends_with("/online");
    });
    stage([](const Change& change) { return change.node.ends_with("/online"); });
  } catch (const Error& error) {
    restore();
    throw Error(error.where(), error.cause() + "; everything was put back", error.fix(),
                error.code());
  }
  return written;
}

void Session::keep() {
  if (has_changes() && journal_.state != JournalState::kept) {
    Journal next = journal_;
    next.state = JournalState::kept;
    world_.save_journal(name_, journal_text(next));
    journal_ = std::move(next);
  }
  kept_ = true;
}

Restored Session::restore() {
  Restored restored;
  if (has_changes()) restored = put_back(world_, journal_, name_);
  journal_ = {};
  kept_ = true;
  return restored;
}

}  // namespace ridgeline::control
