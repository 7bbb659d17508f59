// A profile has the modes that were measured, a device those of its release.
#include "cli/roofline_source.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "base/json.h"
#include "base/profile.h"
#include "cli/asked_mode.h"
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
    for (const std::string& label : wanted_labels(options)) add(mode_of(profile, label, "--modes"));
  else if (options.count("mode"))
    add(mode_of(profile, value_of(options, "mode"), "--mode"));
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
    return mode_of(device, configuration, text, option);
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
  if (names_device(word)) return device_rooflines(word, options, chosen, console);
  return profile_rooflines(word.empty() ? require_newest_profile() : word, options,
                           std::move(chosen), console);
}

}  // namespace ridgeline::cli
