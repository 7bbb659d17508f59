// NetworkBuilder: writes a Graph layer by layer, so that a network reads like its paper:
//   x = net.conv("conv1", x, 64, {.kernel = 7, .stride = 2, .padding = 3});
//   x = net.relu("relu", net.batch_norm("bn1", x));
// Shapes follow from the inputs, names from the modules of the source; nothing is computed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/graph/graph.h"
#include "workloads/options.h"

namespace ridgeline {

// A tensor of the network under construction.
struct Operand {
  TensorId id = 0;
};

struct Extent {
  std::int64_t height = 1, width = 1;
  constexpr Extent(std::int64_t side) : height(side), width(side) {}
  constexpr Extent(std::int64_t high, std::int64_t wide) : height(high), width(wide) {}
};

struct ConvolutionOptions {
  Extent kernel = 1, stride = 1, padding = 0;
  std::int64_t groups = 1;
  bool bias = false;
  bool same = false;  // padded so that the output is the input divided by the stride, rounded up
};

struct PoolOptions {
  Extent kernel = 2, stride = 2, padding = 0;
  bool ceil = false;  // the last window may extend over the edge
  bool same = false;  // as for a convolution
};

// Parameters of a convolution; layers may share them.
struct ConvolutionWeights {
  Operand weight;
  std::optional<Operand> bias = {};
};

struct KeyValue {
  Operand key, value;
};

struct AttentionOptions {
  std::int64_t heads = 1;
  std::int64_t kv_heads = 0;  // of keys and values; 0: the same as heads
  bool causal = false;
  std::vector<Operand> biases = {};   // added to the scores: masks, relative positions
  std::optional<KeyValue> past = {};  // keys and values of earlier tokens
  // How the source computes attention that is not one kernel:
  bool scales_query = false;               // instead of the scores
  bool softmax_in_fp32 = false;            // followed by a cast back
  bool dropout = false;                    // of the probabilities
  std::optional<AttentionForm> form = {};  // if the source has only this one
};

struct RecurrentOutputs {
  Operand every, last, cell;  // hidden states of all steps, of the last, and an LSTM's cell state
};

class NetworkBuilder {
 public:
  NetworkBuilder(std::string name, const Settings& settings);

  const Settings& settings() const { return settings_; }
  const Shape& shape(Operand operand) const { return graph_.tensors[operand.id].shape; }
  std::int64_t dimension(Operand operand, int axis) const;  // −1 is the last
  ElementType type(Operand operand) const { return graph_.tensors[operand.id].type; }

