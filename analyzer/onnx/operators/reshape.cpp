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

// Exporters write the batch of the example input into targets. If the user changed the batch, it is
// expected at the first dimension that differs from the input.
void follow_batch(NodeContext& context, const Shape& from, OpenShape& target) {
  const auto change = context.walk().batch_change();
  if (!change || change->in_file == change->now || !context.has(1)) return;
  if (const Value& given = context.input(1); !given.constant || given.from_shapes) return;
  std::size_t at = 0;
  while (at < target.size() && at < from.size() && target[at] == from[at]) ++at;
  if (at == target.size() || !target[at]) return;

  const bool is_batch =
      at < from.size() && from[at] == change->now && target[at] == change->in_file;
  // Merged with its neighbours, as in [batch·length, width], the batch is a factor.
  const bool is_factor = *target[at] % change->in_file == 0 &&
                         multiplied(context, {known_extent(context, target) / change->in_file,
                                              change->now}) == element_count(from);
  if (!is_batch && !is_factor) return;
  const std::string before = text_of(target);
  target[at] = multiplied(context, {*target[at] / change->in_file, change->now});
  context.warn("the target " + before + " holds the file's batch of " +
               std::to_string(change->in_file) + "; taken as " + text_of(target));
}

void reshape(NodeContext& context) {
  context.emit(View{});
  const Shape& from = context.shape(0);
  OpenShape target = target_of(context, from);
  follow_batch(context, from, target);

  const std::int64_t count = element_count(from);
  const std::int64_t known = known_extent(context, target);
  Shape shape;
  for (const auto& dimension : target) {
    if (!dimension && (known == 0 ? count != 0 : count % known != 0))
      context.fail("cannot reshape " + named(context, 0) + ", " + std::to_string(count) +
                   " elements, into " + text_of(target));
    shape.push_back(dimension ? *dimension : known == 0 ? 0 : count / known);
  }
  if (element_count(shape) != count)
    context.fail("cannot reshape " + named(context, 0) + ", " + std::to_string(count) +
                 " elements, into " + to_string(shape) + ", " +
                 std::to_string(element_count(shape)));
  context.set(0, context.type(0), shape);
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
