// As torch's exporters write them; checked against the calls that torch dispatches
// (docs/lowering.md).
#include "analyzer/fusion/torch_operators.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "analyzer/fusion/simplify.h"

namespace ridgeline {
namespace {

std::optional<Function> call_function(const Layer& layer) {
  if (layer.parts.size() != 1) return std::nullopt;
  const auto* step = std::get_if<Elementwise>(&layer.parts.front().op);
  return step == nullptr ? std::nullopt : std::optional(step->function);
}

bool calls_one_of(const Layer& layer, std::initializer_list<Function> functions) {
  const auto function = call_function(layer);
  return function && std::find(functions.begin(), functions.end(), *function) != functions.end();
}

bool is_constant_tensor(const Graph& graph, TensorId id) {
  return graph.tensors[id].role == Role::weight;
}

bool is_number(const Graph& graph, TensorId id) {
  return element_count(graph.tensors[id].shape) == 1;
}

// addmm: a product with weights, and a bias added to its result.
bool linear_with_bias(const FusionCandidate& c) {
  const Layer* product = single_layer(c.graph, c.producer);
  const Layer* sum = single_layer(c.graph, c.consumer);
  if (product == nullptr || sum == nullptr || product->parts.size() != 1 ||
      product->inputs.size() != 2 || sum->inputs.size() != 2)
    return false;
  const TensorId bias = sum->inputs[0] == c.tensor ? sum->inputs[1] : sum->inputs[0];
  return std::holds_alternative<MatMul>(product->parts.front().op) &&
         is_constant_tensor(c.graph, product->inputs[1]) && call_function(*sum) == Function::add &&
         is_constant_tensor(c.graph, bias) && !is_number(c.graph, bias) && keeps_size(c);
}

// Layers of both groups that satisfy a test.
template <class Test>
bool all_of_both(const FusionCandidate& c, const Test& test) {
  return std::all_of(c.producer.layers.begin(), c.producer.layers.end(),
                     [&](std::size_t index) { return test(c.graph.layers[index]); }) &&
         std::all_of(c.consumer.layers.begin(), c.consumer.layers.end(),
                     [&](std::size_t index) { return test(c.graph.layers[index]); });
}

template <class Test>
bool any_of_both(const FusionCandidate& c, const Test& test) {
  return !all_of_both(c, [&](const Layer& layer) { return !test(layer); });
}

// silu: x · sigmoid(x).
bool silu(const FusionCandidate& c) {
  const Layer* sigmoid = single_layer(c.graph, c.producer);
  const Layer* product = single_layer(c.graph, c.consumer);
  return sigmoid != nullptr && product != nullptr && call_function(*sigmoid) == Function::sigmoid &&
         call_function(*product) == Function::multiply && product->inputs.size() == 2 &&
         std::find(product->inputs.begin(), product->inputs.end(), sigmoid->inputs.front()) !=
             product->inputs.end();
}

// gelu: a function of one tensor by erf or tanh, all else in it are numbers.
bool gelu(const FusionCandidate& c) {
  const auto is_step = [&](const Layer& layer) {
    return calls_one_of(layer, {Function::add, Function::multiply, Function::divide,
                                Function::power, Function::erf, Function::tanh}) &&
           std::all_of(layer.inputs.begin(), layer.inputs.end(), [&](TensorId id) {
             return !is_constant_tensor(c.graph, id) || is_number(c.graph, id);
           });
  };
  const auto is_curve = [](const Layer& layer) {
    return calls_one_of(layer, {Function::erf, Function::tanh});
  };
  if (!all_of_both(c, is_step) || !any_of_both(c, is_curve)) return false;
  std::vector<TensorId> read, made;
  const auto note = [&](const Layer& layer) {
    made.insert(made.end(), layer.outputs.begin(), layer.outputs.end());
    for (const TensorId id : layer.inputs)
      if (!is_constant_tensor(c.graph, id) && std::find(read.begin(), read.end(), id) == read.end())
        read.push_back(id);
    return true;
  };
  all_of_both(c, note);
  std::erase_if(read,
                [&](TensorId id) { return std::find(made.begin(), made.end(), id) != made.end(); });
  return read.size() <= 2;  // x, and a part of the polynomial that is not in the group yet
}

// rsqrt.
bool reciprocal_root(const FusionCandidate& c) {
  const Layer* root = single_layer(c.graph, c.producer);
  const Layer* inverse = single_layer(c.graph, c.consumer);
  if (root == nullptr || inverse == nullptr || call_function(*root) != Function::sqrt) return false;
  if (call_function(*inverse) == Function::reciprocal) return true;
  return call_function(*inverse) == Function::divide && inverse->inputs.size() == 2 &&
         inverse->inputs[1] == c.tensor && is_number(c.graph, inverse->inputs[0]) &&
         is_constant_tensor(c.graph, inverse->inputs[0]);
}

// scaled_dot_product_attention scales query and keys before their product; attention that is
// written out scales the scores, and stays as it is.
bool scaled_operand(const FusionCandidate& c) {
  return is_product_of_activations(c.graph, c.consumer) && !c.consumer.has(kind::softmax) &&
         all_layers(c.graph, c.producer, moves_or_scales) && c.producer.has(kind::pointwise);
}

bool softmax_of_scaled_scores(const FusionCandidate& c) {
  return c.producer.layers.size() > 1 && c.producer.has(kind::pointwise) &&
         is_product_of_activations(c.graph, c.producer) && c.consumer.has(kind::softmax) &&
         c.consumer.has_only(kind::softmax | kind::pointwise);
}

// A mask before the softmax, and the test for rows that are masked whole after it.
bool mask_of_scaled_scores(const FusionCandidate& c) {
  return c.producer.layers.size() > 1 && c.producer.products == 1 &&
         is_product_of_activations(c.graph, c.producer) && c.consumer.has_only(kind::pointwise) &&
         keeps_size(c);
}

// That test as torch's dynamo exporter writes it: where(isnan(scores), 0, scores) of a softmax,
// which both nodes read.
bool test_for_masked_rows(const FusionCandidate& c) {
  const Layer* test = single_layer(c.graph, c.producer);
  const Layer* choice = single_layer(c.graph, c.consumer);
  if (test == nullptr || choice == nullptr || test->origin != "IsNaN" ||
      choice->origin != "Where" || test->inputs.empty())
    return false;
  const TensorId scores = test->inputs.front();
  const auto has = [](const std::vector<TensorId>& ids, TensorId id) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
  };
  return has(choice->inputs, scores) &&
         std::any_of(c.graph.layers.begin(), c.graph.layers.end(), [&](const Layer& layer) {
           return has(layer.outputs, scores) && !layer.parts.empty() &&
                  std::holds_alternative<Softmax>(layer.parts.back().op);
         });
}

bool values_of_attention(const FusionCandidate& c) {
  return c.producer.products == 1 && c.producer.layers.size() > 2 &&
         c.producer.has(kind::softmax) && is_product_of_activations(c.graph, c.consumer) &&
         single_layer(c.graph, c.consumer) != nullptr;
}

bool is_movement_in_torch(const Layer& layer) {
  constexpr std::string_view views[] = {"Transpose", "Slice", "Split", "Expand"};
  return takes_part(layer) && layer.parts.size() == 1 &&
         std::holds_alternative<Copy>(layer.parts.front().op) &&
         std::find(std::begin(views), std::end(views), layer.origin) != std::end(views);
}

// The flash kernels write [batch, tokens, heads, size], so that heads are joined without a copy.
bool is_attention_call(const Layer& layer) {
  int products = 0;
  bool has_softmax = false;
  for (const Part& part : layer.parts) {
    if (std::holds_alternative<Attention>(part.op)) return true;
    products += is_product(part.op);
    has_softmax = has_softmax || std::holds_alternative<Softmax>(part.op);
  }
  return products >= 2 && has_softmax;
}

// Transpositions between the projections and attention, also if the exporter reshapes around them:
// torch's call takes its operands with any strides.
std::vector<bool> transposed_operands(const Graph& graph, const std::vector<std::size_t>& maker) {
  std::vector<bool> found(graph.layers.size(), false);
  for (const Layer& attention : graph.layers) {
    if (!takes_part(attention) || !is_attention_call(attention)) continue;
    for (TensorId id : attention.inputs)
      while (maker[id] != no_index) {
        const Layer& layer = graph.layers[maker[id]];
        if (!takes_part(layer) || layer.inputs.empty() ||
            (layer.origin != "Transpose" && layer.origin != "Reshape"))
          break;
        found[maker[id]] = layer.origin == "Transpose";
        id = layer.inputs.front();
      }
  }
  return found;
}

}  // namespace

