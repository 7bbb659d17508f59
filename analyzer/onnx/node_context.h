// NodeContext: all that an operator rule sees of the world: its node, the values it reads, and
// where to put what it finds. A rule infers the outputs and emits the Op; it knows no other node.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/graph/graph.h"
#include "analyzer/onnx/model.h"
#include "analyzer/onnx/value.h"

namespace ridgeline::onnx {

class Walk;

// What rules call an element-wise function; onnx::Function is a message of the file.
using ElementFunction = ridgeline::Function;

// Thrown by a rule that cannot go on because something it needs depends on data or on an unknown
// operator. The walk then falls back to what the file declares of the outputs.
struct CannotInfer {
  std::string reason;
};

// Of an operator that lacks an optional input.
inline constexpr std::size_t no_input = static_cast<std::size_t>(-1);

class NodeContext {
 public:
  NodeContext(Walk& walk, const Node& node, std::int64_t opset);

  const Node& node() const { return node_; }
  std::int64_t opset() const { return opset_; }  // of the node's domain
  Walk& walk() { return walk_; }                 // for operators that hold sub-graphs

  // Attributes, with references of a function body already resolved.
  const Attribute* attribute(std::string_view name) const;  // null where absent
  std::int64_t integer(std::string_view name, std::int64_t fallback) const;
  double real(std::string_view name, double fallback) const;
  std::string_view text(std::string_view name, std::string_view fallback) const;
  std::optional<std::vector<std::int64_t>> integers(std::string_view name) const;

  // Inputs. An index beyond the last, or an input left out by an empty name, is absent.
  std::size_t input_count() const { return inputs_.size(); }
  bool has(std::size_t index) const;
  const Value& input(std::size_t index) const;  // absent: an Error
  Value* input_value(std::size_t index) { return has(index) ? inputs_[index] : nullptr; }
  const Shape& shape(std::size_t index) const;  // unknown: CannotInfer
  ElementType type(std::size_t index) const { return input(index).type; }
  std::int64_t dimension(std::size_t index, std::int64_t axis) const;  // outside the rank: an Error
  // Elements; null where they depend on data, are too many, or are in a file that is not there.
  const Contents* contents(std::size_t index) const;
  // All elements as integers; nothing where one is unknown.
  std::optional<std::vector<std::int64_t>> known_integers(std::size_t index) const;
  // The same, or CannotInfer "the values of 'x' depend on data".
  std::vector<std::int64_t> needed_integers(std::size_t index) const;
  // An axis attribute or element as index into a rank; outside of it: an Error.
  std::size_t axis(std::int64_t value, std::size_t rank) const;

  // Outputs. An index beyond the node's outputs, or an output without a name, is ignored.
  std::size_t output_count() const { return outputs_.size(); }
  bool wants(std::size_t index) const;
  void set(std::size_t index, ElementType type, Shape shape);  // overflow and negatives: an Error
  void set_contents(std::size_t index, Contents contents);     // after set(); too many: dropped
  void set_sequence(std::size_t index, ElementType type, std::optional<Shape> shape,
                    std::optional<std::int64_t> length);
  Value& output(std::size_t index) { return *outputs_[index]; }
  // The output's shape as the file declares it, set and returned, where inference would need the
  // data in one of these inputs (which steer). Null where their values are known, or nothing is
  // declared.
  const Shape* declared_instead_of(std::initializer_list<std::size_t> inputs, std::size_t index);
  // The output is this value, which a sub-graph made or the node was given: no tensor of its own.
  void adopt(std::size_t index, Value* value);
  // The sizes of the outputs depend on data: what was set is the most that can be.
  void set_is_bound();

  // The work. `dtype` defaults to that of the first floating input, else of the first input.
  void emit(Op op);
  void emit(Op op, DType dtype);
  // Inputs that steer (axes, shapes, sizes, zero points of no weight …) and are not data to move.
  void not_data(std::size_t index);
  // Of this input or output only so many elements are moved, all of them otherwise. What Gather and
  // Copy say of the first input goes without this.
  void reads(std::size_t input, std::int64_t elements);
  void writes(std::size_t output, std::int64_t elements);

  [[noreturn]] void fail(const std::string& what) const;  // Error: file, node and cause
  void warn(const std::string& what) const;

 private:
  friend class Walk;

  Walk& walk_;
  const Node& node_;
  std::int64_t opset_;
  // The lists of nearly all nodes fit into the buffer.
  std::array<std::byte, 512> buffer_;
  std::pmr::monotonic_buffer_resource memory_{buffer_.data(), buffer_.size()};
  std::pmr::vector<Value*> inputs_{&memory_};   // null where left out
  std::pmr::vector<Value*> outputs_{&memory_};  // null where it is left out
  std::pmr::vector<char> steers_{&memory_};     // of the inputs: whether they do
  std::vector<Part> parts_;
  std::vector<std::pair<const Value*, std::int64_t>> partly_moved_;
  bool bound_ = false;
};

// One row per operator. Rows of a family stand in the family's file, onnx/operators/<family>.cpp.
struct Operator {
  std::string_view domain;  // "" is ai.onnx
  std::string_view name;
  void (*rule)(NodeContext&);
};

// All rows, sorted by domain and name.
std::span<const Operator> known_operators();

// The row of an operator, or null; looks through all of them.
const Operator* find_operator(std::string_view domain, std::string_view name);

}  // namespace ridgeline::onnx
