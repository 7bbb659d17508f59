// Fusion by merging groups: while a rule allows it, the group that writes a tensor merges with the
// group that alone reads it. Only data between groups is moved; the rest stays on the chip. Merges
// that would create a cycle are rejected.
#include "analyzer/fusion/fusion.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include "analyzer/count/count.h"
#include "analyzer/fusion/quantized_tensors.h"
#include "analyzer/fusion/rules.h"
#include "analyzer/fusion/rules_onnxruntime.h"
#include "analyzer/fusion/simplify.h"
#include "analyzer/fusion/torch_operators.h"

namespace ridgeline {
namespace {

Work work_of(const Graph& graph, const OpWeights& weights) {
  Work work;
  for (const Layer& layer : graph.layers)
    if (takes_part(layer)) work += count_layer(graph, layer, weights);
  return work;
}

// A layer's name without the modules it shares with its neighbour.
std::string_view apart_from(std::string_view name, std::string_view neighbour) {
  const auto differ = std::mismatch(name.begin(), name.end(), neighbour.begin(), neighbour.end());
  const std::string_view common =
      name.substr(0, static_cast<std::size_t>(differ.first - name.begin()));
  const std::size_t last = common.find_last_of("./");
  return last == std::string_view::npos ? name : name.substr(last + 1);
}

AppliedRule saved_by(std::string_view rule, const std::string& kernel, std::size_t merges,
                     const Work& before, const Work& after) {
  return {std::string(rule),
          kernel,
          merges,
          total_bytes(before) - total_bytes(after),
          total_flop(before) - total_flop(after),
          total_integer_ops(before) - total_integer_ops(after)};
}

// Layers that read or write each tensor, in one flat array: a network has thousands of tensors with
// a reader or two.
class LayersByTensor {
 public:
  // In layer order.
  std::span<const std::size_t> operator[](TensorId id) const {
    return std::span(layers_).subspan(begin_[id], begin_[id + 1] - begin_[id]);
  }

  // Folded layers, such as shapes, read nothing at run time.
  static LayersByTensor readers(const Graph& graph) {
    return LayersByTensor(graph.tensors.size(), [&](auto&& visit) {
      for (std::size_t i = 0; i < graph.layers.size(); ++i) {
        if (graph.layers[i].standing == Standing::folded) continue;
        for (const auto* ids : {&graph.layers[i].inputs, &graph.layers[i].steering})
          for (const TensorId id : *ids) visit(id, i);
      }
    });
  }

  static LayersByTensor writers(const Graph& graph) {
    return LayersByTensor(graph.tensors.size(), [&](auto&& visit) {
      for (std::size_t i = 0; i < graph.layers.size(); ++i)
        for (const TensorId id : graph.layers[i].outputs) visit(id, i);
    });
  }

 private:
  template <class ForEach>
  LayersByTensor(std::size_t tensors, const ForEach& for_each) : begin_(tensors + 1, 0) {
    for_each([&](TensorId id, std::size_t) { ++begin_[id + 1]; });
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    layers_.resize(begin_.back());
    std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
    for_each([&](TensorId id, std::size_t layer) { layers_[next[id]++] = layer; });
  }

