// Every remedy is tried: the network is built with it, and its memory counted.
#include "cli/requests/memory.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/units.h"
#include "devices/catalog/model.h"
#include "roofline/explain/choices.h"
#include "workloads/network_variants.h"
#include "workloads/registry.h"

namespace ridgeline::cli {
namespace {

// One change of a run; what is absent stays.
struct MemoryChange {
  std::optional<std::int64_t> batch{}, length{};
  std::optional<DType> dtype{};
  bool checkpoint = false, mixed_precision = false;
};

// The fit of a network with changes; nothing if the network cannot have them.
class ChangedRun {
 public:
  explicit ChangedRun(const RefusedRun& run) : run_(run) {
    const WorkloadOptions& given = run.network.options;
    decodes_ = given.phase == Phase::decode;
  }

  // "context" or "seq"; which of them bounds the memory of a language model.
  const char* length_option() const { return decodes_ ? "context" : "seq"; }

  // Tokens; nothing for a network without them.
  std::optional<std::int64_t> length() const {
    try {
      if (is_file(run_.network)) return std::nullopt;
      const Network network = load_network(run_.network);
      for (const auto& [name, value] : network.source.options)
        if (name == length_option()) return std::stoll(value);
    } catch (const Error&) {
    }
    return std::nullopt;
  }

  std::optional<MemoryFit> fit(const MemoryChange& change, const MemoryAmount& usable) const {
    try {
      NetworkRequest network = run_.network;
      if (change.length) (decodes_ ? network.options.context : network.options.seq) = change.length;
      std::optional<TrainingOptions> training = run_.training;
      if (training) {
        training->checkpoint |= change.checkpoint;
        training->mixed_precision |= change.mixed_precision;
      }
      network.batch = change.batch.value_or(run_.batch);
      // Mixed precision lowers the types that the network is given, and a file has its own unless
      // it is built in another precision.
      const bool mixes = training && training->mixed_precision;
      if (change.dtype || (find_workload(network.word) && !mixes))
        network.dtype = change.dtype.value_or(run_.dtype);
      NetworkVariants variants(network, training);
      return run_.fit_of(variants.as_given(run_.runtime).memory, usable);
    } catch (const Error&) {
      return std::nullopt;
    }
  }

 private:
  const RefusedRun& run_;
  bool decodes_ = false;
};

// Largest number from 1 to below `end` that passes; memory grows with it.
template <class Passes>
std::int64_t largest_passing(std::int64_t end, Passes passes) {
  std::int64_t low = 0, high = end;  // low passes, or is 0; high does not
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (passes(middle) ? low : high) = middle;
  }
  return low;
}

// Expected to fit, and not refused.
struct LargestSize {
  std::int64_t expected = 0, possible = 0;
};

template <class Fit>
LargestSize largest_size(std::int64_t end, Fit fit) {
  LargestSize largest;
  largest.possible = largest_passing(end, [&](std::int64_t size) {
    const std::optional<MemoryFit> found = fit(size);
    return found && found->verdict() != MemoryVerdict::exceeds;
  });
  largest.expected = largest_passing(largest.possible + 1, [&](std::int64_t size) {
    const std::optional<MemoryFit> found = fit(size);
    return found && found->is_expected();
  });
  return largest;
}

std::string size_text(const char* what, const LargestSize& largest) {
  if (largest.expected == 0)
    return fmt::format("no {} is sure to fit, up to {} may", what, largest.possible);
  std::string text = fmt::format("the largest {} that fits is {}", what, largest.expected);
  if (largest.possible > largest.expected)
    text += fmt::format(", up to {} may fit", largest.possible);
  return text;
}

std::string run_text(const RefusedRun& run) {
  return fmt::format("{}batch {} in {}{}", run.training ? "a training step of " : "", run.batch,
                     to_string(run.dtype), run.beside.empty() ? "" : " beside " + run.beside);
}

// The device of the same kind with the least memory that is enough.
std::optional<std::string> larger_device(const ChangedRun& changed, catalog::Kind kind) {
  std::optional<std::string> best;
  double best_bytes = 0;
  for (const catalog::IndexRow& row : catalog::index()) {
    const catalog::Device device = catalog::load(row.id);
    if (device.kind != kind || !device.memory || !device.memory->bytes) continue;
    const double bytes = device.memory->bytes->value;
    if (best && bytes >= best_bytes) continue;
    const auto usable = usable_memory(catalog::machine_model(device));
    if (!usable) continue;
    const auto fit = changed.fit({}, *usable);
    if (!fit || !fit->is_expected()) continue;
    best = device.id;
    best_bytes = bytes;
  }
  return best;
}

}  // namespace

