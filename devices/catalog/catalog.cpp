// Finding a device in the catalog and a configuration in a device.
// The index is generated from the files; a file is parsed when its device is first loaded.
#include "devices/catalog/catalog.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>

#include "base/file_kind.h"
#include "base/json.h"
#include "base/nearest.h"
#include "base/text.h"

namespace ridgeline::catalog {
namespace {

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const IndexRow& row : index()) names.emplace_back(row.id);
  for (const IndexRow& row : index())
    names.insert(names.end(), row.aliases.begin(), row.aliases.end());
  return names;
}

// "5" has "5.1" and "5.1.2" has "5.1": one is the other's beginning, number by number.
bool same_release(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  return b.starts_with(a) && (a.size() == b.size() || b[a.size()] == '.');
}

// "nvidiajetsonthor" is "thor".
std::string without_maker(std::string name) {
  for (const std::string_view maker : {"nvidia", "jetson"})
    if (name.starts_with(maker)) name.erase(0, maker.size());
  return name;
}

// "orin" is a part of seven names; a mistyped one is near to a single name.
std::string similar_devices(std::string_view name) {
  constexpr std::size_t most = 8, shortest = 3;
  const std::string part = plain_name(name);
  std::vector<std::string> names;
  for (const IndexRow& row : index())
    if (part.size() >= shortest && plain_name(row.id).find(part) != std::string::npos)
      names.emplace_back(row.id);
  if (names.empty())
    if (const auto guess = nearest(name, all_names())) names.push_back(*guess);
  if (names.empty() || names.size() > most) return "see 'ridgeline devices'";
  std::string text = "did you mean " + names.front();
  for (std::size_t i = 1; i < names.size(); ++i)
    text += (i + 1 < names.size() ? ", " : " or ") + names[i];
  return text + "?";
}

std::string releases_of(const Device& device) {
  std::string text;
  for (const Configuration& each : device.configurations)
    for (const std::string& release : each.jetpacks) text += (text.empty() ? "" : ", ") + release;
  return text;
}

// Each entry is parsed once: resolving `--on` alone needs it three times.
const Device& parsed(const IndexRow& row) {
  static std::mutex guard;
  static std::map<std::string_view, std::optional<Device>> devices;
  std::optional<Device>* device = nullptr;
  {
    const std::lock_guard lock(guard);
    device = &devices[row.id];
    if (*device) return **device;
  }
  const std::string file = "devices/catalog/" + std::string(row.id) + ".json";
  const Json document = parse_json(row.text, file);
  Device read = device_from_json(file_cursor(document, file));
  const std::lock_guard lock(guard);  // `devices` parses its entries in several threads
  if (!*device) *device = std::move(read);
  return **device;
}

}  // namespace

const IndexRow* find(std::string_view name) {
  for (const IndexRow& row : index())
    if (same_word(row.id, name)) return &row;
  for (const IndexRow& row : index())
    for (const std::string_view alias : row.aliases)
      if (same_word(alias, name)) return &row;
  const std::string wanted = without_maker(plain_name(name));
  for (const IndexRow& row : index()) {
    if (wanted == without_maker(plain_name(row.id))) return &row;
    for (const std::string_view alias : row.aliases)
      if (wanted == without_maker(plain_name(alias))) return &row;
  }
  return nullptr;
}

Device load(std::string_view name, const std::string& where) {
  const IndexRow* row = find(name);
  if (row == nullptr) {
    const std::string hint = file_kind(std::string(name)).hint;
    throw usage_error(where, "the catalog has no device " + quote(name),
                      hint.empty() ? similar_devices(name) : hint);
  }
  return parsed(*row);
}

const Configuration& configuration(const Device& device, std::string_view jetpack,
                                   const std::string& where) {
  if (jetpack.empty()) return device.configurations.front();
  for (const Configuration& each : device.configurations)
    for (const std::string& release : each.jetpacks)
      if (same_release(release, jetpack)) return each;
  const std::string known = releases_of(device);
  throw usage_error(where, device.id + " has no configuration for JetPack " + quote(jetpack),
                    known.empty() ? "it has no JetPack releases" : "known are " + known);
}

const Reference& reference(const Device& device, std::string_view id) {
  const auto found = std::find_if(device.references.begin(), device.references.end(),
                                  [&](const Reference& each) { return each.id == id; });
  if (found == device.references.end())
    throw Error(device.id, "the catalog entry has no source " + quote(id));
  return *found;
}

bool names_device(const std::string& word) {
  // A file wins over a device of the same name. A word that is neither is taken for a mistyped
  // device unless it looks like a path.
  if (word.empty() || std::filesystem::exists(word)) return false;
  const bool is_path = word.find('/') != std::string::npos || word.ends_with(".json");
  return !is_path || find(word) != nullptr;
}

}  // namespace ridgeline::catalog
