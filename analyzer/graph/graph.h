// Graph: tensors and the layers between them, as every front end delivers a network. Shapes are
// numbers and operators are Ops; nothing depends on the file's format.
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

// For an absent layer or tensor.
inline constexpr std::size_t no_index = static_cast<std::size_t>(-1);

// Origin of the numbers in a shape, most certain first; a layer is as certain as its least certain
// tensor.
enum class ShapeSource {
  fixed,     // static in the file, or follows from that
  given,     // the user's --batch, --dim, --shape
  assumed,   // --assume-dim
  declared,  // declared in the file, not verified
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

// A weight depends on no input: an initializer, or the result of folded constants.
enum class Role { activation, input, weight };

struct Tensor {
  std::string name;
  ElementType type = ElementType::unknown;
  Shape shape;  // undefined if source is unknown
  ShapeSource source = ShapeSource::unknown;
  Role role = Role::activation;
  bool stored = false;        // its elements are in the file (not made by a folded layer)
  bool is_parameter = false;  // a trainable weight; counted once in totals.params
  bool is_table = false;  // a constant that layers read and training leaves as it is: a mask …
  bool is_quantized = false;  // a quantise step made it, or a dequantise step reads it
  // An output kept for the next run, from which no gradient flows, or an input kept from the last.
  bool is_state = false;
  std::optional<double> stored_bytes;  // if not stored densely (sparse weights)
  std::optional<std::int64_t> packed;  // weights in it, if an element holds several or a part
};

using TensorId = std::size_t;  // index into Graph::tensors

// One operator of a file may compute in several parts (projection, attention); data between the
// parts is not moved.
struct Part {
  Op op;
  DType dtype = DType::fp32;  // for the unit that computes it
};

enum class Standing {
  counted,
  folded,      // depends on constants and shapes only: computed before the first run
  absorbed,    // a quantisation step that a neighbouring layer performs
  alternative  // in a branch not counted in the totals
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

// Purpose of a layer in a training step.
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
  std::string name;    // from the file; the first output if the node has none
  std::string origin;  // operator as the file names it: "Conv", "com.microsoft.FusedMatMul"
  std::vector<Part> parts;
  std::vector<TensorId> inputs;  // each tensor once, weights included, data only (no axes, shapes)
  std::vector<TensorId> outputs;
  // Inputs and outputs of which only this many elements are moved: rows of a table other than the
  // first input, the filled part of a cache.
  std::vector<std::pair<TensorId, std::int64_t>> partly_moved;
  std::vector<TensorId> steering;  // inputs that are not moved: axes, shapes, sizes
  // From the code that defines the network, if known. `module`: the torch module that runs this
  // layer and its neighbours in one call; empty for a call of its own. `bookkeeping`: calls around
  // the layer that touch no data, such as shape checks and unpacking of results.
  std::string module;
  int bookkeeping = 0;
  std::size_t scope = no_index;      // the module that it belongs to, in Graph::modules
  double repeats = 1;                // trips of the enclosing loops
  bool nested = false;               // in a sub-graph or function, not a node of the main graph
  std::vector<std::string> sources;  // layers fused into this one; empty if none
  Pass pass = Pass::forward;
  Standing standing = Standing::counted;
  ShapeSource shapes = ShapeSource::fixed;
};

// Executed at run time, and not in an alternative branch.
inline bool runs(const Layer& layer) {
  return layer.standing == Standing::counted && !layer.parts.empty();
}

inline bool is_view(const Layer& layer) {
  return std::all_of(layer.parts.begin(), layer.parts.end(),
                     [](const Part& part) { return std::holds_alternative<View>(part.op); });
}

struct Graph {
  std::string name;
  bool is_export = false;  // nodes of a file: a call of the framework may be several layers
  // Paths of modules in the code that defines the network ("layer1.0.conv1"), if the file has them.
  std::vector<std::string> modules;
  std::vector<Tensor> tensors;
  std::vector<Layer> layers;  // in a valid execution order
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;
};

}  // namespace ridgeline
