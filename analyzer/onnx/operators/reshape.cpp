// Reshape: a target that may copy dimensions (0), leave one to inference (−1) or to data, and may
// contain the file's batch although the user has changed it. It moves nothing.
#include <optional>
#include <string>
#include <vector>

#include "analyzer/onnx/operators/checks.h"
#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/folding.h"
#include "analyzer/onnx/operators/sizes.h"
#include "analyzer/onnx/operators/steering.h"
#include "analyzer/onnx/walk.h"
#include "base/text.h"

namespace ridgeline::onnx {
namespace {

// Open dimensions are empty: the −1 and those that depend on data.
using OpenShape = std::vector<std::optional<std::int64_t>>;

std::string text_of(const OpenShape& target) {
  if (target.empty()) return "scalar";
  std::string text;
  for (const auto& dimension : target)
    (text += text.empty() ? "" : "x") += dimension ? std::to_string(*dimension) : "?";
  return text;
}

OpenShape target_of(NodeContext& context, const Shape& from) {
  OpenShape target;
  if (context.has(1)) {
    context.not_data(1);
    target = partly_known_integers(context, 1);
  } else if (const auto attribute = context.integers("shape")) {
    target.assign(attribute->begin(), attribute->end());
  } else {
    context.fail("a Reshape without a shape");
  }
  const bool zero_is_copied = context.integer("allowzero", 0) == 0;
  std::size_t open = 0, inferred = 0;
  for (std::size_t i = 0; i < target.size(); ++i) {
    if (target[i] && *target[i] == 0 && zero_is_copied) {
      if (i >= from.size())
        context.fail("dimension " + std::to_string(i) + " of the target copies one that " +
                     to_string(from) + " does not have");
      target[i] = from[i];
    } else if (target[i] && *target[i] == -1) {
      target[i].reset();
      ++inferred;
    } else if (target[i] && *target[i] < 0) {
      context.fail("dimension " + std::to_string(i) + " of the target is " +
                   std::to_string(*target[i]));
    } else if (!target[i]) {
      ++open;
    }
  }
  if (inferred > 1) context.fail("the target has more than one dimension that is −1");
  if (open + inferred > 1)
    throw CannotInfer{"the values of " + quote(context.input(1).name) + " depend on data"};
  return target;
}

// Product of the known dimensions.
std::int64_t known_extent(const NodeContext& context, const OpenShape& target) {
  std::int64_t known = 1;
  for (const auto& dimension : target) known = multiplied(context, {known, dimension.value_or(1)});
  return known;
}

// The target with its open dimension inferred; nothing if the elements do not fit.
std::optional<Shape> completed(const NodeContext& context, const OpenShape& target,
                               std::int64_t count) {
  const std::int64_t known = known_extent(context, target);
  Shape shape;
  for (const auto& dimension : target) {
    if (!dimension && (known == 0 ? count != 0 : count % known != 0)) return std::nullopt;
    shape.push_back(dimension ? *dimension : known == 0 ? 0 : count / known);
  }
  if (checked_element_count(shape) != count) return std::nullopt;
  return shape;
}

// Exporters write the batch of the example input into targets. A target computed from shapes is
// taken as it is, unless it does not fit.
std::optional<Shape> with_batch(NodeContext& context, const Shape& from,
                                const std::optional<Shape>& literal) {
  const auto change = context.walk().batch_change();
  const Shape* file_from = context.file_shape(0);
  const Shape* file_to = context.file_output(0);
  if (!change || file_from == nullptr || file_to == nullptr) return literal;
  const bool is_constant = !context.has(1) || context.input(1).constant;
  if (literal && !is_constant && batch_axis(*file_to, *literal)) return literal;
  const ReshapeReading reading = context.walk().reshape_reading();
  if (literal && change->was_free && reading == ReshapeReading::as_written) return literal;
  auto followed = followed_reshape(*file_from, *file_to, from, change->in_file, reading);
  if (!followed) return literal;
  if (followed != literal) context.replaced_batch();
  return followed;
}

void reshape(NodeContext& context) {
  context.emit(View{});
  const Shape& from = context.shape(0);
  const OpenShape target = target_of(context, from);
  const std::int64_t count = element_count(from);
  const std::optional<Shape> shape = with_batch(context, from, completed(context, target, count));
  if (!shape)
    context.fail("cannot reshape " + named(context, 0) + ", " + std::to_string(count) +
                 " elements, into " + text_of(target));
  context.set(0, context.type(0), *shape);
  pass_contents(context, 0, 0);
}

}  // namespace

std::span<const Operator> reshape_operators() {
  static constexpr Operator rows[] = {
      {"", "Reshape", reshape},
  };
  return rows;
}

}  // namespace ridgeline::onnx