  std::vector<std::size_t> begin_, layers_;  // layers of tensor i: from begin_[i] to begin_[i + 1]
};

// The layer that writes what a layer reads: the last writer before it, since training recomputes
// tensors; otherwise the first one after it, except for weights, whose later writes are for the
// next step.
std::size_t maker_for(std::span<const std::size_t> writers, Role role, std::size_t reader) {
  const auto behind = std::lower_bound(writers.begin(), writers.end(), reader);
  if (behind != writers.begin()) return *(behind - 1);
  return behind == writers.end() || role == Role::weight ? no_index : *behind;
}

// Sorts layers topologically, close to their present order; cycles are left as they are. Depth
// first: the producers of a layer's inputs come before it.
void sort_topologically(Graph& graph) {
  const auto writers = LayersByTensor::writers(graph);
  std::vector<Layer> sorted;
  sorted.reserve(graph.layers.size());
  std::vector<char> state(graph.layers.size(), 0);
  std::vector<std::pair<std::size_t, std::size_t>> stack;  // layer, next input
  for (std::size_t start = 0; start < graph.layers.size(); ++start) {
    if (state[start] != 0) continue;
    stack.emplace_back(start, 0);
    state[start] = 1;
    while (!stack.empty()) {
      auto& [layer, next] = stack.back();
      if (next < graph.layers[layer].inputs.size()) {
        const TensorId id = graph.layers[layer].inputs[next++];
        const std::size_t found = maker_for(writers[id], graph.tensors[id].role, layer);
        if (found != no_index && state[found] == 0) {
          state[found] = 1;
          stack.emplace_back(found, 0);
        }
        continue;
      }
      sorted.push_back(std::move(graph.layers[layer]));
      stack.pop_back();
    }
  }
  graph.layers = std::move(sorted);
}

class Fuser {
 public:
  // With weights, records what each rule saves.
  Fuser(Graph graph, Runtime runtime, const std::vector<FusionRule>& rules,
        const OpWeights* weights = nullptr)
      : graph_(std::move(graph)),
        runtime_(runtime),
        rules_(rules),
        weights_(weights),
        group_of_(graph_.layers.size()),
        producer_(graph_.tensors.size(), no_index),
        consumers_(LayersByTensor::readers(graph_)),
        is_output_(graph_.tensors.size(), false),
        is_passed_on_(graph_.tensors.size(), false),
        reach_(graph_.layers.size()),
        seen_in_(graph_.layers.size(), 0) {
    std::iota(reach_.begin(), reach_.end(), std::size_t{0});
    groups_.reserve(graph_.layers.size());
    for (std::size_t i = 0; i < graph_.layers.size(); ++i) {
      group_of_[i] = i;
      groups_.push_back(group_of(i));
      for (const TensorId id : graph_.layers[i].outputs) producer_[id] = i;
    }
    for (const TensorId id : graph_.outputs) is_output_[id] = true;
    if (runtime_ == Runtime::onnxruntime)
      stays_single_ = onnxruntime::unknown_normalizations(graph_);
    if (weights_ != nullptr) accounts_.resize(graph_.layers.size());
    for (const Layer& layer : graph_.layers) {
      if (!takes_part(layer)) continue;
      for (const TensorId id : layer.outputs) {
        if (consumers_[id].empty()) continue;
        between_.push_back(id);
        is_passed_on_[id] =
            !is_output_[id] &&
            std::all_of(consumers_[id].begin(), consumers_[id].end(),
                        [&](std::size_t reader) { return run_alike(producer_[id], reader); });
      }
    }
  }

  Graph run() {
    // Until nothing changes: a merged group may match a rule that its parts did not.
    for (bool changed = true; changed;) {
      changed = false;
      for (const FusionRule& rule : rules_) {
        if (rule.waits && changed) break;
        if (std::find(rule.runtimes.begin(), rule.runtimes.end(), runtime_) != rule.runtimes.end())
          changed = apply(rule) || changed;
      }
    }
    if (joins_siblings(runtime_)) join_siblings();
    for (std::size_t group = 0; group < accounts_.size(); ++group)
      if (accounts_[group].merges > 0 && !groups_[group].layers.empty()) settle(group, {});
    return build();
  }

  const std::vector<AppliedRule>& applied() const { return applied_; }

 private:
  bool apply(const FusionRule& rule) {
    bool changed = false;
    for (const TensorId id : between_) changed = try_merge(rule, id) || changed;
    if (changed)
      std::erase_if(between_, [&](TensorId id) {
        const auto readers = consumers_[id];
        return std::all_of(readers.begin(), readers.end(), [&](std::size_t reader) {
          return group_of_[reader] == group_of_[producer_[id]];
        });
      });
    return changed;
  }

