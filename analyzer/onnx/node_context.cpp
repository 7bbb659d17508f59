// Inputs, attributes and outputs of a node, checked here so that no rule can make a shape that
// overflows or read an absent input.
#include "analyzer/onnx/node_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/onnx/order.h"
#include "analyzer/onnx/walk.h"
#include "base/error.h"
#include "base/text.h"

namespace ridgeline::onnx {
namespace {

// Messages quote text from the file and must stay on one line.
std::string in_one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
  return text;
}

}  // namespace

NodeContext::NodeContext(Walk& walk, const Node& node, std::int64_t opset)
    : walk_(walk), node_(node), opset_(opset) {
  inputs_.reserve(node.inputs.size());
  outputs_.reserve(node.outputs.size());
  steers_.resize(node.inputs.size(), false);
}

const Attribute* NodeContext::attribute(std::string_view name) const {
  return walk_.find_attribute(node_, name);
}

std::int64_t NodeContext::integer(std::string_view name, std::int64_t fallback) const {
  const Attribute* found = attribute(name);
  return found == nullptr ? fallback : found->i;
}

double NodeContext::real(std::string_view name, double fallback) const {
  const Attribute* found = attribute(name);
  return found == nullptr ? fallback : static_cast<double>(found->f);
}

std::string_view NodeContext::text(std::string_view name, std::string_view fallback) const {
  const Attribute* found = attribute(name);
  return found == nullptr ? fallback : found->s;
}

std::optional<std::vector<std::int64_t>> NodeContext::integers(std::string_view name) const {
  const Attribute* found = attribute(name);
  if (found == nullptr) return std::nullopt;
  return std::vector<std::int64_t>(found->ints.begin(), found->ints.end());
}

bool NodeContext::has(std::size_t index) const {
  return index < inputs_.size() && inputs_[index] != nullptr;
}

const Value& NodeContext::input(std::size_t index) const {
  if (!has(index)) fail(fmt::format("input {} is missing", index));
  return *inputs_[index];
}

const Shape& NodeContext::shape(std::size_t index) const {
  const Value& value = input(index);
  if (value.is_sequence) throw CannotInfer{quote(value.name) + " is a sequence, not a tensor"};
  // Without the input's name: one unknown operator may cause this for a thousand nodes.
  if (!value.shape) throw CannotInfer{"the shape of an input is unknown"};
  return *value.shape;
}

std::int64_t NodeContext::dimension(std::size_t index, std::int64_t axis_value) const {
  const Shape& dims = shape(index);
  const auto place = normalized_axis(axis_value, dims.size());
  if (!place)
    fail(fmt::format("input {} has {} dimensions ({}), dimension {} is needed",
                     quote(input(index).name), dims.size(), to_string(dims), axis_value));
  return dims[*place];
}

const Contents* NodeContext::contents(std::size_t index) const {
  if (!has(index)) return nullptr;
  Value& value = *inputs_[index];
  if (value.contents) return &*value.contents;
  if (value.proto == nullptr || !value.shape) return nullptr;
  // Useful floats are scales and sizes of Resize at most; longer lists are weights, which stay
  // unread.
  constexpr std::int64_t max_floats = 64;
  if (is_floating(value.type) && element_count(*value.shape) > max_floats) return nullptr;
  try {
    value.contents = walk_.file().contents(*value.proto);
  } catch (const Error&) {
    return nullptr;  // needed_integers() throws if the values are required
  }
  return value.contents ? &*value.contents : nullptr;
}

std::optional<std::vector<std::int64_t>> NodeContext::known_integers(std::size_t index) const {
  const Contents* elements = contents(index);
  if (elements == nullptr) return std::nullopt;
  std::vector<std::int64_t> integers;
  integers.reserve(elements->size());
  for (const Element& element : *elements) {
    // Exclusive bounds: 2^63 itself does not fit.
    constexpr long double limit = 9223372036854775808.0L;
    if (!element || !(*element >= -limit && *element < limit)) return std::nullopt;
    integers.push_back(static_cast<std::int64_t>(*element));
  }
  return integers;
}

std::vector<std::int64_t> NodeContext::needed_integers(std::size_t index) const {
  if (auto integers = known_integers(index)) return *std::move(integers);
  const Value& value = input(index);
  if (value.proto != nullptr && !value.contents) walk_.file().contents(*value.proto);  // throws
  throw CannotInfer{"the values of " + quote(value.name) + " depend on data"};
}

std::size_t NodeContext::axis(std::int64_t value, std::size_t rank) const {
  const auto place = normalized_axis(value, rank);
  if (!place) fail(fmt::format("axis {} is outside of the {} dimensions", value, rank));
  return *place;
}

bool NodeContext::wants(std::size_t index) const {
  return index < outputs_.size() && outputs_[index] != nullptr;
}

