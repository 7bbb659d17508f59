// The table, and the matching of names with its families.
#include "base/parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <unordered_map>

#include "base/error.h"
#include "base/nearest.h"
#include "base/runtime.h"
#include "base/subject.h"
#include "base/text.h"

namespace ridgeline {
namespace {

using enum Distribution;
using enum Scope;
constexpr std::nullopt_t required = std::nullopt;

// clang-format off
constexpr ParameterRow table[] = {
  // What the machine has.
  {"gpu_multiprocessors",        "1", fixed, machine, required, "SMs; a machine with them runs networks on its GPU"},
  {families::cluster_cores,      "1", fixed, machine, required, "cores of a cluster"},
  {"dla_engines",                "1", fixed, machine, required, "deep-learning accelerators"},
  {families::gpu_rate,           "FLOP/clock", log_normal, machine, required, "arithmetic of one SM; OP for integers"},
  {families::cpu_rate, "FLOP/clock", log_normal, machine, required, "arithmetic of one core; OP for integers"},
  {families::dla_rate, "FLOP/clock", log_normal, machine, required, "arithmetic of one engine; OP for integers"},
  {"gpu_{peak}_ceiling_hz",      "Hz", fixed, machine, required, "highest clock that the maker counts the unit at"},
  {"cpu{cluster}_{peak}_ceiling_hz", "Hz", fixed, machine, required, "highest clock that the maker counts the unit at"},
  {"dla_{peak}_ceiling_hz",      "Hz", fixed, machine, required, "highest clock that the maker counts the unit at"},
  {families::gpu_cache,          "B", fixed, machine, 0, "cache of the GPU"},
  {families::cluster_cache,      "B", fixed, machine, 0, "cache of a cluster, by the catalog"},
  {families::cpu_cache,          "B", fixed, machine, 0, "caches of the cores that were measured together"},
  {"memory_bytes",               "B", fixed, machine, required, "memory that networks must fit into"},
  {"memory_visible_bytes",       "B", fixed, machine, required, "what the system or the driver shows of it"},
  {"memory_bus_bytes",           "B", fixed, machine, 0, "width of the bus"},
  {"memory_transfers_per_clock", "1", fixed, machine, 0, "of the memory clock"},
  {"page_cache_bytes",           "B", fixed, machine, required, "seen to hold files while a network is trained"},
  {"cpu_measured_hz",            "Hz", fixed, machine, required, "clock that the rates of a profile were measured at"},
  {"cpu_dram_bytes_per_s",       "B/s", log_normal, machine, 0, "measured bandwidth, where no bus and clock are known"},
  {"gpu_dram_bytes_per_s",       "B/s", log_normal, machine, 0, "measured bandwidth, where no bus and clock are known"},
  {"cpu_dram_efficiency",        "1", log_normal, machine, 1, "share of the peak bandwidth that kernels get"},
  {"gpu_dram_efficiency",        "1", log_normal, machine, 1, "share of the peak bandwidth that kernels get"},
  {"gpu_dram_bytes_per_clock",   "B/clock", log_normal, machine, 0, "bandwidth that the GPU's clock lets through; 0: no limit"},
  {"gpu_governor_floor_hz",      "Hz", log_normal, machine, 0, "clock of the governor when idle"},
  {"host_hz",                    "Hz", log_normal, machine, 0, "CPU clock where a mode states none"},
  {"power_cap_w",                "W", log_normal, machine, required, "cap that the board keeps by itself"},
  {"power_cap_share",            "1", log_normal, machine, 1, "mean power that the control of a cap settles at, over the cap"},

  // Power and energy, at the highest voltage.
  {"soc_static_w",               "W", log_normal, power, required, "of the chip at the top memory clock; with it the three parts count, else idle readings"},
  {"memory_static_w",            "W", log_normal, power, 0, "of the memory at any clock"},
  {"board_w",                    "W", log_normal, power, 0, "of everything else on the module"},
  {"idle_w",                     "W", log_normal, power, 0, "idle power at any clock"},
  {families::idle_at_clock,      "W", log_normal, power, required, "idle power at a GPU clock"},
  {families::voltage_at_clock,   "1", log_normal, power, required, "voltage of the GPU at a measured clock over that of the top clock; in place of knee and floor"},
  {"gpu_leakage_heating",        "1", log_normal, power, 0, "growth of the clock's share of idle power from idle to the power cap"},
  {"memory_static_joule_per_peak_byte", "J/B", log_normal, power, 0, "background of the memory clock, at its top"},
  {"soc_voltage_floor_ratio",    "1", log_normal, power, 1, "voltage of the SoC rail at low memory clocks over that at the top"},
  {"memory_top_hz",              "Hz", log_normal, power, 0, "memory clock of the highest voltage of the SoC rail"},
  {"cpu_idle_joule_per_core_clock", "J/clock", log_normal, power, 0, "of a core that is on"},
  {"cpu_busy_joule_per_core_clock", "J/clock", log_normal, power, 0, "more, of a core that works"},
  {"cpu_voltage_floor_ratio",    "1", log_normal, power, 1, "lowest voltage over that of the top clock"},
  {"cpu_top_hz",                 "Hz", log_normal, power, 0, "clock of the highest voltage"},
  {"gpu_idle_joule_per_sm_clock", "J/clock", log_normal, power, 0, "of an SM that is on"},
  {"gpu_busy_joule_per_sm_clock", "J/clock", log_normal, power, required, "more, of an SM that works; without it power is unknown"},
  {"gpu_{dtype}_joule_per_flop", "J/FLOP", log_normal, power, 0, "of products; OP for integers"},
  {"gpu_other_joule_per_flop",   "J/FLOP", log_normal, power, 0, "of arithmetic that is no product"},
  {"dram_joule_per_byte",        "J/B", log_normal, power, 0, "of traffic with memory"},
  {"gpu_voltage_floor_ratio",    "1", log_normal, power, 1, "lowest voltage over that of the top clock"},
  {"gpu_voltage_knee_hz",        "Hz", log_normal, power, 0, "clock up to which the voltage is flat"},
  {"gpu_voltage_top_hz",         "Hz", log_normal, power, 0, "clock of the highest voltage"},
  {"gpu_voltage_top_v",          "V", log_normal, power, required, "voltage there; no formula needs it"},
  {"board_offset_w",             "W", normal, power, 0, "of this rig beside what the model counts"},
  {"wall_offset_w",              "W", normal, power, 0, "carrier board and fan, where power is read at the wall"},
  {"wall_loss_share",            "1", log_normal, power, 0, "loss of the supply there, as a share of what it delivers"},
  {"power_error",                "1", log_normal, power, 0, "of power from run to run, one sigma of the logarithm"},

  // Kernels: a runtime's own value goes before that of all runtimes on the processor.
  {families::matmul_efficiency,  "1", log_normal, runtime, 0.5, "share of the peak that products reach"},
  {"{engine}_convolution_{dtype}_efficiency", "1", log_normal, runtime, required, "of convolutions; as products where absent"},
  {"{engine}_attention_{dtype}_efficiency", "1", log_normal, runtime, required, "of fused attention; as products where absent"},
  {"{engine}_gradient_efficiency", "1", log_normal, runtime, 1, "of a convolution's gradients, over that of the convolution"},
  {"{engine}_wide_sum_efficiency", "1", log_normal, runtime, 1, "share of the peak with fp32 sums that products reach at most"},
  {"{engine}_layout_conversion", "1", log_normal, runtime, 0, "share of a convolution's activations that are converted to NHWC and back"},
  {"{on_gpu}_{tapped}_taps_per_sm_clock", "taps/clock", log_normal, runtime, 0, "of one SM; 0: not limited"},
  {"{on_cpu}_{tapped}_taps_per_core_clock", "taps/clock", log_normal, runtime, 0, "of one core; 0: not limited"},
  {"{on_gpu}_{mapped}_elements_per_sm_clock", "elements/clock", log_normal, runtime, 0, "of one SM; 0: not limited"},
  {"{on_cpu}_{mapped}_elements_per_core_clock", "elements/clock", log_normal, runtime, 0, "of one core; 0: not limited"},
  {"{engine}_matrix_kernel_clocks", "clocks", log_normal, runtime, 0, "start and drain of a kernel with products"},
  {"{engine}_other_kernel_clocks", "clocks", log_normal, runtime, 0, "start and drain of any other kernel"},
  {"{engine}_cache_share",       "1", log_normal, runtime, 0, "of the last cache that activations may stay in"},
  {"{engine}_cached_traffic",    "1", log_normal, runtime, 1, "share of their bytes that still goes to memory then"},
  {"{engine}_kernel_overlap",    "1", log_normal, runtime, 0, "of arithmetic and traffic within a kernel"},
  {"{engine}_matmul_padding",    "1", log_normal, runtime, 1, "most that tiles of a product cost over its arithmetic"},
  {"{engine}_convolution_padding", "1", log_normal, runtime, 1, "the same of convolutions"},

  // The host.
  {"torch_host_{node}_clocks",   "clocks", log_normal, runtime, 0, "of one core for a call of that kind"},
  {"torch_host_further_launch",  "1", log_normal, runtime, 0, "share of a call's clocks for each launch after the first"},
  {"torch_eager_hooks_node_clocks", "clocks", log_normal, runtime, 0, "interpreter and events of a node, one at a time"},
  {"torch_eager_hooks_before_launch", "1", log_normal, runtime, 1, "share of the host's work that comes before the launch"},
  {"torch_eager_hooks_stall_s",  "s", log_normal, runtime, 0, "stall after the GPU waited long"},
  {"torch_eager_hooks_stall_gap_s", "s", log_normal, runtime, 0, "wait from which on it stalls"},
  {"torch_eager_hooks_stall_spread_s", "s", log_normal, runtime, 1, "how sharply that sets in"},
  {"torch_eager_hooks_governor_load", "1", log_normal, runtime, 1, "load that the governor keeps"},
  {"torch_eager_hooks_untimed_s", "s", log_normal, runtime, 0, "between nodes, idle to the governor"},
  {"{library}_launch_clocks",    "clocks", log_normal, runtime, 0, "of one core for a launch"},
  {"{library}_step_clocks",      "clocks", log_normal, runtime, 0, "of one core once per step"},
  {"gpu_launch_cpu_clocks",      "clocks", log_normal, runtime, required, "a bare launch; no formula needs it"},
  {"cuda_graph_s",               "s", log_normal, runtime, 0, "launch of a captured graph"},
  {"cuda_graph_node_s",          "s", log_normal, runtime, 0, "of each of its nodes"},
  {"pipeline_exponent",          "1", log_normal, runtime, 0, "p-norm of host and device; 0: they hide each other in full"},
  {"host_slow_share",            "1", fixed, machine, 0, "share of the runs in which the host is slow, in every mode alike"},
  {"host_slow_factor",           "1", fixed, machine, 1, "time of the host in such a run over that in the others"},

  // What the formulas do not know: of all runtimes, or of one.
  {"time_error",                 "1", log_normal, runtime, 0, "of time from run to run, one sigma of the logarithm"},
  {"{runtime}_time_error",       "1", log_normal, runtime, required, "the same of one runtime"},
  {"mode_time_error",            "1", log_normal, machine, 0, "of the ratio of times in two modes, one sigma of the logarithm"},
  {"kernel_time_scale",          "1", log_normal, network, 1, "kernels of one network against the formulas"},
  {"{runtime}_kernel_time_scale", "1", log_normal, network, required, "the same of one runtime"},
  {families::unfamiliar,         "1", log_normal, runtime, 1, "kernels that no measurement covers, against the formulas"},
  {"host_time_scale",            "1", log_normal, network, 1, "the host's work for one network against the formulas"},
  {"{runtime}_host_time_scale",  "1", log_normal, network, required, "the same of one runtime"},
};
// clang-format on

using Words = std::vector<std::string>;

template <class Token>
Words token_words() {
  Words words;
  for (const auto& [token, text] : TokenTable<Token>::rows) {
    words.emplace_back(text);
    std::replace(words.back().begin(), words.back().end(), '-', '_');
  }
  return words;
}

std::string rate_stem(Unit unit, DType dtype, DType accumulate, bool sparse) {
  return fmt::format("{}_{}_{}{}", to_string(unit), to_string(dtype), to_string(accumulate),
                     sparse ? "_sparse" : "");
}

std::string_view operation_word(DType dtype) { return is_integer(dtype) ? "op" : "flop"; }

// Of every unit and pair of types; with "_flop" or "_op" where operations are counted.
Words rate_words(bool counted) {
  Words words;
  for (const auto& [unit, unit_text] : TokenTable<Unit>::rows)
    for (const auto& [dtype, dtype_text] : TokenTable<DType>::rows)
      for (const auto& [accumulate, accumulate_text] : TokenTable<DType>::rows)
        for (const bool sparse : {false, true}) {
          words.push_back(rate_stem(unit, dtype, accumulate, sparse));
          if (counted) (words.back() += '_') += operation_word(dtype);
        }
  return words;
}

// "matrix_fp16_fp32_sparse_flop" of the processor.
std::optional<RateName> parse_rate_word(std::string processor, std::string_view word) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= word.size();) {
    const std::size_t end = std::min(word.find('_', begin), word.size());
    parts.push_back(word.substr(begin, end - begin));
    begin = end + 1;
  }
  if (parts.size() < 4) return std::nullopt;
  const auto unit = parse_token<Unit>(parts[0]);
  const auto dtype = parse_token<DType>(parts[1]), accumulate = parse_token<DType>(parts[2]);
  if (!unit || !dtype || !accumulate) return std::nullopt;
  return RateName{std::move(processor), *unit, *dtype, *accumulate, parts[3] == "sparse"};
}

