// Graph: tensors and the layers between them, as every front end delivers a network.
// Shapes are numbers, operators are Ops; nothing of the file's own format is left.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/graph/element_type.h"
#include "analyzer/graph/op.h"
#include "analyzer/graph/shape.h"

namespace ridgeline {

// Of a layer or a tensor that there is not.
inline constexpr std::size_t no_index = static_cast<std::size_t>(-1);

// Where the numbers in a shape come from, from sure to unsure; a layer is as sure as its least sure
// tensor.
enum class ShapeSource {
  fixed,     // static in the file, or follows from that
  given,     // the user's --batch, --dim, --shape
  assumed,   // --assume-dim
  declared,  // the file says so and we could not check it
  bound,     // depends on data: an upper bound
  unknown
};

template <>
struct TokenTable<ShapeSource> {
  static constexpr std::string_view noun = "shape source";
  static constexpr std::array<std::pair<ShapeSource, std::string_view>, 6> rows{
      {{ShapeSource::fixed, "fixed"},
       {ShapeSource::given, "given"},
       {ShapeSource::assumed, "assumed"},
       {ShapeSource::declared, "declared"},
       {ShapeSource::bound, "bound"},
       {ShapeSource::unknown, "unknown"}}};
};

// A weight depends on no input: an initializer, or what constants were folded into.
enum class Role { activation, input, weight };

struct Tensor {
  std::string name;
  ElementType type = ElementType::unknown;
  Shape shape;  // meaningless where source is unknown
  ShapeSource source = ShapeSource::unknown;
  Role role = Role::activation;
  bool stored = false;        // its elements stand in the file (not made by a folded layer)
  bool is_parameter = false;  // a weight that training would change; counted once in totals.params
  bool is_state = false;      // an output that is kept for the next run: nothing is learned from it
  std::optional<double> stored_bytes;  // where it is not stored densely (sparse weights)
};

using TensorId = std::size_t;  // index into Graph::tensors

// A layer that is one operator in its file may compute in several parts (projection, attention);
// what passes between its parts is not moved.
struct Part {
  Op op;
  DType dtype = DType::fp32;  // in which a unit would compute it
};

enum class Standing {
  counted,
  folded,      // depends on constants and shapes only: computed before the first run
  absorbed,    // a quantisation step that the layer beside it does on the way
  alternative  // in a branch that is not taken into the totals
};

template <>
struct TokenTable<Standing> {
  static constexpr std::string_view noun = "standing";
  static constexpr std::array<std::pair<Standing, std::string_view>, 4> rows{
      {{Standing::counted, "counted"},
       {Standing::folded, "folded"},
       {Standing::absorbed, "absorbed"},
       {Standing::alternative, "alternative"}}};
};

// What a layer of a training step is for.
enum class Pass { forward, recompute, backward_data, backward_weights, optimizer };

template <>
struct TokenTable<Pass> {
  static constexpr std::string_view noun = "pass";
  static constexpr std::array<std::pair<Pass, std::string_view>, 5> rows{
      {{Pass::forward, "forward"},
       {Pass::recompute, "recompute"},
       {Pass::backward_data, "backward_data"},
       {Pass::backward_weights, "backward_weights"},
       {Pass::optimizer, "optimizer"}}};
};

struct Layer {
  std::string name;    // of the file; its first output where the node has none
  std::string origin;  // operator in the file's own words: "Conv", "com.microsoft.FusedMatMul"
  std::vector<Part> parts;
  std::vector<TensorId> inputs;   // each tensor once, weights included, data only (no axes, shapes)
  std::vector<TensorId> outputs;  //
  // Inputs and outputs of which only so many elements are moved: rows of a table beside the first
  // input, the part of a cache that is filled.
  std::vector<std::pair<TensorId, std::int64_t>> partly_moved;
  std::vector<TensorId> steering;  // inputs that are not moved: axes, shapes, sizes
  // Of the code that defines the network, where that is known. A module of torch that runs this
  // layer and its neighbours in one call; empty: a call of its own. And calls around it that touch
  // no data: shapes that are asked for and checked, results that are unpacked.
  std::string module;
  int bookkeeping = 0;
  double repeats = 1;                // trips of the loops around it
  bool nested = false;               // in a sub-graph or function, not a node of the main graph
  std::vector<std::string> sources;  // layers that were fused into this one; empty: itself
  Pass pass = Pass::forward;
  Standing standing = Standing::counted;
  ShapeSource shapes = ShapeSource::fixed;
};

// At run time, and not in a branch that is left out.
inline bool runs(const Layer& layer) {
  return layer.standing == Standing::counted && !layer.parts.empty();
}

inline bool is_view(const Layer& layer) {
  return std::all_of(layer.parts.begin(), layer.parts.end(),
                     [](const Part& part) { return std::holds_alternative<View>(part.op); });
}

struct Graph {
  std::string name;
  std::vector<Tensor> tensors;
  std::vector<Layer> layers;  // in an order in which they can run
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;
};

}  // namespace ridgeline
