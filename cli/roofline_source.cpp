// A file wins over a device of the same name. A word that is neither is taken for a mistyped device
// unless it looks like a path.
#include "cli/roofline_source.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "base/json.h"
#include "base/profile.h"
#include "cli/profile_store.h"
#include "devices/catalog_model.h"
#include "devices/identification.h"
#include "devices/mode_space.h"
#include "roofline/datasheet.h"

namespace ridgeline::cli {
namespace {

// The last part of the path; bytes that are not UTF-8 would make the JSON and the SVG invalid.
std::string display_name(const std::string& path) {
  const Json name = std::filesystem::path(path).filename().string();
  return Json::parse(name.dump(-1, ' ', false, Json::error_handler_t::replace)).get<std::string>();
}

bool is_device(const std::string& word) {
  if (word.empty() || std::filesystem::exists(word)) return false;
  const bool is_path = word.find('/') != std::string::npos || word.ends_with(".json");
  return !is_path || catalog::find(word) != nullptr;
}

std::string value_of(const Options& options, const char* name) {
  return options.count(name) ? options[name].as<std::string>() : std::string();
}

bool all_modes(const Options& options) { return value_of(options, "modes") == "all"; }

// The labels of --modes 15W,30W.
std::vector<std::string> wanted_labels(const Options& options) {
  std::vector<std::string> labels;
  std::istringstream text(value_of(options, "modes"));
  for (std::string label; std::getline(text, label, ',');) labels.push_back(label);
  return labels;
}

const ProfileMode& find_mode(const Profile& profile, const std::string& label, const char* option) {
  std::string known;
  for (const ProfileMode& mode : profile.modes) {
    if (mode.mode.label == label) return mode;
    known += (known.empty() ? "" : ", ") + mode.mode.label;
  }
  throw usage_error(option, "the profile has no mode " + quote(label), "it has " + known);
}

std::vector<Roofline> profile_rooflines(const std::string& path, const Options& options,
                                        RooflineOptions chosen, const Console& console) {
  if (options.count("jetpack"))
    throw usage_error("--jetpack", "a profile has the modes that were measured",
                      "give the name of a device");
  chosen.profile = display_name(path);
  const Profile profile = load_profile(path);
  std::vector<Roofline> rooflines;
  const auto add = [&](const ProfileMode& mode) {
    rooflines.push_back(roofline_of(mode, profile.machine, chosen));
  };
  if (all_modes(options))
    for (const ProfileMode& mode : profile.modes) add(mode);
  else if (options.count("modes"))
    for (const std::string& label : wanted_labels(options))
      add(find_mode(profile, label, "--modes"));
  else if (options.count("mode"))
    add(find_mode(profile, value_of(options, "mode"), "--mode"));
  else
    add(profile.modes.front());
  if (profile.modes.size() > 1 && !options.count("mode") && !options.count("modes"))
    console.talk("the profile has " + std::to_string(profile.modes.size()) +
                 " modes, this is the first; choose another with --mode");
  return rooflines;
}

std::vector<DeviceMode> asked_modes(const catalog::Device& device,
                                    const catalog::Configuration& configuration,
                                    const Options& options) {
  const auto one = [&](const std::string& text, const char* option) {
    return resolve(device, configuration, parse_mode_request(text, option), option);
  };
  if (all_modes(options)) {
    auto modes = stock_modes(device, configuration);
    if (modes.empty()) modes.push_back(default_mode(device, configuration));
    return modes;
  }
  std::vector<DeviceMode> modes;
  if (options.count("modes"))
    for (const std::string& label : wanted_labels(options)) modes.push_back(one(label, "--modes"));
  else if (options.count("mode"))
    modes.push_back(one(value_of(options, "mode"), "--mode"));
  else
    modes.push_back(default_mode(device, configuration));
  return modes;
}

std::vector<Roofline> device_rooflines(const std::string& name, const Options& options,
                                       const RooflineOptions& chosen, const Console& console) {
  const catalog::Device device = named_device(name, "roofline");
  const catalog::Configuration& configuration =
      catalog::configuration(device, value_of(options, "jetpack"));
  const MachineModel model = catalog::machine_model(device);
  std::vector<Roofline> rooflines;
  for (const DeviceMode& mode : asked_modes(device, configuration, options)) {
    for (const std::string& note : mode.notes) console.talk(mode.point.label + ": " + note);
    rooflines.push_back(datasheet_roofline(model, mode.point, device.name, chosen));
    const bool whole = !rooflines.back().roofs.empty() && !rooflines.back().slopes.empty();
    if (!whole)
      console.talk(mode.point.label + ": no source states enough for " +
                   (rooflines.back().roofs.empty() ? "roofs" : "a slope") +
                   "; see 'ridgeline devices " + device.id + " --missing'");
  }
  return rooflines;
}

}  // namespace

std::vector<Roofline> asked_rooflines(const std::string& word, const Options& options,
                                      RooflineOptions chosen, const Console& console) {
  if (options.count("mode") && options.count("modes"))
    throw usage_error("--modes", "cannot be combined with --mode", "choose one");
  if (options.count("modes") && value_of(options, "modes").empty())
    throw usage_error("--modes", "is empty", "write all, or labels such as 15W,30W");
  if (is_device(word)) return device_rooflines(word, options, chosen, console);
  return profile_rooflines(word.empty() ? require_newest_profile() : word, options,
                           std::move(chosen), console);
}

}  // namespace ridgeline::cli
