// Words to values. Limits by their kinds; which facts of training are assumed is decided where the
// problem is made.
#include "cli/requests/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/nearest.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/requests/machine.h"
#include "cli/requests/memory.h"
#include "cli/requests/network.h"
#include "cli/requests/values.h"
#include "planner/periodic.h"
#include "workloads/registry.h"

namespace ridgeline::cli {
namespace {

constexpr const char* of_training[] = {"dataset",       "storage", "decode",    "workers",
                                       "epochs",        "infer",   "minibatch", "epoch-time",
                                       "training-time", "jitter"};
constexpr const char* of_requests[] = {"latency", "fps", "rate", "jitter", "minibatch"};
constexpr const char* of_inference[] = {"host", "reserve-cores"};
constexpr const char* of_epochs[] = {"epochs", "epoch-time", "training-time", "max-slowdown",
                                     "energy"};

// Batches of inference that are tried beside training.
constexpr std::int64_t usual_batches[] = {1, 2, 4, 8, 16, 32};
// And of training beside inference, where a step must not take longer than a request may wait.
constexpr std::int64_t usual_minibatches[] = {16, 8, 4};

// Which scenario the options ask for; options of another one are usage errors.
Scenario requested_scenario(const Options& options) {
  const bool trains = options.has("train");
  if (!trains) {
    for (const char* name : of_training) refuse(options, name, "needs --train");
    if (flag(options, "strict")) throw usage_error("--strict", "needs --train");
    training_details(options, false);
    return Scenario::inference;
  }
  for (const char* name : of_inference)
    refuse(options, name, "cannot be combined with --train",
           "loaders are --workers and --decode, a lowest CPU clock is --reserve-cpu");
  if (!positional(options).empty())
    throw usage_error(positional(options).front(), "cannot stand beside --train",
                      "the network that is trained is --train's, the one that serves --infer's");
  if (!options.has("infer")) {
    for (const char* name : of_requests) refuse(options, name, "needs --infer");
    if (options.has("training-time") && !options.has("epochs"))
      throw usage_error("--training-time", "needs --epochs");
    return Scenario::training;
  }
  for (const char* name : of_epochs)
    refuse(options, name, "has no meaning beside --infer",
           "limit --throughput, --latency or --power");
  if (!options.has("dataset"))
    for (const char* name : {"storage", "decode", "workers"})
      refuse(options, name, "needs --dataset");
  if (!options.has("rate") && !options.has("fps"))
    throw usage_error("--infer", "needs the rate of its requests", "write for example --rate 60/s");
  if (!options.has("latency"))
    throw usage_error("--infer", "needs a limit of latency", "write for example --latency 50ms");
  return Scenario::concurrent;
}

// "10ms", "10ms@p95".
void add_latency(const Options& options, Objective& objective) {
  const auto text = options.word("latency");
  if (!text) return;
  const std::string where = as_typed("latency", *text);
  const std::size_t at = text->find('@');
  const std::string time = text->substr(0, at);
  Limit limit{LimitKind::latency, seconds_of(time, where), 0, where};
  if (at != std::string::npos) {
    const std::string quantile = text->substr(at + 1);
    if (!quantile.starts_with("p"))
      throw usage_error(where, quote(quantile) + " is not a quantile", "write for example @p95");
    const double share = plain_number(quantile.substr(1), where, "@p95") / 100;
    if (share < 0.5 || share > 0.999) throw usage_error(where, "a quantile is from p50 to p99.9");
    objective.latency_quantile = share;
    limit.probability = share;
  }
  objective.limits.push_back(limit);
}

template <class Parse>
void add_limit(const Options& options, Objective& objective, LimitKind kind, Parse parse) {
  const std::string name(to_string(kind));
  if (const auto text = options.word(name)) {
    const std::string where = as_typed(name.c_str(), *text);
    objective.limits.push_back({kind, parse(*text, where), 0, where});
  }
}

// Energy that all epochs of a training may take.
void add_training_battery(const Options& options, const std::string& battery,
                          Objective& objective) {
  const std::string where = as_typed("battery", battery);
  if (options.has("energy")) throw usage_error(where, "cannot be combined with --energy");
  const auto epochs = options.word("epochs");
  if (!epochs)
    throw usage_error("--battery", "must last for a time, or for a number of epochs",
                      "write --hours 4 or --epochs 10");
  objective.limits.push_back({LimitKind::energy,
                              joules_of(battery, where, "Wh or J") /
                                  plain_number(*epochs, as_typed("epochs", *epochs), "10"),
                              0, where + " " + as_typed("epochs", *epochs)});
}

void add_battery(const Options& options, Objective& objective, Scenario task) {
  const auto battery = options.word("battery"), hours = options.word("hours");
  if (battery && !hours && task == Scenario::training)
    return add_training_battery(options, *battery, objective);
  if (battery.has_value() != hours.has_value())
    throw usage_error(battery ? "--battery" : "--hours", "a battery needs both energy and time",
                      "write --battery 50Wh --hours 4");
  if (!battery) return;
  const std::string where = as_typed("battery", *battery);
  const double energy_j = joules_of(*battery, where, "Wh or J");
  const double time_h = plain_number(*hours, as_typed("hours", *hours), "4");
  objective.limits.push_back(
      {LimitKind::battery, energy_j / (time_h * 3600), 0, where + " " + as_typed("hours", *hours)});
}

void add_arrivals(const Options& options, Objective& objective) {
  const auto frames = options.word("fps"), rate = options.word("rate");
  if (frames && rate)
    throw usage_error("--rate", "cannot be combined with --fps",
                      "--fps is for samples that come evenly, --rate for those at random");
  if (!frames && !rate) return;
  const std::string where = frames ? as_typed("fps", *frames) : as_typed("rate", *rate);
  const double per_s = frames ? plain_number(*frames, where, "30") : per_second(*rate, where);
  objective.arrivals = Arrivals{per_s, rate.has_value()};
  objective.limits.push_back({LimitKind::arrivals, 1 / per_s, 0, where});
}

// Gathering a batch takes longer than a sample may wait, in any mode.
void check_gathering(const Objective& objective, const std::vector<std::int64_t>& batches) {
  if (!objective.arrivals) return;
  for (const Limit& limit : objective.limits) {
    if (limit.kind != LimitKind::latency) continue;
    double least = INFINITY;
    for (const std::int64_t batch : batches)
      least = std::min(least,
                       latency_at_rate(0, batch, *objective.arrivals, objective.latency_quantile));
    if (least >= limit.bound)
      throw usage_error(limit.text,
                        fmt::format("contradicts the rate and the batch: samples wait {} for their "
                                    "batch in any mode",
                                    format_seconds(least)),
                        "give a smaller --batch");
  }
}

// Limits that contradict each other whatever the mode, or that the task does not have, are usage
// errors.
Objective objective_of(const Options& options, const std::vector<std::int64_t>& batches,
                       Scenario task) {
  Objective objective;
  objective.goal =
      token_option(options, "minimize", task == Scenario::concurrent ? Goal::time : Goal::energy);
  if (const auto text = options.word("risk")) {
    const std::string where = as_typed("risk", *text);
    objective.risk =
        text->ends_with("%") ? percent(*text, where) : plain_number(*text, where, "0.9");
    if (objective.risk < 0.5 || objective.risk > 0.99)
      throw usage_error(where, "must be a probability from 0.5 to 0.99");
  }
  add_latency(options, objective);
  add_limit(options, objective, LimitKind::throughput,
            [](const std::string& text, const std::string& where) {
              return 1 / per_second(text, where);
            });
  add_limit(options, objective, LimitKind::power, watts_of);
  add_limit(options, objective, LimitKind::peak_power, watts_of);
  add_limit(options, objective, LimitKind::slowdown, percent);
  add_limit(
      options, objective, LimitKind::energy,
      [](const std::string& text, const std::string& where) { return joules_of(text, where); });
  add_limit(options, objective, LimitKind::epoch_time, seconds_of);
  add_limit(options, objective, LimitKind::training_time, seconds_of);
  add_battery(options, objective, task);
  if (task == Scenario::concurrent) return objective;
  add_arrivals(options, objective);
  check_gathering(objective, batches);
  return objective;
}

// "gpu,emc": the knobs that may differ from those of a stock mode.
TunedKnobs tuned_knobs(const Options& options) {
  TunedKnobs tuned{true, true, false, false};
  const auto text = options.word("tune");
  if (!text) return tuned;
  tuned = {false, false, false, false};
  const std::string where = as_typed("tune", *text);
  for (const std::string& word : list_of(*text, where)) {
    const std::string knob = lower(word);
    const bool is_all = knob == "all";
    if (!is_all && knob != "gpu" && knob != "emc" && knob != "cpu" && knob != "sm")
      throw usage_error(where, quote(word) + " is not one of gpu, emc, cpu, sm, all");
    tuned.gpu |= is_all || knob == "gpu";
    tuned.memory |= is_all || knob == "emc";
    tuned.cpu |= is_all || knob == "cpu";
    tuned.units |= is_all || knob == "sm";
  }
  return tuned;
}

// "3ms@2GHz" as clocks of one core.
double core_clocks(const std::string& text, const std::string& where) {
  const std::size_t at = text.find('@');
  const double time_s = seconds_of(text.substr(0, at), where);
  if (at == std::string::npos)
    throw usage_error(where, "the clock of the core is missing",
                      fmt::format("write for example {}@2GHz", text));
  const std::string clock = text.substr(at + 1);
  require_unit(clock, where, "GHz or MHz");
  return time_s * positive(parse_hz(clock, where), where);
}

// What the rest of the application needs of the CPU. Who states it lets the plan set the CPU too.
void read_host(const Options& options, PlanRequest& request) {
  CandidateOptions& modes = request.modes;
  if (const auto text = options.word("reserve-cores")) {
    const std::int64_t cores = dimension(*text, as_typed("reserve-cores", *text), 1);
    if (cores > 1024) throw usage_error(as_typed("reserve-cores", *text), "must be at most 1024");
    request.host.reserved_cores = static_cast<int>(cores);
    modes.least_cores = request.host.reserved_cores + 1;  // one is left for the network
  }
  if (const auto text = options.word("reserve-cpu")) {
    const std::string where = as_typed("reserve-cpu", *text);
    require_unit(*text, where, "GHz or MHz");
    modes.least_cpu_hz = positive(parse_hz(*text, where), where);
  }
  if (const auto text = options.word("host"))
    request.host.clocks_per_sample = core_clocks(*text, as_typed("host", *text));
  request.host.pipelined = flag(options, "pipelined");
  if (request.host.pipelined && !options.has("host"))
    throw usage_error("--pipelined", "needs --host", "write for example --host 3ms@2GHz");
  if (options.has("host") || options.has("reserve-cores") || options.has("reserve-cpu"))
    modes.tuned.cpu = true;
}

// --prompt and --generate, and what language models do not have.
void read_generation(const Options& options, PlanRequest& request) {
  const auto workload = find_workload(request.run.network.word);
  const bool is_decoder = workload && workload->options.has(WorkloadOption::phase);
  if (is_decoder)
    refuse(options, "fps", "a language model generates tokens, not frames",
           "write --prompt 512 --generate 128, with --rate 1/s for requests that arrive");
  if (!options.has("prompt") && !options.has("generate")) return;
  const std::string where = options.has("prompt") ? "--prompt" : "--generate";
  if (!is_decoder)
    throw usage_error(where, request.run.network.word + " is not a language model known by name",
                      "'ridgeline workloads' lists them");
  if (request.scenario != Scenario::inference)
    throw usage_error(where, "cannot be combined with --train");
  for (const char* name : {"phase", "seq", "context", "logits"})
    refuse(options, name, "cannot be combined with " + where + ", which sets it");
  request.generation = GenerationRequest{count_option(options, "prompt", 1, 512),
                                         count_option(options, "generate", 1, 128)};
  WorkloadOptions& prompt = request.run.network.options;
  prompt.phase = Phase::prefill;
  prompt.seq = request.generation->prompt;
  prompt.logits = Logits::last;
  if (request.run.dtypes.empty()) request.run.dtypes = {DType::fp16};
}

// The modes to choose from.
CandidateOptions candidate_options(const Options& options) {
  CandidateOptions wishes;
  wishes.tuned = tuned_knobs(options);
  wishes.stock_only = flag(options, "stock-only");
  wishes.reach = token_option(options, "reach", Reach::reboot);
  if (const auto text = options.word("filter")) wishes.filter = parse_mode_filter(*text);
  return wishes;
}

// --batch 1,2,4 or --minibatch as a list; empty where it is not given.
std::vector<std::int64_t> batches_of(const std::optional<std::string>& text) {
  std::vector<std::int64_t> batches;
  if (!text) return batches;
  for (const std::string& word : list_of(*text, as_typed("batch", *text))) {
    const std::int64_t batch = parse_batch(word);
    if (std::find(batches.begin(), batches.end(), batch) == batches.end()) batches.push_back(batch);
  }
  return batches;
}

// --dtype fp16,int8 likewise.
std::vector<DType> dtypes_of(const Options& options) {
  std::vector<DType> dtypes;
  const auto text = options.word("dtype");
  if (!text) return dtypes;
  const std::string where = as_typed("dtype", *text);
  for (const std::string& word : list_of(*text, where)) {
    const auto dtype = lenient_token<DType>(word);
    if (!dtype) {
      std::vector<std::string> names;
      for (const auto& row : TokenTable<DType>::rows) names.emplace_back(row.second);
      const auto near = nearest(word, names);
      throw usage_error(where, quote(word) + " is not a type of numbers",
                        near ? "did you mean " + *near + "?" : "write for example fp16,int8");
    }
    if (std::find(dtypes.begin(), dtypes.end(), *dtype) == dtypes.end()) dtypes.push_back(*dtype);
  }
  return dtypes;
}

// A name, "50000x150kB", or "50000" alone.
void read_dataset(const Options& options, InputRequest& input) {
  const auto text = options.word("dataset");
  if (!text) return;
  const std::string where = as_typed("dataset", *text);
  if (!text->empty() && std::isalpha(static_cast<unsigned char>(text->front())) != 0) {
    input.known = {known_dataset(*text, where), where};
    return;
  }
  const std::size_t times = text->find('x');
  const std::string samples = text->substr(0, times);
  try {
    input.samples = {positive(static_cast<double>(parse_count(samples, where)), where), where};
  } catch (const Error&) {
    throw usage_error(where, quote(samples) + " is not a number of samples",
                      "write samples × bytes of one, for example 50000x150kB");
  }
  if (times == std::string::npos) return;
  const std::string bytes = text->substr(times + 1);
  if (bytes.empty())
    throw usage_error(where, "the bytes of one sample are missing",
                      "write for example 50000x150kB");
  require_unit(bytes, where, "kB or MB");
  input.bytes_per_sample = positive(static_cast<double>(parse_bytes(bytes, where)), where);
}

// "3ms@2GHz": of one core, for one sample.
void read_decoding(const Options& options, InputRequest& input) {
  const auto text = options.word("decode");
  if (!text) return;
  const std::string where = as_typed("decode", *text);
  input.decode_clocks = {core_clocks(*text, where), where};
}

InputRequest input_request(const Options& options) {
  InputRequest input;
  read_dataset(options, input);
  input.storage = options.word("storage");
  read_decoding(options, input);
  input.free_memory_bytes = free_memory(options);
  if (const auto text = options.word("workers")) {
    const std::string where = as_typed("workers", *text);
    const std::uint64_t workers = parse_count(*text, where);
    if (workers > 1024) throw usage_error(where, "must be at most 1024");
    input.workers = static_cast<int>(workers);
  }
  input.strict = flag(options, "strict");
  return input;
}

InferenceStream stream_of(const Options& options) {
  InferenceStream stream;
  if (options.has("rate")) refuse(options, "fps", "cannot be combined with --rate");
  if (const auto rate = options.word("rate"))
    stream.requests_per_s = per_second(*rate, as_typed("rate", *rate));
  if (const auto frames = options.word("fps"))
    stream.requests_per_s = plain_number(*frames, as_typed("fps", *frames), "30");
  if (const auto jitter = options.word("jitter")) {
    require_unit(*jitter, as_typed("jitter", *jitter), "ms or s");
    stream.jitter_s = parse_seconds(*jitter, as_typed("jitter", *jitter));
  }
  return stream;
}

// The batches that can be gathered in time; a usage error where none can.
std::vector<std::int64_t> gathered(std::vector<std::int64_t> batches, const PlanRequest& request) {
  const InferenceStream& stream = request.stream;
  for (const Limit& limit : request.objective.limits) {
    if (limit.kind != LimitKind::latency || batches.empty()) continue;
    const auto wait_s = [&](std::int64_t batch) {
      return static_cast<double>(batch - 1) / stream.requests_per_s + 2 * stream.jitter_s;
    };
    const std::int64_t least = *std::min_element(batches.begin(), batches.end());
    if (wait_s(least) >= limit.bound)
      throw usage_error(limit.text,
                        fmt::format("contradicts rate, jitter and batch: samples wait {} for their "
                                    "batch in any mode",
                                    format_seconds(wait_s(least))),
                        "give a smaller --batch, or a longer latency");
    std::erase_if(batches, [&](std::int64_t batch) { return wait_s(batch) >= limit.bound; });
  }
  return batches;
}

std::string planned_word(const Options& options, Scenario task) {
  if (task == Scenario::training) return options.text("train");
  if (task == Scenario::concurrent) return options.text("infer");
  return required_word(options, "'plan' needs a model", "plan resnet50 --on jetson-orin-nano-8gb");
}

// The network that is trained beside inference has a batch of its own, and the type of its weights.
PlannedNetwork trained_network(const Options& options) {
  PlannedNetwork trained;
  trained.network = network_request_without_lists(options, options.text("train"));
  trained.training = training_details(options, true);
  trained.batches = batches_of(options.word("minibatch"));
  if (trained.batches.empty() && find_workload(trained.network.word))
    trained.batches.assign(std::begin(usual_minibatches), std::end(usual_minibatches));
  return trained;
}

}  // namespace

void add_plan_options(OptionsDescription& options) {
  add_machine_options(options);
  add_network_options(options);
  options.add_text(
      "runtime", "NAME",
      "runtime: ideal, tensorrt, torch-eager, torch-eager-hooks, torch-compiled, cuda-graph or "
      "onnxruntime (default: tensorrt on a GPU, torch-eager on a CPU and for training)");
  options.add_text("minimize", "energy|time|power|edp",
                   "quantity to minimise: energy per sample or epoch (default; with --infer: time "
                   "per trained sample), time, mean power, or energy × delay");
  options.add_text("latency", "TIME[@pNN]",
                   "latency limit per sample: 10ms, or 10ms@p95 for 95 of 100 requests");
  options.add_text("throughput", "N/s", "minimum throughput; with --train: of trained samples");
  options.add_text("power", "WATT", "maximum mean power");
  options.add_text("peak-power", "WATT", "maximum power while a batch runs");
  options.add_text("max-slowdown", "N%",
                   "maximum slowdown against the fastest mode at the same batch");
  options.add_text("energy", "JOULE",
                   "maximum energy per sample (per epoch with --train), for example 500mJ");
  options.add_text("battery", "WH", "battery energy that must last for --hours or --epochs: 50Wh");
  options.add_text("hours", "N", "how long --battery must last");
  options.add_text("fps", "N", "samples arrive evenly at this rate; idle time between them counts");
  options.add_text("rate", "N/s",
                   "samples arrive at random at this mean rate and queue; with --infer: evenly");
  options.add_text("prompt", "N", "language models: tokens of the prompt (default: 512)");
  options.add_text("generate", "N", "language models: tokens to generate (default: 128)");
  add_stored_types(options);
  options.add_text("filter", "MODES", "consider only these modes: gpu>=600MHz,emc=max,cores=4/6");
  options.add_text("tune", "gpu|gpu,emc,cpu|all",
                   "knobs that may differ from a stock mode: gpu, emc, cpu (clock and cores), sm "
                   "or all; default: gpu,emc, and what --filter names");
  options.add_text("reserve-cores", "N", "cores that other programs keep busy");
  options.add_text("reserve-cpu", "CLOCK", "lowest CPU clock that other programs need");
  options.add_text("host", "TIME@CLOCK",
                   "CPU work around each sample, on one core: 3ms@2GHz for decoding and drawing");
  options.add_flag("pipelined", "with --host: it overlaps with the device's work, on another core");
  options.add_flag("stock-only", "consider only the device's stock modes");
  options.add_text("reach", "live|reboot",
                   "live: only modes reachable from --mode without a reboot; default: all modes, "
                   "with the best live one shown too");
  options.add_text("risk", "P", "probability with which all limits must hold (default: 0.9)");
  add_board_offset_option(options);
  add_host_cpu_option(options);
  options.add_flag("allow-unknown",
                   "accept unknown operators: count their tensors as moved, no FLOP");
  options.add_text("train", "MODEL", "plan training of this network instead");
  options.add_text("infer", "MODEL",
                   "with --train: serve requests for this network between training steps");
  add_training_details(options);
  options.add_text("dataset", "NAME|NxBYTES",
                   "gld23k, imagenet, cifar10 or mnist, or number of samples and size of one: "
                   "50000x150kB");
  options.add_text("storage", "MEDIUM|FILE",
                   "where the dataset lies: hdd, sd, emmc, ssd, nvme or ram, or a profile with "
                   "measured storage");
  options.add_text("decode", "TIME@CLOCK", "time one core takes to decode a sample: 3ms@2GHz");
  options.add_text("workers", "N", "loader processes; 0 (default): the training process loads");
  options.add_text("free-memory", "BYTES",
                   "memory that the machine has free for the run; with --train: that training "
                   "leaves for the page cache");
  options.add_text("epochs", "N", "number of epochs, the first with a cold page cache");
  options.add_text("epoch-time", "TIME", "maximum mean time per epoch: 10min");
  options.add_text("training-time", "TIME", "maximum time for all --epochs: 2h");
  options.add_text(
      "minibatch", "N,...",
      "batch sizes of training, as --batch is that of --infer (default: the best of 16,8,4)");
  options.add_text("jitter", "TIME", "largest deviation of a request from its due time");
  options.add_flag("strict", "fail instead of assuming facts about training");
  options.add_flag("explain", "show what one step of each knob would change");
  options.add_text("why", "MODE", "explain why this mode was not chosen");
}

PlanRequest plan_request(const Options& options) {
  PlanRequest request;
  const Scenario task = request.scenario = requested_scenario(options);
  request.run.network = network_request_without_lists(options, planned_word(options, task));
  request.run.training = training_details(options, task != Scenario::inference);
  request.run.batches = batches_of(options.word("batch"));
  request.run.dtypes = dtypes_of(options);
  request.machine = machine_request(options);
  if (options.has("runtime")) request.runtime = token_option(options, "runtime", Runtime::ideal);
  if (task == Scenario::training &&
      (request.runtime == Runtime::tensorrt || request.runtime == Runtime::onnxruntime))
    throw usage_error(fmt::format("--runtime {}", to_string(*request.runtime)), "does not train",
                      "write for example --runtime torch-compiled");
  const std::vector<std::int64_t>& batches = request.run.batches;
  request.objective =
      objective_of(options, batches.empty() ? std::vector<std::int64_t>{1} : batches, task);
  request.modes = candidate_options(options);
  read_stored_types(options, request.run.network);
  // Weights that are stored narrower are computed in fp16.
  if (request.run.network.weights && request.run.dtypes.empty()) request.run.dtypes = {DType::fp16};
  read_generation(options, request);
  read_host(options, request);
  for (const char* name :
       {"filter", "reach", "nvpmodel", "stock-only", "tune", "reserve-cores", "reserve-cpu"})
    if (request.needs_modes.empty() && options.has(name))
      request.needs_modes = fmt::format("--{}", name);
  request.why = options.text_or_empty("why");
  request.input = input_request(options);
  if (const auto text = options.word("epochs")) {
    const std::string where = as_typed("epochs", *text);
    request.epochs = positive(static_cast<double>(parse_count(*text, where)), where);
  }
  if (task != Scenario::concurrent) return request;
  request.run.training.reset();  // --train is the other network's
  request.stream = stream_of(options);
  if (batches.empty() && find_workload(request.run.network.word))
    request.run.batches.assign(std::begin(usual_batches), std::end(usual_batches));
  request.run.batches = gathered(std::move(request.run.batches), request);
  request.trained = trained_network(options);
  return request;
}

}  // namespace ridgeline::cli
