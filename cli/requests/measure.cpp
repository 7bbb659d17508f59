// A time that is given is shared evenly by the parts: kernels, storage, decoding.
#include "cli/requests/measure.h"

#include <strings.h>

#include <algorithm>

#include "base/units.h"
#include "cli/requests/values.h"
#include "devices/machine/this_machine.h"

namespace ridgeline::cli {
namespace {

constexpr double most_sustain_s = 3600;
constexpr std::uint64_t least_sample = 1, most_sample = std::uint64_t{64} << 20;

bool same_word(const std::string& word, const char* name) {
  return strcasecmp(word.c_str(), name) == 0;
}

input::StorageOptions storage_options(const Options& options) {
  input::StorageOptions storage = input::usual_storage_options(flag(options, "quick"));
  if (options.has("path")) storage.folder = options.text("path");
  if (storage.folder.empty()) throw usage_error("--path", "needs a directory");
  if (const auto text = options.word("sample-bytes")) {
    storage.sample_bytes = parse_bytes(*text, as_typed("sample-bytes", *text));
    if (storage.sample_bytes < least_sample || storage.sample_bytes > most_sample)
      throw usage_error(as_typed("sample-bytes", *text), "must be 1 byte to 64 MiB");
  }
  return storage;
}

void read_only(const Options& options, MeasureRequest& request) {
  const auto only = options.word("only");
  bool storage = false;
  if (only) {
    request.everything = false;
    for (const std::string& word : split_words(*only)) {
      if (same_word(word, "storage"))
        storage = true;
      else if (same_word(word, "decode"))
        request.decode = true;
      else
        request.kernels.push_back(word);
    }
    if (!request.any_kernel() && !storage && !request.decode)
      throw usage_error("--only", "needs a word", "see 'ridgeline measure --list'");
    if (request.gpu && !request.any_kernel())
      throw usage_error("--gpu", "--only names nothing of a GPU", "leave --gpu out");
  }
  if (request.verify_counters) return;
  if (storage)
    request.storage = storage_options(options);
  else
    for (const char* name : {"path", "sample-bytes"})
      refuse(options, name, "is for storage", "add --only storage");
}

void read_budget(const Options& options, MeasureRequest& request) {
  const auto text = options.word("budget");
  if (!text) return;
  const std::string where = as_typed("budget", *text);
  const double budget_s = parse_seconds(*text, where);
  if (budget_s < 1) throw usage_error(where, "no time to measure anything", "give at least 1s");
  request.part_budget_s = budget_s / (int(request.any_kernel()) + int(request.storage.has_value()) +
                                      int(request.decode));
}

void read_sustain(const Options& options, MeasureRequest& request) {
  const auto text = options.word("sustain");
  if (!text) return;
  const std::string where = as_typed("sustain", *text);
  if (!request.gpu || request.verify_counters)
    throw usage_error("--sustain", "is for the rates of a GPU", "add --gpu");
  request.sustain_s = parse_seconds(*text, where);
  if (*request.sustain_s > most_sustain_s)
    throw usage_error(where, "is longer than an hour", "give at most 3600s");
}

void read_threads(const Options& options, MeasureRequest& request) {
  const auto text = options.word("threads");
  if (!text) return;
  if (request.gpu || request.verify_counters)
    throw usage_error("--threads", "is for the CPU", "a GPU is measured with all of its threads");
  for (const std::string& word : split_words(*text))
    request.threads.push_back(static_cast<int>(
        std::min<std::uint64_t>(parse_count(word, as_typed("threads", word)), 1u << 30)));
  if (request.threads.empty()) throw usage_error("--threads", "needs a number");
}

// What both backends have in common.
template <class BackendOptions>
BackendOptions backend_options(const MeasureRequest& request) {
  BackendOptions options;
  options.quick = request.quick;
  options.budget_s = request.part_budget_s;
  options.only = request.kernels;
  return options;
}

}  // namespace

void add_measure_options(OptionsDescription& options) {
  options.add_flag("gpu", "measure the CUDA device instead of the CPU");
  options.add_flag("quick", "takes at most a minute; sweeps one data type along the roof");
  options.add_text(
      "budget", "TIME",
      "time for the run, for example 90s (default: 50s with --quick, else 200s; of a GPU 35s and "
      "200s, where power can be read 42s and 270s)");
  options.add_text("sustain", "TIME",
                   "with --gpu, hold each compute and DRAM peak for this long as well, for example "
                   "5s; 0s turns it off (default: 5s, with --quick 0s; in at most 30 % of the "
                   "budget)");
  options.add_text("only", "WORDS",
                   "measure only what matches one of these words: dtypes, memory levels, "
                   "directions, sections, instruction sets, kernels; for example fp32,dram; "
                   "storage and decode, which feed training, run only if named here");
  options.add_text("threads", "LIST", "thread counts, for example 1,2 (default: 1 and all cores)");
  options.add_flag("verify-counters",
                   "instead of rates, compare declared FLOP and bytes of each GPU kernel with the "
                   "GPU's counters");
  options.add_flag("check-targets",
                   "compare rates with targets (fractions of what clock, width and bus allow); "
                   "exit code 3 if one is missed");
  options.add_flag("list", "list what would be measured and what cannot run here");
  options.add_text("output,o", "FILE",
                   "write the profile to FILE as well as to the per-user store");
  options.add_text("modes", "MODES",
                   "measure these power modes one after the other: stock, a grid such as "
                   "grid:gpu=5,emc=all or grid:cores=all, or labels such as 15W,25W");
  options.add_flag("resume", "with --modes: measure only what the last sweep did not reach");
  options.add_text(
      "path", "DIR",
      "directory in which storage is measured, with temporary files (default: the current one)");
  options.add_text("sample-bytes", "SIZE",
                   "size of the small files used to measure storage (default: 150kB)");
}

MeasureRequest measure_request(const Options& options) {
  MeasureRequest request;
  request.gpu = flag(options, "gpu");
  request.quick = flag(options, "quick");
  request.list = flag(options, "list");
  request.check_targets = flag(options, "check-targets");
  request.verify_counters = flag(options, "verify-counters");
  read_only(options, request);
  read_budget(options, request);
  read_sustain(options, request);
  read_threads(options, request);
  if (request.verify_counters) {
    for (const char* other : {"list", "check-targets"})
      refuse(options, other, "cannot be combined with --verify-counters");
    refuse(options, "output", "is for profiles, and --verify-counters measures none",
           "use --json > FILE");
  }
  request.modes = options.text_or_empty("modes");
  request.resume = flag(options, "resume");
  if (options.has("modes") && request.modes.empty())
    throw usage_error("--modes", "is empty", "write for example stock or grid:cores=all");
  if (request.resume && request.modes.empty()) throw usage_error("--resume", "goes with --modes");
  if (!request.modes.empty())
    for (const char* other : {"check-targets", "verify-counters", "threads"})
      refuse(options, other, "cannot be combined with --modes");
  request.output = options.text_or_empty("output");
  if (options.has("output") && request.output.empty())
    throw usage_error("--output", "needs a file name");
  return request;
}

cpu::MeasureOptions MeasureRequest::cpu_options() const {
  auto options = backend_options<cpu::MeasureOptions>(*this);
  options.available_bytes = available_memory_bytes();
  options.threads = threads;
  return options;
}

cuda::MeasureOptions MeasureRequest::gpu_options() const {
  auto options = backend_options<cuda::MeasureOptions>(*this);
  options.sustain_s = sustain_s;
  return options;
}

input::MeasureOptions MeasureRequest::input_options(
    const std::vector<int>& decoding_threads) const {
  input::MeasureOptions options;
  options.storage = storage;
  if (storage && part_budget_s > 0) options.storage->budget_s = part_budget_s;
  if (decode)
    options.decode = {decoding_threads, part_budget_s > 0 ? part_budget_s : quick ? 5 : 20};
  return options;
}

}  // namespace ridgeline::cli