bool runs_torch(Runtime runtime) {
  return runtime == Runtime::torch_eager || runtime == Runtime::torch_eager_hooks ||
         runtime == Runtime::cuda_graph || runtime == Runtime::torch_compiled;
}

const std::vector<FusionRule>& torch_operator_rules() {
  using R = Runtime;
  static const std::vector<Runtime> all{R::torch_eager, R::torch_eager_hooks, R::cuda_graph,
                                        R::torch_compiled};
  static const std::vector<FusionRule> table = {
      {"torch_attention", scaled_operand, all},
      {"torch_attention", softmax_of_scaled_scores, all},
      {"torch_attention", mask_of_scaled_scores, all},
      {"torch_attention", test_for_masked_rows, all},
      {"torch_attention", values_of_attention, all},
      {"torch_linear", linear_with_bias, all},
      {"torch_silu", silu, all},
      {"torch_gelu", gelu, all},
      {"torch_rsqrt", reciprocal_root, all},
  };
  return table;
}

void restore_views(Graph& graph, Runtime runtime) {
  std::vector<std::size_t> maker(graph.tensors.size(), no_index);
  std::vector<bool> is_reshaped(graph.tensors.size(), false);
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const Layer& layer = graph.layers[i];
    for (const TensorId id : layer.outputs) maker[id] = i;
    if (layer.standing == Standing::counted && layer.origin == "Reshape" && !layer.inputs.empty())
      is_reshaped[layer.inputs.front()] = true;
  }
  const std::vector<bool> is_operand = transposed_operands(graph, maker);
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    Layer& layer = graph.layers[i];
    if (!is_movement_in_torch(layer) || layer.inputs.empty()) continue;
    // A compiler reads parts of a tensor with another index, in the loop that needs them.
    if (runtime == Runtime::torch_compiled && layer.origin != "Transpose") continue;
    const std::size_t before = maker[layer.inputs.front()];
    const bool follows_attention = before != no_index && is_attention_call(graph.layers[before]);
    const bool needs_order = std::any_of(layer.outputs.begin(), layer.outputs.end(),
                                         [&](TensorId id) { return is_reshaped[id]; });
    if (needs_order && !follows_attention && !is_operand[i]) continue;
    layer.parts = {{View{}, layer.parts.front().dtype}};
    layer.partly_moved.clear();
  }
}

}  // namespace ridgeline
