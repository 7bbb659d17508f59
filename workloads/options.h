// Options of a network by name: batch, image, sequence, phase, dtype and so on. As given, where all
// are optional, and as resolved for one network. A network's row lists its options
// (workloads/workload.h).
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/graph/element_type.h"
#include "base/tokens.h"

namespace ridgeline {

// For language models: all tokens of a prompt at once, or one more token after the cached ones.
enum class Phase { prefill, decode };

// Scaled dot-product attention as one kernel, or as the products, sums and softmax it consists of.
enum class AttentionForm { fused, eager };

// The tokens for which a language model computes logits: all, as a forward pass does; the last, as
// generators do; or none, as the model without its head.
enum class Logits { all, last, none };

// One type throughout, or PyTorch's automatic mixed precision: products in the network's type, fp32
// parameters, normalisations and softmax (analyzer/graph/autocast.h).
enum class Precision { plain, autocast };

enum class WorkloadOption {
  batch,
  image,
  seq,
  context,
  phase,
  logits,
  attention,
  dtype,
  precision,
  classes
};

template <>
struct TokenTable<Phase> {
  static constexpr std::string_view noun = "phase";
  static constexpr std::array<std::pair<Phase, std::string_view>, 2> rows{
      {{Phase::prefill, "prefill"}, {Phase::decode, "decode"}}};
};

template <>
struct TokenTable<AttentionForm> {
  static constexpr std::string_view noun = "form of attention";
  static constexpr std::array<std::pair<AttentionForm, std::string_view>, 2> rows{
      {{AttentionForm::fused, "fused"}, {AttentionForm::eager, "eager"}}};
};

template <>
struct TokenTable<Logits> {
  static constexpr std::string_view noun = "choice of logits";
  static constexpr std::array<std::pair<Logits, std::string_view>, 3> rows{
      {{Logits::all, "all"}, {Logits::last, "last"}, {Logits::none, "none"}}};
};

template <>
struct TokenTable<Precision> {
  static constexpr std::string_view noun = "precision";
  static constexpr std::array<std::pair<Precision, std::string_view>, 2> rows{
      {{Precision::plain, "plain"}, {Precision::autocast, "autocast"}}};
};

// Option names without the dashes; measurement tables use the same keys.
template <>
struct TokenTable<WorkloadOption> {
  static constexpr std::string_view noun = "option of a workload";
  static constexpr std::array<std::pair<WorkloadOption, std::string_view>, 10> rows{
      {{WorkloadOption::batch, "batch"},
       {WorkloadOption::image, "image"},
       {WorkloadOption::seq, "seq"},
       {WorkloadOption::context, "context"},
       {WorkloadOption::phase, "phase"},
       {WorkloadOption::logits, "logits"},
       {WorkloadOption::attention, "attention"},
       {WorkloadOption::dtype, "dtype"},
       {WorkloadOption::precision, "precision"},
       {WorkloadOption::classes, "classes"}}};
};

class OptionSet {
 public:
  constexpr OptionSet(std::initializer_list<WorkloadOption> options) {
    for (const WorkloadOption option : options) bits_ |= bit(option);
  }
  constexpr bool has(WorkloadOption option) const { return (bits_ & bit(option)) != 0; }

 private:
  static constexpr unsigned bit(WorkloadOption option) {
    return 1U << static_cast<unsigned>(option);
  }
  unsigned bits_ = 0;
};

// As given: absent options take the network's default.
struct WorkloadOptions {
  std::optional<std::int64_t> batch;
  std::optional<std::int64_t> image;    // pixels of one side
  std::optional<std::int64_t> seq;      // tokens of the prompt or text
  std::optional<std::int64_t> context;  // decode: tokens in the cache
  std::optional<std::int64_t> classes;
  std::optional<Phase> phase;
  std::optional<Logits> logits;
  std::optional<AttentionForm> attention;
  std::optional<ElementType> dtype;
  std::optional<Precision> precision;

  friend bool operator==(const WorkloadOptions&, const WorkloadOptions&) = default;
};

// The resolved options. Values of options that the network does not have are never read.
struct Settings {
  std::int64_t batch = 1;
  std::int64_t image = 0;
  std::int64_t seq = 128;
  std::int64_t context = 0;
  std::int64_t classes = 0;
  Phase phase = Phase::prefill;
  Logits logits = Logits::all;
  AttentionForm attention = AttentionForm::fused;
  ElementType dtype = ElementType::fp32;  // autocast: of products
  Precision precision = Precision::plain;
  bool given = false;  // whether the user chose a size; marks shapes as given
};

inline constexpr std::int64_t default_seq = 128;
inline constexpr std::int64_t default_context = 128;
inline constexpr std::int64_t max_size = std::int64_t{1} << 20;  // of every number above

// The types that a network can be built in, and their spelling.
const std::vector<std::pair<std::string_view, ElementType>>& workload_dtypes();

// The element type of a network in `dtype`; a usage error if there is none.
ElementType workload_dtype(DType dtype);

// For help texts: "N", "prefill|decode", and the option's description.
std::string value_name(WorkloadOption option);
std::string_view description(WorkloadOption option);

// Sets one option from its text ("seq", "384"). A number out of range, an unknown word or dtype is
// a usage error that names `where` ("--seq 0" if empty).
void set_option(WorkloadOptions& options, WorkloadOption option, std::string_view text,
                const std::string& where = {});

// "seq=128;attention=eager", as in the options column of measurement tables.
WorkloadOptions parse_options(std::string_view text);

bool is_given(const WorkloadOptions& options, WorkloadOption option);

// The resolved options of a network, without the batch: {"phase", "decode"} …
std::vector<std::pair<WorkloadOption, std::string>> chosen(const OptionSet& options,
                                                           const Settings& settings);

}  // namespace ridgeline
