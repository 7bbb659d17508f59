// Writes the layers of a network and computes the shapes that each kind of layer produces.
#include "workloads/builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace ridgeline {
namespace {

bool is_product(const Op& op) {
  return std::holds_alternative<Convolution>(op) || std::holds_alternative<MatMul>(op) ||
         std::holds_alternative<Attention>(op) || std::holds_alternative<Recurrent>(op);
}

std::int64_t rounded_up(std::int64_t value, std::int64_t divisor) {
  return (value + divisor - 1) / divisor;
}

// Positions of a window along one axis, as torch counts them.
std::int64_t positions(std::int64_t in, std::int64_t kernel, std::int64_t stride,
                       std::int64_t padding, bool ceil) {
  const std::int64_t room = in + 2 * padding - kernel;
  if (room < 0) return 0;
  std::int64_t count = (ceil ? rounded_up(room, stride) : room / stride) + 1;
  if (ceil && (count - 1) * stride >= in + padding) --count;  // it would start outside
  return count;
}

Shape spatial(Extent extent) { return {extent.height, extent.width}; }

Shape leading(const Shape& shape) { return {shape.begin(), shape.end() - 1}; }

// […, tokens, heads · width] → batch, tokens, width of one head.
struct HeadSizes {
  Shape leading;
  std::int64_t batch = 1, tokens = 1, width = 1;
};

HeadSizes head_sizes(const Shape& shape, std::int64_t heads) {
  HeadSizes sizes;
  sizes.leading.assign(shape.begin(), shape.end() - 2);
  sizes.batch = checked_element_count(sizes.leading).value_or(0);
  sizes.tokens = shape[shape.size() - 2];
  sizes.width = shape.back() / heads;
  return sizes;
}

// […, heads, tokens, width]
Shape per_head(const Shape& leading, std::int64_t heads, std::int64_t tokens, std::int64_t width) {
  Shape shape = leading;
  shape.insert(shape.end(), {heads, tokens, width});
  return shape;
}

// The operator's name in ONNX.
std::string_view operator_word(Function function) {
  switch (function) {
    case Function::add:
      return "Add";
    case Function::subtract:
      return "Sub";
    case Function::multiply:
      return "Mul";
    case Function::divide:
      return "Div";
    case Function::where:
      return "Where";
    case Function::exp:
      return "Exp";
    case Function::relu:
      return "Relu";
    case Function::leaky_relu:
      return "LeakyRelu";
    case Function::clip:
      return "Clip";
    case Function::sigmoid:
      return "Sigmoid";
    case Function::hard_sigmoid:
      return "HardSigmoid";
    case Function::tanh:
      return "Tanh";
    case Function::swish:
      return "Swish";
    case Function::hard_swish:
      return "HardSwish";
    case Function::gelu:
    case Function::gelu_tanh:
      return "Gelu";
    case Function::rotary_embedding:
      return "RotaryEmbedding";
    default:
      return to_string(function);
  }
}

}  // namespace

// --- tensors, names and layers

NetworkBuilder::NetworkBuilder(std::string name, const Settings& settings) : settings_(settings) {
  graph_.name = std::move(name);
  graph_.tensors.reserve(2048);  // the largest network has about that many
  graph_.layers.reserve(1024);
  uses_.reserve(1024);
}

NetworkBuilder::Scope::Scope(NetworkBuilder& builder, std::string_view name)
    : builder_(builder), length_(builder.prefix_.size()) {
  builder.prefix_.append(name).push_back('.');
}

NetworkBuilder::Module::Module(NetworkBuilder& builder, std::string_view name)
    : builder_(builder), scope_(builder, name) {
  builder.module_ = builder.full_name({});
}

std::int64_t NetworkBuilder::dimension(Operand operand, int axis) const {
  const Shape& dimensions = shape(operand);
  const auto at = normalized_axis(axis, dimensions.size());
  return at ? dimensions[*at] : 1;
}

std::string NetworkBuilder::full_name(std::string_view name) const {
  std::string full = prefix_;
  full += name;
  if (name.empty() && !full.empty()) full.pop_back();  // the scope itself
  return full;
}

