// Layers that move data, or only look at it in another way.
// In torch a split, a reshape and a dropout at inference cost nothing; here they are views too.
#include <fmt/format.h>

#include "workloads/builder.h"

namespace ridgeline {

Operand NetworkBuilder::concat(std::string_view name, const std::vector<Operand>& parts, int axis) {
  Shape shape = this->shape(parts.front());
  const std::size_t along = normalized_axis(axis, shape.size()).value_or(0);
  shape[along] = 0;
  for (const Operand part : parts) {
    Shape other = this->shape(part);
    shape[along] += other[along];
    other[along] = shape[along];
    if (other != shape)
      refuse(fmt::format("'{}' cannot join {} and {}", full_name(name),
                         to_string(this->shape(parts.front())), to_string(this->shape(part))),
             "give sizes that the network divides evenly");
  }
  return layer(name, "Concat", Copy{}, parts, std::move(shape), type(parts.front()));
}

std::vector<Operand> NetworkBuilder::split(std::string_view name, Operand x, const Shape& sizes,
                                           int axis) {
  const std::string unique = unique_name(name);
  const std::size_t along = normalized_axis(axis, shape(x).size()).value_or(0);
  const std::size_t index = graph_.layers.size();
  add_layer(unique, "Split", View{}, compute_type(View{}, type(x)), {x});
  std::vector<Operand> parts;
  for (const std::int64_t size : sizes) {
    Shape shape = this->shape(x);
    shape[along] = size;
    parts.push_back(tensor(fmt::format("{}.{}", unique, parts.size()), std::move(shape), type(x),
                           Role::activation));
    graph_.layers[index].outputs.push_back(parts.back().id);
  }
  return parts;
}

Operand NetworkBuilder::gather(std::string_view name, Operand table, Operand indices) {
  Shape shape = this->shape(indices);
  shape.push_back(dimension(table, -1));
  const Gather op{checked_element_count(shape).value_or(0)};
  return layer(name, "Gather", op, {table, indices}, std::move(shape), type(table));
}

Operand NetworkBuilder::embedding(std::string_view name, Operand indices, std::int64_t rows,
                                  std::int64_t width) {
  const Operand table = parameter(std::string(name) + ".weight", {rows, width});
  return gather(name, table, indices);
}

Operand NetworkBuilder::flatten(std::string_view name, Operand x) {
  const std::int64_t batch = dimension(x, 0);
  return layer(name, "Flatten", View{}, {x}, {batch, element_count(shape(x)) / batch}, type(x));
}

Operand NetworkBuilder::reshape(std::string_view name, Operand x, Shape shape) {
  return layer(name, "Reshape", View{}, {x}, std::move(shape), type(x));
}

Operand NetworkBuilder::dropout(std::string_view name, Operand x) {
  return layer(name, "Dropout", View{}, {x}, shape(x), type(x));
}

Operand NetworkBuilder::stochastic_depth(std::string_view name, Operand x) {
  return layer(name, "StochasticDepth", View{}, {x}, shape(x), type(x));
}

Operand NetworkBuilder::transpose_view(std::string_view name, Operand x, Shape shape) {
  return layer(name, "Transpose", View{}, {x}, std::move(shape), type(x));
}

Operand NetworkBuilder::transpose(std::string_view name, Operand x, Shape shape) {
  return copy(name, "Transpose", x, std::move(shape));
}

// Of an input that is larger than the output only as much is read as is written.
Operand NetworkBuilder::copy(std::string_view name, std::string_view origin, Operand x,
                             Shape shape) {
  Copy op;
  const auto written = checked_element_count(shape);
  if (written && *written < element_count(this->shape(x))) op.elements_read = *written;
  return layer(name, origin, op, {x}, std::move(shape), type(x));
}

}  // namespace ridgeline