// What may stand for a placeholder: one of these words, or a number where there are none.
struct Placeholder {
  std::string_view name;
  Words words;  // sorted
};

const std::vector<Placeholder>& placeholders() {
  static const std::vector<Placeholder> all = [] {
    const Words libraries{"torch", "torch_compiled", "tensorrt", "onnxruntime"};
    const auto with = [&](Words words) {
      words.insert(words.end(), libraries.begin(), libraries.end());
      return words;
    };
    std::vector<Placeholder> rows{
        {"cluster", {}},
        {"mhz", {}},
        {"dtype", token_words<DType>()},
        {"runtime", token_words<Runtime>()},
        {"subject", token_words<Subject>()},
        {"rate", rate_words(true)},
        {"peak", rate_words(false)},
        {"cache", {"l1", "shared", "l2", "l3"}},
        {"library", libraries},
        {"engine", with({"gpu", "cpu"})},
        {"on_gpu", with({"gpu"})},
        {"on_cpu", with({"cpu"})},
        {"tapped", {"depthwise", "depthwise_gradient", "pool"}},
        {"mapped",
         {"batch_norm", "normalize", "softmax", "broadcast", "elementwise", "activation",
          "reformat"}},
        {"node", {"function", "module", "elementwise", "normalize", "matrix", "attention"}},
    };
    for (Placeholder& row : rows) std::sort(row.words.begin(), row.words.end());
    return rows;
  }();
  return all;
}

