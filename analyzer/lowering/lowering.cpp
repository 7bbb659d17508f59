// From fused layers to Demands: the kind of each kernel, its GEMM shape, its launches, what the
// host does for it, and who made the tensors that it reads. Work is counted in analyzer/count.
#include "analyzer/lowering/lowering.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "analyzer/count/count.h"
#include "analyzer/fusion/fusion.h"
#include "analyzer/fusion/rules.h"

namespace ridgeline {
namespace {

std::uint64_t size(std::int64_t value) { return static_cast<std::uint64_t>(value); }

// A convolution as the matrix product that a library runs for it; gradients come as such already.
Gemm implicit_gemm(const Convolution& op) {
  const std::int64_t taps = element_count(op.kernel);
  const std::int64_t groups = std::max<std::int64_t>(op.groups, 1);
  Gemm gemm;
  gemm.batch = size(groups);
  if (op.transposed) {
    // Each input position makes a patch of K/G·taps values out of C/G.
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
    return Gemm{size(product->m), size(product->n), size(product->k), size(product->batch), 1};
  if (const auto* attention = std::get_if<Attention>(&op))
    return Gemm{size(attention->q_length), size(attention->kv_length),
                size(attention->qk_dimension), size(attention->batch * attention->q_heads), 1};
  if (const auto* recurrent = std::get_if<Recurrent>(&op)) {
    constexpr std::int64_t gates[] = {4, 3, 1};
    return Gemm{size(recurrent->batch),
                size(gates[static_cast<int>(recurrent->cell)] * recurrent->hidden),
                size(recurrent->input + recurrent->hidden),
                size(recurrent->steps * recurrent->directions), 1};
  }
  return std::nullopt;
}

// The first product; others of the same input (siblings) make it wider.
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

// What a matrix unit does not run of convolutions are those with a channel or two per group.
bool runs_on_matrix_units(const Layer& layer) {
  return std::any_of(layer.parts.begin(), layer.parts.end(), [](const Part& part) {
    return compute_unit(part.op, part.dtype) == Unit::matrix;
  });
}

bool reads_weights(const Graph& graph, const Layer& layer) {
  return std::any_of(layer.inputs.begin(), layer.inputs.end(),
                     [&](TensorId id) { return graph.tensors[id].role == Role::weight; });
}

// A sum or product with an operand that is smaller than the result, such as the scale of a
// squeeze-and-excitation block: beside a tensor of the result's size, less than half of that is
// read. Sizes are in bytes: a mask of one byte per element counts as small, too.
bool is_broadcast(const Work& work) {
  const double beside = work.bytes_read - work.bytes_written;
  return beside > 0 && beside < work.bytes_written / 2;
}

KernelKind kernel_kind(const Graph& graph, const Layer& layer, const LayerCount& count) {
  if (is_view(layer)) return KernelKind::none;
  if (layer.parts.size() > 1 && is_attention(layer)) return KernelKind::attention;
  switch (op_class(layer.parts[count.main_part].op)) {
    case OpClass::convolution:
      return runs_on_matrix_units(layer) ? KernelKind::convolution : KernelKind::depthwise;
    case OpClass::matmul:
      return reads_weights(graph, layer) ? KernelKind::linear : KernelKind::product;
    case OpClass::elementwise:
      return is_broadcast(count.work) ? KernelKind::broadcast : KernelKind::elementwise;
    case OpClass::attention:
      return KernelKind::attention;
    case OpClass::recurrent:
      return KernelKind::recurrent;
    case OpClass::normalize:
      return KernelKind::normalize;
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
    case OpClass::view:  // beside parts that move data
      return KernelKind::copy;
    case OpClass::other:
      break;
  }
  return KernelKind::other;
}

// --- launches, counted in what torch dispatches, forwards and backwards (docs/lowering.md). A
// layer of the backward pass holds the arithmetic of one formula, mostly one kernel.

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
  int operator()(const Recurrent& op) const {  // the input's product, then step by step
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
      if (normalize->kind == Normalization::rms) return 14;  // of its six steps
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

// What torch has no kernel for is several.
int eager_launches(const Layer& layer) {
  if (layer.pass == Pass::backward_data || layer.pass == Pass::backward_weights)
    return backward_launches(layer);
  int launches = 0;
  for (const Part& part : layer.parts) launches += std::visit(ForwardLaunches{}, part.op);
  return launches;
}

// --- what the host does beside launching kernels, in runtimes that walk one by one. Eager mode
// calls every view; hooks around the nodes that torch.fx traces see functions and modules, not
// methods of a tensor (reshape, permute, expand), but what Python asks of shapes too.

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
    {"StochasticDepth", function_call},  // torchvision's, which traces as a function
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

// Operators run as the library has them, one by one; a CUDA graph replays them.
bool is_eager(Runtime runtime) {
  return walks_one_by_one(runtime) || runtime == Runtime::cuda_graph;
}

// A module's layers in one node, moved and launched as if they stood alone. The product that
// stands for an attention module is that of its scores: of attention, or the last before the
// softmax.
void absorb(Demand& into, Demand more) {
  if (into.kind != KernelKind::attention) {
    if (more.gemm) into.gemm = more.gemm;
    if (more.kind == KernelKind::attention || more.kind == KernelKind::softmax)
      into.kind = KernelKind::attention;
  }
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
        producer_(graph.tensors.size(), no_index) {
    demands_.reserve(graph.layers.size());
  }

  std::vector<Demand> run() {
    for (std::size_t i = 0; i < graph_.layers.size(); ++i) {
      const Layer& layer = graph_.layers[i];
      if (layer.standing != Standing::counted) continue;
      // Hooks around the nodes of a network do not see into a module: it is one node.
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
  std::vector<std::size_t> producer_;  // by tensor: index of the Demand that makes it
  std::vector<Demand> demands_;
};

}  // namespace

int kernel_launches(const Layer& layer, Runtime runtime) {
  if (is_view(layer)) return 0;
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
  if (fuses(runtime)) return lower(Graph(graph), runtime, weights);
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