  bool try_merge(const FusionRule& rule, TensorId id) {
    if (!rule.shares && !is_passed_on_[id]) return false;
    if (runtime_ == Runtime::tensorrt && graph_.tensors[id].is_quantized && !rule.joins_quantized)
      return false;
    const std::size_t from = group_of_[producer_[id]];
    const auto readers = consumers_[id];
    if (rule.shares) {
      bool merged = false;
      for (const std::size_t reader : readers)
        if (run_alike(producer_[id], reader))
          merged = try_merge(rule, id, from, group_of_[reader]) || merged;
      return merged;
    }
    const std::size_t to = group_of_[readers.front()];
    for (const std::size_t reader : readers)
      if (group_of_[reader] != to) return false;
    return try_merge(rule, id, from, to);
  }

  bool try_merge(const FusionRule& rule, TensorId id, std::size_t from, std::size_t to) {
    if (from == to || stays_single(from) || stays_single(to) ||
        !rule.applies({graph_, groups_[from], groups_[to], id}) || would_cycle(from, to))
      return false;
    merge(rule.name, from, to);
    return true;
  }

  bool stays_single(std::size_t group) const {
    return !stays_single_.empty() && stays_single_[groups_[group].layers.front()];
  }

  FusionGroup group_of(std::size_t layer) {
    FusionGroup group(&memory_);
    group.layers.push_back(layer);
    for (const Part& part : graph_.layers[layer].parts) {
      group.kinds |= kind_of(part.op);
      group.products += is_product(part.op);
    }
    return group;
  }

  // Same number of repeats and same pass.
  bool run_alike(std::size_t one, std::size_t other) const {
    const Layer &a = graph_.layers[one], &b = graph_.layers[other];
    return takes_part(a) && takes_part(b) && a.repeats == b.repeats && a.pass == b.pass;
  }

  void merge(std::string_view rule, std::size_t into, std::size_t from) {
    if (weights_ != nullptr) {
      settle(into, rule);
      settle(from, rule);
      Account &all = accounts_[into], &more = accounts_[from];
      all.apart += more.apart;
      all.merges += more.merges + 1;
    }
    FusionGroup &group = groups_[into], &absorbed = groups_[from];
    for (const std::size_t layer : absorbed.layers) group_of_[layer] = into;
    add_leaving(group, absorbed);
    auto& layers = group.layers;
    const auto middle = layers.insert(layers.end(), absorbed.layers.begin(), absorbed.layers.end());
    std::inplace_merge(layers.begin(), middle, layers.end());
    for (std::size_t i = layers.front(); i < layers.back(); ++i)
      reach_[i] = std::max(reach_[i], layers.back());
    group.kinds |= absorbed.kinds;
    group.products += absorbed.products;
    absorbed.layers.clear();
    absorbed.leaving.clear();
  }

  void add_leaving(FusionGroup& group, const FusionGroup& absorbed) const {
    if (group.leaving.empty()) group.leaving = group.layers;
    const auto& more = absorbed.leaving.empty() ? absorbed.layers : absorbed.leaving;
    group.leaving.insert(group.leaving.end(), more.begin(), more.end());
    std::erase_if(group.leaving, [&](std::size_t layer) { return !is_read_outside(layer); });
  }

  bool is_read_outside(std::size_t layer) const {
    const auto& outputs = graph_.layers[layer].outputs;
    return std::any_of(outputs.begin(), outputs.end(), [&](TensorId id) {
      return std::any_of(consumers_[id].begin(), consumers_[id].end(),
                         [&](std::size_t reader) { return group_of_[reader] != group_of_[layer]; });
    });
  }

  // Records what a rule has saved in a group, before another rule changes it. Not after every
  // merge: a kernel of thousands of layers would be counted thousands of times.
  void settle(std::size_t group, std::string_view next) {
    Account& account = accounts_[group];
    if (account.rule == next) return;
    const Work together = work_of(groups_[group]);
    if (account.merges > 0)
      applied_.push_back(saved_by(account.rule, graph_.layers[groups_[group].layers.front()].name,
                                  account.merges, account.apart, together));
    account = {next, 0, together};
  }