const Placeholder& placeholder_of(std::string_view name) {
  const auto found = std::find_if(placeholders().begin(), placeholders().end(),
                                  [&](const Placeholder& each) { return each.name == name; });
  if (found == placeholders().end())
    throw Error("parameters", "no such placeholder: " + quote(name));
  return *found;
}

bool may_stand(const Placeholder& placeholder, std::string_view word) {
  if (!placeholder.words.empty())
    return std::binary_search(placeholder.words.begin(), placeholder.words.end(), word);
  return !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isdigit(c) != 0 || c == '.';
  });
}

// A row's name up to its first placeholder, that placeholder, and what follows.
struct SplitPattern {
  std::string_view head, placeholder, tail;
};

std::optional<SplitPattern> split_pattern(std::string_view pattern) {
  const std::size_t open = pattern.find('{');
  if (open == std::string_view::npos) return std::nullopt;
  const std::size_t close = pattern.find('}', open);
  return SplitPattern{pattern.substr(0, open), pattern.substr(open + 1, close - open - 1),
                      pattern.substr(close + 1)};
}

bool matches(std::string_view pattern, std::string_view name, Words& words) {
  const auto split = split_pattern(pattern);
  if (!split) return pattern == name;
  if (!name.starts_with(split->head)) return false;
  name.remove_prefix(split->head.size());
  // The word ends where what follows it begins; a word may hold an underscore itself.
  const std::string_view next = split->tail.substr(0, split->tail.find('{'));
  for (std::size_t end = name.find(next); end != std::string_view::npos;
       end = name.find(next, end + 1)) {
    const std::string_view word = name.substr(0, end);
    if (!may_stand(placeholder_of(split->placeholder), word)) continue;
    words.emplace_back(word);
    if (matches(split->tail, name.substr(end), words)) return true;
    words.pop_back();
  }
  return false;
}

