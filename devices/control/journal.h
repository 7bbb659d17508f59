// The journal of a changed machine: what each node held before the first change, on which boot.
// It is on disk before a node is written, and gone when all of them are back.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/tokens.h"

namespace ridgeline::control {

// `changing`: the process was to put everything back itself, or died on the way. `kept`: a user set
// this mode and may restore what was before.
enum class JournalState { changing, kept };

struct JournalEntry {
  std::string node, original;

  friend bool operator==(const JournalEntry&, const JournalEntry&) = default;
};

struct Journal {
  static constexpr std::string_view schema = "ridgeline.control_journal/1";
  std::string boot;   // id of the boot on which it was written
  std::string asked;  // "gpu=612MHz,cores=4"
  JournalState state = JournalState::changing;
  std::vector<JournalEntry> entries;

  const std::string* original(std::string_view node) const;  // nullptr: not changed by us

  friend bool operator==(const Journal&, const Journal&) = default;
};

std::string journal_text(const Journal& journal);

// A damaged text, or a node that is never written, is an Error; `where` names the file.
Journal parse_journal(const std::string& text, const std::string& where);

}  // namespace ridgeline::control

namespace ridgeline {

template <>
struct TokenTable<control::JournalState> {
  static constexpr std::string_view noun = "state of a journal";
  static constexpr std::array<std::pair<control::JournalState, std::string_view>, 2> rows{
      {{control::JournalState::changing, "changing"}, {control::JournalState::kept, "kept"}}};
};

}  // namespace ridgeline