  // Prefixes names with "name." while it lives.
  class Scope {
   public:
    Scope(NetworkBuilder& builder, std::string_view name);
    ~Scope() { builder_.prefix_.resize(length_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    NetworkBuilder& builder_;
    std::size_t length_;
  };
  [[nodiscard]] Scope scope(std::string_view name) { return {*this, name}; }

  // The same for a module that torch runs in one call.
  class Module {
   public:
    Module(NetworkBuilder& builder, std::string_view name);
    ~Module() { builder_.module_.clear(); }
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

   private:
    NetworkBuilder& builder_;
    Scope scope_;
  };
  [[nodiscard]] Module module(std::string_view name) { return {*this, name}; }

  // Calls in the source around the last written layer that touch no data.
  void bookkeeping(int calls) { graph_.layers.back().bookkeeping += calls; }

  // Tensors, by default of the network's type. Inputs belong to the network, not to a module, so
  // their names get no prefix.
  Operand input(std::string_view name, Shape shape, std::optional<ElementType> type = {});
  Operand input_state(std::string_view name, Shape shape) {  // of the run before: a cache
    const Operand made = input(name, std::move(shape));
    graph_.tensors[made.id].is_state = true;
    return made;
  }
  // [batch, channels, image, image], with the name that torch.fx and exporters use.
  Operand image_input(std::int64_t channels = 3) {
    return input("input", {settings_.batch, channels, settings_.image, settings_.image});
  }
  Operand parameter(std::string_view name, Shape shape);  // learned
  Operand constant(std::string_view name, Shape shape, std::optional<ElementType> type = {});
  void output(Operand operand) { graph_.outputs.push_back(operand.id); }
  void output_state(Operand operand) {  // for the next run: a cache, hidden states
    graph_.tensors[operand.id].is_state = true;
    output(operand);
  }
  Graph finish() { return std::move(graph_); }

  // Products.
  Operand conv(std::string_view name, Operand x, std::int64_t channels,
               const ConvolutionOptions& options);
  Operand conv(std::string_view name, Operand x, const ConvolutionWeights& weights,
               const ConvolutionOptions& options);
  ConvolutionWeights conv_weights(std::string_view name, std::int64_t in_channels,
                                  std::int64_t channels, const ConvolutionOptions& options);
  Operand conv_transpose(std::string_view name, Operand x, std::int64_t channels,
                         const ConvolutionOptions& options);
  Operand linear(std::string_view name, Operand x, std::int64_t features, bool bias = true);
  Operand linear_tied(std::string_view name, Operand x, Operand weight);  // weight is [out, in]
  Operand matmul(std::string_view name, Operand a, Operand b);            // [… m k] · [… k n]
  Operand matmul_transposed(std::string_view name, Operand a, Operand b);  // [… m k] · [… n k]ᵀ
  // x is [steps, batch, input], as are the outputs.
  RecurrentOutputs recurrent(std::string_view name, Cell cell, Operand x, std::int64_t hidden);

  // Attention without projections, which are linear(). Operands are […, tokens, heads · width].
  Operand attention(std::string_view name, Operand query, KeyValue now,
                    const AttentionOptions& options);
  // Query, key and value side by side in one tensor.
  Operand attention(std::string_view name, Operand packed, const AttentionOptions& options);

  // Element by element.
  Operand activation(std::string_view name, Operand x, Function function);
  Operand relu(std::string_view name, Operand x) { return activation(name, x, Function::relu); }
  Operand gelu(std::string_view name, Operand x) { return activation(name, x, Function::gelu); }
  Operand swish(std::string_view name, Operand x) { return activation(name, x, Function::swish); }
  Operand combine(std::string_view name, Operand a, Operand b, Function function);
  Operand add(std::string_view name, Operand a, Operand b) {
    return combine(name, a, b, Function::add);
  }
  Operand multiply(std::string_view name, Operand a, Operand b) {
    return combine(name, a, b, Function::multiply);
  }
  Operand scale(std::string_view name, Operand x);  // by a number
  Operand cast(std::string_view name, Operand x, ElementType type);
  Operand softmax(std::string_view name, Operand x, std::optional<ElementType> type = {});

  // Normalisation: over channels, over groups of channels of each sample, over the last axis.
  Operand batch_norm(std::string_view name, Operand x, bool frozen = false);  // not trained
  Operand group_norm(std::string_view name, Operand x, std::int64_t groups);
  Operand layer_norm(std::string_view name, Operand x);
  Operand rms_norm(std::string_view name, Operand x);

  Operand max_pool(std::string_view name, Operand x, const PoolOptions& options);
  Operand average_pool(std::string_view name, Operand x, const PoolOptions& options);
  Operand adaptive_average_pool(std::string_view name, Operand x, Extent out);
  Operand global_average_pool(std::string_view name, Operand x);
  Operand resize(std::string_view name, Operand x, Extent out, Interpolation kind);

  // Movement.
  Operand concat(std::string_view name, const std::vector<Operand>& parts, int axis);
  std::vector<Operand> split(std::string_view name, Operand x, const Shape& sizes, int axis);
  Operand gather(std::string_view name, Operand table, Operand indices);  // rows
  Operand embedding(std::string_view name, Operand indices, std::int64_t rows, std::int64_t width);
  Operand flatten(std::string_view name, Operand x);  // all but the first axis
  Operand reshape(std::string_view name, Operand x, Shape shape);
  // These do nothing at inference.
  Operand dropout(std::string_view name, Operand x);
  Operand stochastic_depth(std::string_view name, Operand x);
  // The same elements in the order of another shape: by strides only, or moved in memory.
  Operand transpose_view(std::string_view name, Operand x, Shape shape);
  Operand transpose(std::string_view name, Operand x, Shape shape);
  // Moves data unchanged; `origin` is the operator's name.
  Operand copy(std::string_view name, std::string_view origin, Operand x, Shape shape);

  // Any other layer: one Op, one output.
  Operand layer(std::string_view name, std::string_view origin, const Op& op,
                const std::vector<Operand>& inputs, Shape shape,
                std::optional<ElementType> type = {});

  // Rejects options that the network cannot be built with: a usage error that names the network.
  [[noreturn]] void refuse(const std::string& what, const std::string& fix) const;

 private:
  Operand tensor(std::string name, Shape shape, ElementType type, Role role);
  std::string full_name(std::string_view name) const;
  std::string unique_name(std::string_view name);
  Layer& add_layer(std::string name, std::string_view origin, const Op& op, DType dtype,
                   const std::vector<Operand>& inputs);
  DType compute_type(const Op& op, ElementType type) const;
  Extent window_positions(std::string_view name, Operand x, const PoolOptions& window) const;
  Operand pool(std::string_view name, Operand x, Pooling kind, const PoolOptions& options);
  Operand product(std::string_view name, Operand a, Operand b, std::int64_t n, std::int64_t k);
  Operand eager_attention(Operand query, KeyValue now, const AttentionOptions& options,
                          const Attention& op, Shape shape);

  Settings settings_;
  Graph graph_;
  std::string prefix_;  // of names, with its trailing dot
  std::string module_;  // run by torch in one call, while it is being written
  std::unordered_map<std::string, int> uses_;
};

}  // namespace ridgeline