Words expanded(std::string_view pattern) {
  const auto split = split_pattern(pattern);
  if (!split) return {std::string(pattern)};
  const Placeholder& placeholder = placeholder_of(split->placeholder);
  const Words tails = expanded(split->tail);
  Words names;
  for (const std::string& word : placeholder.words.empty() ? Words{"0"} : placeholder.words)
    for (const std::string& tail : tails) names.push_back(std::string(split->head) + word + tail);
  return names;
}

struct NameHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view name) const {
    return std::hash<std::string_view>{}(name);
  }
};

}  // namespace

std::span<const ParameterRow> parameter_rows() { return table; }

const ParameterRow* find_parameter_row(std::string_view name) {
  // Names are asked for in every draw: each is matched once.
  thread_local std::unordered_map<std::string, const ParameterRow*, NameHash, std::equal_to<>> seen;
  if (const auto known = seen.find(name); known != seen.end()) return known->second;
  Words words;
  for (const ParameterRow& row : table)
    if (matches(row.name, name, words)) return seen.emplace(name, &row).first->second;
  return nullptr;
}

const ParameterRow& parameter_row(std::string_view name, const std::string& where) {
  if (const ParameterRow* row = find_parameter_row(name)) return *row;
  throw Error(where, unknown_parameter_text(name));
}

