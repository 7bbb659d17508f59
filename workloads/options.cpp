// Parses the options of workloads.
// Whether a network has an option is checked in workloads/registry.cpp.
#include "workloads/options.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/nearest.h"
#include "base/units.h"

namespace ridgeline {
namespace {

template <class E>
std::string words_of(std::string_view separator) {
  std::string text;
  for (const auto& row : TokenTable<E>::rows) {
    if (!text.empty()) text += separator;
    text += row.second;
  }
  return text;
}

template <class E>
E word(std::string_view text, const std::string& where) {
  if (const auto token = parse_token<E>(text)) return *token;
  for (const auto& [token, spelling] : TokenTable<E>::rows)
    if (same_name(spelling, text)) return token;
  throw usage_error(where, fmt::format("no such {}", TokenTable<E>::noun),
                    "use " + words_of<E>(" or "));
}

std::string dtype_names(std::string_view separator) {
  std::string text;
  for (const auto& [name, type] : workload_dtypes()) {
    if (!text.empty()) text += separator;
    text += name;
  }
  return text;
}

ElementType dtype(std::string_view text, const std::string& where) {
  for (const auto& [name, type] : workload_dtypes())
    if (name == text) return type;
  if (text == "tf32")
    throw usage_error(where, "tf32 is how a runtime computes on fp32, no tensor is stored in it",
                      "use fp32");
  throw usage_error(where, "a network cannot be built in this type",
                    "use one of " + dtype_names(", "));
}

std::int64_t size(std::string_view text, const std::string& where) {
  const std::uint64_t value = parse_count(text, where);
  if (value < 1 || value > static_cast<std::uint64_t>(max_size))
    throw usage_error(where, fmt::format("must be from 1 to {}", max_size));
  return static_cast<std::int64_t>(value);
}

}  // namespace

const std::vector<std::pair<std::string_view, ElementType>>& workload_dtypes() {
  static const std::vector<std::pair<std::string_view, ElementType>> types = {
      {"fp64", ElementType::fp64}, {"fp32", ElementType::fp32},      {"fp16", ElementType::fp16},
      {"bf16", ElementType::bf16}, {"fp8", ElementType::fp8_e4m3fn}, {"int8", ElementType::int8}};
  return types;
}

ElementType workload_dtype(DType wanted) {
  return dtype(to_string(wanted), fmt::format("--dtype {}", to_string(wanted)));
}

std::string value_name(WorkloadOption option) {
  switch (option) {
    case WorkloadOption::phase:
      return words_of<Phase>("|");
    case WorkloadOption::logits:
      return words_of<Logits>("|");
    case WorkloadOption::attention:
      return words_of<AttentionForm>("|");
    case WorkloadOption::dtype:
      return dtype_names("|");
    case WorkloadOption::precision:
      return words_of<Precision>("|");
    default:
      return "N";
  }
}

std::string_view description(WorkloadOption option) {
  switch (option) {
    case WorkloadOption::batch:
      return "images or sequences at once";
    case WorkloadOption::image:
      return "height and width in pixels";
    case WorkloadOption::seq:
      return "tokens of a sequence";
    case WorkloadOption::context:
      return "tokens in the cache";
    case WorkloadOption::phase:
      return "a prompt, or one token after it";
    case WorkloadOption::logits:
      return "of all tokens, the last or none";
    case WorkloadOption::attention:
      return "one kernel, or its steps";
    case WorkloadOption::dtype:
      return "of weights and activations";
    case WorkloadOption::precision:
      return "autocast: PyTorch's mixed precision, products in --dtype (default fp16), the rest in "
             "fp32";
    case WorkloadOption::classes:
      return "classes of the output";
  }
  return "";
}

void set_option(WorkloadOptions& options, WorkloadOption option, std::string_view text,
                const std::string& where) {
  const std::string place = where.empty() ? fmt::format("--{} {}", to_string(option), text) : where;
  switch (option) {
    case WorkloadOption::batch:
      options.batch = size(text, place);
      return;
    case WorkloadOption::image:
      options.image = size(text, place);
      return;
    case WorkloadOption::seq:
      options.seq = size(text, place);
      return;
    case WorkloadOption::context:
      options.context = size(text, place);
      return;
    case WorkloadOption::classes:
      options.classes = size(text, place);
      return;
    case WorkloadOption::phase:
      options.phase = word<Phase>(text, place);
      return;
    case WorkloadOption::logits:
      options.logits = word<Logits>(text, place);
      return;
    case WorkloadOption::attention:
      options.attention = word<AttentionForm>(text, place);
      return;
    case WorkloadOption::dtype:
      options.dtype = dtype(text, place);
      return;
    case WorkloadOption::precision:
      options.precision = word<Precision>(text, place);
      return;
  }
}

WorkloadOptions parse_options(std::string_view text) {
  WorkloadOptions options;
  while (!text.empty()) {
    const std::string_view entry = text.substr(0, text.find(';'));
    text.remove_prefix(std::min(text.size(), entry.size() + 1));
    if (entry.empty()) continue;
    const auto equals = entry.find('=');
    const std::string where = fmt::format("option '{}'", entry);
    const auto option = parse_token<WorkloadOption>(entry.substr(0, equals));
    if (equals == std::string_view::npos || !option)
      throw usage_error(where, "is not key=value with a key of a workload",
                        "keys are " + words_of<WorkloadOption>(", "));
    set_option(options, *option, entry.substr(equals + 1), where);
  }
  return options;
}

bool is_given(const WorkloadOptions& options, WorkloadOption option) {
  switch (option) {
    case WorkloadOption::batch:
      return options.batch.has_value();
    case WorkloadOption::image:
      return options.image.has_value();
    case WorkloadOption::seq:
      return options.seq.has_value();
    case WorkloadOption::context:
      return options.context.has_value();
    case WorkloadOption::phase:
      return options.phase.has_value();
    case WorkloadOption::logits:
      return options.logits.has_value();
    case WorkloadOption::attention:
      return options.attention.has_value();
    case WorkloadOption::dtype:
      return options.dtype.has_value();
    case WorkloadOption::precision:
      return options.precision.has_value();
    case WorkloadOption::classes:
      return options.classes.has_value();
  }
  return false;
}

std::vector<std::pair<WorkloadOption, std::string>> chosen(const OptionSet& options,
                                                           const Settings& settings) {
  std::vector<std::pair<WorkloadOption, std::string>> list;
  const auto add = [&](WorkloadOption option, std::string value) {
    if (options.has(option)) list.emplace_back(option, std::move(value));
  };
  const bool decodes = settings.phase == Phase::decode;
  add(WorkloadOption::image, std::to_string(settings.image));
  add(WorkloadOption::phase, std::string(to_string(settings.phase)));
  if (decodes)
    add(WorkloadOption::context, std::to_string(settings.context));
  else
    add(WorkloadOption::seq, std::to_string(settings.seq));
  if (settings.logits != Logits::all)
    add(WorkloadOption::logits, std::string(to_string(settings.logits)));
  add(WorkloadOption::classes, std::to_string(settings.classes));
  add(WorkloadOption::attention, std::string(to_string(settings.attention)));
  for (const auto& [name, type] : workload_dtypes())
    if (type == settings.dtype) add(WorkloadOption::dtype, std::string(name));
  if (settings.precision != Precision::plain)
    add(WorkloadOption::precision, std::string(to_string(settings.precision)));
  return list;
}

}  // namespace ridgeline
