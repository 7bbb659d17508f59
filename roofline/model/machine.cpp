// A file takes precedence over a device of the same name. Its "schema" is a model's or a profile's.
#include "roofline/model/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "base/file_kind.h"
#include "base/json.h"
#include "base/nearest.h"
#include "base/parameters.h"
#include "base/profile.h"
#include "base/profile_store.h"
#include "base/text.h"
#include "base/units.h"
#include "devices/catalog/model.h"
#include "devices/machine/identification.h"
#include "devices/modes/mode_space.h"
#include "roofline/model/host_cpu.h"
#include "roofline/model/priors.h"
#include "roofline/model/profile_model.h"
#include "roofline/model/sweep_model.h"

namespace ridgeline {
namespace {

void refuse_threads(const MachineRequest& request) {
  if (request.threads)
    throw usage_error("--threads", "only the rows of a profile have a number of threads",
                      "write --mode cores=N");
}

// Sets the operating point from --mode, or the default.
void set_point(MachineSource& source, const MachineRequest& request) {
  const auto& [device, configuration] = *source.known;
  const DeviceMode mode = !request.mode.empty()
                              ? named_mode(device, configuration, request.mode, "--mode")
                              : default_mode(device, configuration);
  source.point = mode.point;
  source.mode = mode;
  for (const std::string& note : mode.notes)
    source.notes.push_back(mode.point.label.empty() ? note : mode.point.label + ": " + note);
}

MachineSource device_source(catalog::Device device, const MachineRequest& request) {
  refuse_threads(request);
  MachineSource source;
  const catalog::Configuration configuration = catalog::configuration(device, request.jetpack);
  source.name = device.name;
  source.model = with_priors(catalog::machine_model(device));
  source.known = KnownDevice{std::move(device), configuration};
  set_point(source, request);
  return source;
}

// The measured mode of a fitted model whose device is not in the catalog.
OperatingPoint measured_point(const MachineModel& model, const MachineRequest& request,
                              const std::string& path) {
  const std::string label = request.mode;
  std::string known;
  for (const Observation& observation : model.observations) {
    const OperatingPoint& point = observation.conditions.point;
    if (label.empty() || point.label == label || same_name(point.label, label)) return point;
    if (known.find(point.label) == std::string::npos)
      known += (known.empty() ? "" : ", ") + point.label;
  }
  const auto cores = find_parameter(model, "cpu0_cores");
  const auto hz = find_parameter(model, "cpu_measured_hz");
  if (label.empty() && cores && hz) {  // made from a profile, which has one mode
    OperatingPoint point;
    point.label = "as measured";
    point.cpu_cores = static_cast<int>(model.parameters[*cores].mean);
    point.cpu_hz = {model.parameters[*hz].mean};
    return point;
  }
  if (known.empty())
    throw Error(path, "the catalog has no device " + quote(model.device) +
                          ", and the model has no measured mode to run in");
  throw usage_error("--mode", "no such mode was measured: " + quote(label), "there are " + known);
}

// Models that were fitted before networks had scales of their own apply that of one network to all.
// Their scales are set back to the prior.
bool forget_network_scales(MachineModel& model) {
  bool changed = false;
  for (const Parameter& parameter : std::vector(model.parameters))
    if (parameter.prior && parameter_row(parameter.name, model.device).scope == Scope::network) {
      const PriorValue prior = *parameter.prior;
      changed = changed || prior.mean != parameter.mean;
      set_parameter(model, {parameter.name, prior.mean, prior.source}, prior.sigma);
    }
  return changed;
}

MachineSource fitted_source(const JsonCursor& document, const std::string& path,
                            const MachineRequest& request) {
  refuse_threads(request);
  MachineModel model = machine_model_from_json(document);
  MachineSource source;
  if (forget_network_scales(model))
    source.notes.push_back(
        path +
        " was fitted by an older version, with one scale for all networks, which is not "
        "used; 'ridgeline calibrate' with the same rows learns one for each network");
  if (catalog::find(model.device)) {
    catalog::Device device = catalog::load(model.device);
    const catalog::Configuration configuration = catalog::configuration(device, request.jetpack);
    source.name = device.name;
    source.known = KnownDevice{std::move(device), configuration};
    set_point(source, request);
  } else {
    source.name = model.device;
    source.point = measured_point(model, request, path);
  }
  source.model = with_priors(std::move(model));
  return source;
}

// "one model of 20 modes, which predicts modes left out of it with a mean error of 0.1 % (fp32
// peak)".
std::string left_out_note(const MachineModel& prior, const Profile& profile,
                          const std::vector<bool>& left_out) {
  Profile used = profile;
  used.modes.clear();
  for (std::size_t i = 0; i < profile.modes.size(); ++i)
    if (i >= left_out.size() || !left_out[i]) used.modes.push_back(profile.modes[i]);
  std::string errors;
  for (const LeftOutError& error : left_out_errors(prior, used))
    errors += fmt::format("{}{} ({})", errors.empty() ? "" : ", ", format_percent(error.mean, 1),
                          error.quantity);
  return errors.empty() ? ""
                        : fmt::format(
                              "one model of {} measured modes, which predicts modes left "
                              "out of its fit with a mean error of {}",
                              used.modes.size(), errors);
}

// A board whose GPU was measured: the catalog's model, corrected by all of its modes that were
// measured undisturbed, in any mode of the device.
MachineSource board_source(const Profile& profile, const MachineRequest& request) {
  refuse_threads(request);
  MachineSource source;
  catalog::Device device = catalog::load(profile.machine.device);
  const catalog::Configuration configuration = catalog::configuration(device, request.jetpack);
  source.name = device.name;
  std::vector<bool> left_out;
  std::vector<std::string> reasons;
  for (const ProfileMode& mode : profile.modes) {
    std::string why = disturbance(mode.conditions);
    if (why.empty() && !mode.conditions.complete) why = "its measurement was cut short";
    left_out.push_back(!why.empty());
    if (!why.empty()) reasons.push_back(fmt::format("{} is not used: {}", mode.mode.label, why));
  }
  const auto used = std::ranges::count(left_out, false);
  if (used > 0) {
    source.notes.insert(source.notes.end(), reasons.begin(), reasons.end());
  } else {
    left_out.clear();
    source.notes.push_back(
        "every mode was disturbed or cut short while it was measured; all of "
        "them are used");
  }
  const MachineModel prior = with_priors(catalog::machine_model(device));
  source.model = fit_modes(prior, profile, left_out);
  if (const std::string note = left_out_note(prior, profile, left_out); !note.empty())
    source.notes.push_back(note);
  source.known = KnownDevice{std::move(device), configuration};
  set_point(source, request);
  return source;
}

MachineSource profile_source(const Profile& profile, const MachineRequest& request) {
  if (has_gpu_rates(profile) && catalog::find(profile.machine.device))
    return board_source(profile, request);
  if (!request.jetpack.empty())
    throw usage_error("--jetpack", "a profile has the modes that were measured",
                      "give the name of a device");
  const int threads = request.threads.value_or(0);
  if (request.threads && threads < 1)
    throw usage_error("--threads", fmt::format("{} is not a number of threads", threads));
  const ProfileMode& mode =
      !request.mode.empty() ? named_mode(profile, request.mode, "--mode") : profile.modes.front();
  MachineSource source;
  source.name = profile.machine.name;
  if (const std::string why = disturbance(mode.conditions); !why.empty())
    source.notes.push_back("measured on a disturbed machine: " + why);
  ProfiledMachine machine = profiled_machine(profile, mode, threads);
  source.model = with_priors(std::move(machine.model));
  source.point = std::move(machine.point);
  return source;
}

MachineSource file_source(const std::string& path, const MachineRequest& request) {
  if (const KnownFile file = file_kind(path); file.kind != FileKind::unknown &&
                                              file.kind != FileKind::profile &&
                                              file.kind != FileKind::fitted_model)
    throw Error(path, "is neither a profile nor a fitted model", file.hint);
  const Json json = read_json_file(path);
  const JsonCursor document = file_cursor(json, path);
  const std::string schema = document.at("schema").text();
  if (schema == MachineModel::schema) return fitted_source(document, path, request);
  if (schema == Profile::schema) return profile_source(profile_from_json(document), request);
  throw Error(path, "is neither a profile nor a fitted model, but " + quote(schema),
              "give a file of 'ridgeline measure' or of 'ridgeline calibrate'");
}

MachineSource found_source(const MachineRequest& request) {
  const std::string word = request.on;
  if (catalog::names_device(word)) return device_source(named_device(word, "--on"), request);
  if (!word.empty()) return file_source(word, request);
  const Identity identity = identify();
  // A profile holds CPU rows, but networks run on the GPU if there is one.
  if (const catalog::Device here = this_device(identity); here.gpu) {
    const auto measured = has_profile_store() ? newest_profile_path(Shelf::gpu) : std::nullopt;
    if (measured && load_profile(*measured).machine.device == here.id)
      return file_source(*measured, request);
    return device_source(here, request);
  }
  return file_source(require_newest_cpu_profile(), request);
}

}  // namespace

MachineSource machine_source(const MachineRequest& request) {
  MachineSource source = found_source(request);
  if (!request.host_cpu.empty()) set_host_cpu(source.model, request.host_cpu);
  if (request.board_offset_w)
    set_parameter(source.model, {"board_offset_w", *request.board_offset_w, Source::assumed});
  return source;
}

bool has_gpu(const MachineModel& model) {
  return find_parameter(model, "gpu_multiprocessors").has_value();
}

}  // namespace ridgeline