// A module that is used again gets a number, as torch.fx names its nodes: relu, relu_1, relu_2.
std::string NetworkBuilder::unique_name(std::string_view name) {
  std::string full = full_name(name);
  const int used = uses_[full]++;
  if (used > 0) full += fmt::format("_{}", used);
  return full;
}

Operand NetworkBuilder::tensor(std::string name, Shape shape, ElementType type, Role role) {
  if (!checked_element_count(shape))
    refuse(fmt::format("'{}' would have {} elements, more than can be counted", name,
                       to_string(shape)),
           "ask for a smaller size");
  Tensor made;
  made.name = std::move(name);
  made.type = type;
  made.shape = std::move(shape);
  made.source = settings_.given && role != Role::weight ? ShapeSource::given : ShapeSource::fixed;
  made.role = role;
  graph_.tensors.push_back(std::move(made));
  return {graph_.tensors.size() - 1};
}

Operand NetworkBuilder::input(std::string_view name, Shape shape, std::optional<ElementType> type) {
  const Operand made =
      tensor(std::string(name), std::move(shape), type.value_or(settings_.dtype), Role::input);
  graph_.inputs.push_back(made.id);
  return made;
}

// Vectors (biases, scales and shifts) stay wide in an 8-bit network, as quantisers leave them.
Operand NetworkBuilder::parameter(std::string_view name, Shape shape) {
  const bool stays_wide = bits(settings_.dtype) <= 8 && shape.size() < 2;
  const ElementType type = stays_wide ? ElementType::fp32 : settings_.dtype;
  const Operand made = tensor(full_name(name), std::move(shape), type, Role::weight);
  graph_.tensors[made.id].stored = true;
  graph_.tensors[made.id].is_parameter = true;
  return made;
}

Operand NetworkBuilder::constant(std::string_view name, Shape shape,
                                 std::optional<ElementType> type) {
  return tensor(full_name(name), std::move(shape), type.value_or(settings_.dtype), Role::weight);
}

// Products of 8-bit types stay 8-bit. Everything else in an 8-bit network (normalisation, softmax,
// activations, sums) is computed in fp32 between 8-bit tensors.
DType NetworkBuilder::compute_type(const Op& op, ElementType type) const {
  if (!is_product(op) && bits(type) <= 8) return DType::fp32;
  return compute_dtype(type).value_or(DType::fp32);
}

Layer& NetworkBuilder::add_layer(std::string name, std::string_view origin, const Op& op,
                                 DType dtype, const std::vector<Operand>& inputs) {
  Layer& made = graph_.layers.emplace_back();
  made.name = std::move(name);
  made.origin = origin;
  made.module = module_;
  made.parts.push_back({op, dtype});
  made.inputs.reserve(inputs.size());
  for (const Operand operand : inputs)
    if (std::find(made.inputs.begin(), made.inputs.end(), operand.id) == made.inputs.end())
      made.inputs.push_back(operand.id);
  made.shapes = settings_.given ? ShapeSource::given : ShapeSource::fixed;
  return made;
}

Operand NetworkBuilder::layer(std::string_view name, std::string_view origin, const Op& op,
                              const std::vector<Operand>& inputs, Shape shape,
                              std::optional<ElementType> type) {
  const std::string unique = unique_name(name);
  const ElementType made_type = type.value_or(settings_.dtype);
  const Operand made = tensor(unique, std::move(shape), made_type, Role::activation);
  add_layer(unique, origin, op, compute_type(op, made_type), inputs).outputs = {made.id};
  return made;
}

void NetworkBuilder::refuse(const std::string& what, const std::string& fix) const {
  throw usage_error(graph_.name, what, fix);
}

// --- products: convolutions, linear layers, matrix products, recurrent cells

Extent NetworkBuilder::window_positions(std::string_view name, Operand x,
                                        const PoolOptions& window) const {
  const std::int64_t height = dimension(x, 2), width = dimension(x, 3);
  if (window.same)
    return {rounded_up(height, window.stride.height), rounded_up(width, window.stride.width)};
  const Extent out(positions(height, window.kernel.height, window.stride.height,
                             window.padding.height, window.ceil),
                   positions(width, window.kernel.width, window.stride.width, window.padding.width,
                             window.ceil));
  if (out.height < 1 || out.width < 1)
    refuse(fmt::format("an image of {0}x{0} is too small: '{1}' has a window of {2}x{3} and only "
                       "{4}x{5} to see",
                       settings_.image, full_name(name), window.kernel.height, window.kernel.width,
                       height, width),
           "give a larger --image");
  return out;
}

