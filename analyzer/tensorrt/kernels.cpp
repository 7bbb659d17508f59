// A tensor that layers read under other sizes or layouts than it was written with is several
// tensors of the Graph; who produced it is known by name.
#include "analyzer/tensorrt/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyzer/graph/module_path.h"
#include "analyzer/lowering/lowering.h"
#include "analyzer/tensorrt/layer_ops.h"
#include "analyzer/tensorrt/mapping.h"
#include "analyzer/tensorrt/tactic.h"
#include "base/error.h"
#include "base/text.h"

namespace ridgeline::tensorrt {
namespace {

// --- Sizes.

const IoTensor* first_input(const Engine& engine) {
  const auto found = std::ranges::find_if(engine.io, [](const IoTensor& io) {
    return io.is_input.value_or(false) && !io.is_shape && !io.tensor.shape.empty();
  });
  return found == engine.io.end() ? nullptr : &*found;
}

// For the sizes of an input that stay open, the optimum of the profile, if the file states it.
void take_optimum(IoTensor& io, int profile) {
  if (profile >= static_cast<int>(io.profiles.size())) return;
  const Shape& optimum = io.profiles[static_cast<std::size_t>(profile)].opt;
  if (optimum.size() != io.tensor.shape.size()) return;
  for (std::size_t axis = 0; axis < optimum.size(); ++axis)
    if (io.tensor.shape[axis] < 0) io.tensor.shape[axis] = optimum[axis];
}

// Sizes that replace dynamic ones.
struct Substitutes {
  std::optional<std::int64_t> first, other;
};

void substitute(Shape& shape, const Substitutes& sizes, const std::string& tensor,
                const std::string& path) {
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] >= 0) continue;
    const auto& size = axis == 0 ? sizes.first : sizes.other;
    if (!size)
      throw Error(path, fmt::format("dimension {} of {} is dynamic", axis, quote(tensor)),
                  fmt::format("give its size with {}, or export the layers with --shapes",
                              axis == 0 ? "--batch" : "--assume-dim"),
                  ExitCode::incomplete);
    shape[axis] = *size;
  }
}

// --- The graph.

// By the names of its nodes; a reformat belongs to the layer that it is made for.
std::string module_of(const EngineLayer& layer) {
  if (!layer.onnx_nodes.empty()) return common_module(layer.onnx_nodes);
  constexpr std::string_view target = " to ";
  const std::size_t at =
      layer.name.starts_with("Reformatting CopyNode") ? layer.name.find(target) : std::string::npos;
  const std::vector<std::string> names =
      names_in(at == std::string::npos ? layer.name : layer.name.substr(at + target.size()));
  return common_module(names);
}

class GraphBuilder {
 public:
  GraphBuilder(const Engine& engine, std::vector<std::string>& warnings)
      : engine_(engine), warnings_(warnings) {
    learn_types();
    for (const IoTensor& io : engine.io)
      if (io.is_input.value_or(false)) inputs_.insert(io.tensor.name);
  }

  Graph build() {
    graph_.layers.reserve(engine_.layers.size());
    for (const EngineLayer& layer : engine_.layers) add(layer);
    for (const IoTensor& io : engine_.io) {
      if (!io.is_input) continue;
      const auto found = by_name_.find(io.tensor.name);
      const TensorId id = found != by_name_.end() ? found->second : tensor(io.tensor, nullptr);
      (*io.is_input ? graph_.inputs : graph_.outputs).push_back(id);
    }
    if (mismatched_ > 0)
      warnings_.push_back(
          fmt::format("{} layer{} whose number of weights does not fit the dimensions", mismatched_,
                      mismatched_ == 1 ? "" : "s"));
    return std::move(graph_);
  }

 private:
  using Key = std::tuple<std::string_view, Shape, ElementType, int, std::int64_t>;

  // A tensor whose format is unknown in one place may be described in another.
  void learn_types() {
    for (const EngineLayer& layer : engine_.layers)
      for (const auto* tensors : {&layer.inputs, &layer.outputs})
        for (const EngineTensor& each : *tensors)
          if (each.format.type != ElementType::unknown)
            types_.try_emplace(each.name, each.format.type);
  }

  ElementType type_of(const EngineTensor& tensor, const EngineLayer* layer) const {
    if (tensor.format.type != ElementType::unknown) return tensor.format.type;
    if (const auto known = types_.find(tensor.name); known != types_.end()) return known->second;
    if (layer != nullptr)
      for (const auto* tensors : {&layer->outputs, &layer->inputs})
        for (const EngineTensor& peer : *tensors)
          if (peer.format.type != ElementType::unknown) return peer.format.type;
    return ElementType::unknown;
  }

