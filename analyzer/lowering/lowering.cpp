// From fused layers to Demands: the kind of each kernel, its GEMM shape, launches and host calls,
// and the producers of its inputs. Work is counted in analyzer/count.
#include "analyzer/lowering/lowering.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "analyzer/count/count.h"
#include "analyzer/fusion/fusion.h"
#include "analyzer/fusion/rules.h"
#include "analyzer/lowering/kernel_trait.h"

namespace ridgeline {
namespace {

std::uint64_t size(std::int64_t value) { return static_cast<std::uint64_t>(value); }

// A convolution as the matrix product that a library runs for it. Weight gradients are MatMuls
// already.
Gemm implicit_gemm(const Convolution& op) {
  const std::int64_t taps = element_count(op.kernel);
  const std::int64_t groups = std::max<std::int64_t>(op.groups, 1);
  Gemm gemm;
  gemm.batch = size(groups);
  if (op.transposed) {
    // Each input position turns C/G values into a patch of K/G·taps.
    gemm.m = size(op.batch * element_count(op.in_spatial));
    gemm.n = size(op.out_channels / groups * taps);
    gemm.k = size(op.in_channels / groups);
  } else {
    gemm.m = size(op.batch * element_count(op.out_spatial));
    gemm.n = size(op.out_channels / groups);
    gemm.k = size(op.in_channels / groups * taps);
    gemm.taps = size(taps);
  }
  return gemm;
}

std::optional<Gemm> gemm_of(const Op& op) {
  if (const auto* convolution = std::get_if<Convolution>(&op)) return implicit_gemm(*convolution);
  if (const auto* product = std::get_if<MatMul>(&op))
    return Gemm{size(product->m), size(product->n), size(product->k), size(product->batch),
                size(std::max<std::int64_t>(1, product->taps))};
  if (const auto* attention = std::get_if<Attention>(&op))
    return Gemm{size(attention->q_length), size(attention->kv_length),
                size(attention->qk_dimension), size(attention->batch * attention->q_heads), 1};
  if (const auto* recurrent = std::get_if<Recurrent>(&op)) {
    constexpr std::int64_t gates[] = {4, 3, 1};
    return Gemm{size(recurrent->batch),
                size(gates[static_cast<int>(recurrent->cell)] * recurrent->hidden),
                size(recurrent->input + state_size(*recurrent)),
                size(recurrent->steps * recurrent->directions), 1};
  }
  return std::nullopt;
}

// The first product, widened by others of the same input (siblings).
std::optional<Gemm> gemm_of(const Layer& layer) {
  std::optional<Gemm> gemm;
  bool has_softmax = false;
  for (const Part& part : layer.parts) {
    has_softmax = has_softmax || std::holds_alternative<Softmax>(part.op);
    const auto next = gemm_of(part.op);
    if (!next) continue;
    if (!gemm)
      gemm = next;
    else if (!has_softmax && next->m == gemm->m && next->k == gemm->k && next->batch == gemm->batch)
      gemm->n += next->n;
  }
  return gemm;
}

// Scores, softmax and weighted values in one kernel.
bool is_attention(const Layer& layer) {
  bool softmax = false;
  int products = 0;
  for (const Part& part : layer.parts) {
    softmax = softmax || std::holds_alternative<Softmax>(part.op);
    products += is_product(part.op);
  }
  return softmax && products >= 2;
}

// False for depthwise convolutions, and for dtypes without a matrix unit.
bool runs_on_matrix_units(const Layer& layer) {
  return std::any_of(layer.parts.begin(), layer.parts.end(), [](const Part& part) {
    return compute_unit(part.op, part.dtype) == Unit::matrix;
  });
}

bool reads_weights(const Graph& graph, const Layer& layer) {
  return std::any_of(layer.inputs.begin(), layer.inputs.end(),
                     [&](TensorId id) { return graph.tensors[id].role == Role::weight; });
}

// A sum or product with an operand smaller than the result, such as the scale of a
// squeeze-and-excitation block: besides a tensor of the result's size, less than half as much is
// read. Sizes are in bytes, so a mask of one byte per element counts as small, too.
bool is_broadcast(const Work& work) {
  const double beside = work.bytes_read - work.bytes_written;
  return beside > 0 && beside < work.bytes_written / 2;
}

// The gradient of a convolution's input: transposed, so a depthwise one is like the convolution.
KernelKind input_gradient_kind(const Layer& layer) {
  return runs_on_matrix_units(layer) ? KernelKind::convolution_gradient : KernelKind::depthwise;
}

// The gradient of its weights, a product over all positions; depthwise: one input channel a group.
KernelKind weight_gradient_kind(const MatMul& product) {
  const bool is_depthwise = product.batch > 1 && product.n == product.taps;
  return is_depthwise ? KernelKind::depthwise_gradient : KernelKind::convolution_gradient;
}

bool is_batch_norm(const Layer& layer) {
  return std::any_of(layer.parts.begin(), layer.parts.end(), [](const Part& part) {
    const auto* normalize = std::get_if<Normalize>(&part.op);
    return normalize != nullptr && normalize->kind == Normalization::batch;
  });
}

KernelKind kernel_kind(const Graph& graph, const Layer& layer, const LayerCount& count) {
  if (is_view(layer)) return KernelKind::none;
  if (layer.parts.size() > 1 && is_attention(layer)) return KernelKind::attention;
  const Op& main = layer.parts[count.main_part].op;
  switch (op_class(main)) {
    case OpClass::convolution:
      if (layer.pass == Pass::backward_data) return input_gradient_kind(layer);
      return runs_on_matrix_units(layer) ? KernelKind::convolution : KernelKind::depthwise;
    case OpClass::matmul:
      if (const auto& product = std::get<MatMul>(main); product.taps > 0)
        return weight_gradient_kind(product);
      return reads_weights(graph, layer) ? KernelKind::linear : KernelKind::product;
    case OpClass::elementwise:
      return is_broadcast(count.work) ? KernelKind::broadcast : KernelKind::elementwise;
    case OpClass::attention:
      return KernelKind::attention;
    case OpClass::recurrent:
      return KernelKind::recurrent;
    case OpClass::normalize:
      return is_batch_norm(layer) ? KernelKind::batch_norm : KernelKind::normalize;
    case OpClass::softmax:
      return KernelKind::softmax;
    case OpClass::pool:
      return KernelKind::pool;
    case OpClass::reduce:
      return KernelKind::reduce;
    case OpClass::gather:
      return KernelKind::gather;
    case OpClass::resize:
      return KernelKind::resize;
    case OpClass::copy:
    case OpClass::view:  // together with parts that move data
      return KernelKind::copy;
    case OpClass::other:
      break;
  }
  return KernelKind::other;
}

// --- Launches, as torch dispatches them, forward and backward (docs/lowering.md). A backward layer
// holds the arithmetic of one formula, usually one kernel.

struct ForwardLaunches {
  int operator()(const Convolution& op) const { return op.bias ? 2 : 1; }  // cuDNN, then the bias
  int operator()(const Elementwise& op) const {
    if (op.function == Function::rotary_embedding) return 5;  // mul, neg, cat, mul, add
    if (op.function == Function::softsign) return 3;          // abs, add, div
    return 1;
  }
  int operator()(const Normalize& op) const {
    if (op.kind == Normalization::rms) return 6;  // pow, mean, add, rsqrt, mul, mul
    if (op.kind == Normalization::local_response) return 5;
    return 1;
  }
  int operator()(const Recurrent& op) const {  // product with the input, then one per step
    return static_cast<int>(op.directions * (op.steps + 1));
  }
  int operator()(const View&) const { return 0; }
  template <class T>
  int operator()(const T&) const {
    return 1;
  }
};

template <class T>
std::ptrdiff_t parts_of(const Layer& layer) {
  return std::count_if(layer.parts.begin(), layer.parts.end(),
                       [](const Part& part) { return std::holds_alternative<T>(part.op); });
}

// One kernel for each product and for the sum of a bias's gradient.
int backward_launches(const Layer& layer) {
  const auto products = parts_of<Convolution>(layer) + parts_of<MatMul>(layer);
  if (products > 0 && parts_of<Softmax>(layer) > 0) return 3;  // attention: row sums, all, a cast
  if (products > 0) return static_cast<int>(products + parts_of<Reduce>(layer));
  for (const Part& part : layer.parts) {
    if (const auto* normalize = std::get_if<Normalize>(&part.op)) {
      if (normalize->kind == Normalization::rms) return 14;  // for its six forward steps
      return normalize->kind == Normalization::batch ? 1 : 2;
    }
    if (std::holds_alternative<Recurrent>(part.op))
      return ForwardLaunches{}(std::get<Recurrent>(part.op));
    if (const auto* elementwise = std::get_if<Elementwise>(&part.op)) {
      if (elementwise->function == Function::rotary_embedding) return 7;
      if (elementwise->function == Function::power) return 3;  // pow, mul, mul
    }
  }
  return parts_of<View>(layer) == std::ssize(layer.parts) ? 0 : 1;
}

// Functions for which torch has no kernel take several.
int eager_launches(const Layer& layer) {
  if (layer.pass == Pass::backward_data || layer.pass == Pass::backward_weights)
    return backward_launches(layer);
  if (!layer.sources.empty()) return 1;  // nodes that are one call (torch_operators.h)
  int launches = 0;
  for (const Part& part : layer.parts) launches += std::visit(ForwardLaunches{}, part.op);
  return launches;
}

// --- Launches of a TensorRT engine, as its layer lists show (docs/lowering.md).

// Functions that not every convolution has in its epilogue.
bool is_smooth(Function function) {
  switch (function) {
    case Function::tanh:
    case Function::sigmoid:
    case Function::hard_sigmoid:
    case Function::elu:
    case Function::softplus:
    case Function::softsign:
    case Function::erf:
    case Function::gelu:
    case Function::gelu_tanh:
    case Function::hard_swish:
    case Function::swish:
    case Function::mish:
      return true;
    default:
      return false;
  }
}

// Kernels of 16 bits are compiled with any function, except those for images, of few channels, and
// depthwise ones. GELU exists in int8, too (TensorRT developer guide, "Types of fusions").
bool has_in_epilogue(const Convolution& op, DType dtype, Function function) {
  constexpr std::int64_t most_image_channels = 4;
  const bool is_gelu = function == Function::gelu || function == Function::gelu_tanh;
  if (!is_smooth(function) || (is_gelu && dtype == DType::int8)) return true;
  const bool has_16_bits = dtype == DType::fp16 || dtype == DType::bf16;
  return has_16_bits && op.groups < op.in_channels && op.in_channels > most_image_channels;
}

int tensorrt_launches(const Layer& layer) {
  const Part* product = nullptr;
  for (const Part& part : layer.parts) {
    if (const auto* recurrent = std::get_if<Recurrent>(&part.op))
      return static_cast<int>(recurrent->steps);
    if (std::holds_alternative<Convolution>(part.op)) product = &part;
    const auto* step = std::get_if<Elementwise>(&part.op);
    if (product != nullptr && step != nullptr &&
        !has_in_epilogue(std::get<Convolution>(product->op), product->dtype, step->function))
      return 2;
  }
  if (product != nullptr) return 1;
  // The parts of a concatenation are copied one by one; the last one is written in place.
  if (parts_of<Copy>(layer) != std::ssize(layer.parts)) return 1;
  return static_cast<int>(std::max<std::ptrdiff_t>(1, std::ssize(layer.inputs) - 1));
}

// --- Host calls other than launches, in runtimes that dispatch one by one. Eager mode calls every
// view. Hooks around torch.fx nodes see functions and modules but not tensor methods (reshape,
// permute, expand); they also see Python's shape queries.

struct ViewCall {
  std::string_view origin;
  HostCalls calls;
};

constexpr HostCalls function_call{.functions = 1, .modules = 0};
constexpr HostCalls module_call{.functions = 0, .modules = 1};

constexpr ViewCall view_calls[] = {
    {"Dropout", module_call},            // torch.nn.Dropout
    {"Flatten", function_call},          // torch.flatten
    {"Identity", module_call},           // torch.nn.Identity
    {"Slice", function_call},            // x[:, 0]
    {"Split", function_call},            // torch.split
    {"StochasticDepth", function_call},  // torchvision's, traced as a function
};

HostCalls host_calls(const Layer& layer, Runtime runtime) {
  HostCalls calls;
  if (!walks_one_by_one(runtime)) return calls;
  const bool hooked = runtime == Runtime::torch_eager_hooks;
  if (is_view(layer)) {
    const auto* row = std::find_if(std::begin(view_calls), std::end(view_calls),
                                   [&](const ViewCall& one) { return one.origin == layer.origin; });
    if (row != std::end(view_calls))
      calls = row->calls;
    else if (!hooked)
      calls = function_call;
  }
  if (hooked) calls.functions += layer.bookkeeping;
  return calls;
}

// Operators run one by one as library kernels; a CUDA graph replays them.
bool is_eager(Runtime runtime) {
  return walks_one_by_one(runtime) || runtime == Runtime::cuda_graph;
}

// Adds a layer to its module's node; bytes and launches are those of separate layers. An attention
// module is represented by the product of its scores: that of attention, or the last before the
// softmax.
void absorb(Demand& into, Demand more) {
  if (into.kind != KernelKind::attention) {
    if (more.gemm) into.gemm = more.gemm;
    if (more.kind == KernelKind::attention || more.kind == KernelKind::softmax)
      into.kind = KernelKind::attention;
  }
  if (into.trait == KernelTrait::plain) into.trait = more.trait;
  into.work += more.work;
  into.launches += more.launches;
  into.host_calls.functions += more.host_calls.functions;
  into.host_calls.modules += more.host_calls.modules;
  std::move(more.reads.begin(), more.reads.end(), std::back_inserter(into.reads));
  std::move(more.writes.begin(), more.writes.end(), std::back_inserter(into.writes));
  std::move(more.source_layers.begin(), more.source_layers.end(),
            std::back_inserter(into.source_layers));
}

class Lowering {
 public:
  Lowering(const Graph& graph, Runtime runtime, const std::vector<LayerCount>& counts)
      : graph_(graph),
        runtime_(runtime),
        counts_(counts),
        batch_(batch_extent(graph)),
        producer_(graph.tensors.size(), no_index) {
    demands_.reserve(graph.layers.size());
  }

