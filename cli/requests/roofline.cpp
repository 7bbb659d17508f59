// A profile has the modes that were measured, a device those of its release.
#include "cli/requests/roofline.h"

#include <algorithm>
#include <filesystem>

#include "base/json.h"
#include "base/profile.h"
#include "base/profile_store.h"
#include "base/text.h"
#include "cli/answer.h"
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

// A profile and the modes of it that are asked for.
struct AskedProfile {
  Profile profile;
  std::vector<const ProfileMode*> modes;
};

AskedProfile asked_profile(const std::string& path, const RooflineRequest& request,
                           const Console& console) {
  if (!request.jetpack.empty())
    throw usage_error("--jetpack", "a profile has the modes that were measured",
                      "give the name of a device");
  AskedProfile asked{load_profile(path), {}};
  const Profile& profile = asked.profile;
  const auto add = [&](const ProfileMode& mode) { asked.modes.push_back(&mode); };
  if (request.all_modes)
    for (const ProfileMode& mode : profile.modes) add(mode);
  else if (request.several())
    for (const std::string& label : request.modes) add(named_mode(profile, label, "--modes"));
  else if (request.mode)
    add(named_mode(profile, *request.mode, "--mode"));
  else
    add(profile.modes.front());
  if (profile.modes.size() > 1 && !request.mode && !request.several())
    console.talk("the profile has " + std::to_string(profile.modes.size()) +
                 " modes, this is the first; choose another with --mode");
  return asked;
}

std::vector<DeviceMode> asked_modes(const catalog::Device& device,
                                    const catalog::Configuration& configuration,
                                    const RooflineRequest& request) {
  const auto one = [&](const std::string& text, const char* option) {
    return named_mode(device, configuration, text, option);
  };
  if (request.all_modes) {
    auto modes = stock_modes(device, configuration);
    if (modes.empty()) modes.push_back(default_mode(device, configuration));
    return modes;
  }
  std::vector<DeviceMode> modes;
  if (request.several())
    for (const std::string& label : request.modes) modes.push_back(one(label, "--modes"));
  else if (request.mode)
    modes.push_back(one(*request.mode, "--mode"));
  else
    modes.push_back(default_mode(device, configuration));
  return modes;
}

// A device and its modes that are asked for.
struct AskedDevice {
  catalog::Device device;
  std::vector<DeviceMode> modes;
};

AskedDevice asked_device(const RooflineRequest& request, const Console& console) {
  AskedDevice asked{named_device(request.word, "roofline"), {}};
  asked.modes =
      asked_modes(asked.device, catalog::configuration(asked.device, request.jetpack), request);
  for (const DeviceMode& mode : asked.modes)
    for (const std::string& note : mode.notes) console.talk(mode.point.label + ": " + note);
  return asked;
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

// What the catalog's model expects of a measured mode; nothing where it lacks an input.
std::optional<EnergyRoofline> expected_roofline(const MachineModel& model, OperatingPoint point,
                                                DType dtype) {
  point.cap_w.reset();
  try {
    return energy_roofline_of(model_ceilings(model, point, Runtime::ideal), {},
                              {model.device, "", dtype});
  } catch (const Error&) {
    return std::nullopt;
  }
}

RooflineOptions roofline_options(const Options& options) {
  RooflineOptions chosen;
  if (options.has("threads")) chosen.threads = options.integer("threads");
  if (options.has("dtype")) {
    const auto& word = options.text("dtype");
    chosen.dtype = parse_token<DType>(word);
    if (!chosen.dtype)
      throw usage_error("--dtype", quote(word) + " is not a data type",
                        "write for example fp64, fp32, bf16 or int8");
  }
  chosen.all = flag(options, "all");
  if (options.has("point"))
    for (const std::string& text : options.list("point"))
      chosen.points.push_back(parse_given_point(text));
  return chosen;
}

// The file, by its name in captions.
std::string profile_path(RooflineRequest& request) {
  const std::string path = request.word.empty() ? require_newest_profile() : request.word;
  request.options.profile = display_name(path);
  return path;
}

}  // namespace

