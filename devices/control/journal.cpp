// JSON, so that a user can read what would be written back.
#include "devices/control/journal.h"

#include "base/json.h"
#include "devices/control/world.h"

namespace ridgeline::control {

const std::string* Journal::original(std::string_view node) const {
  for (const JournalEntry& entry : entries)
    if (entry.node == node) return &entry.original;
  return nullptr;
}

std::string journal_text(const Journal& journal) {
  return dump_json({{"schema", Journal::schema},
                    {"boot", journal.boot},
                    {"asked", journal.asked},
                    {"state", to_string(journal.state)},
                    {"originals", array_of(journal.entries, [](const JournalEntry& entry) {
                       return Json{{"node", entry.node}, {"value", entry.original}};
                     })}});
}

Journal parse_journal(const std::string& text, const std::string& where) {
  const Json json = parse_json(text, where);
  const JsonCursor document = file_cursor(json, where);
  check_schema(document, Journal::schema);
  Journal journal;
  journal.boot = document.at("boot").text();
  journal.asked = document.at("asked").text();
  journal.state = document.at("state").token<JournalState>();
  for (const JsonCursor& item : document.at("originals").items()) {
    JournalEntry entry{item.at("node").text(), item.at("value").text()};
    if (const std::string why = why_never_written(entry.node); !why.empty())
      item.fail(entry.node + " " + why);
    journal.entries.push_back(std::move(entry));
  }
  return journal;
}

}  // namespace ridgeline::control