  Work work_of(const FusionGroup& group) const {
    const std::size_t first = group.layers.front();
    return group.layers.size() == 1 ? count_layer(graph_, graph_.layers[first], *weights_)
                                    : count_layer(graph_, fused(group), *weights_);
  }

  // Whether a path leads from one group to the other through layers of neither. Layers are in
  // execution order, so the search ends at the last layer of `to`, extended by groups that span it.
  bool would_cycle(std::size_t from, std::size_t to) {
    std::size_t last = groups_[to].layers.back();
    while (reach_[last] > last) last = reach_[last];
    std::vector<std::size_t> open;
    ++search_;
    const auto follow = [&](std::size_t group, bool is_start) {
      const auto& leaving = groups_[group].leaving;
      for (const std::size_t layer : leaving.empty() ? groups_[group].layers : leaving)
        for (const TensorId id : graph_.layers[layer].outputs)
          for (const std::size_t consumer : consumers_[id]) {
            const std::size_t next = group_of_[consumer];
            if (next == from || groups_[next].layers.front() > last) continue;
            if (next == to && is_start) continue;  // the direct edge is the merge itself
            if (std::exchange(seen_in_[next], search_) != search_) open.push_back(next);
          }
    };
    follow(from, true);
    while (!open.empty()) {
      const std::size_t group = open.back();
      open.pop_back();
      if (group == to) return true;
      follow(group, false);
    }
    return false;
  }

  // Products of one input with different weights become one product with a wider output.
  void join_siblings() {
    for (TensorId id = 0; id < graph_.tensors.size(); ++id) {
      std::vector<std::size_t> siblings;
      for (const std::size_t consumer : consumers_[id])
        if (is_sibling(consumer, id) &&
            std::find(siblings.begin(), siblings.end(), group_of_[consumer]) == siblings.end() &&
            (siblings.empty() || run_alike(groups_[siblings[0]].layers.front(), consumer)))
          siblings.push_back(group_of_[consumer]);
      for (std::size_t i = 1; i < siblings.size(); ++i) {
        if (would_cycle(siblings[0], siblings[i]) || would_cycle(siblings[i], siblings[0]) ||
            reads_from(siblings[0], siblings[i]))
          continue;
        merge("siblings", siblings[0], siblings[i]);
      }
    }
  }

  bool is_sibling(std::size_t index, TensorId id) const {
    const Layer& layer = graph_.layers[index];
    if (!takes_part(layer) || layer.parts.size() != 1 || layer.inputs.size() < 2) return false;
    return std::holds_alternative<MatMul>(layer.parts.front().op) && layer.inputs[0] == id &&
           graph_.tensors[layer.inputs[1]].role == Role::weight &&
           reads_only(groups_[group_of_[index]], id);
  }

  // Other inputs are weights: a bias, a scale, the angles of a rotary embedding.
  bool reads_only(const FusionGroup& group, TensorId id) const {
    return std::all_of(group.layers.begin(), group.layers.end(), [&](std::size_t index) {
      const auto& inputs = graph_.layers[index].inputs;
      return std::all_of(inputs.begin(), inputs.end(), [&](TensorId input) {
        return input == id || graph_.tensors[input].role == Role::weight ||
               (producer_[input] != no_index && in(group, producer_[input]));
      });
    });
  }

  static bool moves_or_looks_up(const Layer& layer) {
    return std::all_of(layer.parts.begin(), layer.parts.end(),
                       [](const Part& part) { return is_movement(part.op); });
  }

  bool reads_from(std::size_t a, std::size_t b) const {
    const auto reads = [&](std::size_t reader, std::size_t maker) {
      for (const std::size_t layer : groups_[reader].layers)
        for (const TensorId id : graph_.layers[layer].inputs)
          if (producer_[id] != no_index && group_of_[producer_[id]] == maker) return true;
      return false;
    };
    return reads(a, b) || reads(b, a);
  }

