// A profile has the modes that were measured, a device those of its release.
#include "cli/requests/roofline.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "base/json.h"
#include "base/profile.h"
#include "base/profile_store.h"
#include "devices/catalog/model.h"
#include "devices/machine/identification.h"
#include "devices/modes/mode_space.h"
#include "roofline/ceilings/datasheet.h"
#include "roofline/ceilings/measured_energy.h"
#include "roofline/model/draws.h"
#include "roofline/model/priors.h"

namespace ridgeline::cli {
namespace {

// The last part of the path; bytes that are not UTF-8 would make the JSON and the SVG invalid.
std::string display_name(const std::string& path) {
  const Json name = std::filesystem::path(path).filename().string();
  return Json::parse(name.dump(-1, ' ', false, Json::error_handler_t::replace)).get<std::string>();
}

bool all_modes(const Options& options) { return options.text_or_empty("modes") == "all"; }

// The labels of --modes 15W,30W.
std::vector<std::string> wanted_labels(const Options& options) {
  std::vector<std::string> labels;
  std::istringstream text(options.text_or_empty("modes"));
  for (std::string label; std::getline(text, label, ',');) labels.push_back(label);
  return labels;
}

// A profile and the modes of it that are asked for.
struct AskedProfile {
  Profile profile;
  std::vector<const ProfileMode*> modes;
};

AskedProfile asked_profile(const std::string& path, const Options& options,
                           const Console& console) {
  if (options.has("jetpack"))
    throw usage_error("--jetpack", "a profile has the modes that were measured",
                      "give the name of a device");
  AskedProfile asked{load_profile(path), {}};
  const Profile& profile = asked.profile;
  const auto add = [&](const ProfileMode& mode) { asked.modes.push_back(&mode); };
  if (all_modes(options))
    for (const ProfileMode& mode : profile.modes) add(mode);
  else if (options.has("modes"))
    for (const std::string& label : wanted_labels(options))
      add(named_mode(profile, label, "--modes"));
  else if (options.has("mode"))
    add(named_mode(profile, options.text_or_empty("mode"), "--mode"));
  else
    add(profile.modes.front());
  if (profile.modes.size() > 1 && !options.has("mode") && !options.has("modes"))
    console.talk("the profile has " + std::to_string(profile.modes.size()) +
                 " modes, this is the first; choose another with --mode");
  return asked;
}

std::vector<DeviceMode> asked_modes(const catalog::Device& device,
                                    const catalog::Configuration& configuration,
                                    const Options& options) {
  const auto one = [&](const std::string& text, const char* option) {
    return named_mode(device, configuration, text, option);
  };
  if (all_modes(options)) {
    auto modes = stock_modes(device, configuration);
    if (modes.empty()) modes.push_back(default_mode(device, configuration));
    return modes;
  }
  std::vector<DeviceMode> modes;
  if (options.has("modes"))
    for (const std::string& label : wanted_labels(options)) modes.push_back(one(label, "--modes"));
  else if (options.has("mode"))
    modes.push_back(one(options.text_or_empty("mode"), "--mode"));
  else
    modes.push_back(default_mode(device, configuration));
  return modes;
}

// A device and its modes that are asked for.
struct AskedDevice {
  catalog::Device device;
  std::vector<DeviceMode> modes;
};

AskedDevice asked_device(const std::string& name, const Options& options, const Console& console) {
  AskedDevice asked{named_device(name, "roofline"), {}};
  asked.modes =
      asked_modes(asked.device,
                  catalog::configuration(asked.device, options.text_or_empty("jetpack")), options);
  for (const DeviceMode& mode : asked.modes)
    for (const std::string& note : mode.notes) console.talk(mode.point.label + ": " + note);
  return asked;
}

void check_mode_options(const Options& options) {
  if (options.has("mode") && options.has("modes"))
    throw usage_error("--modes", "cannot be combined with --mode", "choose one");
  if (options.has("modes") && options.text_or_empty("modes").empty())
    throw usage_error("--modes", "is empty", "write all, or labels such as 15W,30W");
}

std::vector<Roofline> device_rooflines(const AskedDevice& asked, const RooflineOptions& chosen,
                                       const Console& console) {
  const MachineModel model = catalog::machine_model(asked.device);
  std::vector<Roofline> rooflines;
  for (const DeviceMode& mode : asked.modes) {
    rooflines.push_back(datasheet_roofline(model, mode.point, asked.device.name, chosen));
    const bool whole = !rooflines.back().roofs.empty() && !rooflines.back().slopes.empty();
    if (!whole)
      console.talk(mode.point.label + ": no source states enough for " +
                   (rooflines.back().roofs.empty() ? "roofs" : "a slope") +
                   "; see 'ridgeline devices " + asked.device.id + " --missing'");
  }
  return rooflines;
}

// A mode without a budget still keeps the limit of the module or card.
OperatingPoint with_own_limit(OperatingPoint point, const catalog::Device& device) {
  if (point.cap_w || device.power_caps.empty()) return point;
  double limit_w = 0;
  for (const catalog::Cap& cap : device.power_caps) limit_w = std::max(limit_w, cap.value.value);
  point.cap_w = limit_w;
  return point;
}

// The ceilings of other draws of the parameters, for the intervals.
std::vector<Ceilings> drawn_ceilings(const MachineModel& model, const OperatingPoint& point) {
  constexpr int draws = 200;
  const ParameterDraws parameters(model);
  Random random{1};
  MachineModel other = model;
  std::vector<Ceilings> ceilings;
  for (int i = 0; i < draws; ++i) {
    const std::vector<double> values = parameters.draw(random);
    for (std::size_t p = 0; p < values.size(); ++p) other.parameters[p].mean = values[p];
    ceilings.push_back(model_ceilings(other, point, Runtime::ideal));
  }
  return ceilings;
}

}  // namespace

std::vector<Roofline> asked_rooflines(const std::string& word, const Options& options,
                                      RooflineOptions chosen, const Console& console) {
  check_mode_options(options);
  if (catalog::names_device(word))
    return device_rooflines(asked_device(word, options, console), chosen, console);
  const std::string path = word.empty() ? require_newest_profile() : word;
  chosen.profile = display_name(path);
  const AskedProfile asked = asked_profile(path, options, console);
  std::vector<Roofline> rooflines;
  for (const ProfileMode* mode : asked.modes)
    rooflines.push_back(roofline_of(*mode, asked.profile.machine, chosen));
  return rooflines;
}

std::vector<EnergyRoofline> asked_energy_rooflines(const std::string& word, const Options& options,
                                                   RooflineOptions chosen, const Console& console) {
  check_mode_options(options);
  std::vector<EnergyRoofline> rooflines;
  if (catalog::names_device(word)) {
    if (chosen.threads)
      throw usage_error("--threads", "ceilings on paper are those of the whole processor",
                        "leave it out");
    const AskedDevice asked = asked_device(word, options, console);
    const MachineModel model = with_priors(catalog::machine_model(asked.device));
    for (const DeviceMode& mode : asked.modes) {
      const OperatingPoint point = with_own_limit(mode.point, asked.device);
      rooflines.push_back(energy_roofline_of(model_ceilings(model, point, Runtime::ideal),
                                             drawn_ceilings(model, point),
                                             {asked.device.name, "", chosen.dtype}));
    }
    return rooflines;
  }
  const std::string path = word.empty() ? require_newest_profile() : word;
  chosen.profile = display_name(path);
  const AskedProfile asked = asked_profile(path, options, console);
  for (const ProfileMode* mode : asked.modes) {
    const MeasuredEnergy energy = measured_energy(*mode, asked.profile.machine, chosen);
    rooflines.push_back(energy_roofline_of(
        energy.ceilings, energy.draws,
        {energy.ceilings.device, chosen.profile, chosen.dtype, disturbance(mode->conditions)}));
  }
  return rooflines;
}

}  // namespace ridgeline::cli
