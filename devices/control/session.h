// One stay of ridgeline among the knobs: takes the lock, puts back what an earlier one left, writes
// a mode, reads it back, and restores at the end unless the mode is to be kept.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "devices/control/changes.h"
#include "devices/control/journal.h"
#include "devices/control/knobs.h"
#include "devices/control/world.h"

namespace ridgeline::control {

// A user's own mode and a sweep have a journal each: a sweep returns to the user's mode.
inline constexpr const char* user_journal = "set.json";
inline constexpr const char* sweep_journal = "sweep.json";

// A node that was written, and what the kernel made of it.
struct Written {
  Change change;
  std::string got;
  bool rounded = false;  // the kernel chose another value than the one that was written
};

// What was put back, in words, for the user.
struct Restored {
  std::vector<Change> changes;     // `to` is the original
  std::vector<std::string> notes;  // "from before the last boot: only nvpmodel's mode …"
};

class Session {
 public:
  // Takes the lock. Journals of processes that died are restored first; `notes` says so.
  Session(World& world, const char* journal);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();  // restores, unless keep() was called

  const std::vector<std::string>& notes() const { return notes_; }
  const std::vector<Change>& restored_first() const { return restored_first_; }
  bool has_changes() const { return !journal_.entries.empty(); }
  const Journal& journal() const { return journal_; }

  // What a node held before ridgeline changed it: a session of its own, or a user's mode.
  std::optional<std::string> original(const std::string& node) const;

  // What set() would write.
  std::vector<Change> preview(const Wanted& wanted) const;

  // Journal, write, read back. Where anything fails, everything is back where it was before the
  // Error passes on.
  std::vector<Written> set(const Wanted& wanted, const std::string& asked);

  // The mode stays after the end, and the journal with it.
  void keep();

  // Everything back; an Error names the nodes that could not be, and the journal stays.
  Restored restore();

 private:
  std::vector<Written> write(const std::vector<Change>& changes);
  void remember(const std::vector<Change>& changes, const std::string& asked);

  World& world_;
  std::string name_;
  Journal journal_;  // of this session
  Journal beneath_;  // of a user's mode, while a sweep runs
  std::vector<std::string> notes_;
  std::vector<Change> restored_first_;
  bool kept_ = false;
};

// The journal of that name as it is on disk; absent if there is none.
std::optional<Journal> present_journal(const World& world, const char* name);

// What a session would write, without starting one: an ordinary user may look.
std::vector<Change> preview(const World& world, const Wanted& wanted);

}  // namespace ridgeline::control