  Graph build() {
    Graph result;
    result.layers.reserve(graph_.layers.size());
    // A group takes the position of its last layer, where all its inputs are available.
    for (std::size_t i = 0; i < graph_.layers.size(); ++i) {
      const FusionGroup& group = groups_[group_of_[i]];
      if (group.layers.back() != i) continue;
      result.layers.push_back(group.layers.size() == 1 ? std::move(graph_.layers[i])
                                                       : fused(group));
    }
    result.name = std::move(graph_.name);
    result.is_export = graph_.is_export;
    result.modules = std::move(graph_.modules);
    result.tensors = std::move(graph_.tensors);
    sort_topologically(result);
    result.inputs = std::move(graph_.inputs);
    result.outputs = std::move(graph_.outputs);
    return result;
  }

  // The layer that names a kernel: its first product, else the first that computes.
  std::size_t main_layer(const FusionGroup& group) const {
    const auto first = [&](auto&& test) {
      return std::find_if(group.layers.begin(), group.layers.end(), [&](std::size_t index) {
        const auto& parts = graph_.layers[index].parts;
        return std::any_of(parts.begin(), parts.end(),
                           [&](const Part& part) { return test(part.op); });
      });
    };
    auto found = first(is_product);
    if (found == group.layers.end()) found = first([](const Op& op) { return !is_movement(op); });
    return found == group.layers.end() ? group.layers.front() : *found;
  }

  Layer fused(const FusionGroup& group) const {
    const std::size_t main = main_layer(group);
    Layer result = without_work(graph_.layers[main]);
    result.sources.reserve(group.layers.size());
    result.parts.reserve(group.layers.size());
    std::vector<std::size_t> folded_into;
    if (group.has(kind::batch_norm))
      for (const std::size_t index : group.layers)
        if (const std::size_t product = product_of(graph_.layers[index], group);
            product != no_index)
          folded_into.push_back(product);
    for (const std::size_t index : group.layers) {
      const Layer& layer = graph_.layers[index];
      if (index != main) (result.name += " + ") += apart_from(layer.name, graph_.layers[main].name);
      result.sources.push_back(layer.name);
      result.shapes = std::max(result.shapes, layer.shapes);
      const bool is_folded = product_of(layer, group) != no_index;
      if (!is_folded) add_parts(result, layer);
      if (std::find(folded_into.begin(), folded_into.end(), index) != folded_into.end())
        add_bias(result.parts.back().op);
      add_inputs(result, layer, group, is_folded);
      add_steering(result, layer, group);
      for (const TensorId id : layer.outputs)
        if (leaves(id, group)) result.outputs.push_back(id);
    }
    add_partial_moves(result, group);
    return result;
  }

  // The elements that a slice reads are recorded per tensor (partly_moved), since the tensor need
  // not be the first input any more.
  static void add_parts(Layer& result, const Layer& layer) {
    for (const Part& part : layer.parts)
      result.parts.push_back(is_movement(part.op) ? Part{Copy{}, part.dtype} : part);
  }

  static std::optional<std::int64_t> partly_moved(const Layer& layer, TensorId id) {
    for (const auto& [moved, elements] : layer.partly_moved)
      if (moved == id) return elements;
    return std::nullopt;
  }

