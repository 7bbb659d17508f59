// Reductions along axes, positions of extrema, running sums. Small ones are folded: shape
// arithmetic multiplies and compares sizes with them.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/onnx/operators/element_folding.h"
#include "analyzer/onnx/operators/emission.h"
#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/sizes.h"
#include "analyzer/onnx/operators/steering.h"

namespace ridgeline::onnx {
namespace {

// The shape with 1 along the reduced axes; all axes if none are named.
Shape reduced_shape(const NodeContext& context, const Shape& data,
                    const std::vector<std::int64_t>& axes) {
  Shape shape = data;
  if (axes.empty()) std::fill(shape.begin(), shape.end(), 1);
  for (const std::int64_t axis : axes) shape[context.axis(axis, data.size())] = 1;
  return shape;
}

Shape without_axes(const NodeContext& context, const Shape& data,
                   const std::vector<std::int64_t>& axes) {
  std::vector<bool> reduced(data.size(), axes.empty());
  for (const std::int64_t axis : axes) reduced[context.axis(axis, data.size())] = true;
  Shape shape;
  for (std::size_t i = 0; i < data.size(); ++i)
    if (!reduced[i]) shape.push_back(data[i]);
  return shape;
}

// Whether shape arithmetic uses this reduction: those without a root or logarithm.
bool is_folded(Reduction kind) {
  return kind == Reduction::sum || kind == Reduction::mean || kind == Reduction::product ||
         kind == Reduction::max || kind == Reduction::min || kind == Reduction::l1 ||
         kind == Reduction::sum_square;
}

long double term(Reduction kind, long double element) {
  if (kind == Reduction::l1) return std::fabs(element);
  return kind == Reduction::sum_square ? element * element : element;
}

long double combined(Reduction kind, long double result, long double next) {
  if (kind == Reduction::product) return result * next;
  if (kind == Reduction::max) return std::max(result, next);
  if (kind == Reduction::min) return std::min(result, next);
  return result + next;
}

void fold_reduction(NodeContext& context, Reduction kind, const Shape& reduced) {
  if (!context.wants(0) || !is_folded(kind) || !may_have_contents(context, {0})) return;
  const Shape& data = context.shape(0);
  const std::int64_t count = element_count(data);
  // An empty tensor has a sum but no maximum; no shape depends on one.
  if (count == 0 || count > static_cast<std::int64_t>(max_contents)) return;
  const Contents* elements = folded_elements(context, 0);
  if (elements == nullptr) return;
  const std::vector<std::size_t> places = broadcast_indices(reduced, data);
  Contents results(static_cast<std::size_t>(element_count(reduced)));
  std::vector<bool> started(results.size(), false);
  for (std::size_t i = 0; i < places.size(); ++i) {
    Element& result = results[places[i]];
    const Element& element = (*elements)[i];
    if (!started[places[i]])
      result = element ? Element(term(kind, *element)) : std::nullopt;
    else if (result)
      result = element ? Element(combined(kind, *result, term(kind, *element))) : std::nullopt;
    started[places[i]] = true;
  }
  const std::size_t per_result = places.size() / results.size();
  const auto terms = static_cast<long double>(per_result);
  for (Element& result : results)
    if (result)
      result =
          as_element(kind == Reduction::mean ? *result / terms : *result, context.output(0).type);
  context.set_contents(0, std::move(results));
}

// With `noop_with_empty_axes` and no axes nothing is reduced, but each element is still squared,
// made absolute or the like.
void reduce_nothing(NodeContext& context, Reduction kind) {
  const Shape& data = context.shape(0);
  context.set(0, context.type(0), data);
  const bool identity = kind == Reduction::sum || kind == Reduction::mean ||
                        kind == Reduction::product || kind == Reduction::max ||
                        kind == Reduction::min;
  if (identity)
    context.emit(View{});
  else
    context.emit(Reduce{kind, element_count(data), element_count(data)});
  fold_reduction(context, kind, data);
}

template <Reduction kind>
void reduce(NodeContext& context) {
  const Shape& data = context.shape(0);
  if (const Shape* declared = context.declared_instead_of({1}, 0)) {
    context.emit(Reduce{kind, element_count(data), element_count(*declared)});
    return;
  }
  const std::vector<std::int64_t> axes =
      steering(context, 1, "axes").value_or(std::vector<std::int64_t>{});
  if (axes.empty() && context.integer("noop_with_empty_axes", 0) != 0)
    return reduce_nothing(context, kind);
  const Shape reduced = reduced_shape(context, data, axes);
  const bool keeps = context.integer("keepdims", 1) != 0;
  context.set(0, context.type(0), keeps ? reduced : without_axes(context, data, axes));
  context.emit(Reduce{kind, element_count(data), element_count(reduced)});
  fold_reduction(context, kind, reduced);
}

// com.microsoft: the sum widens the type, the mean rescales.
template <Reduction kind>
void reduce_quantized(NodeContext& context) {
  const Shape& data = context.shape(0);
  const std::vector<std::int64_t> axes =
      context.integers("axes").value_or(std::vector<std::int64_t>{});
  const Shape reduced = reduced_shape(context, data, axes);
  const bool keeps = context.integer("keepdims", 1) != 0;
  ElementType type = context.type(0);
  if (kind == Reduction::sum)
    type = type == ElementType::uint8 ? ElementType::uint32 : ElementType::int32;
  context.set(0, type, keeps ? reduced : without_axes(context, data, axes));
  emit_in(context, Reduce{kind, element_count(data), element_count(reduced)}, context.type(0));
  if (kind == Reduction::mean)
    emit_in(context, Elementwise{ElementFunction::quantize, element_count(reduced)},
            ElementType::fp32);
}

void arg_extremum(NodeContext& context) {
  const Shape& data = context.shape(0);
  const std::vector<std::int64_t> axes = {context.integer("axis", 0)};
  const Shape reduced = reduced_shape(context, data, axes);
  const bool keeps = context.integer("keepdims", 1) != 0;
  context.set(0, ElementType::int64, keeps ? reduced : without_axes(context, data, axes));
  context.emit(Reduce{Reduction::arg, element_count(data), element_count(reduced)});
}

// Running sum or product along the axis (without the element itself if `exclusive`).
template <bool products>
void fold_running(NodeContext& context) {
  const Shape& data = context.shape(0);
  const auto axis_value = context.known_integers(1);
  if (!context.wants(0) || !may_have_contents(context, {0}) || !axis_value ||
      axis_value->size() != 1 || element_count(data) > static_cast<std::int64_t>(max_contents))
    return;
  const Contents* elements = folded_elements(context, 0);
  if (elements == nullptr) return;
  const std::size_t axis = context.axis(axis_value->front(), data.size());
  const bool exclusive = context.integer("exclusive", 0) != 0;
  const bool reverse = context.integer("reverse", 0) != 0;
  std::size_t step = 1;
  for (std::size_t i = axis + 1; i < data.size(); ++i) step *= static_cast<std::size_t>(data[i]);
  const auto length = static_cast<std::size_t>(data[axis]);
  Contents results(elements->size());
  for (std::size_t start = 0; start < elements->size(); ++start) {
    if (start / step % length != 0) continue;
    Element running = products ? 1.0L : 0.0L;
    for (std::size_t i = 0; i < length; ++i) {
      const std::size_t at = start + (reverse ? length - 1 - i : i) * step;
      if (exclusive) results[at] = running;
      const Element& element = (*elements)[at];
      if (!running || !element)
        running = std::nullopt;
      else
        running = as_element(products ? *running * *element : *running + *element, context.type(0));
      if (!exclusive) results[at] = running;
    }
  }
  context.set_contents(0, std::move(results));
}

template <bool products>
void running(NodeContext& context) {
  const Shape& data = context.shape(0);
  want_rank_at_least(context, 0, 1);
  context.not_data(1);
  context.set(0, context.type(0), data);
  context.emit(Elementwise{products ? ElementFunction::multiply : ElementFunction::add,
                           element_count(data)});
  fold_running<products>(context);
}

// Whether all elements of all inputs are finite.
void is_all_finite(NodeContext& context) {
  context.set(0, ElementType::boolean, {});
  for (std::size_t i = 0; i < context.input_count(); ++i)
    emit_elementwise(context, ElementFunction::compare, element_count(context.shape(i)));
}

}  // namespace

std::span<const Operator> reduce_operators() {
  static constexpr Operator rows[] = {
      {"", "ReduceSum", reduce<Reduction::sum>},
      {"", "ReduceMean", reduce<Reduction::mean>},
      {"", "ReduceMax", reduce<Reduction::max>},
      {"", "ReduceMin", reduce<Reduction::min>},
      {"", "ReduceProd", reduce<Reduction::product>},
      {"", "ReduceL1", reduce<Reduction::l1>},
      {"", "ReduceL2", reduce<Reduction::l2>},
      {"", "ReduceSumSquare", reduce<Reduction::sum_square>},
      {"", "ReduceLogSum", reduce<Reduction::log_sum>},
      {"", "ReduceLogSumExp", reduce<Reduction::log_sum_exp>},
      {"", "ArgMax", arg_extremum},
      {"", "ArgMin", arg_extremum},
      {"", "CumSum", running<false>},
      {"", "CumProd", running<true>},
      {"com.microsoft", "ReduceSumTraining", reduce<Reduction::sum>},
      {"com.microsoft", "IsAllFinite", is_all_finite},
      {"com.microsoft", "QLinearReduceMean", reduce_quantized<Reduction::mean>},
      {"com.microsoft", "ReduceSumInteger", reduce_quantized<Reduction::sum>},
  };
  return rows;
}

}  // namespace ridgeline::onnx