void add_roofline_options(OptionsDescription& options) {
  add_picture_options(options, "write the picture as {}; - is standard output");
  options.add_integer("threads", "N",
                      "use the CPU rows measured with N threads; default: the most");
  options.add_text("dtype", "DTYPE",
                   "data type of the roof that points are compared with; default: fp32");
  options.add_list("point", "NAME=FLOP:BYTES[:SECONDS]",
                   "plot a kernel by its counts and, if known, its time; may be repeated");
  options.add_flag("all", "show every kernel and direction, not only the fastest");
  options.add_flag(
      "energy",
      "performance, energy efficiency and power over intensity, with their balance points");
  options.add_text("mode", "MODE",
                   "mode to draw: a label such as 30W or, for a device, caps such as "
                   "gpu=612MHz,sm=8; default: the profile's first, or the device's default");
  options.add_text("modes", "MODES",
                   "several modes as small multiples: all, or labels such as 15W,30W");
  options.add_flag("overlay", "with --modes: draw all modes in one plot");
  options.add_text(
      "jetpack", "RELEASE",
      "JetPack release that sets modes and clocks, for example 5; default: the newest");
  options.add_integer("width", "COLUMNS", "width of the text; default: that of the terminal");
}

RooflineRequest roofline_request(const Options& options) {
  RooflineRequest request;
  const std::vector<std::string> words = positional(options);
  if (!words.empty()) request.word = words.front();
  request.mode = options.word("mode");
  request.jetpack = options.text_or_empty("jetpack");
  request.energy = flag(options, "energy");
  request.overlay = flag(options, "overlay");
  request.options = roofline_options(options);
  if (const auto modes = options.word("modes")) {
    if (request.mode) throw usage_error("--modes", "cannot be combined with --mode", "choose one");
    request.all_modes = *modes == "all";
    if (!request.all_modes) request.modes = split_words(*modes);
    if (!request.several())
      throw usage_error("--modes", "is empty", "write all, or labels such as 15W,30W");
  }
  if (request.overlay && !request.several())
    throw usage_error("--overlay", "lays several modes over each other", "add --modes all");
  if (request.energy)
    for (const char* other : {"point", "all"})
      refuse(options, other, "cannot be combined with --energy", "leave one of them out");
  return request;
}

std::vector<Roofline> rooflines_for(RooflineRequest request, const Console& console) {
  if (catalog::names_device(request.word))
    return device_rooflines(asked_device(request, console), request.options, console);
  const AskedProfile asked = asked_profile(profile_path(request), request, console);
  std::vector<Roofline> rooflines;
  for (const ProfileMode* mode : asked.modes)
    rooflines.push_back(roofline_of(*mode, asked.profile.machine, request.options));
  return rooflines;
}

std::vector<EnergyRoofline> energy_rooflines_for(RooflineRequest request, const Console& console) {
  const RooflineOptions& chosen = request.options;
  std::vector<EnergyRoofline> rooflines;
  if (catalog::names_device(request.word)) {
    if (chosen.threads)
      throw usage_error("--threads", "datasheet ceilings are those of the whole processor",
                        "leave it out");
    const AskedDevice asked = asked_device(request, console);
    const MachineModel model = with_priors(catalog::machine_model(asked.device));
    for (const DeviceMode& mode : asked.modes) {
      const OperatingPoint point = with_own_limit(mode.point, asked.device);
      rooflines.push_back(energy_roofline_of(model_ceilings(model, point, Runtime::ideal),
                                             drawn_ceilings(model, point),
                                             {asked.device.name, "", chosen.dtype}));
    }
    return rooflines;
  }
  const AskedProfile asked = asked_profile(profile_path(request), request, console);
  std::optional<MachineModel> known;
  if (catalog::find(asked.profile.machine.device))
    known = with_priors(catalog::machine_model(catalog::load(asked.profile.machine.device)));
  for (const ProfileMode* mode : asked.modes) {
    const MeasuredEnergy energy =
        measured_energy(*mode, asked.profile.machine, chosen, asked.profile.modes);
    rooflines.push_back(energy_roofline_of(
        energy.ceilings, energy.draws,
        {energy.ceilings.device, chosen.profile, chosen.dtype, disturbance(mode->conditions)}));
    EnergyRoofline& measured = rooflines.back();
    if (!known || measured.processor != Processor::gpu) continue;
    if (const auto expected = expected_roofline(*known, mode->mode, measured.main_roof().dtype))
      measured.expected = expected_beside(measured, *expected);
  }
  return rooflines;
}

}  // namespace ridgeline::cli
