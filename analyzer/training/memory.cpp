// A backward walk finds the last reader of each tensor, a forward walk adds up what is live. A view
// has no bytes of its own but keeps its source alive.
#include "analyzer/training/memory.h"

#include <algorithm>
#include <numeric>

#include "analyzer/count/count.h"

namespace ridgeline {
namespace {

bool persists(Holding holding) { return holding <= Holding::optimizer_state; }

// Not released before the run ends.
bool stays(Holding holding) {
  return persists(holding) || holding == Holding::interface || holding == Holding::cache;
}

// By tensor: the tensor that holds its bytes.
std::vector<TensorId> owners(const Graph& step) {
  std::vector<TensorId> owner(step.tensors.size());
  std::iota(owner.begin(), owner.end(), TensorId{0});
  for (const Layer& layer : step.layers)
    if (runs(layer) && is_view(layer) && !layer.inputs.empty())
      for (const TensorId id : layer.outputs) owner[id] = owner[layer.inputs.front()];
  return owner;
}

// By layer: tensors that no later layer reads before they are written again.
std::vector<std::vector<TensorId>> last_reads(const Graph& step,
                                              const std::vector<TensorId>& owner) {
  std::vector<std::vector<TensorId>> ends(step.layers.size());
  std::vector<bool> is_read(step.tensors.size(), false);  // by a layer after the current one
  for (std::size_t i = step.layers.size(); i-- > 0;) {
    const Layer& layer = step.layers[i];
    if (!runs(layer)) continue;
    const auto read = [&](TensorId id) {
      if (!is_read[owner[id]]) ends[i].push_back(owner[id]);
      is_read[owner[id]] = true;
    };
    if (!is_view(layer))
      for (const TensorId id : layer.outputs) {
        read(id);
        is_read[id] = false;
      }
    for (const auto* ids : {&layer.inputs, &layer.steering})
      for (const TensorId id : *ids) read(id);
  }
  return ends;
}

bool accumulates(const Layer& layer) {
  const auto* sum =
      layer.parts.size() == 1 ? std::get_if<Elementwise>(&layer.parts.front().op) : nullptr;
  return sum != nullptr && sum->function == Function::accumulate;
}

class Account {
 public:
  void add(Holding holding, double bytes) {
    switch (holding) {
      case Holding::weight:
        now_.weights += bytes;
        break;
      case Holding::master_weight:
        now_.master_weights += bytes;
        break;
      case Holding::optimizer_state:
        now_.optimizer_state += bytes;
        break;
      case Holding::gradient:
        now_.gradients += bytes;
        break;
      case Holding::activation:
      case Holding::interface:
        now_.activations += bytes;
        break;
      case Holding::transient:
        now_.transient += bytes;
        break;
      case Holding::cache:
        now_.caches += bytes;
        break;
      case Holding::constant:
        break;
    }
  }

  void note(Pass pass) {
    if (now_.peak() > peak_.peak()) peak_ = now_;
    if (pass != Pass::forward && now_.activations > saved_) saved_ = now_.activations;
  }

  RunMemory most() const {
    RunMemory result = peak_;
    result.saved = saved_;
    return result;
  }

 private:
  RunMemory now_, peak_;
  double saved_ = 0;
};

}  // namespace

RunMemory measure_memory(const Graph& step, const std::vector<Holding>& holdings) {
  const std::vector<TensorId> owner = owners(step);
  const auto ends = last_reads(step, owner);
  const auto bytes = [&](TensorId id) { return tensor_bytes(step.tensors[id]).value_or(0); };
  Account account;
  std::vector<bool> is_held(step.tensors.size(), false);
  const auto hold = [&](TensorId id) {
    if (is_held[id]) return;
    is_held[id] = true;
    account.add(holdings[id], bytes(id));
  };
  const auto hold_all = [&](const std::vector<TensorId>& ids) {
    for (const TensorId id : ids) hold(owner[id]);
  };
  const auto release = [&](TensorId id) {
    if (stays(holdings[id]) || !is_held[id]) return;
    is_held[id] = false;
    account.add(holdings[id], -bytes(id));
  };
  for (TensorId id = 0; id < step.tensors.size(); ++id)
    if (persists(holdings[id])) hold(id);
  for (const TensorId id : step.inputs)
    if (stays(holdings[id])) hold(id);
  for (std::size_t i = 0; i < step.layers.size(); ++i) {
    const Layer& layer = step.layers[i];
    if (!runs(layer)) continue;
    hold_all(layer.inputs);
    hold_all(layer.steering);
    if (accumulates(layer)) {  // the sum overwrites one of its operands
      account.note(layer.pass);
      for (const TensorId id : layer.inputs)
        if (std::find(ends[i].begin(), ends[i].end(), owner[id]) != ends[i].end())
          release(owner[id]);
    }
    hold_all(layer.outputs);
    account.note(layer.pass);
    for (const TensorId id : ends[i]) release(id);
  }
  return account.most();
}

namespace {

// Every activation at a place of its own.
double unshared_activations(const Graph& graph, const std::vector<Holding>& holdings,
                            const std::vector<TensorId>& owner) {
  std::vector<bool> is_counted(graph.tensors.size(), false);
  double bytes = 0;
  const auto add = [&](const std::vector<TensorId>& ids) {
    for (const TensorId id : ids) {
      const TensorId held = owner[id];
      const bool is_activation =
          holdings[held] == Holding::activation || holdings[held] == Holding::interface;
      if (!is_activation || is_counted[held]) continue;
      is_counted[held] = true;
      bytes += tensor_bytes(graph.tensors[held]).value_or(0);
    }
  };
  add(graph.inputs);
  for (const Layer& layer : graph.layers) {
    if (!runs(layer)) continue;
    add(layer.inputs);
    add(layer.outputs);
  }
  return bytes;
}

}  // namespace

RunMemory inference_memory(const Graph& graph) {
  std::vector<Holding> holdings;
  for (const Tensor& tensor : graph.tensors)
    holdings.push_back(tensor.role != Role::weight ? Holding::activation
                       : tensor.is_parameter       ? Holding::weight
                                                   : Holding::constant);
  for (const Layer& layer : graph.layers)  // casts of weights at run time
    if (runs(layer))
      for (const TensorId id : layer.outputs)
        if (holdings[id] == Holding::constant) holdings[id] = Holding::activation;
  const std::vector<TensorId> owner = owners(graph);  // an output may be a view
  for (const auto* ids : {&graph.inputs, &graph.outputs})
    for (const TensorId id : *ids)
      if (holdings[owner[id]] == Holding::activation || holdings[owner[id]] == Holding::interface)
        holdings[owner[id]] = graph.tensors[id].is_state ? Holding::cache : Holding::interface;
  RunMemory memory = measure_memory(graph, holdings);
  memory.unshared = unshared_activations(graph, holdings, owner);
  return memory;
}

}  // namespace ridgeline