  std::vector<Demand> run() {
    for (std::size_t i = 0; i < graph_.layers.size(); ++i) {
      const Layer& layer = graph_.layers[i];
      if (layer.standing != Standing::counted) continue;
      // Hooks see a module as one node, without its layers.
      const bool inside = runtime_ == Runtime::torch_eager_hooks && !layer.module.empty();
      if (is_view(layer)) {
        pass_through(layer);
        if (inside || !walks_one_by_one(runtime_)) continue;
      }
      if (inside && !demands_.empty() && demands_.back().name == layer.module)
        absorb(demands_.back(), demand(layer, counts_[i], layer.module));
      else
        demands_.push_back(demand(layer, counts_[i], inside ? layer.module : layer.name));
      if (!is_view(layer))
        for (const TensorId id : layer.outputs) producer_[id] = demands_.size() - 1;
    }
    return std::move(demands_);
  }

 private:
  // A view's output is its input under another name, so it has the same producer.
  void pass_through(const Layer& layer) {
    if (layer.inputs.empty()) return;
    for (const TensorId id : layer.outputs) producer_[id] = producer_[layer.inputs.front()];
  }

  Demand demand(const Layer& layer, const LayerCount& count, const std::string& name) const {
    Demand result;
    result.name = name;
    result.kind = kernel_kind(graph_, layer, count);
    result.trait = kernel_trait(graph_, layer, batch_);
    result.work = count.work;
    result.gemm = gemm_of(layer);
    result.reads.reserve(layer.inputs.size());
    for (const TensorMove& move : layer_reads(graph_, layer)) {
      const std::size_t producer = producer_[move.tensor];
      result.reads.push_back({graph_.tensors[move.tensor].name, move.bytes,
                              producer == no_index ? std::string() : demands_[producer].name});
    }
    result.writes.reserve(layer.outputs.size());
    for (const TensorMove& move : layer_writes(graph_, layer))
      result.writes.push_back({graph_.tensors[move.tensor].name, move.bytes, {}});
    const double launches = layer.repeats * kernel_launches(layer, runtime_);
    result.launches = static_cast<int>(std::min(launches, 1e9));
    result.host_calls = host_calls(layer, runtime_);
    result.source_layers =
        layer.sources.empty() ? std::vector<std::string>{layer.name} : layer.sources;
    return result;
  }

