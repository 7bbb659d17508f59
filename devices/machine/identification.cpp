// Reads what the system calls itself and looks it up.
// A machine as a device of its own is made in identification_device.cpp.
#include "devices/machine/identification.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "base/error.h"

namespace ridgeline {
namespace {

std::string file_bytes(const SystemRoot& root, const std::string& path) {
  std::ifstream file(root.at(path), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.';
}

// "nvidia,p3768-0000+p3767-0005-super\0nvidia,tegra234\0" → p3768-0000, p3767-0005-super, tegra234;
// the vendors' names are words too and hurt nobody.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (is_word(c))
      words.back() += c;
    else if (!words.back().empty())
      words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

constexpr std::string_view super_suffix = "-super";

// A number such as "p3668" stands for every variant of that board.
bool fits(const std::string& word, const std::string& listed) {
  if (word == listed) return true;
  const bool is_board_number = listed.size() == 5 && listed.front() == 'p';
  return is_board_number && word.starts_with(listed + "-");
}

std::string find_in_catalog(const std::vector<std::string>& words) {
  for (const catalog::IndexRow& row : catalog::index()) {
    if (!row.id.starts_with("jetson-")) continue;  // only they have device trees
    for (const std::string& listed : catalog::load(row.id).device_trees)
      for (const std::string& word : words)
        if (fits(word, listed)) return std::string(row.id);
  }
  return {};
}

// "# R36 (release), REVISION: 4.3, GCID: …" → "36.4.3".
std::string l4t_release(const SystemRoot& root) {
  const std::string line = first_line(root, "etc/nv_tegra_release").value_or("");
  int major = 0;
  char revision[16] = {};
  if (std::sscanf(line.c_str(), "# R%d (release), REVISION: %15[0-9.]", &major, revision) != 2)
    return {};
  return std::to_string(major) + "." + revision;
}

std::string dmi_name(const SystemRoot& root) {
  const std::string folder = "sys/class/dmi/id/";
  const std::string vendor = first_line(root, folder + "sys_vendor").value_or("");
  const std::string product = first_line(root, folder + "product_name").value_or("");
  if (vendor.empty() || product.starts_with(vendor)) return product;
  return product.empty() ? vendor : vendor + " " + product;
}

struct Release {
  int major, minor, patch;
  const char* jetpack;
};

// First release of Jetson Linux of each JetPack, newest first (NVIDIA's JetPack archive).
constexpr auto releases = std::to_array<Release>({{38, 0, 0, "7"},
                                                  {36, 4, 3, "6.2"},
                                                  {36, 4, 0, "6.1"},
                                                  {36, 0, 0, "6.0"},
                                                  {35, 2, 0, "5.1"},
                                                  {34, 0, 0, "5.0"},
                                                  {32, 0, 0, "4"}});

}  // namespace

std::string jetpack_of(const std::string& l4t) {
  int major = 0, minor = 0, patch = 0;
  if (std::sscanf(l4t.c_str(), "%d.%d.%d", &major, &minor, &patch) < 2) return {};
  for (const Release& release : releases) {
    const auto numbers = std::array{major, minor, patch};
    if (numbers >= std::array{release.major, release.minor, release.patch}) return release.jetpack;
  }
  return {};
}

Identity identify(const SystemRoot& root) {
  Identity identity;
  for (std::string& word : words_of(file_bytes(root, "proc/device-tree/compatible"))) {
    if (word.ends_with(super_suffix)) {
      identity.super_firmware = true;
      word.resize(word.size() - super_suffix.size());
    }
    if (word.starts_with("tegra")) identity.chip = "T" + word.substr(5);
    const auto known = std::find(identity.compatible.begin(), identity.compatible.end(), word);
    if (known == identity.compatible.end()) identity.compatible.push_back(std::move(word));
  }
  identity.board = first_line(root, "proc/device-tree/model").value_or("");
  while (!identity.board.empty() && identity.board.back() == '\0') identity.board.pop_back();
  if (identity.board.empty()) identity.board = dmi_name(root);
  identity.l4t = l4t_release(root);
  identity.jetpack = jetpack_of(identity.l4t);
  if (!identity.compatible.empty()) identity.catalog_id = find_in_catalog(identity.compatible);
  return identity;
}

const catalog::Configuration& present_configuration(const Identity& identity,
                                                    const catalog::Device& device) {
  const auto is_super = [](const catalog::Configuration& each) { return each.id == "super"; };
  const auto& all = device.configurations;
  if (const auto found = std::find_if(all.begin(), all.end(), is_super); found != all.end()) {
    // The name of the device tree tells the firmware better than any release.
    if (identity.super_firmware) return *found;
    for (const catalog::Configuration& each : all)
      if (!is_super(each)) return each;
  }
  try {
    return catalog::configuration(device, identity.jetpack);
  } catch (const Error&) {
    return all.front();  // a release that the catalog does not know
  }
}

}  // namespace ridgeline