ConvolutionWeights NetworkBuilder::conv_weights(std::string_view name, std::int64_t in_channels,
                                                std::int64_t channels,
                                                const ConvolutionOptions& options) {
  const Scope names = scope(name);
  ConvolutionWeights weights{parameter("weight", {channels, in_channels / options.groups,
                                                  options.kernel.height, options.kernel.width}),
                             {}};
  if (options.bias) weights.bias = parameter("bias", {channels});
  return weights;
}

Operand NetworkBuilder::conv(std::string_view name, Operand x, const ConvolutionWeights& weights,
                             const ConvolutionOptions& options) {
  const Extent out = window_positions(name, x,
                                      {.kernel = options.kernel,
                                       .stride = options.stride,
                                       .padding = options.padding,
                                       .same = options.same});
  Convolution op;
  op.batch = dimension(x, 0);
  op.in_channels = dimension(x, 1);
  op.out_channels = dimension(weights.weight, 0);
  op.groups = options.groups;
  op.kernel = spatial(options.kernel);
  op.in_spatial = {dimension(x, 2), dimension(x, 3)};
  op.out_spatial = spatial(out);
  op.bias = weights.bias.has_value();
  std::vector<Operand> inputs{x, weights.weight};
  if (weights.bias) inputs.push_back(*weights.bias);
  return layer(name, "Conv", op, inputs, {op.batch, op.out_channels, out.height, out.width});
}

Operand NetworkBuilder::conv(std::string_view name, Operand x, std::int64_t channels,
                             const ConvolutionOptions& options) {
  return conv(name, x, conv_weights(name, dimension(x, 1), channels, options), options);
}

// Without output padding: a convolution with these options would map the output's size back to the
// input's.
Operand NetworkBuilder::conv_transpose(std::string_view name, Operand x, std::int64_t channels,
                                       const ConvolutionOptions& options) {
  const Extent in(dimension(x, 2), dimension(x, 3));
  const Extent out(
      (in.height - 1) * options.stride.height - 2 * options.padding.height + options.kernel.height,
      (in.width - 1) * options.stride.width - 2 * options.padding.width + options.kernel.width);
  Convolution op;
  op.batch = dimension(x, 0);
  op.in_channels = dimension(x, 1);
  op.out_channels = channels;
  op.groups = options.groups;
  op.kernel = spatial(options.kernel);
  op.in_spatial = spatial(in);
  op.out_spatial = spatial(out);
  op.transposed = true;
  op.bias = options.bias;

  std::vector<Operand> inputs{x};
  {
    const Scope names = scope(name);
    inputs.push_back(
        parameter("weight", {op.in_channels, channels / op.groups, op.kernel[0], op.kernel[1]}));
    if (op.bias) inputs.push_back(parameter("bias", {channels}));
  }
  return layer(name, "ConvTranspose", op, inputs, {op.batch, channels, out.height, out.width});
}

Operand NetworkBuilder::linear(std::string_view name, Operand x, std::int64_t features, bool bias) {
  const std::int64_t width = dimension(x, -1);
  Shape shape = leading(this->shape(x));
  MatMul op;
  op.m = checked_element_count(shape).value_or(0);
  op.n = features;
  op.k = width;
  op.bias = bias;
  const std::string_view origin = shape.size() == 1 ? "Gemm" : "MatMul";
  shape.push_back(features);

  std::vector<Operand> inputs{x};
  {
    const Scope names = scope(name);
    inputs.push_back(parameter("weight", {features, width}));
    if (bias) inputs.push_back(parameter("bias", {features}));
  }
  return layer(name, origin, op, inputs, std::move(shape));
}

Operand NetworkBuilder::linear_tied(std::string_view name, Operand x, Operand weight) {
  Shape shape = leading(this->shape(x));
  MatMul op;
  op.m = checked_element_count(shape).value_or(0);
  op.n = dimension(weight, 0);
  op.k = dimension(weight, 1);
  shape.push_back(op.n);
  return layer(name, "MatMul", op, {x, weight}, std::move(shape));
}

