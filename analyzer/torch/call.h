// Call: one call of an ATen operator, as its rule sees it: arguments by the names of the operator's
// schema, tensors whose shapes are known, and setters for the work. Knows no container: .pt2
// archives and TorchScript both describe their nodes as a CallSite.
// The namespace is not called torch, so that code that uses LibTorch can name its namespace.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "analyzer/graph/graph.h"

namespace ridgeline::pytorch {

struct TensorRef {
  TensorId id = no_index;  // no_index: None in a list of optional tensors

  friend bool operator==(const TensorRef&, const TensorRef&) = default;
};

// None, or of a type that no rule reads: monostate. Symbolic integers are resolved.
using ArgumentValue =
    std::variant<std::monostate, TensorRef, bool, std::int64_t, double, std::string,
                 std::vector<std::int64_t>, std::vector<double>, std::vector<TensorRef>>;

struct Argument {
  std::string_view name;  // of the schema: "input", "stride"; must outlive the call
  ArgumentValue value;
};

// One node of a graph. Arguments that have their default value may be missing.
struct CallSite {
  // Namespace and operator without the overload: "aten::conv2d", "torchvision::nms".
  std::string_view op;
  std::string_view overload = {};  // "default", "Tensor", "dim" …; may be empty
  std::string_view node = {};      // its name in the file
  // The innermost module: "layer1.0.conv1"; empty outside of all modules.
  std::string_view module = {};
  bool in_leaf = false;  // that module is one of torch.nn, not the user's: its path names the layer
  std::vector<Argument> arguments = {};
  std::vector<TensorId> outputs = {};  // added to the builder beforehand; no_index if unused
  double repeats = 1;
  bool nested = false;
};

// What is known about a tensor beyond Graph::tensors.
struct TensorFacts {
  bool contiguous = true;    // rows in order without gaps; otherwise a reshape must copy
  bool constant = false;     // depends on no input
  bool from_shapes = false;  // depends on shapes and constants only
  bool trainable = false;    // a parameter of a module
  TensorId root = no_index;  // the stored weight that this is a form of
};

// Thrown by a rule that lacks what it needs; the layer becomes Unknown with this reason.
struct CannotTranslate {
  std::string reason;
};

class Call {
 public:
  Call(const Graph& graph, std::span<const TensorFacts> facts, const CallSite& site)
      : graph_(graph), facts_(facts), site_(site) {}

  const CallSite& site() const { return site_; }

  // Arguments. A name with an alternative is the operator's in another form: first found counts.
  bool has(std::string_view name) const;              // given and not None
  const Tensor* tensor(std::string_view name) const;  // null if absent or None
  const Tensor& input(std::string_view name) const;   // absent: CannotTranslate
  const Shape& shape(std::string_view name) const { return input(name).shape; }
  std::vector<TensorRef> tensors(std::string_view name) const;  // a list; empty if absent
  const Tensor& at(TensorRef ref) const {                       // None: CannotTranslate
    if (ref.id == no_index) fail("a tensor of its list is None");
    return graph_.tensors[ref.id];
  }
  std::int64_t integer(std::string_view name, std::int64_t fallback) const;
  double real(std::string_view name, double fallback) const;
  bool flag(std::string_view name, bool fallback) const;
  std::string_view text(std::string_view name, std::string_view fallback) const;
  // One number stands for a list of one.
  std::optional<Shape> integers(std::string_view name) const;
  bool is_contiguous(std::string_view name) const;

  // The first tensor among the arguments, in their order; absent: CannotTranslate.
  const Tensor& first() const;

  std::size_t output_count() const { return site_.outputs.size(); }
  const Tensor& output(std::size_t index = 0) const;  // absent: CannotTranslate
  std::int64_t out_elements(std::size_t index = 0) const {
    return element_count(output(index).shape);
  }

  // The work. `dtype` defaults to that of the first floating input, else of the first input.
  void emit(Op op) { emit(std::move(op), default_dtype()); }
  void emit(Op op, DType dtype) { parts_.push_back({std::move(op), dtype}); }
  void elementwise(Function function) { emit(Elementwise{function, out_elements()}); }
  // Data first, then weights, then bias, where the schema has another order.
  void order(std::initializer_list<std::string_view> names) { order_ = names; }
  // Steers only (a size, the shape of a like-tensor): no data is moved.
  void not_data(std::string_view name) { steering_.push_back(name); }
  // Only so many elements of a tensor are moved.
  void reads(std::string_view name, std::int64_t elements);
  // Costs nothing and makes no layer (assertions, sizes).
  void skip() { skipped_ = true; }
  // The sizes of the outputs depend on data; the file's are bounds.
  void set_is_bound() { bound_ = true; }

  [[noreturn]] static void fail(std::string reason) { throw CannotTranslate{std::move(reason)}; }

 private:
  friend class GraphBuilder;

  const ArgumentValue* find(std::string_view name) const;
  DType default_dtype() const;
  std::vector<TensorId> data_inputs() const;
  std::vector<TensorId> steering_inputs() const;

  const Graph& graph_;
  std::span<const TensorFacts> facts_;
  const CallSite& site_;
  std::vector<Part> parts_;
  std::vector<std::string_view> order_, steering_;
  std::vector<std::pair<TensorId, std::int64_t>> partly_moved_;
  bool skipped_ = false, bound_ = false;
};

// One row per operator, in the file of its family, torch/operators/<family>.cpp.
struct Operator {
  std::string_view name;  // with the namespace, without overload: "aten::conv2d"
  void (*rule)(Call&);
};

// The row of an operator, or null. In-place forms ("aten::relu_") have the row of the plain one.
const Operator* find_operator(std::string_view name);

// All rows, sorted by name.
std::span<const Operator> known_operators();

}  // namespace ridgeline::pytorch
