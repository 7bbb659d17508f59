// Values are checked for sense here, for fit with the network where it is loaded. Of NAME=VALUE the
// last '=' divides, since a name may hold any character.
#include "cli/requests/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <map>
#include <utility>

#include "base/file_kind.h"
#include "base/text.h"
#include "cli/requests/values.h"
#include "workloads/registry.h"

namespace ridgeline::cli {
namespace {

// Options that only a workload has; both kinds have --batch.
constexpr WorkloadOption workload_options[] = {
    WorkloadOption::image, WorkloadOption::seq,       WorkloadOption::context,
    WorkloadOption::phase, WorkloadOption::logits,    WorkloadOption::attention,
    WorkloadOption::dtype, WorkloadOption::precision, WorkloadOption::classes};

std::vector<std::string> values_of(const Options& options, const char* name) {
  return options.has(name) ? options.list(name) : std::vector<std::string>();
}

struct NamedValue {
  std::string name, value;
};

NamedValue named_value(const std::string& text, const std::string& where, const char* example) {
  const auto at = text.rfind('=');
  if (at == std::string::npos || at == 0)
    throw usage_error(where, "needs a name and a value",
                      fmt::format("write for example {}", example));
  return {text.substr(0, at), text.substr(at + 1)};
}

// "1x3x640x640", "1,3" or "scalar".
Shape parse_shape(const std::string& text, const std::string& where) {
  Shape shape;
  if (text == "scalar") return shape;
  std::size_t begin = 0;
  for (;;) {
    const auto end = text.find_first_of("x,", begin);
    try {
      shape.push_back(dimension(text.substr(begin, end - begin), where, 0));
    } catch (const Error&) {
      throw usage_error(where, quote(text) + " is not a shape", "write for example 1x3x224x224");
    }
    if (end == std::string::npos) break;
    begin = end + 1;
  }
  if (!checked_element_count(shape)) throw usage_error(where, "more elements than can be counted");
  return shape;
}

// "16000", "0,0,640,480".
std::vector<double> parse_values(const std::string& text, const std::string& where) {
  std::vector<double> values;
  for (const std::string& word : list_of(text, where)) {
    double value = 0;
    const char* end = word.data() + word.size();
    const auto [rest, fault] = std::from_chars(word.data(), end, value);
    if (fault != std::errc() || rest != end || !std::isfinite(value))
      throw usage_error(where, quote(word) + " is not a number", "write for example 16000 or 0,-1");
    values.push_back(value);
  }
  return values;
}

template <class Value>
void insert_once(std::map<std::string, Value>& map, const std::string& name, Value value,
                 const std::string& where) {
  if (!map.emplace(name, std::move(value)).second)
    throw usage_error(where, quote(name) + " is given twice");
}

ReadOptions read_options(const Options& options) {
  ReadOptions reading;
  if (options.has("assume-dim")) reading.assumed_dim = count_option(options, "assume-dim", 0, 1);
  for (const std::string& text : values_of(options, "shape")) {
    const std::string where = as_typed("shape", text);
    const NamedValue entry = text.find('=') == std::string::npos
                                 ? NamedValue{"", text}
                                 : named_value(text, where, "--shape input=1x3x224x224");
    insert_once(reading.shapes, entry.name, parse_shape(entry.value, where), where);
  }
  for (const std::string& text : values_of(options, "dim")) {
    const std::string where = as_typed("dim", text);
    const NamedValue entry = named_value(text, where, "--dim sequence=128");
    insert_once(reading.dims, entry.name, dimension(entry.value, where, 0), where);
  }
  for (const std::string& text : values_of(options, "batch-axis")) {
    const std::string where = as_typed("batch-axis", text);
    const NamedValue entry = named_value(text, where, "--batch-axis frames=1");
    std::optional<std::int64_t> axis;
    if (entry.value != "none") axis = dimension(entry.value, where, 0);
    insert_once(reading.batch_axes, entry.name, axis, where);
  }
  for (const std::string& text : values_of(options, "input")) {
    const std::string where = as_typed("input", text);
    const NamedValue entry = named_value(text, where, "--input sr=16000");
    insert_once(reading.values, entry.name, parse_values(entry.value, where), where);
  }
  for (const std::string& text : values_of(options, "trips")) {
    const std::string where = as_typed("trips", text);
    const NamedValue entry = text.find('=') == std::string::npos
                                 ? NamedValue{"", text}
                                 : named_value(text, where, "--trips loop_1=12");
    insert_once(reading.trips, entry.name, dimension(entry.value, where, 0), where);
  }
  if (const auto word = options.word("branch")) {
    if (*word != "then" && *word != "else")
      throw usage_error(as_typed("branch", *word), quote(*word) + " is not one of then, else");
    reading.branch = *word == "then" ? Branch::then_branch : Branch::else_branch;
  }
  if (const auto file = options.word("ops")) reading.operators = operators_from_file(*file);
  if (const auto file = options.word("onnx")) reading.onnx = *file;
  reading.times = values_of(options, "times");
  if (options.has("opt-profile"))
    reading.opt_profile = static_cast<int>(
        std::min<std::int64_t>(count_option(options, "opt-profile", 0, 0), 1 << 20));
  return reading;
}

// One of the types that an option takes.
DType one_of(const Options& options, const char* name, std::initializer_list<DType> types) {
  const std::string& word = options.text(name);
  const auto found = lenient_token<DType>(word);
  if (found && std::find(types.begin(), types.end(), *found) != types.end()) return *found;
  std::string allowed;
  for (const DType type : types) (allowed += allowed.empty() ? "" : ", ") += to_string(type);
  throw usage_error(as_typed(name, word), quote(word) + " is not one of " + allowed);
}

// Before the machine is looked for: a message about a missing profile would hide the real fault.
void refuse_other_files(const std::string& word) {
  const KnownFile file = file_kind(word);
  if (file.kind == FileKind::profile || file.kind == FileKind::fitted_model ||
      file.kind == FileKind::table)
    throw Error(word, "is not a network", file.hint);
}

}  // namespace

void add_network_options(OptionsDescription& options) {
  options.add_text("batch", "N", "batch size, dimension 0 of every input; default: as in the file");
  options.add_list("batch-axis", "NAME=AXIS|none",
                   "dimension of an input that is its batch, if it is not 0; may be repeated");
  options.add_list("shape", "[NAME=]1x3x640x640",
                   "shape of an input (PyTorch: the only one needs no name); may be repeated");
  options.add_list("dim", "NAME=N", "size of a named free dimension; may be repeated");
  options.add_text("assume-dim", "N", "size of every other free dimension");
  options.add_list("input", "NAME=V[,V...]",
                   "values of a small input that shapes or loops depend on; may be repeated");
  options.add_text("branch", "then|else",
                   "branch of an If to count; default: the one with more FLOP");
  options.add_list(
      "trips", "[NAME=]N",
      "iterations of a loop (or all loops) whose count depends on data; may be repeated");
  options.add_text("ops", "FILE",
                   "JSON file with formulas for operators that have no built-in rule, or another");
  add_engine_options(options);
  for (const WorkloadOption option : workload_options) {
    const std::string word(to_string(option)), about(description(option));
    options.add_text(word, value_name(option), about);
  }
}

void add_engine_options(OptionsDescription& options) {
  options.add_text("onnx", "FILE",
                   "of an engine: the ONNX file it was built from, to name and count its kernels");
  options.add_text("opt-profile", "N",
                   "of an engine: its optimisation profile; default: the first, 0");
}

void add_times_option(OptionsDescription& options) {
  options.add_list(
      "times", "FILE",
      "of an engine: measured times, from trtexec (--exportProfile, --exportTimes, its "
      "log) or nsys (CSV); may be repeated");
}

NetworkRequest network_request(const Options& options, const std::string& word) {
  refuse_other_files(word);
  NetworkRequest request;
  request.word = word;
  if (const auto workload = find_workload(word); workload && !is_file(request))
    request.word = workload->name;
  for (const WorkloadOption option : workload_options) {
    const auto text = options.word(to_string(option));
    if (!text) continue;
    // A type that no network can be built in is for load_network to refuse.
    if (option == WorkloadOption::dtype) request.dtype = lenient_token<DType>(*text);
    if (option != WorkloadOption::dtype || !request.dtype)
      set_option(request.options, option, *text);
  }
  if (const auto text = options.word("batch")) request.batch = parse_batch(*text);
  request.reading = read_options(options);
  request.allow_unknown = flag(options, "allow-unknown");
  return request;
}

NetworkRequest network_request_without_lists(Options options, const std::string& word) {
  options.erase("batch");
  options.erase("dtype");
  return network_request(options, word);
}

void add_stored_types(OptionsDescription& options) {
  options.add_text("weights", "int8|int4",
                   "store the weights of products in fewer bits, with a scale per 128 of them; "
                   "arithmetic in fp16");
  options.add_text("kv", "fp16|int8", "type of the caches of a language model");
}

void read_stored_types(const Options& options, NetworkRequest& request) {
  if (options.has("weights"))
    request.weights = one_of(options, "weights", {DType::int8, DType::int4});
  if (options.has("kv")) request.caches = one_of(options, "kv", {DType::fp16, DType::int8});
}

std::int64_t parse_batch(const std::string& text) {
  WorkloadOptions parsed;
  set_option(parsed, WorkloadOption::batch, text);
  return *parsed.batch;
}

MachineModel model_for(const MachineModel& model, const NetworkRequest& request, Task task,
                       Runtime runtime) {
  const auto workload = find_workload(request.word);
  if (!workload || model.networks.empty()) return model;
  return for_network(model, std::string(workload->name), full_options(*workload, request.options),
                     task, runtime);
}

void add_training_options(OptionsDescription& options) {
  options.add_flag("train", "count one training step instead of inference");
  add_training_details(options);
}

void add_training_details(OptionsDescription& options) {
  options.add_text("optimizer", "sgd|momentum|adam|adamw",
                   "optimizer, with --train (default: sgd)");
  options.add_flag("mixed-precision",
                   "with --train: passes in fp16 (bf16 with --dtype bf16), fp32 master weights");
  options.add_flag("checkpoint", "with --train: recompute activations instead of storing them");
  options.add_text("freeze-until", "LAYER",
                   "with --train: freeze layers up to and including this one");
}

std::optional<TrainingOptions> training_options(const Options& options) {
  return training_details(options, flag(options, "train"));
}

std::optional<TrainingOptions> training_details(const Options& options, bool wanted) {
  if (!wanted) {
    for (const char* name : {"optimizer", "freeze-until", "mixed-precision", "checkpoint"})
      refuse(options, name, "needs --train");
    return std::nullopt;
  }
  TrainingOptions training;
  training.optimizer = token_option(options, "optimizer", Optimizer::sgd);
  training.mixed_precision = flag(options, "mixed-precision");
  training.checkpoint = flag(options, "checkpoint");
  if (options.has("freeze-until")) {
    training.freeze_until = options.text("freeze-until");
    if (training.freeze_until.empty()) throw usage_error("--freeze-until", "names no layer");
  }
  std::string dtype = options.word("dtype").value_or("fp32");
  if (const auto token = lenient_token<DType>(dtype)) dtype = to_string(*token);
  if (training.mixed_precision && dtype != "fp32" && dtype != "fp16" && dtype != "bf16")
    throw usage_error("--mixed-precision", "has no meaning in " + dtype, "use fp16 or bf16");
  if (training.mixed_precision &&
      options.text_or_empty("precision") == to_string(Precision::autocast))
    throw usage_error("--mixed-precision", "is another kind of mixed precision than autocast",
                      "leave one out");
  if (options.text_or_empty("phase") == to_string(Phase::decode))
    throw usage_error("--phase decode", "is not a training step", "train on whole texts: --seq N");
  return training;
}

}  // namespace ridgeline::cli