Operand NetworkBuilder::product(std::string_view name, Operand a, Operand b, std::int64_t n,
                                std::int64_t k) {
  Shape shape = leading(this->shape(a));
  MatMul op;
  op.m = shape.back();
  op.n = n;
  op.k = k;
  op.batch = checked_element_count(leading(shape)).value_or(0);
  shape.push_back(n);
  return layer(name, "MatMul", op, {a, b}, std::move(shape), type(a));
}

Operand NetworkBuilder::matmul(std::string_view name, Operand a, Operand b) {
  return product(name, a, b, dimension(b, -1), dimension(a, -1));
}

Operand NetworkBuilder::matmul_transposed(std::string_view name, Operand a, Operand b) {
  return product(name, a, b, dimension(b, -2), dimension(a, -1));
}

// Two biases, for input and recurrence, as in ONNX and torch.
RecurrentOutputs NetworkBuilder::recurrent(std::string_view name, Cell cell, Operand x,
                                           std::int64_t hidden) {
  const std::int64_t steps = dimension(x, 0), batch = dimension(x, 1), input = dimension(x, 2);
  const std::int64_t gates = cell == Cell::lstm ? 4 : cell == Cell::gru ? 3 : 1;
  const std::string_view origin = cell == Cell::lstm ? "LSTM" : cell == Cell::gru ? "GRU" : "RNN";
  const Recurrent op{cell, 1, steps, batch, input, hidden, true, false};
  std::vector<Operand> inputs{x};
  {
    const Scope names = scope(name);
    inputs.push_back(parameter("weight_ih", {gates * hidden, input}));
    inputs.push_back(parameter("weight_hh", {gates * hidden, hidden}));
    inputs.push_back(parameter("bias_ih", {gates * hidden}));
    inputs.push_back(parameter("bias_hh", {gates * hidden}));
  }
  const Operand every = layer(name, origin, op, inputs, {steps, batch, hidden});
  const std::string made = graph_.layers.back().name;
  RecurrentOutputs outputs{
      every, tensor(made + ".h_n", {1, batch, hidden}, settings_.dtype, Role::activation), {}};
  graph_.layers.back().outputs.push_back(outputs.last.id);
  if (cell == Cell::lstm) {
    outputs.cell = tensor(made + ".c_n", {1, batch, hidden}, settings_.dtype, Role::activation);
    graph_.layers.back().outputs.push_back(outputs.cell.id);
  }
  return outputs;
}

// --- scaled dot-product attention: one layer, or the layers it consists of, which follow the eager
// code of Hugging Face and torchvision step by step

Operand NetworkBuilder::attention(std::string_view name, Operand query, KeyValue now,
                                  const AttentionOptions& options) {
  const std::int64_t kv_heads = options.kv_heads > 0 ? options.kv_heads : options.heads;
  const HeadSizes q = head_sizes(shape(query), options.heads);
  const HeadSizes k = head_sizes(shape(now.key), kv_heads);
  const HeadSizes v = head_sizes(shape(now.value), kv_heads);
  Attention op;
  op.batch = q.batch;
  op.q_heads = options.heads;
  op.kv_heads = kv_heads;
  op.q_length = q.tokens;
  op.kv_length = k.tokens + (options.past ? dimension(options.past->key, -2) : 0);
  op.qk_dimension = q.width;
  op.v_dimension = v.width;
  op.causal = options.causal;
  op.additive_mask = !options.biases.empty();
  Shape out = q.leading;
  out.insert(out.end(), {q.tokens, options.heads * v.width});

  if (options.form.value_or(settings_.attention) == AttentionForm::eager) {
    const Scope names = scope(name);
    return eager_attention(query, now, options, op, std::move(out));
  }
  std::vector<Operand> inputs{query, now.key, now.value};
  if (options.past) inputs.insert(inputs.end(), {options.past->key, options.past->value});
  inputs.insert(inputs.end(), options.biases.begin(), options.biases.end());
  return layer(name, "Attention", op, inputs, std::move(out));
}

