// `ridgeline run MODEL`: execute a network on this machine, its time beside the predicted one.
// Parses, builds, runs, writes; the execution is in execution/.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <map>
#include <memory>
#include <ostream>

#include "analyzer/tensorrt/engine_file.h"
#include "base/json.h"
#include "base/profile_store.h"
#include "base/text_file.h"
#include "base/units.h"
#include "cli/answer.h"
#include "cli/measure_world.h"
#include "cli/requests/machine.h"
#include "cli/requests/network.h"
#include "cli/requests/values.h"
#include "devices/machine/identification.h"
#include "devices/machine/this_machine.h"
#include "devices/machine/topology.h"
#include "devices/modes/mode_space.h"
#include "devices/modes/present_mode.h"
#include "execution/engine_backend.h"
#include "execution/network_run.h"
#include "execution/torch_backend.h"
#include "kernels/cpu/core_clock.h"
#include "kernels/instruments.h"
#include "kernels/load_watch.h"
#include "report/network_run.h"
#include "roofline/ceilings/datasheet.h"
#include "roofline/explain/explanation.h"
#include "roofline/explain/measured.h"
#include "roofline/model/network_load.h"
#include "roofline/model/predict.h"
#include "workloads/network_variants.h"

namespace ridgeline::cli {
namespace {

constexpr double default_seconds = 10;

void declare_run(OptionsDescription& options) {
  add_network_options(options);
  options.add_flag("train", "run one training step instead of inference");
  options.add_text("optimizer", "sgd|momentum|adam|adamw",
                   "optimizer, with --train (default: sgd)");
  options.add_integer("threads", "N", "CPU threads to run with; default: one per core");
  options.add_text("seconds", "N", "time to spend on samples and recorded steps; default: 10");
  options.add_text(
      "on", "DEVICE|FILE",
      "machine to predict: a profile, a fitted model or a catalog device; default: the "
      "newest profile of this machine");
  options.add_text("mode", "MODE",
                   "power mode to predict; default: of an engine the present one, else the "
                   "machine's default or the profile's first");
  options.add_flag("all", "show every layer, not only the slowest");
  options.add_text("table", "FILE",
                   "add a row to a measurement table for 'ridgeline validate'; not of an engine");
  options.add_text("trace", "FILE", "write a timeline for Perfetto or chrome://tracing");
}

struct RunRequest {
  NetworkRequest network;
  std::optional<TrainingOptions> training;
  Runtime runtime = Runtime::torch_eager;  // tensorrt: the network is an engine file
  int threads = 1;
  double budget_s = default_seconds;
  std::string on, mode;
};

RunRequest run_request(const Options& options, const Topology& topology) {
  RunRequest request;
  request.network =
      network_request(options, required_word(options, "'run' needs a model", "run resnet50"));
  request.training = training_options(options);
  if (is_file(request.network) && tensorrt::holds_engine(request.network.word)) {
    request.runtime = Runtime::tensorrt;
    request.network.reading.runs_engines = false;  // 'run' times it itself
    request.network.allow_unknown = true;          // what takes its time is measured
  } else {
    request.threads = topology.cores;
  }
  if (options.has("threads")) {
    request.threads = options.integer("threads");
    const int most = static_cast<int>(topology.cpus.size());
    if (request.threads < 1 || request.threads > most)
      throw usage_error(fmt::format("--threads {}", request.threads),
                        fmt::format("is not from 1 to {}, the CPUs of this machine", most));
  }
  if (const auto text = options.word("seconds"))
    request.budget_s =
        positive(plain_number(*text, as_typed("seconds", *text), "10"), as_typed("seconds", *text));
  request.on = options.text_or_empty("on");
  request.mode = options.text_or_empty("mode");
  return request;
}

// Otherwise the system would kill the program half-way.
void check_memory(const RunRequest& request, const NetworkVariant& variant) {
  const double needed = variant.memory.peak();
  const double available = static_cast<double>(available_memory_bytes());
  if (available <= 0 || needed <= available) return;
  throw Error(request.network.word,
              fmt::format("needs {} of memory, {} are available here", format_bytes(needed),
                          format_bytes(available)),
              "give a smaller --batch", ExitCode::infeasible);
}

// Times of one run for each Demand. Autograd makes all gradients of a layer in one call, and
// several nodes of a file may have one name: such a time is divided in proportion to what the roofs
// of its parts need at least, so that no part contradicts its roof unless the whole does.
MeasuredTimes measured_times(const NetworkRun& run, const NetworkVariant& variant,
                             const Explanation& explanation) {
  const std::vector<Demand>& demands = variant.demands;
  const ChosenKernels* const chosen = variant.chosen;
  std::map<std::pair<StepPhase, std::string>, double> times;
  MeasuredTimes measured;
  for (const LayerTime& layer : run.layers) {
    times[{layer.phase, layer.name}] += layer.time_s;
    measured.run.total_s += layer.time_s;
  }
  measured.run.run_s = run.time_s.value;
  measured.run.runs = run.recorded_steps;
  measured.layers_s.resize(demands.size());
  if (chosen != nullptr)
    for (const std::size_t layer : chosen->demand_layers)
      measured.fewer_products.push_back(chosen->fewer_products[layer]);
  std::map<std::pair<StepPhase, std::string>, std::vector<std::size_t>> shared;  // Demands by time
  for (std::size_t i = 0; i < demands.size(); ++i) {
    const auto own = [&](StepPhase phase) { return times.contains({phase, demands[i].name}); };
    if (own(StepPhase::forward))
      shared[{StepPhase::forward, demands[i].name}].push_back(i);
    else if (own(StepPhase::update))
      shared[{StepPhase::update, demands[i].name}].push_back(i);
    else if (demands[i].source_layers.size() == 1)
      shared[{StepPhase::backward, demands[i].source_layers.front()}].push_back(i);
  }
  for (const auto& [key, parts] : shared) {
    const auto found = times.find(key);
    if (found == times.end()) continue;
    const auto least = [&](std::size_t i) {
      const ExplainedLayer& row = explanation.layers[i];
      return row.roof_share.value_or(1) * row.time_s;
    };
    double sum = 0;
    for (const std::size_t i : parts) sum += least(i);
    for (const std::size_t i : parts)
      measured.layers_s[i] =
          found->second * (sum > 0 ? least(i) / sum : 1 / static_cast<double>(parts.size()));
  }
  return measured;
}

// The mode that a board is in, as a MachineRequest has it. A stock mode says how many SMs are on,
// which no clock shows. In any other mode every knob counts as at its ceiling, so that no roof is
// lower than the board's.
struct PresentMode {
  std::string mode;  // empty: the device has no modes
  std::string note;
};

PresentMode present_stock_mode(const catalog::Device& device,
                               const catalog::Configuration& configuration,
                               const std::string& label) {
  if (configuration.modes.empty()) return {};
  const std::vector<DeviceMode> modes = stock_modes(device, configuration);
  if (std::ranges::any_of(modes, [&](const DeviceMode& mode) { return mode.point.label == label; }))
    return {label, ""};
  const OperatingPoint ceilings = resolve(device, configuration, {}).point;
  PresentMode present;
  present.mode = request_text(ceilings);
  present.note = fmt::format(
      "this board is in no stock mode ({}): {}roofs are those of its highest clocks "
      "where the system shows no others; --mode names the mode",
      label,
      ceilings.gpu_units ? fmt::format("{} SMs are assumed, and ", *ceilings.gpu_units) : "");
  return present;
}

// As far as the system shows them; the mode's own stay for the rest.
void set_clocks(OperatingPoint& point, const OperatingPoint& present) {
  point.label = present.label;
  if (present.gpu_hz) point.gpu_hz = present.gpu_hz;
  if (present.memory_hz) point.memory_hz = present.memory_hz;
  if (present.cpu_hz.empty() || present.cpu_hz.size() != point.cpu_hz.size()) return;
  point.cpu_hz = present.cpu_hz;  // of the same clusters
  if (present.cpu_cores) point.cpu_cores = present.cpu_cores;
}

// This machine with the release that it runs, in the mode that is given, else in the present one.
MachineSource board_here(const Identity& identity, const catalog::Device& device,
                         const std::string& mode) {
  const catalog::Configuration& configuration = present_configuration(identity, device);
  MachineRequest wanted;
  if (!configuration.jetpacks.empty()) wanted.jetpack = configuration.jetpacks.front();
  wanted.mode = mode;
  if (!mode.empty()) return machine_source(wanted);
  const OperatingPoint now = present_mode({});
  const PresentMode present = present_stock_mode(device, configuration, now.label);
  wanted.mode = present.mode;
  MachineSource machine = machine_source(wanted);
  set_clocks(machine.point, now);
  if (!present.note.empty()) machine.notes.push_back(present.note);
  return machine;
}

// The machine to predict, if one is given, known or was measured.
std::optional<MachineSource> predicted_machine(const RunRequest& request) {
  MachineRequest wanted;
  wanted.on = request.on;
  wanted.mode = request.mode;
  if (request.runtime == Runtime::tensorrt) {
    if (!request.on.empty()) return machine_source(wanted);
    const Identity identity = identify();
    const catalog::Device device = this_device(identity);
    if (!device.gpu && request.mode.empty()) return std::nullopt;
    if (!device.gpu)
      throw usage_error("--mode " + request.mode, "the catalog does not know this machine's GPU",
                        "name it with --on");
    return board_here(identity, device, request.mode);
  }
  if (request.on.empty() && request.mode.empty() && !newest_profile_path()) return std::nullopt;
  wanted.threads = request.threads;
  return machine_source(wanted);
}

Explanation explained_run(const RunRequest& request, const MachineSource& machine,
                          const NetworkVariant& variant, const NetworkRun& run) {
  Conditions conditions;
  conditions.point = machine.point;
  conditions.runtime = request.runtime;
  const Task task = request.training ? Task::training : Task::inference;
  const Prediction prediction =
      predict(model_for(machine.model, request.network, task, conditions.runtime),
              network_load(variant.demands, conditions.runtime), conditions);
  ExplainedRun about;
  about.machine = machine.name;
  about.batch = variant.batch;
  about.dtype = variant.dtype;
  about.notes = machine.notes;
  Explanation explanation = explain(
      prediction, variant.demands,
      model_ceilings(machine.model, prediction.point, conditions.runtime), std::move(about));
  add_measured(explanation, variant.demands, measured_times(run, variant, explanation), machine,
               request.network.batch.has_value());
  return explanation;
}

// "seq=128;attention=fused": without what has a column of its own.
std::string options_cell(const Network& network) {
  std::string text;
  for (const auto& [key, value] : network.source.options)
    if (key != "dtype" && key != "batch") text += (text.empty() ? "" : ";") + key + "=" + value;
  return text;
}

// "images=4x3x640x640;opt-profile=1".
std::string engine_options(const ReadOptions& reading) {
  std::string text;
  for (const auto& [name, shape] : reading.shapes)
    text += fmt::format("{}{}={}", text.empty() ? "" : ";", name.empty() ? "shape" : name,
                        to_string(shape));
  if (reading.opt_profile)
    text += fmt::format("{}opt-profile={}", text.empty() ? "" : ";", *reading.opt_profile);
  return text;
}

// The system's clock of a CPU run, CUDA's driver and the GPU's own sensors for an engine.
struct RunMachine {
  std::unique_ptr<Executable> network;
  std::function<double()> clock_hz, cpu_s;
  double clock_pause_s = 0;
  std::unique_ptr<MeasureInstruments> instruments;
};

RunMachine gpu_machine(const RunRequest& request, const SamplerWorld& sampler) {
  EngineRunOptions options = engine_run_options_here();
  options.shapes = request.network.reading.shapes;
  options.profile = request.network.reading.opt_profile.value_or(0);
  auto engine = engine_executable(request.network.word, options);
  RunMachine machine;
  cuda::DeviceFacts facts;
  facts.pci_bus_id = engine->gpu_bus_id();
  machine.instruments = std::make_unique<MeasureInstruments>(sampler, facts, std::nullopt);
  machine.clock_hz = [look = machine.instruments->gpu().look] {
    return look().clock_hz.value_or(0);
  };
  machine.clock_pause_s = 0.05;  // files of the system and calls of NVML: up to milliseconds
  machine.network = std::move(engine);
  return machine;
}

bool is_script(const Network& network) { return network.source.format == "torchscript"; }

std::unique_ptr<Executable> executable(const RunRequest& request, Network& network) {
  if (is_script(network)) {
    ReadOptions reading = request.network.reading;
    reading.batch = request.network.batch;
    return script_executable(request.network.word, reading, request.threads);
  }
  ExecutionOptions how;
  how.threads = request.threads;
  if (request.training) how.optimizer = request.training->optimizer;
  network.graph().name = request.network.word;  // for messages
  return torch_executable(network.graph(), how);
}

RunMachine cpu_machine(const RunRequest& request, Network& loaded, const SamplerWorld& sampler) {
  RunMachine machine;
  machine.network = executable(request, loaded);
  machine.instruments = std::make_unique<MeasureInstruments>(sampler);
  const auto clock = std::make_shared<cpu::CoreClock>();
  machine.clock_hz = [clock] { return clock->read_hz(); };
  machine.cpu_s = [] {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  return machine;
}

// `loaded`: nullptr for an engine.
NetworkRun executed(const RunRequest& request, Network* loaded, const Topology& topology,
                    Console& console) {
  ProgressLine progress(console, "running");
  LoadWatch watch(topology.cpus);
  const MeasureWorld& machine = measure_world();
  RunWorld world;
  world.sampler = {machine.now_s, [&] { return watch.since_last(); },
                   [] { return InterruptGuard::interrupted(); },
                   [&](double done, double left_s) { progress.show(done, left_s); }};
  const RunMachine runner = loaded != nullptr ? cpu_machine(request, *loaded, world.sampler)
                                              : gpu_machine(request, world.sampler);
  const InterruptGuard guard;
  world.clock_hz = runner.clock_hz;
  world.clock_pause_s = runner.clock_pause_s;
  world.cpu_s = runner.cpu_s;
  world.power = runner.instruments->power();
  NetworkRun run = run_network(*runner.network, request.threads, request.budget_s, world);
  progress.clear();
  if (run.sampling.disturbed)
    if (const std::string busiest = watch.busiest_process(); !busiest.empty())
      run.notes.push_back("most of the other load was " + busiest);
  return run;
}

// A list of kernels is no engine. An engine takes libnvinfer; trtexec times it for 'explain'.
void refuse_engines(const RunRequest& request) {
  const std::string& path = request.network.word;
  if (request.runtime == Runtime::tensorrt) {
    const std::string why_not = why_no_engine_runs(engine_run_options_here());
    if (!why_not.empty())
      throw Error(path, "is a TensorRT engine, which 'run' cannot execute: " + why_not,
                  "'ridgeline explain " + path +
                      "' runs it with trtexec where that is installed, "
                      "and shows the time of each kernel");
  } else if (is_file(request.network) && listed_runtime(path)) {
    throw Error(path, "lists the kernels of an engine, which cannot be run",
                "give the engine itself, or run it with trtexec and give its times to 'ridgeline "
                "explain --times'");
  }
}

// A script or an engine runs as it was saved.
void refuse_for_saved(const RunRequest& request, const char* kind, const char* with_dtype) {
  const auto refuse = [&](bool given, const char* option, const char* fix) {
    if (given)
      throw usage_error(
          option, fmt::format("{} is {}, which runs as it is", request.network.word, kind), fix);
  };
  refuse(request.training.has_value(), "--train",
         "give the network by name or as ONNX file to run a training step");
  refuse(request.network.dtype.has_value(), "--dtype", with_dtype);
}

void refuse_for_engine(const RunRequest& request, const Options& options) {
  refuse_for_saved(request, "an engine", "build it in this type");
  const std::string& path = request.network.word;
  if (options.has("threads"))
    throw usage_error("--threads", path + " is an engine, which runs on the GPU", "leave it out");
  if (options.has("table"))
    throw usage_error("--table",
                      path + " is an engine, and 'validate' knows no networks of engines",
                      "keep the run with --json > run.json");
  for (const char* const option : {"batch", "assume-dim"})
    if (options.has(option))
      throw usage_error(fmt::format("--{}", option),
                        path + " is an engine, which runs with the shapes of its inputs",
                        "write --shape NAME=1x3x224x224");
}

ExitCode run_run(const Options& options, Console& console) {
  check_answer_files(options, {"trace", "table"});
  const Topology topology = read_topology();
  const RunRequest request = run_request(options, topology);
  const bool on_gpu = request.runtime == Runtime::tensorrt;
  refuse_engines(request);
  std::optional<Network> network;
  if (on_gpu) {
    refuse_for_engine(request, options);
  } else {
    network = load_network(request.network);
    if (is_script(*network)) refuse_for_saved(request, "TorchScript", "save it in this type");
  }
  NetworkVariants variants(request.network, request.training);
  const NetworkVariant& variant = variants.as_given(request.runtime);
  if (!on_gpu) check_memory(request, variant);

  ReportedRun reported;
  reported.network = std::filesystem::path(request.network.word).filename().string();
  reported.options = network ? options_cell(*network) : engine_options(request.network.reading);
  reported.runtime = request.runtime;
  reported.task = request.training ? Task::training : Task::inference;
  reported.batch = variant.batch;
  reported.dtype = variant.dtype;
  reported.device = this_device(identify()).id;
  const auto table = [&] {
    const std::string path = options.text("table");
    std::error_code fault;
    const bool exists = path != "-" && std::filesystem::is_regular_file(path, fault);
    return with_run_row(exists ? read_text_file(path) : "", path, reported);
  };
  // What cannot be written or predicted is refused before the run, not after it.
  if (options.has("table")) table();
  const std::optional<MachineSource> machine = predicted_machine(request);
  reported.run = executed(request, network ? &*network : nullptr, topology, console);
  for (const std::string& warning : variant.warnings) reported.notes.push_back(warning);
  if (machine) {
    reported.explanation = explained_run(request, *machine, variant, reported.run);
    const auto& notes = reported.explanation->run.notes;
    reported.notes.insert(reported.notes.end(), notes.begin(), notes.end());
  } else {
    reported.notes.push_back(
        on_gpu ? "nothing is predicted: the catalog does not know this machine (--on names one)"
               : "nothing is predicted: there is no profile of this machine yet (run 'ridgeline "
                 "measure')");
  }

  Answer answer;
  answer.text = [&](std::ostream& out) {
    out << run_text(reported, flag(options, "all"), console.width);
  };
  answer.json = [&](std::ostream& out) { out << dump_json(to_json(reported)); };
  answer.csv = [&](std::ostream& out) { out << to_csv(reported); };
  answer.files = {{"trace", [&](std::ostream& out) { out << dump_json(run_trace(reported)); }},
                  {"table", [&](std::ostream& out) { out << table(); }}};
  answer.beside_csv = as_notes(reported.notes);
  write_answer(answer, options, console);
  if (reported.explanation)
    if (const std::string text = contradiction_text(*reported.explanation); !text.empty())
      throw Error(request.network.word, text, "suspect " + reported.explanation->measured->suspect);
  return reported.run.sampling.complete ? ExitCode::ok : ExitCode::incomplete;
}

}  // namespace

Command run_command() {
  return {
      .name = "run",
      .summary = "execute a network on this machine, its time beside the predicted one",
      .positional = "MODEL",
      .max_positional = 1,
      .description =
          "Builds the network (a name of 'ridgeline workloads', an ONNX file or a torch.export "
          "archive) from LibTorch's operators with random weights and runs it on the CPU: "
          "inference, or with --train one training step with autograd. A TorchScript file runs "
          "as it is, with its own weights; --shape gives its inputs. A TensorRT engine runs on "
          "the GPU that it was built for, by libnvinfer. Prints the median time with "
          "its 90 % interval, the time "
          "of each layer beside the predicted one and its roof, the operators that took longest, "
          "and clock and power under load where they can be read. A layer that was faster than "
          "the machine can be is reported as a contradiction with the likeliest cause. --table "
          "collects runs for 'validate'. Needs a ridgeline that was built with "
          "LibTorch (libtorch-dev), for engines with TensorRT's headers.",
      .examples = {{"run resnet50 --batch 8", "time and layers, on all cores"},
                   {"run bert_base --seq 128 --threads 1 --train", "one training step"},
                   {"run resnet18 --table runs.csv", "collect runs for 'ridgeline validate'"},
                   {"run net.onnx --batch 1 --trace timeline.json", "a timeline for Perfetto"},
                   {"run net.pt --shape 1x3x224x224", "a TorchScript file with its own weights"},
                   {"run net.engine --shape images=4x3x640x640", "a TensorRT engine on this GPU"}},
      .add_options = declare_run,
      .run = run_run};
}

}  // namespace ridgeline::cli