  TensorId tensor(const EngineTensor& given, const EngineLayer* layer) {
    const ElementType type = type_of(given, layer);
    const Key key{given.name, given.shape, type, static_cast<int>(given.format.layout),
                  given.format.channel_multiple};
    const auto known = tensors_.find(key);
    if (known != tensors_.end()) return known->second;
    Tensor tensor;
    tensor.name = given.name;
    tensor.type = type;
    tensor.shape = given.shape;
    tensor.source = ShapeSource::fixed;
    if (inputs_.contains(given.name)) tensor.role = Role::input;
    if (constants_.contains(given.name)) tensor.role = Role::weight;
    const auto padded = padded_elements(given.shape, given.format);
    if (!padded)
      throw Error(engine_.path, "the tensor " + quote(given.name) + " has too many elements");
    if (*padded != element_count(given.shape)) tensor.stored_bytes = storage_bytes(type, *padded);
    return remember(key, std::move(tensor));
  }

  TensorId remember(const Key& key, Tensor tensor) {
    const TensorId id = graph_.tensors.size();
    graph_.tensors.push_back(std::move(tensor));
    tensors_.emplace(key, id);
    by_name_.try_emplace(std::get<0>(key), id);
    return id;
  }

  TensorId weights(const EngineLayer& layer, const StoredWeights& stored, const char* what) {
    Tensor tensor;
    tensor.name = fmt::format("{} of {}", what, layer.name);
    tensor.type = stored.type == ElementType::unknown ? ElementType::fp32 : stored.type;
    tensor.shape = {stored.count};
    tensor.source = ShapeSource::fixed;
    tensor.role = Role::weight;
    tensor.stored = tensor.is_parameter = true;
    graph_.tensors.push_back(std::move(tensor));
    return graph_.tensors.size() - 1;
  }

  // Each once; what stays on the host is not moved by the kernel.
  void add_tensors(const EngineLayer& layer, const std::vector<EngineTensor>& given,
                   std::vector<TensorId>& into, std::vector<TensorId>& steering) {
    for (const EngineTensor& each : given) {
      const TensorId id = tensor(each, &layer);
      auto& list = same_word(each.location, "Host") ? steering : into;
      if (std::ranges::find(list, id) == list.end()) list.push_back(id);
    }
  }

  void add(const EngineLayer& from) {
    Layer layer;
    layer.name = from.name;
    layer.origin = from.type;
    layer.sources = from.onnx_nodes;
    if (layer.sources.empty()) layer.sources.push_back(from.name);
    layer.module = module_of(from);
    add_tensors(from, from.inputs, layer.inputs, layer.steering);
    if (same_word(from.type, "Constant"))
      for (const EngineTensor& output : from.outputs) constants_.insert(output.name);
    else
      add_weights(from, layer.inputs);
    add_tensors(from, from.outputs, layer.outputs, layer.steering);
    layer.parts = layer_parts(from);  // its tensors have been checked
    graph_.layers.push_back(std::move(layer));
  }

  void add_weights(const EngineLayer& layer, std::vector<TensorId>& inputs) {
    check_weights(layer);
    const auto add_stored = [&](const StoredWeights& stored, const char* what) {
      if (stored.count > 0) inputs.push_back(weights(layer, stored, what));
    };
    add_stored(layer.weights, "weights");
    add_stored(layer.bias, "bias");
    add_stored(layer.scale, "scale");
    add_stored(layer.shift, "shift");
    add_stored(layer.power, "power");
    for (const StoredWeights& implied : implied_weights(layer)) add_stored(implied, "weights");
  }

  void check_weights(const EngineLayer& layer) {
    const std::size_t axes = layer.window.size.size();
    if (layer.weights.count == 0 || layer.inputs.empty() || axes == 0) return;
    const Shape& in = layer.inputs.front().shape;
    if (in.size() <= axes) return;
    Shape wanted{layer.out_maps, in[in.size() - axes - 1] / layer.groups};
    wanted.insert(wanted.end(), layer.window.size.begin(), layer.window.size.end());
    if (checked_element_count(wanted) != layer.weights.count) ++mismatched_;
  }

  const Engine& engine_;
  std::vector<std::string>& warnings_;
  Graph graph_;
  std::map<Key, TensorId> tensors_;
  std::unordered_map<std::string_view, TensorId> by_name_;
  std::unordered_map<std::string_view, ElementType> types_;
  std::set<std::string_view> inputs_, constants_;
  std::size_t mismatched_ = 0;
};