Operand NetworkBuilder::attention(std::string_view name, Operand packed,
                                  const AttentionOptions& options) {
  const std::int64_t width = dimension(packed, -1) / 3;
  if (options.form.value_or(settings_.attention) == AttentionForm::eager) {
    const auto parts = split(std::string(name) + ".split", packed, {width, width, width}, -1);
    return attention(name, parts[0], {parts[1], parts[2]}, options);
  }
  const HeadSizes sizes = head_sizes(shape(packed), 3 * options.heads);
  Attention op;
  op.batch = sizes.batch;
  op.q_heads = op.kv_heads = options.heads;
  op.q_length = op.kv_length = sizes.tokens;
  op.qk_dimension = op.v_dimension = sizes.width;
  op.causal = options.causal;
  op.additive_mask = !options.biases.empty();
  std::vector<Operand> inputs{packed};
  inputs.insert(inputs.end(), options.biases.begin(), options.biases.end());
  Shape out = sizes.leading;
  out.insert(out.end(), {sizes.tokens, width});
  return layer(name, "Attention", op, inputs, std::move(out));
}

// Splitting heads only changes strides, and libraries multiply such matrices in place. The result
// has its heads outside and must be moved.
Operand NetworkBuilder::eager_attention(Operand query, KeyValue now,
                                        const AttentionOptions& options, const Attention& op,
                                        Shape out) {
  const Shape leading(out.begin(), out.end() - 2);
  const auto heads_of = [&](Operand x, std::int64_t heads, std::int64_t width) {
    return transpose_view("transpose", x, per_head(leading, heads, dimension(x, -2), width));
  };
  Operand q = heads_of(query, op.q_heads, op.qk_dimension);
  Operand k = heads_of(now.key, op.kv_heads, op.qk_dimension);
  Operand v = heads_of(now.value, op.kv_heads, op.v_dimension);
  if (options.past) {
    k = concat("concat", {options.past->key, k}, -2);
    v = concat("concat", {options.past->value, v}, -2);
  }
  if (op.kv_heads != op.q_heads) {
    k = copy("expand", "Expand", k, per_head(leading, op.q_heads, op.kv_length, op.qk_dimension));
    v = copy("expand", "Expand", v, per_head(leading, op.q_heads, op.kv_length, op.v_dimension));
  }
  if (options.scales_query) q = scale("mul", q);
  Operand scores = matmul_transposed("matmul", q, k);
  if (!options.scales_query) scores = scale("mul", scores);
  const auto add_to_scores = [&](Operand bias) {
    const Elementwise sum{Function::add, element_count(shape(scores))};
    scores = layer("add", "Add", sum, {scores, bias}, shape(scores));
  };
  if (op.causal) add_to_scores(constant("causal_mask", {op.q_length, op.kv_length}));
  for (const Operand bias : options.biases) add_to_scores(bias);
  const bool widens = options.softmax_in_fp32 && settings_.dtype != ElementType::fp32;
  Operand weights =
      softmax("softmax", scores, widens ? std::optional(ElementType::fp32) : std::nullopt);
  if (widens) weights = cast("to", weights, settings_.dtype);
  if (options.dropout) weights = dropout("dropout", weights);
  return transpose("transpose", matmul("matmul", weights, v), std::move(out));
}

// --- element by element, normalisation, pooling, resizing

Operand NetworkBuilder::activation(std::string_view name, Operand x, Function function) {
  return layer(name, operator_word(function), Elementwise{function, element_count(shape(x))}, {x},
               shape(x), type(x));
}

Operand NetworkBuilder::combine(std::string_view name, Operand a, Operand b, Function function) {
  auto shape = broadcast(this->shape(a), this->shape(b));
  if (!shape)
    refuse(fmt::format("'{}' cannot combine {} and {}", full_name(name), to_string(this->shape(a)),
                       to_string(this->shape(b))),
           "give sizes that the network divides evenly");
  const std::int64_t elements = element_count(*shape);
  return layer(name, operator_word(function), Elementwise{function, elements}, {a, b},
               std::move(*shape), type(a));
}

Operand NetworkBuilder::scale(std::string_view name, Operand x) {
  const auto used = uses_.find(full_name(name));  // the constant is named after the layer
  const std::string number = used == uses_.end() ? "" : fmt::format("_{}", used->second);
  return multiply(name, x, constant(fmt::format("{}{}.factor", name, number), {}));
}

Operand NetworkBuilder::cast(std::string_view name, Operand x, ElementType type) {
  return layer(name, "Cast", Elementwise{Function::cast, element_count(shape(x))}, {x}, shape(x),
               type);
}