  const Graph& graph_;
  Runtime runtime_;
  const std::vector<LayerCount>& counts_;
  std::int64_t batch_;
  std::vector<std::size_t> producer_;  // by tensor: index of the Demand that writes it
  std::vector<Demand> demands_;
};

}  // namespace

int kernel_launches(const Layer& layer, Runtime runtime) {
  if (is_view(layer)) return 0;
  if (runtime == Runtime::tensorrt) return tensorrt_launches(layer);
  if (!is_eager(runtime)) {
    // No compiler can run the steps of a recurrence at once.
    for (const Part& part : layer.parts)
      if (const auto* recurrent = std::get_if<Recurrent>(&part.op))
        return runtime == Runtime::ideal ? 1 : static_cast<int>(recurrent->steps);
    return 1;
  }
  return eager_launches(layer);
}

std::vector<Demand> lower(const Graph& graph, Runtime runtime, const OpWeights& weights) {
  if (changes_layers(graph, runtime)) return lower(Graph(graph), runtime, weights);
  return lower_fused(graph, runtime, count_layers(graph, weights));  // no copy
}

std::vector<Demand> lower(Graph&& graph, Runtime runtime, const OpWeights& weights) {
  const Graph fused = fuse(std::move(graph), runtime);
  return lower_fused(fused, runtime, count_layers(fused, weights));
}

std::vector<Demand> lower_fused(const Graph& fused, Runtime runtime,
                                const std::vector<LayerCount>& counts) {
  return Lowering(fused, runtime, counts).run();
}

}  // namespace ridgeline