// Products that the tactic makes outside the tensor cores are those of vector units. There, TF32 is
// plain FP32: it is a format of matrix units alone.
void place_on_units(Work& work, const Tactic& tactic) {
  std::vector<FlopCount> parts;
  parts.swap(work.flop);
  for (const FlopCount& part : parts) {
    const bool stays = part.unit == Unit::matrix && tactic.tensor_cores != std::optional(false);
    const DType dtype = !stays && part.dtype == DType::tf32 ? DType::fp32 : part.dtype;
    add_flop(work, stays ? Unit::matrix : Unit::vector, dtype, part.flop);
  }
}

// Who wrote each tensor, by name: the Graph may hold it several times.
void name_producers(Kernels& kernels, const Engine& engine) {
  std::unordered_map<std::string_view, std::string_view> writers;  // tensor → Demand
  std::unordered_map<std::string_view, std::string_view> renamed;  // by layers without work
  std::size_t next = 0;
  for (std::size_t i = 0; i < engine.layers.size(); ++i) {
    const EngineLayer& layer = engine.layers[i];
    const bool works = next < kernels.demand_layers.size() && kernels.demand_layers[next] == i;
    if (!works) {
      if (!layer.inputs.empty())
        for (const EngineTensor& output : layer.outputs)
          renamed[output.name] = layer.inputs.front().name;
      continue;
    }
    Demand& demand = kernels.demands[next++];
    for (TensorUse& read : demand.reads) {
      std::string_view name = read.tensor;
      for (int step = 0; step < 64; ++step) {  // a chain of views; longer ones are cycles
        const auto other = renamed.find(name);
        if (other == renamed.end() || writers.contains(name)) break;
        name = other->second;
      }
      const auto writer = writers.find(name);
      if (writer != writers.end()) read.producer = writer->second;
    }
    for (const EngineTensor& output : layer.outputs) writers[output.name] = layer.name;
  }
}

}  // namespace

std::optional<std::int64_t> batch_of(const Engine& engine) {
  const IoTensor* input = first_input(engine);
  if (input == nullptr || input->tensor.shape.front() < 0) return std::nullopt;
  return input->tensor.shape.front();
}

Engine at_sizes(Engine engine, const EngineSizes& sizes) {
  if (sizes.profile < 0 || sizes.profile >= engine.profiles)
    throw Error(engine.path, fmt::format("has no optimisation profile {}", sizes.profile),
                fmt::format("its profiles are 0 to {}", engine.profiles - 1));
  std::erase_if(engine.layers,
                [&](const EngineLayer& layer) { return layer.profile != sizes.profile; });
  if (engine.layers.empty())
    throw Error(engine.path, fmt::format("lists no layers of profile {}", sizes.profile));
  const IoTensor* input = first_input(engine);
  const bool is_open = input == nullptr || input->tensor.shape.front() < 0;
  if (sizes.batch && !is_open && input->tensor.shape.front() != *sizes.batch)
    throw Error(engine.path,
                fmt::format("these layers run with batch {}, not {}", input->tensor.shape.front(),
                            *sizes.batch),
                "leave out --batch, or export the layers with --shapes for that batch");
  Substitutes substitutes{sizes.batch, sizes.other};
  for (IoTensor& io : engine.io)
    if (!(sizes.batch && is_open)) take_optimum(io, sizes.profile);
  if (!substitutes.first) substitutes.first = batch_of(engine);
  for (IoTensor& io : engine.io)
    substitute(io.tensor.shape, substitutes, io.tensor.name, engine.path);
  for (EngineLayer& layer : engine.layers)
    for (auto* tensors : {&layer.inputs, &layer.outputs})
      for (EngineTensor& tensor : *tensors)
        substitute(tensor.shape, substitutes, tensor.name, engine.path);
  return engine;
}

Graph kernel_graph(const Engine& engine, std::vector<std::string>& warnings) {
  return GraphBuilder(engine, warnings).build();
}

Kernels count_kernels(Graph graph, const Engine& engine, const OpWeights& weights) {
  Kernels kernels;
  kernels.counts = count_layers(graph, weights);
  for (std::size_t i = 0; i < engine.layers.size(); ++i)
    place_on_units(kernels.counts[i].work, parse_tactic(engine.layers[i].tactic));
  kernels.demands = lower_fused(graph, Runtime::tensorrt, kernels.counts);
  for (std::size_t i = 0; i < graph.layers.size(); ++i)
    if (!is_view(graph.layers[i])) kernels.demand_layers.push_back(i);
  name_producers(kernels, engine);
  kernels.graph = std::move(graph);
  return kernels;
}

Kernels kernels_of(const Engine& engine, const OpWeights& weights) {
  std::vector<std::string> warnings;
  Graph graph = kernel_graph(engine, warnings);
  Kernels kernels = count_kernels(std::move(graph), engine, weights);
  kernels.warnings = std::move(warnings);
  return kernels;
}

}  // namespace ridgeline::tensorrt