void NodeContext::set(std::size_t index, ElementType type, Shape shape) {
  const auto elements = checked_element_count(shape);
  if (!elements)
    fail(fmt::format("output {} would have the shape {}, which is negative or too large", index,
                     to_string(shape)));
  // Bytes and operations are counted per element; keep their products in range as well.
  constexpr std::int64_t max_elements = std::int64_t{1} << 56;
  if (*elements > max_elements)
    fail(fmt::format("output {} would have {} elements ({})", index, *elements, to_string(shape)));
  if (!wants(index)) return;
  outputs_[index]->type = type;
  outputs_[index]->shape = std::move(shape);
}

void NodeContext::set_contents(std::size_t index, Contents contents) {
  if (!wants(index) || contents.size() > max_contents) return;
  Value& value = *outputs_[index];
  if (!value.shape || element_count(*value.shape) != static_cast<std::int64_t>(contents.size()))
    return;
  value.contents = std::move(contents);
}

void NodeContext::set_sequence(std::size_t index, ElementType type, std::optional<Shape> shape,
                               std::optional<std::int64_t> length) {
  if (!wants(index)) return;
  Value& value = *outputs_[index];
  value.type = type;
  value.shape = std::move(shape);
  value.is_sequence = true;
  value.sequence_length = length;
}

const Shape* NodeContext::declared_instead_of(std::initializer_list<std::size_t> inputs,
                                              std::size_t index) {
  const bool all_known = std::all_of(inputs.begin(), inputs.end(), [this](std::size_t input) {
    const Contents* elements = contents(input);
    return !has(input) ||
           (elements != nullptr && std::all_of(elements->begin(), elements->end(),
                                               [](const Element& e) { return e.has_value(); }));
  });
  if (all_known || !wants(index) || !walk_.take_declared(*outputs_[index]) ||
      !outputs_[index]->shape)
    return nullptr;
  for (const std::size_t input : inputs) not_data(input);
  return &*outputs_[index]->shape;
}

bool NodeContext::take_declared(std::size_t index) {
  return wants(index) && walk_.take_declared(*outputs_[index]);
}

void NodeContext::adopt(std::size_t index, Value* value) {
  if (!wants(index)) return;
  walk_.alias(node_.outputs[index], value);
  // The output's own tensor is no longer written; it takes over the description of its alias.
  Value& left = *outputs_[index];
  left.type = value->type;
  left.shape = value->shape;
  left.source = value->source;
  left.is_sequence = value->is_sequence;
  left.constant = value->constant;
  outputs_[index] = nullptr;
}

const Shape* NodeContext::file_shape(std::size_t index) const {
  return has(index) ? walk_.file_shape(*inputs_[index]) : nullptr;
}

const Shape* NodeContext::file_output(std::size_t index) const {
  return wants(index) ? walk_.file_shape(*outputs_[index]) : nullptr;
}

bool NodeContext::passes_batch(std::size_t axis, std::size_t output_axis) const {
  const Shape* from = file_shape(0);
  const Shape* to = file_output(0);
  return from != nullptr && to != nullptr && axis < from->size() && output_axis < to->size() &&
         batch_axis(*from, shape(0)) == axis && (*from)[axis] == (*to)[output_axis];
}

void NodeContext::set_is_bound() { bound_ = true; }

void NodeContext::emit(Op op) {
  DType dtype = DType::fp32;
  bool found = false;
  for (const Value* value : inputs_) {
    if (value == nullptr) continue;
    const auto candidate = compute_dtype(value->type);
    if (!candidate) continue;
    if (!found || is_floating(value->type)) dtype = *candidate;
    found = true;
    if (is_floating(value->type)) break;
  }
  if (!found && wants(0)) dtype = compute_dtype(outputs_[0]->type).value_or(dtype);
  emit(std::move(op), dtype);
}

void NodeContext::emit(Op op, DType dtype) { parts_.push_back({std::move(op), dtype}); }

void NodeContext::not_data(std::size_t index) {
  if (index < steers_.size()) steers_[index] = true;
}

void NodeContext::packs(std::size_t index, std::int64_t values) {
  if (has(index) && inputs_[index]->constant) inputs_[index]->packed = values;
}

void NodeContext::not_trained(std::size_t index) {
  if (index < 32) not_trained_ |= 1U << index;
}

void NodeContext::reads(std::size_t input_index, std::int64_t elements) {
  if (has(input_index)) partly_moved_.emplace_back(inputs_[input_index], elements);
}

void NodeContext::writes(std::size_t output_index, std::int64_t elements) {
  if (wants(output_index)) partly_moved_.emplace_back(outputs_[output_index], elements);
}

void NodeContext::fail(const std::string& what) const {
  throw Error(walk_.file_name(), describe(node_) + ": " + in_one_line(what));
}

void NodeContext::fail_small(const std::string& what) const {
  throw Error(walk_.file_name(), describe(node_) + ": " + in_one_line(what),
              in_one_line(walk_.chosen_sizes()));
}

void NodeContext::warn(const std::string& what) const {
  walk_.warn(describe(node_) + ": " + in_one_line(what));
}

}  // namespace ridgeline::onnx