Operand NetworkBuilder::softmax(std::string_view name, Operand x, std::optional<ElementType> type) {
  return layer(name, "Softmax", Softmax{element_count(shape(x)), false}, {x}, shape(x), type);
}

// Running statistics are not parameters: they have no gradient.
Operand NetworkBuilder::batch_norm(std::string_view name, Operand x, bool frozen) {
  const std::int64_t channels = dimension(x, 1);
  std::vector<Operand> inputs{x};
  {
    const Scope names = scope(name);
    for (const char* vector : {"weight", "bias", "running_mean", "running_var"}) {
      inputs.push_back(parameter(vector, {channels}));
      const bool learned = inputs.size() <= 3 && !frozen;
      graph_.tensors.back().is_parameter = learned;
    }
  }
  const Normalize op{Normalization::batch, element_count(shape(x)), channels, true, false, 0};
  return layer(name, "BatchNormalization", op, inputs, shape(x));
}

Operand NetworkBuilder::group_norm(std::string_view name, Operand x, std::int64_t groups) {
  const std::int64_t channels = dimension(x, 1);
  std::vector<Operand> inputs{x};
  {
    const Scope names = scope(name);
    for (const char* learned : {"weight", "bias"}) inputs.push_back(parameter(learned, {channels}));
  }
  const Normalize op{
      Normalization::group, element_count(shape(x)), dimension(x, 0) * groups, true, false, 0};
  return layer(name, "GroupNormalization", op, inputs, shape(x));
}

Operand NetworkBuilder::layer_norm(std::string_view name, Operand x) {
  const std::int64_t width = dimension(x, -1), elements = element_count(shape(x));
  std::vector<Operand> inputs{x};
  {
    const Scope names = scope(name);
    for (const char* learned : {"weight", "bias"}) inputs.push_back(parameter(learned, {width}));
  }
  const Normalize op{Normalization::layer, elements, elements / width, true, false, 0};
  return layer(name, "LayerNormalization", op, inputs, shape(x));
}

Operand NetworkBuilder::rms_norm(std::string_view name, Operand x) {
  const std::int64_t width = dimension(x, -1), elements = element_count(shape(x));
  std::vector<Operand> inputs{x};
  {
    const Scope names = scope(name);
    inputs.push_back(parameter("weight", {width}));
  }
  const Normalize op{Normalization::rms, elements, elements / width, true, false, 0};
  return layer(name, "RMSNormalization", op, inputs, shape(x));
}

Operand NetworkBuilder::pool(std::string_view name, Operand x, Pooling kind,
                             const PoolOptions& options) {
  const Extent out = window_positions(name, x, options);
  Shape shape{dimension(x, 0), dimension(x, 1), out.height, out.width};
  const Pool op{kind, checked_element_count(shape).value_or(0),
                options.kernel.height * options.kernel.width};
  return layer(name, kind == Pooling::max ? "MaxPool" : "AveragePool", op, {x}, std::move(shape));
}

Operand NetworkBuilder::max_pool(std::string_view name, Operand x, const PoolOptions& options) {
  return pool(name, x, Pooling::max, options);
}

Operand NetworkBuilder::average_pool(std::string_view name, Operand x, const PoolOptions& options) {
  return pool(name, x, Pooling::average, options);
}

// Windows of torch's adaptive pooling reach from ⌊i·in/out⌋ to ⌈(i+1)·in/out⌉. If out does not
// divide in, some are one longer than others; the longest counts for all.
Operand NetworkBuilder::adaptive_average_pool(std::string_view name, Operand x, Extent out) {
  const auto window = [](std::int64_t in, std::int64_t count) {
    std::int64_t longest = 1;
    for (std::int64_t i = 0; i < count; ++i)
      longest = std::max(longest, ((i + 1) * in + count - 1) / count - i * in / count);
    return longest;
  };
  Shape shape{dimension(x, 0), dimension(x, 1), out.height, out.width};
  const Pool op{Pooling::average, checked_element_count(shape).value_or(0),
                window(dimension(x, 2), out.height) * window(dimension(x, 3), out.width)};
  return layer(name, "AveragePool", op, {x}, std::move(shape));
}

