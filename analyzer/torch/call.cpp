// Looks arguments up; the rules are in torch/operators.
#include "analyzer/torch/call.h"

#include <algorithm>

#include "base/text.h"

namespace ridgeline::pytorch {
namespace {

void append_once(std::vector<TensorId>& list, TensorId id) {
  if (id != no_index && std::find(list.begin(), list.end(), id) == list.end()) list.push_back(id);
}

// A tensor, or those of a list.
void append_tensors(std::vector<TensorId>& list, const ArgumentValue& value) {
  if (const auto* one = std::get_if<TensorRef>(&value)) append_once(list, one->id);
  if (const auto* many = std::get_if<std::vector<TensorRef>>(&value))
    for (const TensorRef& ref : *many) append_once(list, ref.id);
}

}  // namespace

const ArgumentValue* Call::find(std::string_view name) const {
  for (const Argument& argument : site_.arguments)
    if (argument.name == name)
      return std::holds_alternative<std::monostate>(argument.value) ? nullptr : &argument.value;
  return nullptr;
}

bool Call::has(std::string_view name) const { return find(name) != nullptr; }

const Tensor* Call::tensor(std::string_view name) const {
  const ArgumentValue* value = find(name);
  const auto* ref = value == nullptr ? nullptr : std::get_if<TensorRef>(value);
  return ref == nullptr || ref->id == no_index ? nullptr : &graph_.tensors[ref->id];
}

const Tensor& Call::input(std::string_view name) const {
  if (const Tensor* found = tensor(name)) return *found;
  fail("argument " + quote(name) + " is not a tensor");
}

std::vector<TensorRef> Call::tensors(std::string_view name) const {
  const ArgumentValue* value = find(name);
  const auto* list = value == nullptr ? nullptr : std::get_if<std::vector<TensorRef>>(value);
  return list == nullptr ? std::vector<TensorRef>() : *list;
}

std::int64_t Call::integer(std::string_view name, std::int64_t fallback) const {
  const ArgumentValue* value = find(name);
  if (value == nullptr) return fallback;
  if (const auto* number = std::get_if<std::int64_t>(value)) return *number;
  if (const auto* choice = std::get_if<bool>(value)) return *choice ? 1 : 0;
  return fallback;
}

double Call::real(std::string_view name, double fallback) const {
  const ArgumentValue* value = find(name);
  if (value == nullptr) return fallback;
  if (const auto* number = std::get_if<double>(value)) return *number;
  if (const auto* number = std::get_if<std::int64_t>(value)) return static_cast<double>(*number);
  return fallback;
}

bool Call::flag(std::string_view name, bool fallback) const {
  return integer(name, fallback ? 1 : 0) != 0;
}

std::string_view Call::text(std::string_view name, std::string_view fallback) const {
  const ArgumentValue* value = find(name);
  const auto* text = value == nullptr ? nullptr : std::get_if<std::string>(value);
  return text == nullptr ? fallback : std::string_view(*text);
}

std::optional<Shape> Call::integers(std::string_view name) const {
  const ArgumentValue* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(value)) return *list;
  if (const auto* number = std::get_if<std::int64_t>(value)) return Shape{*number};
  return std::nullopt;
}

bool Call::is_contiguous(std::string_view name) const {
  const ArgumentValue* value = find(name);
  const auto* ref = value == nullptr ? nullptr : std::get_if<TensorRef>(value);
  return ref == nullptr || ref->id == no_index || facts_[ref->id].contiguous;
}

const Tensor& Call::first() const {
  std::vector<TensorId> all;
  for (const Argument& argument : site_.arguments) {
    append_tensors(all, argument.value);
    if (!all.empty()) return graph_.tensors[all.front()];
  }
  fail("none of its arguments is a tensor");
}

const Tensor& Call::output(std::size_t index) const {
  if (index >= site_.outputs.size() || site_.outputs[index] == no_index)
    fail("the file does not describe its output");
  return graph_.tensors[site_.outputs[index]];
}

void Call::reads(std::string_view name, std::int64_t elements) {
  const ArgumentValue* value = find(name);
  if (const auto* ref = value == nullptr ? nullptr : std::get_if<TensorRef>(value);
      ref != nullptr && ref->id != no_index)
    partly_moved_.emplace_back(ref->id, elements);
}

DType Call::default_dtype() const {
  const std::vector<TensorId> inputs = data_inputs();
  const auto floating = std::find_if(inputs.begin(), inputs.end(), [&](TensorId id) {
    return is_floating(graph_.tensors[id].type);
  });
  std::optional<DType> dtype;
  if (floating != inputs.end())
    dtype = compute_dtype(graph_.tensors[*floating].type);
  else if (!inputs.empty())
    dtype = compute_dtype(graph_.tensors[inputs.front()].type);
  else if (!site_.outputs.empty() && site_.outputs.front() != no_index)
    dtype = compute_dtype(graph_.tensors[site_.outputs.front()].type);
  return dtype.value_or(DType::fp32);
}

std::vector<TensorId> Call::data_inputs() const {
  std::vector<TensorId> ids;
  for (const std::string_view name : order_)
    if (const ArgumentValue* value = find(name)) append_tensors(ids, *value);
  for (const Argument& argument : site_.arguments)
    if (std::find(steering_.begin(), steering_.end(), argument.name) == steering_.end())
      append_tensors(ids, argument.value);
  return ids;
}

std::vector<TensorId> Call::steering_inputs() const {
  std::vector<TensorId> ids;
  for (const std::string_view name : steering_)
    if (const ArgumentValue* value = find(name)) append_tensors(ids, *value);
  return ids;
}

}  // namespace ridgeline::pytorch