std::string unknown_parameter_text(std::string_view name) {
  std::vector<std::string> names;
  for (const ParameterRow& row : table) {
    const Words some = example_names(row);
    names.insert(names.end(), some.begin(), some.end());
  }
  std::string text = quote(name) + " is not a parameter of a machine model";
  if (const auto near = nearest(name, names)) text += "; did you mean " + quote(*near) + "?";
  return text;
}

std::optional<std::vector<std::string>> family_words(std::string_view family,
                                                     std::string_view name) {
  const ParameterRow* row = find_parameter_row(name);
  if (!row || row->name != family) return std::nullopt;
  Words words;
  matches(family, name, words);
  return words;
}

std::vector<std::string> example_names(const ParameterRow& row) { return expanded(row.name); }

std::string rate_parameter(const RateName& name) {
  const std::string_view noun = name.processor == "gpu"   ? "sm"
                                : name.processor == "dla" ? "engine"
                                                          : "core";
  return fmt::format("{}_{}_{}_per_{}_clock", name.processor,
                     rate_stem(name.unit, name.dtype, name.accumulate, name.sparse),
                     operation_word(name.dtype), noun);
}

std::string ceiling_parameter(const RateName& name) {
  return fmt::format("{}_{}_ceiling_hz", name.processor,
                     rate_stem(name.unit, name.dtype, name.accumulate, name.sparse));
}

std::optional<RateName> parse_rate_parameter(std::string_view parameter) {
  if (const auto words = family_words(families::gpu_rate, parameter))
    return parse_rate_word("gpu", words->front());
  if (const auto words = family_words(families::cpu_rate, parameter))
    return parse_rate_word("cpu" + words->front(), words->back());
  if (const auto words = family_words(families::dla_rate, parameter))
    return parse_rate_word("dla", words->front());
  return std::nullopt;
}

}  // namespace ridgeline
