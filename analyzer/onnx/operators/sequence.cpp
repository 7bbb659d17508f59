// Sequences of tensors: made, split, joined. A sequence is described by its length and the common
// shape of its tensors, if they have one. Only splitting and joining move elements.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/onnx/data_type.h"
#include "analyzer/onnx/operators/checks.h"
#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/sizes.h"
#include "analyzer/onnx/walk.h"
#include "base/text.h"

namespace ridgeline::onnx {
namespace {

const Value& sequence_input(const NodeContext& context) {
  const Value& value = context.input(0);
  if (!value.is_sequence && value.type != ElementType::unknown)
    context.fail(quote(value.name) + " is a tensor, not a sequence");
  return value;
}

void sequence_construct(NodeContext& context) {
  context.emit(View{});
  std::optional<Shape> common = context.input(0).shape;
  for (std::size_t i = 1; i < context.input_count(); ++i)
    if (context.input(i).shape != common) common.reset();
  context.set_sequence(0, context.type(0), common,
                       static_cast<std::int64_t>(context.input_count()));
}

void sequence_empty(NodeContext& context) {
  context.emit(View{});
  context.set_sequence(0, element_type(context.integer("dtype", 1)), std::nullopt, 0);
}

void sequence_at(NodeContext& context) {
  context.emit(View{});
  const Value& sequence = sequence_input(context);
  context.not_data(1);
  if (!sequence.shape)
    throw CannotInfer{"the tensors of " + quote(sequence.name) + " have no common shape"};
  context.set(0, sequence.type, *sequence.shape);
}

void sequence_insert(NodeContext& context) {
  context.emit(View{});
  const Value& sequence = sequence_input(context);
  const Value& tensor = context.input(1);
  context.not_data(2);
  const bool is_common = sequence.sequence_length == 0 || sequence.shape == tensor.shape;
  std::optional<std::int64_t> length = sequence.sequence_length;
  if (length) length = added(context, {*length, 1});
  context.set_sequence(0, tensor.type, is_common ? tensor.shape : std::nullopt, length);
}

void sequence_erase(NodeContext& context) {
  context.emit(View{});
  const Value& sequence = sequence_input(context);
  context.not_data(1);
  if (sequence.sequence_length == 0) context.fail("nothing can be erased: the sequence is empty");
  std::optional<std::int64_t> length = sequence.sequence_length;
  if (length) --*length;
  context.set_sequence(0, sequence.type, sequence.shape, length);
}

void sequence_length(NodeContext& context) {
  context.emit(View{});
  const Value& sequence = sequence_input(context);
  context.not_data(0);
  context.set(0, ElementType::int64, {});
  if (sequence.sequence_length)
    context.set_contents(0, {static_cast<long double>(*sequence.sequence_length)});
}

// Parts of equal size, of given sizes, or single slices, whose axis may be dropped.
void split_to_sequence(NodeContext& context) {
  context.emit(Copy{});
  context.writes(0, element_count(context.shape(0)));
  Shape shape = context.shape(0);
  const std::size_t axis = context.axis(context.integer("axis", 0), shape.size());
  const std::int64_t size = shape[axis];
  if (!context.has(1)) {
    if (context.integer("keepdims", 1) != 0)
      shape[axis] = 1;
    else
      shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
    context.set_sequence(0, context.type(0), shape, size);
    return;
  }
  context.not_data(1);
  const auto sizes = context.needed_integers(1);
  std::optional<Shape> common;
  std::int64_t length = static_cast<std::int64_t>(sizes.size());
  if (context.shape(1).empty()) {
    const std::int64_t chunk = sizes.at(0);
    if (chunk < 1) context.fail("a split into parts of " + std::to_string(chunk));
    length = size / chunk + (size % chunk != 0 ? 1 : 0);
    shape[axis] = std::min(chunk, size);
    if (size % chunk == 0 || length <= 1) common = shape;
  } else {
    std::int64_t total = 0;
    bool equal = true;
    for (const std::int64_t part : sizes) {
      total = added(context, {total, part});
      equal = equal && part == sizes.front() && part >= 0;
    }
    want_equal(context, "the sum of the split sizes", total, size);
    if (equal && !sizes.empty()) {
      shape[axis] = sizes.front();
      common = shape;
    }
  }
  context.set_sequence(0, context.type(0), common, length);
}

void concat_from_sequence(NodeContext& context) {
  context.emit(Copy{});
  const Value& sequence = sequence_input(context);
  if (!sequence.shape)
    throw CannotInfer{"the tensors of " + quote(sequence.name) + " have no common shape"};
  if (!sequence.sequence_length)
    throw CannotInfer{"the length of " + quote(sequence.name) + " depends on data"};
  Shape shape = *sequence.shape;
  const bool is_new = context.integer("new_axis", 0) != 0;
  const std::size_t axis = context.axis(context.integer("axis", 0), shape.size() + is_new);
  if (is_new)
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), *sequence.sequence_length);
  else
    shape[axis] = multiplied(context, {shape[axis], *sequence.sequence_length});
  context.set(0, sequence.type, shape);
  context.reads(0, element_count(shape));
}

// The body runs once per tensor of the first sequence; other inputs are sequences of the same
// length, or tensors passed to every run.
void sequence_map(NodeContext& context) {
  context.emit(View{});
  const Attribute* body = context.attribute("body");
  if (body == nullptr || !body->graph) context.fail("its sub-graph 'body' is missing");
  const auto length = sequence_input(context).sequence_length;
  if (!length) context.warn("how often its body runs depends on data and is counted as one");
  std::vector<Value*> inputs;
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    const Value& given = context.input(i);
    Value* value = context.walk().make_value(given.name);
    value->type = given.type;
    value->shape = given.shape;
    value->source = given.source;
    inputs.push_back(value);
  }
  const Node& node = context.node();
  const auto outputs =
      context.walk().run_body(*body->graph, inputs, static_cast<double>(length.value_or(1)),
                              std::string(node.name.empty() ? node.op_type : node.name));
  for (std::size_t i = 0; i < outputs.size(); ++i)
    context.set_sequence(i, outputs[i]->type, outputs[i]->shape, length);
}

}  // namespace

std::span<const Operator> sequence_operators() {
  static constexpr Operator rows[] = {
      {"", "SequenceConstruct", sequence_construct},
      {"", "SequenceEmpty", sequence_empty},
      {"", "SequenceAt", sequence_at},
      {"", "SequenceInsert", sequence_insert},
      {"", "SequenceErase", sequence_erase},
      {"", "SequenceLength", sequence_length},
      {"", "SplitToSequence", split_to_sequence},
      {"", "ConcatFromSequence", concat_from_sequence},
      {"", "SequenceMap", sequence_map},
  };
  return rows;
}

}  // namespace ridgeline::onnx
