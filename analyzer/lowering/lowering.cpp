// From fused layers to Demands: GEMM shapes, launches, and who made the tensors that a kernel
// reads. The arithmetic and the bytes are count.cpp's.
#include "analyzer/lowering/lowering.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "analyzer/count/count.h"
#include "analyzer/fusion/fusion.h"
#include "analyzer/fusion/rules.h"
#include "analyzer/lowering/eager_launches.h"
#include "analyzer/lowering/host_calls.h"

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

OpClass class_of(const Layer& layer, const OpWeights& weights) {
  if (layer.parts.size() == 1) return op_class(layer.parts.front().op);
  bool softmax = false;
  int products = 0;
  OpClass dominant = OpClass::view;
  double most = -1;
  for (const Part& part : layer.parts) {
    softmax = softmax || std::holds_alternative<Softmax>(part.op);
    products += is_product(part.op);
    const Work work = count_part(part, weights);
    const double amount = total_operations(work);
    if (amount > most) {
      most = amount;
      dominant = op_class(part.op);
    }
  }
  return softmax && products >= 2 ? OpClass::attention : dominant;
}

// Operators run as the library has them, one by one; a CUDA graph replays them.
bool is_eager(Runtime runtime) {
  return walks_one_by_one(runtime) || runtime == Runtime::cuda_graph;
}

// A module's layers in one node, moved and launched as if they stood alone. The product that tells
// of an attention module is that of its scores: of attention, or the last before the softmax.
void absorb(Demand& into, Demand more) {
  if (into.op_class != OpClass::attention) {
    if (more.gemm) into.gemm = more.gemm;
    if (more.op_class == OpClass::attention || more.op_class == OpClass::softmax)
      into.op_class = OpClass::attention;
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
  Lowering(const Graph& graph, Runtime runtime, const OpWeights& weights)
      : graph_(graph),
        runtime_(runtime),
        weights_(weights),
        producer_(graph.tensors.size(), no_index) {
    demands_.reserve(graph.layers.size());
  }

  std::vector<Demand> run() {
    for (const Layer& layer : graph_.layers) {
      if (layer.standing != Standing::counted) continue;
      // Hooks around the nodes of a network do not see into a module: it is one node.
      const bool inside = runtime_ == Runtime::torch_eager_hooks && !layer.module.empty();
      if (is_view(layer)) {
        pass_through(layer);
        if (inside || !walks_one_by_one(runtime_)) continue;
      }
      if (inside && !demands_.empty() && demands_.back().name == layer.module)
        absorb(demands_.back(), demand(layer, layer.module));
      else
        demands_.push_back(demand(layer, inside ? layer.module : layer.name));
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

  Demand demand(const Layer& layer, const std::string& name) const {
    Demand result;
    result.name = name;
    result.op_class = class_of(layer, weights_);
    result.work = count_layer(graph_, layer, weights_);
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
    const double launches = layer.repeats * launches_of(layer, runtime_);
    result.launches = static_cast<int>(std::min(launches, 1e9));
    result.host_calls = host_calls_of(layer, runtime_);
    result.source_layers =
        layer.sources.empty() ? std::vector<std::string>{layer.name} : layer.sources;
    return result;
  }

  const Graph& graph_;
  Runtime runtime_;
  const OpWeights& weights_;
  std::vector<std::size_t> producer_;  // by tensor: index of the Demand that makes it
  std::vector<Demand> demands_;
};

}  // namespace

int launches_of(const Layer& layer, Runtime runtime) {
  if (is_view(layer)) return 0;
  if (!is_eager(runtime)) {
    // A recurrence cannot run its steps at once, whoever compiles it.
    for (const Part& part : layer.parts)
      if (const auto* recurrent = std::get_if<Recurrent>(&part.op))
        return runtime == Runtime::ideal ? 1 : static_cast<int>(recurrent->steps);
    return 1;
  }
  return eager_launches(layer);
}

std::vector<Demand> lower(const Graph& graph, Runtime runtime, const OpWeights& weights) {
  if (!fuses(runtime)) return lower_fused(graph, runtime, weights);  // no copy
  return lower_fused(fuse(graph, runtime), runtime, weights);
}

std::vector<Demand> lower(Graph&& graph, Runtime runtime, const OpWeights& weights) {
  return lower_fused(fuse(std::move(graph), runtime), runtime, weights);
}

std::vector<Demand> lower_fused(const Graph& fused, Runtime runtime, const OpWeights& weights) {
  return Lowering(fused, runtime, weights).run();
}

}  // namespace ridgeline