Operand NetworkBuilder::global_average_pool(std::string_view name, Operand x) {
  Shape shape{dimension(x, 0), dimension(x, 1), 1, 1};
  const Pool op{Pooling::average, element_count(shape), dimension(x, 2) * dimension(x, 3)};
  return layer(name, "GlobalAveragePool", op, {x}, std::move(shape));
}

Operand NetworkBuilder::resize(std::string_view name, Operand x, Extent out, Interpolation kind) {
  Shape shape{dimension(x, 0), dimension(x, 1), out.height, out.width};
  const Resize op{kind, 2, checked_element_count(shape).value_or(0), 1};
  return layer(name, "Resize", op, {x}, std::move(shape));
}

// --- movement. Splits, reshapes and dropout at inference cost nothing in torch, so they are views
// here.

Operand NetworkBuilder::concat(std::string_view name, const std::vector<Operand>& parts, int axis) {
  Shape shape = this->shape(parts.front());
  const std::size_t along = normalized_axis(axis, shape.size()).value_or(0);
  shape[along] = 0;
  for (const Operand part : parts) {
    Shape other = this->shape(part);
    shape[along] += other[along];
    other[along] = shape[along];
    if (other != shape)
      refuse(fmt::format("'{}' cannot join {} and {}", full_name(name),
                         to_string(this->shape(parts.front())), to_string(this->shape(part))),
             "give sizes that the network divides evenly");
  }
  return layer(name, "Concat", Copy{}, parts, std::move(shape), type(parts.front()));
}

std::vector<Operand> NetworkBuilder::split(std::string_view name, Operand x, const Shape& sizes,
                                           int axis) {
  const std::string unique = unique_name(name);
  const std::size_t along = normalized_axis(axis, shape(x).size()).value_or(0);
  const std::size_t index = graph_.layers.size();
  add_layer(unique, "Split", View{}, compute_type(View{}, type(x)), {x});
  std::vector<Operand> parts;
  for (const std::int64_t size : sizes) {
    Shape shape = this->shape(x);
    shape[along] = size;
    parts.push_back(tensor(fmt::format("{}.{}", unique, parts.size()), std::move(shape), type(x),
                           Role::activation));
    graph_.layers[index].outputs.push_back(parts.back().id);
  }
  return parts;
}

Operand NetworkBuilder::gather(std::string_view name, Operand table, Operand indices) {
  Shape shape = this->shape(indices);
  shape.push_back(dimension(table, -1));
  const Gather op{checked_element_count(shape).value_or(0)};
  return layer(name, "Gather", op, {table, indices}, std::move(shape), type(table));
}

Operand NetworkBuilder::embedding(std::string_view name, Operand indices, std::int64_t rows,
                                  std::int64_t width) {
  const Operand table = parameter(std::string(name) + ".weight", {rows, width});
  return gather(name, table, indices);
}

Operand NetworkBuilder::flatten(std::string_view name, Operand x) {
  const std::int64_t batch = dimension(x, 0);
  return layer(name, "Flatten", View{}, {x}, {batch, element_count(shape(x)) / batch}, type(x));
}

Operand NetworkBuilder::reshape(std::string_view name, Operand x, Shape shape) {
  return layer(name, "Reshape", View{}, {x}, std::move(shape), type(x));
}

Operand NetworkBuilder::dropout(std::string_view name, Operand x) {
  return layer(name, "Dropout", View{}, {x}, shape(x), type(x));
}

Operand NetworkBuilder::stochastic_depth(std::string_view name, Operand x) {
  return layer(name, "StochasticDepth", View{}, {x}, shape(x), type(x));
}

Operand NetworkBuilder::transpose_view(std::string_view name, Operand x, Shape shape) {
  return layer(name, "Transpose", View{}, {x}, std::move(shape), type(x));
}

Operand NetworkBuilder::transpose(std::string_view name, Operand x, Shape shape) {
  return copy(name, "Transpose", x, std::move(shape));
}

// If the input is larger than the output, only as much is read as is written.
Operand NetworkBuilder::copy(std::string_view name, std::string_view origin, Operand x,
                             Shape shape) {
  Copy op;
  const auto written = checked_element_count(shape);
  if (written && *written < element_count(this->shape(x))) op.elements_read = *written;
  return layer(name, origin, op, {x}, std::move(shape), type(x));
}

}  // namespace ridgeline
