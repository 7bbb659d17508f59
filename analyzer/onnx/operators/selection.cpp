// Operators that sort, select or draw: TopK, NonMaxSuppression, NonZero, Unique, Multinomial. If
// the number of results depends on data, the output has the maximum and is marked as a bound.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/onnx/data_type.h"
#include "analyzer/onnx/operators/checks.h"
#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/folding.h"
#include "analyzer/onnx/operators/sizes.h"

namespace ridgeline::onnx {
namespace {

void top_k(NodeContext& context) {
  Shape shape = context.shape(0);
  want_rank_at_least(context, 0, 1);
  const std::size_t axis = context.axis(context.integer("axis", -1), shape.size());
  const std::int64_t size = shape[axis];
  const std::int64_t rows = multiplied(
      context, {extent(context, shape, 0, axis), extent(context, shape, axis + 1, shape.size())});
  if (const Shape* declared = context.declared_instead_of({1}, 0);
      declared != nullptr && declared->size() == shape.size()) {
    context.set(1, ElementType::int64, *declared);
    return context.emit(Sort{rows, size, (*declared)[axis]});
  }
  std::int64_t kept = context.integer("k", size);  // an attribute until opset 9
  if (context.has(1)) {
    context.not_data(1);
    const auto given = context.known_integers(1);
    if (given && given->size() == 1)
      kept = given->front();
    else
      context.set_is_bound();
  }
  if (kept < 0 || kept > size)
    context.fail("the largest " + std::to_string(kept) + " of " + std::to_string(size) +
                 " elements");
  shape[axis] = kept;
  context.set(0, context.type(0), shape);
  context.set(1, ElementType::int64, shape);
  context.emit(Sort{rows, size, kept});
}

// Boxes [batches, boxes, 4], scores [batches, classes, boxes]. The output has rows of (batch,
// class, box), per class at most as many as the third input allows.
void non_max_suppression(NodeContext& context) {
  want_rank(context, 0, 3);
  want_rank(context, 1, 3);
  const Shape& boxes = context.shape(0);
  const Shape& scores = context.shape(1);
  want_equal(context, "the number of boxes that have scores", scores[2], boxes[1]);
  std::int64_t per_class = boxes[1];
  for (std::size_t i = 2; i < context.input_count(); ++i) context.not_data(i);
  if (!context.has(2)) {
    per_class = 0;  // ONNX's default: no box is selected
  } else if (const auto most = context.known_integers(2); most && most->size() == 1) {
    per_class = std::clamp<std::int64_t>(most->front(), 0, boxes[1]);
  }
  const std::int64_t classes = multiplied(context, {boxes[0], scores[1]});
  context.set(0, ElementType::int64, {multiplied(context, {classes, per_class}), 3});
  context.set_is_bound();
  context.emit(Sort{classes, boxes[1], boxes[1]});
  // Every kept box is compared with all boxes. An overlap takes about a dozen operations; only the
  // comparison is counted.
  context.emit(
      Elementwise{ElementFunction::compare, multiplied(context, {classes, per_class, boxes[1]})});
}

// A TensorRT plugin that exporters of detectors append: boxes [batches, boxes, 4] or one per class,
// scores [batches, boxes, classes]. The attribute max_output_boxes fixes the number of results; a
// count is an output too.
void efficient_nms(NodeContext& context) {
  want_rank_at_least(context, 0, 3);
  want_rank(context, 1, 3);
  const Shape& scores = context.shape(1);
  want_equal(context, "the number of boxes", context.shape(0)[1], scores[1]);
  const std::int64_t batch = scores[0], kept = context.integer("max_output_boxes", 100);
  context.set(0, ElementType::int32, {batch, 1});
  context.set(1, context.type(0), {batch, kept, 4});
  context.set(2, context.type(1), {batch, kept});
  context.set(3, ElementType::int32, {batch, kept});
  const std::int64_t candidates = multiplied(context, {scores[1], scores[2]});
  context.emit(Sort{batch, candidates, std::min(candidates, kept)});
  context.emit(Elementwise{ElementFunction::compare, multiplied(context, {batch, kept, kept})});
}

void non_zero(NodeContext& context) {
  const Shape& from = context.shape(0);
  const std::int64_t count = element_count(from);
  const auto rank = static_cast<std::int64_t>(std::max<std::size_t>(from.size(), 1));
  context.emit(Elementwise{ElementFunction::compare, count});
  const Contents* contents = foldable(context, 0);
  if (contents == nullptr ||
      std::any_of(contents->begin(), contents->end(), [](const Element& e) { return !e; })) {
    context.set(0, ElementType::int64, {rank, count});
    context.set_is_bound();
    return;
  }
  std::vector<Shape> places;
  std::size_t next = 0;
  for_each_place(from, [&](const Shape& place) {
    if (*(*contents)[next++] != 0) places.push_back(place.empty() ? Shape{0} : place);
  });
  context.set(0, ElementType::int64, {rank, static_cast<std::int64_t>(places.size())});
  Contents indices;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank); ++axis)
    for (const Shape& place : places) indices.push_back(static_cast<long double>(place[axis]));
  context.set_contents(0, std::move(indices));
}

void unique(NodeContext& context) {
  Shape shape = context.shape(0);
  const Attribute* given = context.attribute("axis");
  std::size_t axis = 0;
  if (given == nullptr)
    shape = {element_count(shape)};
  else
    axis = context.axis(given->i, shape.size());
  const std::int64_t count = shape[axis];
  context.set(0, context.type(0), shape);
  for (std::size_t i = 1; i < 4; ++i) context.set(i, ElementType::int64, {count});
  context.set_is_bound();
  context.emit(Sort{count == 0 ? 0 : element_count(shape) / count, count, count});
}

// com.microsoft's Unique takes a vector and has three outputs: values, places, counts.
void unique_of_vector(NodeContext& context) {
  want_rank(context, 0, 1);
  unique(context);
}

void multinomial(NodeContext& context) {
  want_rank(context, 0, 2);
  const Shape& from = context.shape(0);
  const std::int64_t samples = context.integer("sample_size", 1);
  if (samples < 0) context.fail(std::to_string(samples) + " samples");
  context.set(0, element_type(context.integer("dtype", 6)), {from[0], samples});
  context.emit(Softmax{element_count(from), false});
  context.emit(Elementwise{ElementFunction::random, multiplied(context, {from[0], samples})});
}

}  // namespace

std::span<const Operator> selection_operators() {
  static constexpr Operator rows[] = {
      {"", "TopK", top_k},
      {"", "NonMaxSuppression", non_max_suppression},
      {"", "NonZero", non_zero},
      {"", "Unique", unique},
      {"", "Multinomial", multinomial},
      {"com.microsoft", "Unique", unique_of_vector},
      {"", "EfficientNMS_TRT", efficient_nms},
      {"TRT", "EfficientNMS_TRT", efficient_nms},
  };
  return rows;
}

}  // namespace ridgeline::onnx