void add_free_memory_option(OptionsDescription& options) {
  options.add_text("free-memory", "BYTES",
                   "memory that the machine has free for the run, for example 2.14GB; default: "
                   "what the catalog and published idle boards suggest");
}

std::optional<Given<double>> free_memory(const Options& options) {
  const auto text = options.word("free-memory");
  if (!text) return std::nullopt;
  const std::string where = as_typed("free-memory", *text);
  require_unit(*text, where, "GB or GiB");
  return Given<double>{static_cast<double>(parse_bytes(*text, where)), where};
}

Error memory_error(const RefusedRun& run, const MachineSource& machine) {
  const ChangedRun changed(run);
  const MemoryAmount& usable = run.fit.usable;
  std::vector<std::string> fixes;
  std::string largest_text = "no batch fits";
  const LargestSize batch = largest_size(
      run.batch, [&](std::int64_t size) { return changed.fit({.batch = size}, usable); });
  if (batch.possible > 0) {
    largest_text = size_text("batch", batch);
    if (batch.expected > 0) fixes.push_back(fmt::format("{} {}", run.batch_option, batch.expected));
  } else if (const auto length = changed.length(); length && *length > 1) {
    const LargestSize tokens = largest_size(*length, [&](std::int64_t size) {
      return changed.fit({.batch = 1, .length = size}, usable);
    });
    const std::string option =
        run.length_option.empty() ? changed.length_option() : run.length_option;
    if (tokens.possible > 0) largest_text = size_text(option.c_str(), tokens);
    if (tokens.expected > 0)
      fixes.push_back(fmt::format("{}--{} {}", run.batch > 1 ? run.batch_option + " 1 " : "",
                                  option, tokens.expected));
  }
  const auto offer = [&](const MemoryChange& change, const std::string& words) {
    const auto fit = changed.fit(change, usable);
    if (fit && fit->verdict() != MemoryVerdict::exceeds)
      fixes.push_back(fit->is_expected() ? words : words + ", which may fit");
  };
  if (run.training) {
    if (!run.training->checkpoint) offer({.checkpoint = true}, "--checkpoint");
    if (!run.training->mixed_precision && run.dtype == DType::fp32)
      offer({.mixed_precision = true}, "--mixed-precision");
  } else {
    for (const DType dtype : {DType::fp16, DType::int8})
      if (dtype != run.dtype && runnable_dtype(machine.model, dtype) == dtype)
        offer({.dtype = dtype}, fmt::format("--dtype {}", to_string(dtype)));
  }
  if (usable.bytes.source == Source::measured)
    fixes.emplace_back("free more memory");
  else if (machine.known)
    if (const auto device = larger_device(changed, machine.known->device.kind))
      fixes.push_back("a device with more memory such as " + *device);
  const std::string at_most =
      usable.bytes.low < usable.bytes.high ? ", at most " + format_si(usable.bytes.high, "B") : "";
  return {run.network.word,
          fmt::format("{} needs {} of memory: {}; {} has {} usable{}: {}; {}", run_text(run),
                      format_si(run.fit.needed.value, "B"), parts_text(run.fit), machine.name,
                      format_si(usable.bytes.value, "B"), at_most, usable.origin, largest_text),
          fixes.empty() ? "no smaller batch, narrower type or larger device was found to fit"
                        : fmt::format("use {}", fmt::join(fixes, ", or ")),
          ExitCode::infeasible};
}

}  // namespace ridgeline::cli
