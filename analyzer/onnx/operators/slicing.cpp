// Operators that keep a part of a tensor or add a border: Slice, Pad, CenterCropPad. Only the part
// that is kept is read.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "analyzer/onnx/operators/checks.h"
#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/folding.h"
#include "analyzer/onnx/operators/steering.h"

namespace ridgeline::onnx {
namespace {

using PartlyKnown = std::vector<std::optional<std::int64_t>>;

struct AxisSlice {
  std::int64_t first = 0, step = 1, count = 0;
};

// Slices an axis as numpy does: ends beyond its size are clamped.
AxisSlice sliced(std::int64_t size, std::int64_t start, std::int64_t end, std::int64_t step) {
  if (size == 0) return {};
  // The specification defines INT_MAX as "to the end" for forward slices only; onnxruntime accepts
  // it in both directions, and files rely on that.
  constexpr std::int64_t int32_max = std::numeric_limits<std::int32_t>::max();
  constexpr std::int64_t int64_max = std::numeric_limits<std::int64_t>::max();
  if (step < 0 && (end == int32_max || end == int64_max)) end = -size - 1;
  if (start < 0) start += size;
  if (end < 0) end += size;
  AxisSlice slice{0, step, 0};
  if (step > 0) {
    slice.first = std::clamp<std::int64_t>(start, 0, size);
    const std::int64_t span = std::clamp<std::int64_t>(end, 0, size) - slice.first;
    if (span > 0) slice.count = (span - 1) / step + 1;
  } else {
    slice.first = std::clamp<std::int64_t>(start, 0, size - 1);
    const std::int64_t span = slice.first - std::clamp<std::int64_t>(end, -1, size - 1);
    // (span − 1) / −step + 1, but −step may overflow.
    if (span > 0) slice.count = 1 - (span - 1) / step;
  }
  return slice;
}

// Attributes until opset 9, inputs since; elements that depend on data are empty.
PartlyKnown slice_argument(NodeContext& context, std::size_t input, const char* attribute) {
  if (context.has(input)) {
    context.not_data(input);
    return partly_known_integers(context, input);
  }
  const auto given = context.integers(attribute);
  return given ? PartlyKnown(given->begin(), given->end()) : PartlyKnown{};
}

void slice(NodeContext& context) {
  const Shape& from = context.shape(0);
  if (const Shape* declared = context.declared_instead_of({1, 2, 3, 4}, 0))
    return context.emit(Copy{element_count(*declared)});
  const PartlyKnown starts = slice_argument(context, 1, "starts");
  const PartlyKnown ends = slice_argument(context, 2, "ends");
  PartlyKnown axes = slice_argument(context, 3, "axes");
  PartlyKnown steps = slice_argument(context, 4, "steps");
  if (axes.empty())
    for (std::size_t i = 0; i < starts.size(); ++i) axes.emplace_back(static_cast<std::int64_t>(i));
  if (steps.empty()) steps.assign(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    context.fail("a Slice with " + std::to_string(starts.size()) + " starts, " +
                 std::to_string(ends.size()) + " ends, " + std::to_string(axes.size()) +
                 " axes and " + std::to_string(steps.size()) + " steps");

  std::vector<AxisSlice> slices;
  for (const std::int64_t size : from) slices.push_back({0, 1, size});
  std::vector<bool> taken(from.size(), false);
  bool depends_on_data = false;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    if (!axes[i]) {
      depends_on_data = true;
      continue;
    }
    const std::size_t axis = context.axis(*axes[i], from.size());
    if (taken[axis]) context.fail("axis " + std::to_string(axis) + " is sliced twice");
    taken[axis] = true;
    if (steps[i] && *steps[i] == 0) context.fail("a Slice with a step of 0");
    const bool known = starts[i] && ends[i] && steps[i];
    depends_on_data = depends_on_data || !known;
    if (context.passes_batch(axis, axis) && steps[i] != -1) {
      // All of the file's batch is all of the one counted.
      if (ends[i] && *ends[i] >= 0 && *ends[i] < from[axis]) context.replaced_batch();
    } else if (known) {
      slices[axis] = sliced(from[axis], *starts[i], *ends[i], *steps[i]);
    } else if (steps[i] && *steps[i] > 0) {
      // Upper bound: from the first element to the last.
      slices[axis] =
          sliced(from[axis], starts[i].value_or(0), ends[i].value_or(from[axis]), *steps[i]);
    }
  }
  Shape shape;
  for (const AxisSlice& axis : slices) shape.push_back(axis.count);
  context.set(0, context.type(0), shape);
  context.emit(Copy{element_count(shape)});
  if (depends_on_data) {
    context.set_is_bound();
  } else if (const Contents* contents = foldable(context, 0)) {
    const Shape flat = strides(from);
    fold_moved(context, 0, *contents, [&](const Shape& place) {
      std::int64_t index = 0;
      for (std::size_t i = 0; i < place.size(); ++i)
        index += (slices[i].first + place[i] * slices[i].step) * flat[i];
      return std::optional(index);
    });
  }
}

// The fill value of a Pad, if known.
Element pad_value(const NodeContext& context) {
  if (!context.has(2)) return context.real("value", 0);
  const Contents* contents = context.contents(2);
  return contents != nullptr && contents->size() == 1 ? contents->front() : std::nullopt;
}

void pad(NodeContext& context) {
  context.emit(Copy{});
  for (std::size_t i = 1; i < 4; ++i) context.not_data(i);
  const Shape& from = context.shape(0);
  auto pads = steering(context, 1, "pads");
  if (!pads) pads = context.integers("paddings");
  if (!pads) context.fail("a Pad without pads");
  std::vector<std::size_t> axes;
  if (context.has(3)) {
    for (const std::int64_t axis : context.needed_integers(3))
      axes.push_back(context.axis(axis, from.size()));
  } else {
    for (std::size_t i = 0; i < from.size(); ++i) axes.push_back(i);
  }
  want_equal(context, "the number of pads", static_cast<std::int64_t>(pads->size()),
             static_cast<std::int64_t>(2 * axes.size()));
  Shape shape = from, before(from.size(), 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    before[axes[i]] = (*pads)[i];
    shape[axes[i]] = added(context, {shape[axes[i]], (*pads)[i], (*pads)[axes.size() + i]});
  }
  context.set(0, context.type(0), shape);

  const Contents* contents = foldable(context, 0);
  if (contents == nullptr || context.text("mode", "constant") != "constant") return;
  const Shape flat = strides(from);
  const auto source = [&](const Shape& place) -> std::optional<std::int64_t> {
    std::int64_t index = 0;
    for (std::size_t i = 0; i < place.size(); ++i) {
      const std::int64_t at = place[i] - before[i];
      if (at < 0 || at >= from[i]) return std::nullopt;
      index += at * flat[i];
    }
    return index;
  };
  fold_moved(context, 0, *contents, source, pad_value(context));
}

void center_crop_pad(NodeContext& context) {
  Shape shape = context.shape(0);
  context.not_data(1);
  if (context.declared_instead_of({1}, 0) != nullptr) return context.emit(Copy{});
  const auto sizes = context.needed_integers(1);
  auto axes = context.integers("axes");
  if (!axes) {
    axes.emplace();
    for (std::size_t i = 0; i < shape.size(); ++i) axes->push_back(static_cast<std::int64_t>(i));
  }
  want_equal(context, "the number of sizes", static_cast<std::int64_t>(sizes.size()),
             static_cast<std::int64_t>(axes->size()));
  Shape kept = shape;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::size_t axis = context.axis((*axes)[i], shape.size());
    kept[axis] = std::min(shape[axis], sizes[i]);
    shape[axis] = sizes[i];
  }
  context.set(0, context.type(0), shape);
  context.emit(Copy{element_count(kept)});
}

}  // namespace

std::span<const Operator> slicing_operators() {
  static constexpr Operator rows[] = {
      {"", "Slice", slice},
      {"", "Pad", pad},
      {"", "CenterCropPad", center_crop_pad},
      {"com.microsoft", "Pad", pad},
  };
  return rows;
}

}  // namespace ridgeline::onnx
