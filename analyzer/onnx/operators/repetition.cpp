// Operators that repeat elements: Tile and Expand. The input is read once, however often it is
// repeated.
#include <string>

#include "analyzer/onnx/operators/checks.h"
#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/folding.h"
#include "analyzer/onnx/operators/sizes.h"
#include "analyzer/onnx/operators/steering.h"
#include "base/text.h"

namespace ridgeline::onnx {
namespace {

// Elements of output 0: input 0 repeated along every axis, or broadcast along axes of size 1.
void fold_repeated(NodeContext& context) {
  const Contents* contents = foldable(context, 0);
  if (contents == nullptr || contents->empty()) return;
  const Shape from = context.shape(0);
  const Shape flat = strides(from);
  fold_moved(context, 0, *contents, [&](const Shape& place) {
    const std::size_t added_axes = place.size() - from.size();
    std::int64_t index = 0;
    for (std::size_t i = 0; i < from.size(); ++i)
      index += place[added_axes + i] % from[i] * flat[i];
    return std::optional(index);
  });
}

void tile(NodeContext& context) {
  context.emit(Copy{});
  context.not_data(1);
  context.not_data(2);
  Shape shape = context.shape(0);
  Shape repeats(shape.size(), 1);
  if (context.opset() < 6) {  // number of repeats, and the axis
    repeats[context.axis(steering_integer(context, 2), shape.size())] =
        steering_integer(context, 1);
  } else {
    repeats = context.needed_integers(1);
    want_equal(context, "the number of repeats", static_cast<std::int64_t>(repeats.size()),
               static_cast<std::int64_t>(shape.size()));
  }
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (repeats[i] < 0)
      context.fail("axis " + std::to_string(i) + " is to be repeated " +
                   std::to_string(repeats[i]) + " times");
    shape[i] = multiplied(context, {shape[i], repeats[i]});
  }
  context.set(0, context.type(0), shape);
  fold_repeated(context);
}

// First states that the exporter made for the file's batch, expanded to a size computed from
// shapes.
bool is_made_for_batch(const NodeContext& context, std::size_t output_axis, std::int64_t own,
                       std::int64_t target) {
  const Shape* in_file = context.file_shape(0);
  const Shape* file_to = context.file_output(0);
  return in_file != nullptr && *in_file == context.shape(0) && file_to != nullptr &&
         output_axis < file_to->size() && own > 1 && (*file_to)[output_axis] == own &&
         target != own && target % own == 0;
}

void expand(NodeContext& context) {
  context.emit(Copy{});
  context.not_data(1);
  Shape from = context.shape(0);
  const auto target = partly_known_integers(context, 1);
  Shape wanted;
  for (std::size_t i = 0; i < target.size(); ++i) {
    const std::size_t from_end = target.size() - i;
    const std::int64_t own = from_end <= from.size() ? from[from.size() - from_end] : 1;
    // A target that depends on data can only be 1 or the input's own size, if that is not 1.
    if (!target[i] && own == 1)
      throw CannotInfer{"the values of " + quote(context.input(1).name) + " depend on data"};
    if (target[i] && *target[i] < 0)
      context.fail("dimension " + std::to_string(i) + " of the target is " +
                   std::to_string(*target[i]));
    if (target[i] && is_made_for_batch(context, i, own, *target[i])) {
      from[from.size() - from_end] = *target[i];
      wanted.push_back(*target[i]);
      context.replaced_batch();
      continue;
    }
    const bool is_batch =
        from_end <= from.size() && context.passes_batch(from.size() - from_end, i);
    if (is_batch && target[i] != own) context.replaced_batch();
    wanted.push_back(is_batch ? own : target[i].value_or(own));
  }
  context.set(0, context.type(0), broadcast_shapes(context, from, wanted));
  fold_repeated(context);
}

}  // namespace

std::span<const Operator> repetition_operators() {
  static constexpr Operator rows[] = {
      {"", "Tile", tile},
      {"", "Expand", expand},
  };
  return rows;
}

}  // namespace ridgeline::onnx
