// Operators that move elements: Transpose, Concat, Split, DepthToSpace, SpaceToDepth,
// ReverseSequence, Trilu, Compress. For slices, pads and repetition see slicing.cpp and
// repetition.cpp.
#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/onnx/operators/checks.h"
#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/folding.h"
#include "analyzer/onnx/operators/sizes.h"
#include "analyzer/onnx/operators/steering.h"

namespace ridgeline::onnx {
namespace {

std::vector<std::size_t> permutation(const NodeContext& context, std::size_t rank) {
  std::vector<std::size_t> order(rank);
  const auto given = context.integers("perm");
  if (!given) {
    std::iota(order.rbegin(), order.rend(), std::size_t{0});
    return order;
  }
  want_equal(context, "the length of perm", static_cast<std::int64_t>(given->size()),
             static_cast<std::int64_t>(rank));
  std::vector<bool> taken(rank, false);
  for (std::size_t i = 0; i < rank; ++i) {
    order[i] = context.axis((*given)[i], rank);
    if (taken[order[i]]) context.fail("perm names axis " + std::to_string(order[i]) + " twice");
    taken[order[i]] = true;
  }
  return order;
}

void transpose(NodeContext& context) {
  context.emit(Copy{});
  const Shape& from = context.shape(0);
  const auto order = permutation(context, from.size());
  Shape shape;
  for (const std::size_t axis : order) shape.push_back(from[axis]);
  context.set(0, context.type(0), shape);
  if (const Contents* contents = foldable(context, 0)) {
    const Shape steps = strides(from);
    fold_moved(context, 0, *contents, [&](const Shape& place) {
      std::int64_t index = 0;
      for (std::size_t i = 0; i < place.size(); ++i) index += place[i] * steps[order[i]];
      return std::optional(index);
    });
  }
}

// Elements of all inputs in the order of the output. Those of inputs that depend on data are
// unknown; the others are still useful.
void fold_concat(NodeContext& context, const std::vector<std::size_t>& inputs, std::size_t axis) {
  if (!context.wants(0) || !is_foldable(context.output(0).type, *context.output(0).shape)) return;
  Contents all;
  std::vector<std::int64_t> firsts;   // start of each input in `all`
  std::vector<std::int64_t> borders;  // end of each input on the axis
  std::vector<Shape> steps;
  std::int64_t border = 0;
  for (const std::size_t input : inputs) {
    const Shape& shape = context.shape(input);
    firsts.push_back(static_cast<std::int64_t>(all.size()));
    borders.push_back(border += shape[axis]);
    steps.push_back(strides(shape));
    if (const Contents* contents = foldable(context, input)) {
      all.insert(all.end(), contents->begin(), contents->end());
    } else {
      all.resize(all.size() + static_cast<std::size_t>(element_count(shape)));
    }
  }
  const auto is_known = [](const Element& element) { return element.has_value(); };
  if (!all.empty() && std::none_of(all.begin(), all.end(), is_known)) return;
  fold_moved(context, 0, all, [&](const Shape& place) {
    const auto part = static_cast<std::size_t>(
        std::upper_bound(borders.begin(), borders.end(), place[axis]) - borders.begin());
    const std::int64_t before = part == 0 ? 0 : borders[part - 1];
    std::int64_t index = firsts[part];
    for (std::size_t i = 0; i < place.size(); ++i)
      index += (place[i] - (i == axis ? before : 0)) * steps[part][i];
    return std::optional(index);
  });
}

void concat(NodeContext& context) {
  context.emit(Copy{});
  std::vector<std::size_t> inputs;
  for (std::size_t i = 0; i < context.input_count(); ++i)
    if (context.has(i)) inputs.push_back(i);
  if (inputs.empty()) context.fail("a Concat without inputs");
  Shape shape = context.shape(inputs.front());
  // Opset 1 had a default.
  if (context.opset() >= 4 && context.attribute("axis") == nullptr)
    context.fail("a Concat without an axis");
  const std::size_t axis = context.axis(context.integer("axis", 1), shape.size());
  shape[axis] = 0;
  for (const std::size_t input : inputs) {
    Shape other = context.shape(input);
    if (other.size() == shape.size()) {
      shape[axis] = added(context, {shape[axis], other[axis]});
      other[axis] = shape[axis];
    }
    if (other != shape)
      context.fail(named(context, input) + " cannot be joined on axis " + std::to_string(axis) +
                   " with " + named(context, inputs.front()));
  }
  context.set(0, context.type(inputs.front()), shape);
  fold_concat(context, inputs, axis);
}

// Also returns the size of every input on the axis.
void concat_training(NodeContext& context) {
  concat(context);
  Contents sizes;
  for (std::size_t i = 0; i < context.input_count(); ++i)
    sizes.push_back(static_cast<long double>(context.dimension(i, context.integer("axis", 1))));
  context.set(1, ElementType::int64, {static_cast<std::int64_t>(sizes.size())});
  context.set_contents(1, std::move(sizes));
}

// Sizes of the parts on the axis.
std::vector<std::int64_t> split_sizes(NodeContext& context, std::int64_t size) {
  const auto outputs = static_cast<std::int64_t>(context.output_count());
  if (const auto given = steering(context, 1, "split")) {
    want_equal(context, "the number of split sizes", static_cast<std::int64_t>(given->size()),
               outputs);
    std::int64_t total = 0;
    for (const std::int64_t part : *given) total = added(context, {total, part});
    want_equal(context, "the sum of the split sizes", total, size);
    return *given;
  }
  const std::int64_t parts = context.integer("num_outputs", outputs);
  if (parts < outputs || parts < 1)
    context.fail("split into " + std::to_string(parts) + " parts for " + std::to_string(outputs) +
                 " outputs");
  // Since opset 18 the last part may be smaller.
  if (context.opset() < 18 && context.attribute("num_outputs") == nullptr)
    divided(context, "the size to split", size, parts);
  const std::int64_t chunk = size / parts + (size % parts != 0 ? 1 : 0);
  std::vector<std::int64_t> sizes;
  for (std::int64_t i = 0, left = size; i < outputs; ++i, left -= sizes.back())
    sizes.push_back(std::min(chunk, left));
  return sizes;
}

void split(NodeContext& context) {
  context.emit(Copy{});
  Shape shape = context.shape(0);
  const std::size_t axis = context.axis(context.integer("axis", 0), shape.size());
  const auto sizes = split_sizes(context, shape[axis]);
  const Contents* contents = foldable(context, 0);
  const Shape steps = contents != nullptr ? strides(shape) : Shape{};
  std::int64_t first = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    shape[axis] = sizes[i];
    context.set(i, context.type(0), shape);
    if (contents != nullptr)
      fold_moved(context, i, *contents, [&](const Shape& place) {
        std::int64_t index = first * steps[axis];
        for (std::size_t j = 0; j < place.size(); ++j) index += place[j] * steps[j];
        return std::optional(index);
      });
    first += sizes[i];
  }
}

std::int64_t block_size(const NodeContext& context) {
  const std::int64_t size = context.integer("blocksize", 0);
  if (size < 1 || size > max_dimension)
    context.fail("a block size of " + std::to_string(size) + ", which must be positive");
  return size;
}

void depth_to_space(NodeContext& context) {
  context.emit(Copy{});
  want_rank(context, 0, 4);
  const Shape& from = context.shape(0);
  const std::int64_t block = block_size(context);
  context.set(
      0, context.type(0),
      {from[0],
       divided(context, "the number of channels", from[1], multiplied(context, {block, block})),
       multiplied(context, {from[2], block}), multiplied(context, {from[3], block})});
}

void space_to_depth(NodeContext& context) {
  context.emit(Copy{});
  want_rank(context, 0, 4);
  const Shape& from = context.shape(0);
  const std::int64_t block = block_size(context);
  context.set(0, context.type(0),
              {from[0], multiplied(context, {from[1], block, block}),
               divided(context, "the height", from[2], block),
               divided(context, "the width", from[3], block)});
}

void reverse_sequence(NodeContext& context) {
  context.emit(Copy{});
  want_rank_at_least(context, 0, 2);
  context.set(0, context.type(0), context.shape(0));
}

void triangle(NodeContext& context) {
  context.emit(Copy{});
  want_rank_at_least(context, 0, 2);
  if (context.has(1)) context.not_data(1);
  context.set(0, context.type(0), context.shape(0));
}

// The condition determines how many elements are kept; all that it could keep if it is data.
void compress(NodeContext& context) {
  const Shape& from = context.shape(0);
  const std::int64_t conditions = element_count(context.shape(1));
  const Attribute* given = context.attribute("axis");
  const std::size_t axis = given == nullptr ? 0 : context.axis(given->i, from.size());
  Shape shape = given == nullptr ? Shape{element_count(from)} : from;
  if (const auto flags = context.known_integers(1)) {
    if (conditions > shape[axis])
      context.fail(std::to_string(conditions) + " conditions for " + std::to_string(shape[axis]) +
                   " elements");
    shape[axis] = std::count_if(flags->begin(), flags->end(), [](auto flag) { return flag != 0; });
  } else {
    shape[axis] = std::min(shape[axis], conditions);
    context.set_is_bound();
  }
  context.set(0, context.type(0), shape);
  context.emit(Gather{element_count(shape)});
}

}  // namespace

std::span<const Operator> movement_operators() {
  static constexpr Operator rows[] = {
      {"", "Transpose", transpose},
      {"", "Concat", concat},
      {"", "Split", split},
      {"", "DepthToSpace", depth_to_space},
      {"", "SpaceToDepth", space_to_depth},
      {"", "ReverseSequence", reverse_sequence},
      {"", "Trilu", triangle},
      {"", "Compress", compress},
      {"com.microsoft", "Trilu", triangle},
      {"com.microsoft", "ConcatTraining", concat_training},
      {"com.microsoft", "SplitTraining", split},
  };
  return rows;
}

}  // namespace ridgeline::onnx
