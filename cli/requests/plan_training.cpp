// Each fact is given, measured in a profile, or assumed from published epochs; which one is said.
#include "cli/requests/plan_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/profile.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/requests/quantity_option.h"
#include "cli/requests/training.h"
#include "planner/training/measured_input.h"

namespace ridgeline::cli {
namespace {

// The dataset of the published epochs that the other assumed facts come from.
constexpr Dataset usual_dataset{23080, 121e3};
constexpr const char* usual_dataset_text = "GLD-23k: 23,080 images of 121 kB";

constexpr const char* without_input =
    "--dataset is not given: samples to train with are taken to be at hand";

constexpr const char* of_training[] = {"dataset",     "storage",       "decode", "workers",
                                       "free-memory", "epochs",        "infer",  "minibatch",
                                       "epoch-time",  "training-time", "jitter"};
constexpr const char* of_requests[] = {"latency", "fps", "rate", "jitter", "minibatch"};
constexpr const char* of_epochs[] = {"epochs", "epoch-time", "training-time", "max-slowdown",
                                     "energy"};

// "50000x150kB", or "50000" alone.
void read_dataset(const Options& options, TrainingRun& run) {
  run.dataset = usual_dataset;
  const auto text = word_of(options, "dataset");
  if (!text) {
    run.sources.dataset = usual_dataset_text;
    run.sources.assumed.push_back(
        fmt::format("--dataset is not given: {} is assumed", usual_dataset_text));
    return;
  }
  const std::string where = as_typed("dataset", *text);
  const std::size_t times = text->find('x');
  const std::string samples = text->substr(0, times);
  try {
    run.dataset.samples = positive(static_cast<double>(parse_count(samples, where)), where);
  } catch (const Error&) {
    throw usage_error(where, quote(samples) + " is not a number of samples",
                      "write samples × bytes of one, for example 50000x150kB");
  }
  run.sources.dataset = where;
  if (times == std::string::npos) {
    run.sources.assumed.push_back(
        fmt::format("{} does not say how large a sample is: {} is assumed ({})", where,
                    format_si(usual_dataset.bytes_per_sample, "B"), usual_dataset_text));
    return;
  }
  const std::string bytes = text->substr(times + 1);
  if (bytes.empty())
    throw usage_error(where, "the bytes of one sample are missing",
                      "write for example 50000x150kB");
  require_unit(bytes, where, "kB or MB");
  run.dataset.bytes_per_sample = positive(static_cast<double>(parse_bytes(bytes, where)), where);
}

bool is_file(const std::string& word) {
  std::error_code fault;
  return word.ends_with(".json") || word.find('/') != std::string::npos ||
         std::filesystem::is_regular_file(word, fault);
}

// A medium by name, or the rows of a profile; its decoding is returned where it has any.
std::optional<Decoding> read_storage(const Options& options, TrainingRun& run) {
  const auto word = word_of(options, "storage");
  if (!word) {
    run.sources.storage = storage_medium("ssd");
    run.sources.assumed.push_back("--storage is not given: ssd is assumed (" +
                                  run.sources.storage.origin + ")");
  } else if (!is_file(*word)) {
    run.sources.storage = storage_medium(*word, as_typed("storage", *word));
  } else {
    const Profile profile = load_profile(*word);
    const std::string name = std::filesystem::path(*word).filename().string();
    const auto medium = measured_medium(profile, name);
    if (!medium)
      throw Error(*word, "has no rows of storage, both of a long file and of samples",
                  "measure them: ridgeline measure --only storage,decode --path DIR",
                  ExitCode::incomplete);
    run.sources.storage = *medium;
    run.pipeline.medium = medium->cost;
    return measured_decoding(profile, name);
  }
  run.pipeline.medium = run.sources.storage.cost;
  return std::nullopt;
}

// "3ms@2GHz": of one core, for one sample.
void read_decoding(const Options& options, const std::optional<Decoding>& measured,
                   TrainingRun& run) {
  if (const auto text = word_of(options, "decode")) {
    const std::string where = as_typed("decode", *text);
    const std::size_t at = text->find('@');
    if (at == std::string::npos)
      throw usage_error(where, "the clock of the core is missing",
                        fmt::format("write for example {}@2GHz", *text));
    const std::string clock = text->substr(at + 1);
    require_unit(clock, where, "GHz or MHz");
    run.pipeline.decode_clocks =
        seconds_of(text->substr(0, at), where) * positive(parse_hz(clock, where), where);
    run.sources.decode = where;
    return;
  }
  const double bytes = run.dataset.bytes_per_sample;
  if (measured) {
    run.pipeline.decode_clocks = measured->clocks_per_byte * bytes;
    run.sources.decode = measured->origin;
    return;
  }
  run.pipeline.decode_clocks = usual_decode_clocks_per_byte * bytes;
  run.sources.decode = fmt::format(
      "{} clocks of a core per byte, PyTorch's image pipeline on Xavier NX (HiPC SRS 2021)",
      usual_decode_clocks_per_byte);
  run.sources.assumed.push_back("--decode is not given: " + run.sources.decode + " are assumed");
}

// Where CPU and GPU share the memory, what is not taken holds samples.
void read_memory(const Options& options, const MachineSource& source, TrainingRun& run) {
  double& bytes = run.pipeline.free_memory_bytes;
  if (const auto text = word_of(options, "free-memory")) {
    run.sources.memory = as_typed("free-memory", *text);
    require_unit(*text, run.sources.memory, "GB or GiB");
    bytes = static_cast<double>(parse_bytes(*text, run.sources.memory));
    return;
  }
  const auto memory = find_parameter(source.model, "memory_bytes");
  const bool is_shared = source.known ? !source.known->device.cpu.empty() : !has_gpu(source.model);
  if (!memory || !is_shared) {
    run.sources.memory = "nothing is known of the host's memory";
    run.sources.assumed.push_back(
        "--free-memory is not given and nothing is known of the host's memory: no sample is taken "
        "to stay in its page cache");
    return;
  }
  const double whole = source.model.parameters[*memory].mean;
  bytes = std::max(0.0, whole - usual_memory_taken_bytes);
  run.sources.memory =
      fmt::format("{} less {} for system and framework, as on Xavier NX (HiPC SRS 2021)",
                  format_si(whole, "B"), format_si(usual_memory_taken_bytes, "B"));
}

void read_workers(const Options& options, const MachineSource& source, TrainingRun& run) {
  if (const auto text = word_of(options, "workers")) {
    const std::string where = as_typed("workers", *text);
    const std::uint64_t workers = parse_count(*text, where);
    if (workers > 1024) throw usage_error(where, "more than 1024 are not meant");
    run.pipeline.workers = static_cast<int>(workers);
  } else {
    run.sources.assumed.push_back(
        "--workers is not given: the training process loads by itself, PyTorch's default");
  }
  run.pipeline.cores = std::max(1, source.point.cpu_cores.value_or(run.pipeline.workers + 1));
  if (!source.point.cpu_cores)
    run.sources.assumed.push_back(
        fmt::format("nothing is known of the host: {} cores at the clock of usual servers are "
                    "assumed, and their power is not counted",
                    run.pipeline.cores));
}

TrainingRun input_of(const Options& options, const MachineSource& source) {
  TrainingRun run;
  read_dataset(options, run);
  const auto measured = read_storage(options, run);
  read_decoding(options, measured, run);
  read_memory(options, source, run);
  read_workers(options, source, run);
  if (flag(options, "strict") && !run.sources.assumed.empty())
    throw Error("--strict", fmt::format("{}", fmt::join(run.sources.assumed, "; ")),
                "give them, or leave --strict out", ExitCode::incomplete);
  return run;
}

}  // namespace

void add_plan_training_options(OptionsDescription& options) {
  options.add_text("train", "MODEL", "plan for training this network instead");
  options.add_text("infer", "MODEL",
                   "with --train: requests for this network are served between training steps");
  add_training_details(options);
  options.add_text("dataset", "NxBYTES", "samples and the size of one: 50000x150kB");
  options.add_text(
      "storage", "MEDIUM|FILE",
      "where they lie: hdd, sd, emmc, ssd, nvme or ram, or a profile with measured storage");
  options.add_text("decode", "TIME@CLOCK", "what one sample costs one core: 3ms@2GHz");
  options.add_text("workers", "N",
                   "loader processes; 0: the training process loads by itself (default)");
  options.add_text("free-memory", "BYTES", "memory that is left for the page cache");
  options.add_text("epochs", "N", "how many, the first of them with a cold page cache");
  options.add_text("epoch-time", "TIME", "most time of an epoch, on average: 10min");
  options.add_text("training-time", "TIME", "most time of all --epochs: 2h");
  options.add_text(
      "minibatch", "N,...",
      "of training, where --batch is that of --infer (default: 16,8,4, whichever trains most)");
  options.add_text("jitter", "TIME", "most that a request comes early or late");
  options.add_flag("strict", "facts of training that nobody gave are an error");
}

Scenario task_of(const Options& options) {
  const bool trains = options.has("train");
  if (!trains) {
    for (const char* name : of_training) refuse(options, name, "needs --train");
    if (flag(options, "strict")) throw usage_error("--strict", "needs --train");
    training_details(options, false);
    return Scenario::inference;
  }
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
    for (const char* name : {"storage", "decode", "workers", "free-memory"})
      refuse(options, name, "needs --dataset");
  if (!options.has("rate") && !options.has("fps"))
    throw usage_error("--infer", "needs the rate of its requests", "write for example --rate 60/s");
  if (!options.has("latency"))
    throw usage_error("--infer", "needs a limit of latency", "write for example --latency 50ms");
  return Scenario::concurrent;
}

TrainingRun training_run(const Options& options, const MachineSource& source) {
  TrainingRun run = input_of(options, source);
  if (!has_gpu(source.model) && run.pipeline.workers > 0)
    run.sources.assumed.push_back("loaders are taken not to slow down training on the same cores");
  if (const auto text = word_of(options, "epochs")) {
    const std::string where = as_typed("epochs", *text);
    run.epochs = positive(static_cast<double>(parse_count(*text, where)), where);
  }
  return run;
}

ConcurrentRun concurrent_run(const Options& options, const MachineSource& source) {
  ConcurrentRun run;
  if (options.has("rate")) refuse(options, "fps", "cannot be combined with --rate");
  if (const auto rate = word_of(options, "rate"))
    run.stream.requests_per_s = per_second(*rate, as_typed("rate", *rate));
  if (const auto frames = word_of(options, "fps"))
    run.stream.requests_per_s = plain_number(*frames, as_typed("fps", *frames), "30");
  if (const auto jitter = word_of(options, "jitter")) {
    require_unit(*jitter, as_typed("jitter", *jitter), "ms or s");
    run.stream.jitter_s = parse_seconds(*jitter, as_typed("jitter", *jitter));
  }
  if (options.has("dataset"))
    run.input = input_of(options, source);
  else if (flag(options, "strict"))
    throw Error("--strict", without_input, "give --dataset, or leave --strict out",
                ExitCode::incomplete);
  return run;
}

}  // namespace ridgeline::cli