  // For tensors that only slices and look-ups read, the elements they need; a transposition before
  // a slice moves no more than the slice needs.
  void add_partial_moves(Layer& result, const FusionGroup& group) const {
    if (std::none_of(group.layers.begin(), group.layers.end(), [&](std::size_t index) {
          const Layer& layer = graph_.layers[index];
          return !layer.partly_moved.empty() || elements_of_first_input(layer);
        }))
      return;
    const auto size = [&](TensorId id) { return element_count(graph_.tensors[id].shape); };
    std::unordered_map<TensorId, std::int64_t> needed;
    for (auto index = group.layers.rbegin(); index != group.layers.rend(); ++index) {
      const Layer& layer = graph_.layers[*index];
      std::int64_t wanted = 0;  // elements needed of the outputs
      for (const TensorId id : layer.outputs) {
        wanted += leaves(id, group) ? size(id) : needed[id];
        if (const auto part = partly_moved(layer, id); part && leaves(id, group))
          result.partly_moved.emplace_back(id, *part);
      }
      const bool passes_on = moves_or_looks_up(layer);
      for (std::size_t i = 0; i < layer.inputs.size(); ++i) {
        const TensorId id = layer.inputs[i];
        std::int64_t reads = partly_moved(layer, id).value_or(size(id));
        if (i == 0) reads = std::min(reads, elements_of_first_input(layer).value_or(reads));
        if (i == 0 && passes_on) reads = std::min(reads, wanted);
        needed[id] = std::min(size(id), needed[id] + reads);
      }
    }
    for (const TensorId id : result.inputs) {
      const Tensor& tensor = graph_.tensors[id];
      if (tensor.source != ShapeSource::unknown && needed[id] < size(id) &&
          !partly_moved(result, id))
        result.partly_moved.emplace_back(id, needed[id]);
    }
  }

  static bool is_batch_norm(const Layer& layer) {
    const auto* normalize =
        layer.parts.size() == 1 ? std::get_if<Normalize>(&layer.parts.front().op) : nullptr;
    return normalize != nullptr && normalize->kind == Normalization::batch;
  }

  // The product that this batch normalisation folds into, within the group. Scale and shift go into
  // its weights and bias before the first run: one addition and the shift remain.
  std::size_t product_of(const Layer& layer, const FusionGroup& group) const {
    if (!is_batch_norm(layer) || layer.inputs.empty()) return no_index;
    const std::size_t maker = producer_[layer.inputs[0]];
    if (maker == no_index || !in(group, maker)) return no_index;
    const auto& parts = graph_.layers[maker].parts;
    return parts.size() == 1 && is_product(parts.front().op) ? maker : no_index;
  }

  static void add_bias(Op& product) {
    if (auto* convolution = std::get_if<Convolution>(&product)) convolution->bias = true;
    if (auto* matrices = std::get_if<MatMul>(&product)) matrices->bias = true;
  }

  void add_inputs(Layer& result, const Layer& layer, const FusionGroup& group,
                  bool is_folded) const {
    constexpr std::size_t shift = 2;  // inputs: x, scale, shift, mean, variance
    for (std::size_t i = 0; i < layer.inputs.size(); ++i) {
      const TensorId id = layer.inputs[i];
      if (producer_[id] != no_index && in(group, producer_[id])) continue;
      if (is_folded && i > 0 && i != shift) continue;
      if (std::find(result.inputs.begin(), result.inputs.end(), id) == result.inputs.end())
        result.inputs.push_back(id);
    }
  }

  // A kernel waits for what steers any of its layers.
  void add_steering(Layer& result, const Layer& layer, const FusionGroup& group) const {
    for (const TensorId id : layer.steering) {
      const bool is_made_inside = producer_[id] != no_index && in(group, producer_[id]);
      if (!is_made_inside && std::ranges::find(result.steering, id) == result.steering.end())
        result.steering.push_back(id);
    }
  }

  bool in(const FusionGroup& group, std::size_t layer) const {
    return std::binary_search(group.layers.begin(), group.layers.end(), layer);
  }

  bool leaves(TensorId id, const FusionGroup& group) const {
    if (is_output_[id] || consumers_[id].empty()) return true;
    return std::any_of(consumers_[id].begin(), consumers_[id].end(),
                       [&](std::size_t consumer) { return !in(group, consumer); });
  }

