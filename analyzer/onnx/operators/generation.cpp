// BeamSearch, GreedySearch and Sampling (com.microsoft): a decoder that runs once per token, after
// a run over the prompt or an encoder. The cache grows with every run. The work of a run is linear
// in the cache's length, so the steps are counted at their mean length, in at most two walks of the
// decoder.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/onnx/operators/checks.h"
#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/sizes.h"
#include "analyzer/onnx/walk.h"
#include "base/text.h"

namespace ridgeline::onnx {
namespace {

struct Generation {
  std::int64_t batch = 1, beams = 1;
  std::int64_t prompt = 1;  // tokens of the input
  std::int64_t tokens = 1;  // tokens to generate
  std::int64_t longest = 1;

  std::int64_t rows(const NodeContext& context) const {
    return multiplied(context, {batch, beams});
  }
};

const GraphProto* graph_of(const NodeContext& context, std::string_view attribute) {
  const Attribute* found = context.attribute(attribute);
  return found == nullptr ? nullptr : found->graph;
}

// The walk prepends the path to this node.
std::string own_name(const NodeContext& context) {
  const Node& node = context.node();
  if (!node.name.empty()) return std::string(node.name);
  return std::string(node.outputs.empty() ? node.op_type : node.outputs.front());
}

// A scalar input; nothing if it is data.
std::optional<std::int64_t> number(NodeContext& context, std::size_t input) {
  if (!context.has(input)) return std::nullopt;
  context.not_data(input);
  const auto known = context.known_integers(input);
  if (!known || known->size() != 1) return std::nullopt;
  return known->front();
}

Generation generation_of(NodeContext& context, bool has_encoder, std::optional<std::size_t> beams) {
  Generation sizes;
  sizes.batch = context.dimension(0, 0);
  // An encoder's input is not a prompt: decoding starts with one token.
  sizes.prompt = has_encoder ? 1 : context.dimension(0, 1);
  if (beams) {
    const auto known = number(context, *beams);
    if (!known) context.warn("its number of beams depends on data and is counted as one");
    sizes.beams = std::max<std::int64_t>(known.value_or(1), 1);
  }
  const auto& trips = context.walk().options().trips;
  auto given = trips.find(context.walk().layer_name(context.node()));
  if (given == trips.end()) given = trips.find("");
  if (const auto longest = number(context, 1)) {
    sizes.longest = *longest;
    if (*longest <= sizes.prompt)
      context.fail(fmt::format("sequences of at most {} tokens, of which {} are given", *longest,
                               sizes.prompt));
    sizes.tokens = *longest - sizes.prompt;
  } else if (given != trips.end()) {
    sizes.tokens = std::max<std::int64_t>(given->second, 1);
    sizes.longest = added(context, {sizes.prompt, sizes.tokens});
  } else {
    sizes.longest = added(context, {sizes.prompt, 1});
    context.warn(
        "how many tokens it generates depends on data and is counted as one (give "
        "--trips)");
  }
  return sizes;
}

// A dimension that a sub-graph declares for an input, if it is a number.
std::int64_t declared_size(const ValueInfo& input, std::size_t axis) {
  const auto& dims = input.type.dims;
  if (!dims || axis >= dims->size() || !(*dims)[axis].value || *(*dims)[axis].value < 1)
    throw CannotInfer{fmt::format("its sub-graph declares no size for dimension {} of {}", axis,
                                  quote(input.name))};
  return *(*dims)[axis].value;
}

std::size_t declared_rank(const ValueInfo& input) {
  return input.type.dims ? input.type.dims->size() : 0;
}

Value* bound(NodeContext& context, const ValueInfo& input, Shape shape) {
  Value* value = context.walk().make_value(input.name);
  value->type = input.type.element;
  value->shape = std::move(shape);
  value->source = ShapeSource::bound;
  return value;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// A decoder run over `length` new tokens after `past` others.
struct DecoderRun {
  std::int64_t rows = 1, length = 1, past = 0;
  std::optional<std::int64_t> encoded;  // length of the encoder's result
  std::int64_t encoder_width = 0;
};

// By rank and name, as onnxruntime's converters write them: ids, positions and masks have two
// dimensions, caches four or five; an encoder's results have "cross" or "encoder" in their names.
Value* decoder_input(NodeContext& context, const Generation& sizes, const DecoderRun& run,
                     const ValueInfo& input) {
  const std::string_view name = input.name;
  const std::int64_t total = added(context, {run.past, run.length});
  if (contains(name, "past_sequence_length") || contains(name, "beam_width")) {
    Value* value = bound(context, input, {1});
    value->contents =
        Contents{static_cast<long double>(contains(name, "beam") ? sizes.beams : run.past)};
    return value;
  }
  if (contains(name, "cache_indirection"))
    return bound(context, input, {sizes.batch, sizes.beams, sizes.longest});
  const bool is_encoded = contains(name, "encoder") && run.encoded;
  switch (declared_rank(input)) {
    case 2:
      if (is_encoded) return bound(context, input, {run.rows, *run.encoded});
      return bound(context, input, {run.rows, contains(name, "mask") ? total : run.length});
    case 3:
      return bound(context, input, {run.rows, run.encoded.value_or(total), run.encoder_width});
    case 4: {
      const bool is_cross = contains(name, "cross") && run.encoded;
      return bound(context, input,
                   {run.rows, declared_size(input, 1), is_cross ? *run.encoded : run.past,
                    declared_size(input, 3)});
    }
    case 5:
      return bound(context, input,
                   {2, run.rows, declared_size(input, 2), run.past, declared_size(input, 4)});
    default:
      throw CannotInfer{fmt::format("the input {} of its sub-graph is not known", quote(name))};
  }
}

// Returns the width of the logits.
std::int64_t run_decoder(NodeContext& context, const Generation& sizes, const GraphProto& decoder,
                         const DecoderRun& run, double repeats, const std::string& label) {
  std::vector<Value*> inputs;
  for (const ValueInfo& input : decoder.inputs)
    inputs.push_back(decoder_input(context, sizes, run, input));
  const auto outputs = context.walk().run_body(decoder, inputs, repeats,
                                               fmt::format("{}/{}", own_name(context), label));
  if (outputs.empty() || !outputs.front()->shape || outputs.front()->shape->empty())
    throw CannotInfer{"the logits of its decoder have no shape"};
  return outputs.front()->shape->back();
}

// Runs with caches of past … past + count − 1 tokens, counted at their mean.
std::int64_t run_steps(NodeContext& context, const Generation& sizes, const GraphProto& decoder,
                       DecoderRun run, std::int64_t count) {
  const std::int64_t first = run.past;
  run.past = first + (count - 1) / 2;
  if (count % 2 == 1)
    return run_decoder(context, sizes, decoder, run, static_cast<double>(count), "decoder");
  run_decoder(context, sizes, decoder, run, static_cast<double>(count) / 2, "decoder");
  ++run.past;
  return run_decoder(context, sizes, decoder, run, static_cast<double>(count) / 2,
                     "decoder, second half");
}

// Returns whether the encoder's sub-graph includes the decoder's first step.
bool run_encoder(NodeContext& context, const Generation& sizes, const GraphProto& encoder,
                 DecoderRun& run) {
  std::vector<Value*> inputs;
  const Shape& features = context.shape(0);
  for (std::size_t i = 0; i < encoder.inputs.size(); ++i) {
    const ValueInfo& input = encoder.inputs[i];
    if (i == 0)
      inputs.push_back(bound(context, input, features));
    else if (contains(input.name, "decoder"))
      inputs.push_back(bound(context, input, {sizes.batch, 1}));
    else
      inputs.push_back(bound(context, input, {sizes.batch, features.back()}));
  }
  const auto outputs = context.walk().run_body(encoder, inputs, 1, own_name(context) + "/encoder");
  bool has_logits = false;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string_view name = encoder.outputs[i].name;
    const auto& shape = outputs[i]->shape;
    has_logits = has_logits || contains(name, "logits");
    if (!shape) continue;
    if (contains(name, "encoder_hidden_states") && shape->size() == 3) {
      run.encoded = (*shape)[1];
      run.encoder_width = (*shape)[2];
    } else if (contains(name, "cross") && shape->size() == 4) {
      run.encoded = (*shape)[2];
    }
  }
  return has_logits;
}

// Returns the width of the logits.
std::int64_t generate(NodeContext& context, const Generation& sizes) {
  const GraphProto* decoder = graph_of(context, "decoder");
  if (decoder == nullptr) context.fail("its sub-graph 'decoder' is missing");
  DecoderRun run;
  run.rows = sizes.rows(context);
  std::int64_t left = sizes.tokens;
  if (const GraphProto* encoder = graph_of(context, "encoder")) {
    if (run_encoder(context, sizes, *encoder, run)) {
      run.past = 1;
      --left;
    }
  } else {
    const GraphProto* first = graph_of(context, "init_decoder");
    DecoderRun prompt = run;
    prompt.length = sizes.prompt;
    const std::int64_t width =
        run_decoder(context, sizes, first != nullptr ? *first : *decoder, prompt, 1, "prompt");
    run.past = sizes.prompt;
    if (--left == 0) return width;
  }
  return run_steps(context, sizes, *decoder, run, std::max<std::int64_t>(left, 1));
}

// Per token: normalises the scores of all words and keeps the best.
void emit_choice(NodeContext& context, const Generation& sizes, std::int64_t words) {
  const std::int64_t rows = multiplied(context, {sizes.rows(context), sizes.tokens});
  context.emit(Softmax{multiplied(context, {rows, words}), true});
  context.emit(Sort{rows, words, std::min(words, 2 * sizes.beams)});
}

void beam_search(NodeContext& context) {
  const Generation sizes = generation_of(context, graph_of(context, "encoder") != nullptr, 3);
  for (std::size_t i = 1; i < context.input_count(); ++i) context.not_data(i);
  const std::int64_t returned = number(context, 4).value_or(1);
  const std::int64_t words = generate(context, sizes);
  const ElementType type = ElementType::fp32;
  context.set(0, ElementType::int32, {sizes.batch, returned, sizes.longest});
  context.set(1, type, {sizes.batch, returned});
  context.set(2, type, {sizes.tokens, sizes.batch, sizes.beams, words});
  context.set_is_bound();
  emit_choice(context, sizes, words);
}

void greedy_search(NodeContext& context) {
  const Generation sizes =
      generation_of(context, graph_of(context, "encoder") != nullptr, std::nullopt);
  for (std::size_t i = 1; i < context.input_count(); ++i) context.not_data(i);
  const std::int64_t words = generate(context, sizes);
  context.set(0, ElementType::int32, {sizes.batch, sizes.longest});
  context.set(1, ElementType::fp32, {sizes.batch, words});
  context.set_is_bound();
  emit_choice(context, sizes, words);
}

}  // namespace

std::span<const Operator> generation_operators() {
  static constexpr Operator rows[] = {
      {"com.microsoft", "BeamSearch", beam_search},
      {"com.microsoft", "WhisperBeamSearch", beam_search},
      {"com.microsoft", "GreedySearch", greedy_search},
      {"com.microsoft", "Sampling", greedy_search},
  };
  return rows;
}

}  // namespace ridgeline::onnx
