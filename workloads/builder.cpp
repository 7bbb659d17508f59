// Tensors, names and layers of a network that is being written.
// What each kind of layer does to shapes is in the other builder_*.cpp files.
#include "workloads/builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace ridgeline {
namespace {

bool is_product(const Op& op) {
  return std::holds_alternative<Convolution>(op) || std::holds_alternative<MatMul>(op) ||
         std::holds_alternative<Attention>(op) || std::holds_alternative<Recurrent>(op);
}

}  // namespace

NetworkBuilder::NetworkBuilder(std::string name, const Settings& settings) : settings_(settings) {
  graph_.name = std::move(name);
  graph_.tensors.reserve(2048);  // the largest network has about that many
  graph_.layers.reserve(1024);
  uses_.reserve(1024);
}

NetworkBuilder::Scope::Scope(NetworkBuilder& builder, std::string_view name)
    : builder_(builder), length_(builder.prefix_.size()) {
  builder.prefix_.append(name).push_back('.');
}

NetworkBuilder::Module::Module(NetworkBuilder& builder, std::string_view name)
    : builder_(builder), scope_(builder, name) {
  builder.module_ = builder.full_name({});
}

std::int64_t NetworkBuilder::dimension(Operand operand, int axis) const {
  const Shape& dimensions = shape(operand);
  const auto at = normalized_axis(axis, dimensions.size());
  return at ? dimensions[*at] : 1;
}

std::string NetworkBuilder::full_name(std::string_view name) const {
  std::string full = prefix_;
  full += name;
  if (name.empty() && !full.empty()) full.pop_back();  // the scope itself
  return full;
}

// A module that is used again gets a number, as torch.fx names its nodes: relu, relu_1, relu_2.
std::string NetworkBuilder::unique_name(std::string_view name) {
  std::string full = full_name(name);
  const int used = uses_[full]++;
  if (used > 0) full += fmt::format("_{}", used);
  return full;
}

Operand NetworkBuilder::tensor(std::string name, Shape shape, ElementType type, Role role) {
  if (!checked_element_count(shape))
    refuse(fmt::format("'{}' would have {} elements, more than can be counted", name,
                       to_string(shape)),
           "ask for a smaller size");
  Tensor made;
  made.name = std::move(name);
  made.type = type;
  made.shape = std::move(shape);
  made.source = settings_.given && role != Role::weight ? ShapeSource::given : ShapeSource::fixed;
  made.role = role;
  graph_.tensors.push_back(std::move(made));
  return {graph_.tensors.size() - 1};
}

Operand NetworkBuilder::input(std::string_view name, Shape shape, std::optional<ElementType> type) {
  const Operand made =
      tensor(std::string(name), std::move(shape), type.value_or(settings_.dtype), Role::input);
  graph_.inputs.push_back(made.id);
  return made;
}

// Vectors (biases, scales and shifts) stay wide in a network of 8 bits, as quantisers leave them.
Operand NetworkBuilder::parameter(std::string_view name, Shape shape) {
  const bool stays_wide = bits(settings_.dtype) <= 8 && shape.size() < 2;
  const ElementType type = stays_wide ? ElementType::fp32 : settings_.dtype;
  const Operand made = tensor(full_name(name), std::move(shape), type, Role::weight);
  graph_.tensors[made.id].stored = true;
  graph_.tensors[made.id].is_parameter = true;
  return made;
}

Operand NetworkBuilder::constant(std::string_view name, Shape shape,
                                 std::optional<ElementType> type) {
  return tensor(full_name(name), std::move(shape), type.value_or(settings_.dtype), Role::weight);
}

// Products of 8-bit types are 8-bit products. All else that a network of 8 bits computes
// (normalisation, softmax, activations, sums) is computed in fp32 on its way between 8-bit tensors.
DType NetworkBuilder::compute_type(const Op& op, ElementType type) const {
  if (!is_product(op) && bits(type) <= 8) return DType::fp32;
  return compute_dtype(type).value_or(DType::fp32);
}

Layer& NetworkBuilder::add_layer(std::string name, std::string_view origin, const Op& op,
                                 DType dtype, const std::vector<Operand>& inputs) {
  Layer& made = graph_.layers.emplace_back();
  made.name = std::move(name);
  made.origin = origin;
  made.module = module_;
  made.parts.push_back({op, dtype});
  made.inputs.reserve(inputs.size());
  for (const Operand operand : inputs)
    if (std::find(made.inputs.begin(), made.inputs.end(), operand.id) == made.inputs.end())
      made.inputs.push_back(operand.id);
  made.shapes = settings_.given ? ShapeSource::given : ShapeSource::fixed;
  return made;
}

Operand NetworkBuilder::layer(std::string_view name, std::string_view origin, const Op& op,
                              const std::vector<Operand>& inputs, Shape shape,
                              std::optional<ElementType> type) {
  const std::string unique = unique_name(name);
  const ElementType made_type = type.value_or(settings_.dtype);
  const Operand made = tensor(unique, std::move(shape), made_type, Role::activation);
  add_layer(unique, origin, op, compute_type(op, made_type), inputs).outputs = {made.id};
  return made;
}

void NetworkBuilder::refuse(const std::string& what, const std::string& fix) const {
  throw usage_error(graph_.name, what, fix);
}

}  // namespace ridgeline
