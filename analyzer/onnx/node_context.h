// NodeContext: an operator rule's interface: its node, the values it reads, and setters for its
// results. A rule infers the outputs and emits the Op; it sees no other node.
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

// An element-wise function, to tell it from the file's functions in this namespace.
using ElementFunction = ridgeline::Function;

// Thrown by a rule if something it needs depends on data or on an unknown operator. The walk then
// falls back to the shapes that the file declares for the outputs.
struct CannotInfer {
  std::string reason;
};

// For operators that lack an optional input.
inline constexpr std::size_t no_input = static_cast<std::size_t>(-1);

class NodeContext {
 public:
  NodeContext(Walk& walk, const Node& node, std::int64_t opset);

  const Node& node() const { return node_; }
  std::int64_t opset() const { return opset_; }  // of the node's domain
  Walk& walk() { return walk_; }                 // for operators with sub-graphs

  // Attributes; references in a function body are already resolved.
  const Attribute* attribute(std::string_view name) const;  // null if absent
  std::int64_t integer(std::string_view name, std::int64_t fallback) const;
  double real(std::string_view name, double fallback) const;
  std::string_view text(std::string_view name, std::string_view fallback) const;
  std::optional<std::vector<std::int64_t>> integers(std::string_view name) const;

  // Inputs. Indices beyond the last input and inputs with an empty name are absent.
  std::size_t input_count() const { return inputs_.size(); }
  bool has(std::size_t index) const;
  const Value& input(std::size_t index) const;  // absent: an Error
  Value* input_value(std::size_t index) { return has(index) ? inputs_[index] : nullptr; }
  const Shape& shape(std::size_t index) const;  // unknown: CannotInfer
  ElementType type(std::size_t index) const { return input(index).type; }
  std::int64_t dimension(std::size_t index, std::int64_t axis) const;  // outside the rank: an Error
  // Elements; null if they depend on data, are too many, or are in a missing file.
  const Contents* contents(std::size_t index) const;
  // All elements as integers; nothing if any is unknown.
  std::optional<std::vector<std::int64_t>> known_integers(std::size_t index) const;
  // The same, or CannotInfer "the values of 'x' depend on data".
  std::vector<std::int64_t> needed_integers(std::size_t index) const;
  // Normalises an axis attribute or element to an index below the rank; otherwise an Error.
  std::size_t axis(std::int64_t value, std::size_t rank) const;

  // Outputs. Indices beyond the node's outputs and outputs without a name are ignored.
  std::size_t output_count() const { return outputs_.size(); }
  bool wants(std::size_t index) const;
  void set(std::size_t index, ElementType type, Shape shape);  // overflow and negatives: an Error
  void set_contents(std::size_t index, Contents contents);     // after set(); too many: dropped
  void set_sequence(std::size_t index, ElementType type, std::optional<Shape> shape,
                    std::optional<std::int64_t> length);
  Value& output(std::size_t index) { return *outputs_[index]; }
  // Sets and returns the output's shape as the file declares it, if inference would need the data
  // of one of these (steering) inputs. Null if their values are known or no shape is declared.
  const Shape* declared_instead_of(std::initializer_list<std::size_t> inputs, std::size_t index);
  // Gives the output the shape that the file declares; false if it declares none.
  bool take_declared(std::size_t index);
  // Makes the output an alias of a value from a sub-graph or of an input, without a tensor of its
  // own.
  void adopt(std::size_t index, Value* value);
  // Output sizes depend on data; the shapes set are upper bounds.
  void set_is_bound();

  // Shapes at the batch of the file, while another one is counted; null otherwise.
  const Shape* file_shape(std::size_t input) const;
  const Shape* file_output(std::size_t output) const;
  // Whether this axis of the first input carries a changed batch and is an axis of the output that
  // the operator leaves as it is in the file, whatever number steers it.
  bool passes_batch(std::size_t axis, std::size_t output_axis) const;
  // The rule read a constant that holds the file's batch, and took it as the one counted.
  void replaced_batch() { replaced_batch_ = true; }

  // The work. `dtype` defaults to that of the first floating input, else of the first input.
  void emit(Op op);
  void emit(Op op, DType dtype);
  // Marks an input that steers (axes, shapes, sizes, zero points of activations …) and moves no
  // data.
  void not_data(std::size_t index);
  // A weight that holds this many values, of which an element holds several or a part.
  void packs(std::size_t input, std::int64_t values);
  // Constants among these inputs are no parameters: scales, first states, tables.
  void not_trained(std::size_t input);
  // Only this many elements of the input or output are moved; all by default. Not needed for the
  // first input of Gather and Copy, whose Ops count it.
  void reads(std::size_t input, std::int64_t elements);
  void writes(std::size_t output, std::int64_t elements);

  [[noreturn]] void fail(const std::string& what) const;  // Error: file, node and cause
  // The same for a size that is too small; names the sizes of inputs that the user chose.
  [[noreturn]] void fail_small(const std::string& what) const;
  void warn(const std::string& what) const;

 private:
  friend class Walk;

  Walk& walk_;
  const Node& node_;
  std::int64_t opset_;
  // Large enough for the lists of nearly all nodes.
  std::array<std::byte, 512> buffer_;
  std::pmr::monotonic_buffer_resource memory_{buffer_.data(), buffer_.size()};
  std::pmr::vector<Value*> inputs_{&memory_};   // null if omitted
  std::pmr::vector<Value*> outputs_{&memory_};  // null if omitted
  std::pmr::vector<char> steers_{&memory_};     // per input
  std::uint32_t not_trained_ = 0;               // a bit per input
  std::vector<Part> parts_;
  std::vector<std::pair<const Value*, std::int64_t>> partly_moved_;
  bool bound_ = false;
  bool replaced_batch_ = false;
};

// One row per operator, in the file of its family, onnx/operators/<family>.cpp.
struct Operator {
  std::string_view domain;  // "" is ai.onnx
  std::string_view name;
  void (*rule)(NodeContext&);
};

// All rows, sorted by domain and name.
std::span<const Operator> known_operators();

// The row of an operator, or null. Linear search.
const Operator* find_operator(std::string_view domain, std::string_view name);

}  // namespace ridgeline::onnx