  // For the lists of all groups, most of which are short and short-lived.
  std::pmr::monotonic_buffer_resource memory_;
  Graph graph_;
  Runtime runtime_;
  const std::vector<FusionRule>& rules_;
  const OpWeights* weights_;
  std::vector<FusionGroup> groups_;
  std::vector<std::size_t> group_of_;  // by layer
  std::vector<std::size_t> producer_;  // by tensor
  LayersByTensor consumers_;
  std::vector<bool> is_output_;
  std::vector<bool> stays_single_;    // by layer; empty: none
  std::vector<bool> is_passed_on_;    // all readers run alike with the producer
  std::vector<TensorId> between_;     // tensors that one group writes and another reads
  std::vector<std::size_t> reach_;    // by layer: end of any group that begins at or before it
  std::vector<std::size_t> seen_in_;  // by group: the last cycle search that visited it
  std::size_t search_ = 0;
  // A group's work before the current rule first changed it.
  struct Account {
    std::string_view rule;
    std::size_t merges = 0;
    Work apart;
  };
  std::vector<Account> accounts_;  // by group; only with weights
  std::vector<AppliedRule> applied_;
};

}  // namespace

bool changes_layers(const Graph& graph, Runtime runtime) {
  return fuses(runtime) || (graph.is_export && runs_torch(runtime));
}

Graph fuse(Graph graph, Runtime runtime) {
  if (graph.is_export && runs_torch(runtime)) {
    graph = Fuser(std::move(graph), runtime, torch_operator_rules()).run();
    restore_views(graph, runtime);
  }
  if (!fuses(runtime)) return graph;
  // Before views are gone, which give a tensor the shape that its slices have.
  if (runtime == Runtime::onnxruntime) join_slices(graph);
  Graph plain = remove_views(std::move(graph));
  if (folds_constants(runtime)) fold_constants(plain);
  if (quantize_tensors(plain, runtime)) sort_topologically(plain);
  return Fuser(std::move(plain), runtime, fusion_rules()).run();
}

ItemizedFusion itemized_fusion(const Graph& given, Runtime runtime, const OpWeights& weights) {
  ItemizedFusion result;
  Graph graph = given;
  const auto note = [&](const std::vector<AppliedRule>& applied) {
    result.applied.insert(result.applied.end(), applied.begin(), applied.end());
  };
  const auto note_views = [&](const Work& before, const Graph& after) {
    if (const Work rest = work_of(after, weights); before != rest)
      result.applied.push_back(saved_by("views", "", 1, before, rest));
  };
  if (graph.is_export && runs_torch(runtime)) {
    Fuser fuser(std::move(graph), runtime, torch_operator_rules(), &weights);
    graph = fuser.run();
    note(fuser.applied());
    const Work before = work_of(graph, weights);
    restore_views(graph, runtime);
    note_views(before, graph);
  }
  if (!fuses(runtime)) {
    result.graph = std::move(graph);
    return result;
  }
  if (runtime == Runtime::onnxruntime) join_slices(graph);
  Graph plain = remove_views(graph);
  note_views(work_of(graph, weights), plain);
  if (folds_constants(runtime)) fold_constants(plain, &weights, &result.applied);
  if (quantize_tensors(plain, runtime, &weights, &result.applied)) sort_topologically(plain);
  Fuser fuser(std::move(plain), runtime, fusion_rules(), &weights);
  result.graph = fuser.run();
  note(fuser.applied());
  return result;
}

std::vector<FusionSaving> savings_by_rule(const std::vector<AppliedRule>& applied) {
  std::vector<FusionSaving> savings;
  for (const AppliedRule& one : applied) {
    auto found = std::find_if(savings.begin(), savings.end(),
                              [&](const FusionSaving& saving) { return saving.rule == one.rule; });
    if (found == savings.end()) found = savings.insert(savings.end(), {one.rule});
    found->merges += one.merges;
    found->bytes += one.bytes_saved;
    found->flop += one.flop_saved;
    found->int_ops += one.int_ops_saved;
  }
  std::stable_sort(savings.begin(), savings.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return savings;
}

}  // namespace ridgeline
