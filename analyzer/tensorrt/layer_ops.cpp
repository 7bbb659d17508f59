// Layers with a ParameterType describe themselves. Of those without one, Myelin lists tensors and
// a tactic only: a plain gemm can be worked out from them, anything else is opaque.
#include "analyzer/tensorrt/layer_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "analyzer/tensorrt/kernels.h"
#include "analyzer/tensorrt/tactic.h"
#include "base/text.h"

namespace ridgeline::tensorrt {
namespace {

constexpr const char* needs_onnx = "opaque; --onnx MODEL.onnx counts it";

std::vector<Part> unknown_layer(std::string reason) {
  return {{Unknown{std::move(reason)}, DType::fp32}};
}

std::int64_t elements_of(const EngineTensor& tensor) { return element_count(tensor.shape); }
std::int64_t output_elements(const EngineLayer& layer) {
  return layer.outputs.empty() ? 0 : elements_of(layer.outputs.front());
}

std::optional<DType> dtype_of(const EngineTensor& tensor) {
  return compute_dtype(tensor.format.type);
}

// Quantised products leave their accumulator as fp32; TF32 is a format of products alone.
DType epilogue_type(DType product) {
  const bool keeps = product == DType::fp16 || product == DType::bf16 || product == DType::fp64;
  return keeps ? product : DType::fp32;
}

// Element-wise work between integer and floating tensors is done in the floating type.
DType elementwise_type(const EngineLayer& layer) {
  std::optional<DType> any;
  for (const auto* tensors : {&layer.inputs, &layer.outputs})
    for (const EngineTensor& tensor : *tensors) {
      const auto dtype = dtype_of(tensor);
      if (dtype && !is_integer(*dtype)) return *dtype;
      if (dtype && !any) any = dtype;
    }
  return any.value_or(DType::fp32);
}

struct FunctionWord {
  std::string_view word;
  Function function;
};

// Of TensorRT's enumerations (kPROD and so on) and, in lower case, of expressions (pwgen::iMul).
constexpr FunctionWord function_words[] = {
    {"sum", Function::add},
    {"plus", Function::add},
    {"add", Function::add},
    {"sub", Function::subtract},
    {"minus", Function::subtract},
    {"prod", Function::multiply},
    {"mul", Function::multiply},
    {"div", Function::divide},
    {"floor_div", Function::divide},
    {"pow", Function::power},
    {"mod", Function::modulo},
    {"fmod", Function::modulo},
    {"min", Function::minimum},
    {"max", Function::maximum},
    {"equal", Function::compare},
    {"less", Function::compare},
    {"greater", Function::compare},
    {"and", Function::logical},
    {"or", Function::logical},
    {"xor", Function::logical},
    {"not", Function::logical},
    {"select", Function::where},
    {"neg", Function::negate},
    {"abs", Function::absolute},
    {"sign", Function::sign},
    {"round", Function::round},
    {"floor", Function::round},
    {"ceil", Function::round},
    {"rcp", Function::reciprocal},
    {"recip", Function::reciprocal},
    {"sqrt", Function::sqrt},
    {"rsqrt", Function::sqrt},
    {"exp", Function::exp},
    {"log", Function::log},
    {"sin", Function::trigonometric},
    {"cos", Function::trigonometric},
    {"tan", Function::trigonometric},
    {"asin", Function::trigonometric},
    {"acos", Function::trigonometric},
    {"atan", Function::trigonometric},
    {"sinh", Function::hyperbolic},
    {"cosh", Function::hyperbolic},
    {"tanh", Function::tanh},
    {"sigmoid", Function::sigmoid},
    {"hard_sigmoid", Function::hard_sigmoid},
    {"hardsigmoid", Function::hard_sigmoid},
    {"relu", Function::relu},
    {"clipped_relu", Function::clip},
    {"clip", Function::clip},
    {"leaky_relu", Function::leaky_relu},
    {"leakyrelu", Function::leaky_relu},
    {"elu", Function::elu},
    {"selu", Function::elu},
    {"softplus", Function::softplus},
    {"softsign", Function::softsign},
    {"erf", Function::erf},
    {"gelu", Function::gelu},
    {"gelu_erf", Function::gelu},
    {"gelu_tanh", Function::gelu_tanh},
    {"swish", Function::swish},
    {"cast", Function::cast},
};

std::optional<Function> function_of(std::string_view text) {
  const std::string word = lower(text);
  const auto* row = std::find_if(std::begin(function_words), std::end(function_words),
                                 [&](const FunctionWord& each) { return each.word == word; });
  if (row == std::end(function_words)) return std::nullopt;
  return row->function;
}

// "auto const var0 = pwgen::iMul(arg0, arg1);" → multiply. An operation without a name here costs
// as much as an addition; a plain assignment is none.
std::optional<Function> function_in(std::string_view line) {
  constexpr std::string_view mark = "pwgen::";
  const std::size_t at = line.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view name = line.substr(at + mark.size());
  name = name.substr(0, name.find_first_of("(<"));
  if (name.starts_with('i')) name.remove_prefix(1);
  return function_of(name).value_or(Function::add);
}

void add_expression(std::vector<Part>& parts, const EngineLayer& layer, DType dtype) {
  for (const std::string& line : layer.expression)
    if (const auto function = function_in(line))
      parts.push_back({Elementwise{*function, output_elements(layer)}, dtype});
}

// --- Convolutions.

// Sizes of a tensor behind batch and channels; a tensor without batch has one axis less.
struct Image {
  std::int64_t batch = 1, channels = 1;
  Shape spatial;
};

std::optional<Image> image_of(const EngineTensor& tensor, std::size_t axes) {
  const Shape& shape = tensor.shape;
  const bool has_batch = shape.size() == axes + 2;
  if (!has_batch && shape.size() != axes + 1) return std::nullopt;
  Image image;
  const std::size_t channels = has_batch ? 1 : 0;
  if (has_batch) image.batch = shape[0];
  image.channels = shape[channels];
  image.spatial.assign(shape.begin() + static_cast<long>(channels) + 1, shape.end());
  return image;
}

std::int64_t entry(const Shape& list, std::size_t axis, std::int64_t otherwise) {
  return axis < list.size() ? list[axis] : otherwise;
}

// The product of sizes that come from a file; nothing if it is too large.
std::optional<std::int64_t> multiplied(std::initializer_list<std::int64_t> sizes) {
  return checked_element_count(std::span(sizes.begin(), sizes.size()));
}

// Positions of a window; rounded down, as all convolutions are.
Shape positions(const Shape& in, const Window& window) {
  Shape out;
  for (std::size_t axis = 0; axis < in.size(); ++axis) {
    const std::int64_t steps = std::max<std::int64_t>(0, entry(window.size, axis, 1) - 1);
    const std::int64_t reach =
        multiplied({steps, entry(window.dilation, axis, 1)}).value_or(max_dimension) + 1;
    const std::int64_t padded =
        in[axis] + entry(window.pre_padding, axis, 0) + entry(window.post_padding, axis, 0);
    const std::int64_t stride = std::max<std::int64_t>(1, entry(window.stride, axis, 1));
    out.push_back(padded < reach ? 0 : (padded - reach) / stride + 1);
  }
  return out;
}

// Weights and results can be numbered.
bool is_countable(const Convolution& op) {
  Shape weights{op.out_channels, op.in_channels / op.groups};
  weights.insert(weights.end(), op.kernel.begin(), op.kernel.end());
  Shape results{op.batch, op.out_channels};
  results.insert(results.end(), op.out_spatial.begin(), op.out_spatial.end());
  return checked_element_count(weights) && checked_element_count(results);
}

std::optional<Convolution> convolution_of(const EngineLayer& layer) {
  const std::size_t axes = layer.window.size.size();
  if (axes == 0 || layer.inputs.empty() || layer.outputs.empty()) return std::nullopt;
  const auto in = image_of(layer.inputs.front(), axes);
  const auto out = image_of(layer.outputs.front(), axes);
  if (!in || !out || layer.out_maps == 0 || in->channels % layer.groups != 0) return std::nullopt;
  Convolution op;
  op.batch = in->batch;
  op.in_channels = in->channels;
  op.out_channels = layer.out_maps;
  op.groups = layer.groups;
  op.kernel = layer.window.size;
  op.in_spatial = in->spatial;
  op.out_spatial = out->spatial;
  // The kernels of a deconvolution call themselves Convolution, too.
  const bool named = lower(layer.type).find("deconv") != std::string::npos;
  op.transposed = named || layer.parameter == "Deconvolution";
  op.bias = layer.bias.count > 0;
  if (!is_countable(op)) return std::nullopt;
  return op;
}

bool adds_residual(const EngineLayer& layer) {
  if (layer.residual) return true;
  return std::any_of(layer.inputs.begin() + 1, layer.inputs.end(), [&](const EngineTensor& input) {
    return input.shape == layer.outputs.front().shape;
  });
}

std::vector<Part> with_epilogue(Convolution op, const EngineLayer& layer) {
  const DType product = compute_type(layer), after = epilogue_type(product);
  const std::int64_t elements = op.batch * op.out_channels * element_count(op.out_spatial);
  std::vector<Part> parts{{op, product}};
  if (adds_residual(layer)) parts.push_back({Elementwise{Function::add, elements}, after});
  add_expression(parts, layer, after);
  if (layer.expression.empty() && !layer.activation.empty())
    parts.push_back(
        {Elementwise{function_of(layer.activation).value_or(Function::relu), elements}, after});
  return parts;
}

std::vector<Part> convolution(const EngineLayer& layer) {
  const auto op = convolution_of(layer);
  if (!op) return unknown_layer("dimensions do not fit the kernel");
  return with_epilogue(*op, layer);
}

Pooling pooling_kind(const EngineLayer& layer) {
  return lower(layer.pooling).find("max") != std::string::npos ? Pooling::max : Pooling::average;
}

std::vector<Part> pool(const EngineLayer& layer) {
  if (layer.pool.size.empty() || layer.outputs.empty())
    return unknown_layer("a pool without a window");
  return {{Pool{pooling_kind(layer), output_elements(layer), element_count(layer.pool.size)},
           elementwise_type(layer)}};
}

// The output is that of the pool; the convolution's follows from its window.
std::vector<Part> convolution_and_pool(const EngineLayer& layer) {
  auto op = convolution_of(layer);
  if (!op) return unknown_layer("dimensions do not fit the kernel");
  op->out_spatial = positions(op->in_spatial, layer.window);
  if (!is_countable(*op)) return unknown_layer("dimensions do not fit the kernel");
  std::vector<Part> parts = with_epilogue(*op, layer);
  parts.push_back({Pool{pooling_kind(layer), output_elements(layer),
                        std::max<std::int64_t>(1, element_count(layer.pool.size))},
                   epilogue_type(compute_type(layer))});
  return parts;
}

// --- Other layers that describe themselves.

std::vector<Part> pointwise(const EngineLayer& layer) {
  std::vector<Part> parts;
  add_expression(parts, layer, elementwise_type(layer));
  if (parts.empty()) return {{Copy{}, elementwise_type(layer)}};
  return parts;
}

std::vector<Part> elementwise(const EngineLayer& layer) {
  const DType dtype = elementwise_type(layer);
  std::vector<Part> parts{
      {Elementwise{function_of(layer.operation).value_or(Function::add), output_elements(layer)},
       dtype}};
  if (const auto function = function_of(layer.activation))
    parts.push_back({Elementwise{*function, output_elements(layer)}, dtype});
  return parts;
}

std::vector<Part> activation(const EngineLayer& layer) {
  const std::string& word = layer.activation.empty() ? layer.operation : layer.activation;
  return {{Elementwise{function_of(word).value_or(Function::relu), output_elements(layer)},
           elementwise_type(layer)}};
}

std::vector<Part> scale(const EngineLayer& layer) {
  std::vector<Part> parts;
  const std::int64_t elements = output_elements(layer);
  const DType dtype = elementwise_type(layer);
  const auto add = [&](const StoredWeights& weights, Function function) {
    if (weights.count > 0) parts.push_back({Elementwise{function, elements}, dtype});
  };
  add(layer.scale, Function::multiply);
  add(layer.shift, Function::add);
  add(layer.power, Function::power);
  if (const auto function = function_of(layer.activation))
    parts.push_back({Elementwise{*function, elements}, dtype});
  if (parts.empty()) parts.push_back({Copy{}, dtype});
  return parts;
}

std::vector<Part> softmax(const EngineLayer& layer) {
  return {{Softmax{output_elements(layer)}, elementwise_type(layer)}};
}

std::vector<Part> copy(const EngineLayer& layer) { return {{Copy{}, elementwise_type(layer)}}; }

std::vector<Part> slice(const EngineLayer& layer) {
  return {{Copy{output_elements(layer)}, elementwise_type(layer)}};
}

std::vector<Part> gather(const EngineLayer& layer) {
  return {{Gather{output_elements(layer)}, elementwise_type(layer)}};
}

std::vector<Part> view(const EngineLayer&) { return {{View{}, DType::fp32}}; }

struct ReductionWord {
  std::string_view word;
  Reduction kind;
};

constexpr ReductionWord reductions[] = {{"sum", Reduction::sum},   {"avg", Reduction::mean},
                                        {"mean", Reduction::mean}, {"max", Reduction::max},
                                        {"min", Reduction::min},   {"prod", Reduction::product}};

std::vector<Part> reduce(const EngineLayer& layer) {
  if (layer.inputs.empty()) return unknown_layer("a reduction without input");
  const std::string word = lower(layer.operation);
  const auto* row = std::find_if(std::begin(reductions), std::end(reductions),
                                 [&](const ReductionWord& each) { return each.word == word; });
  return {{Reduce{row == std::end(reductions) ? Reduction::sum : row->kind,
                  elements_of(layer.inputs.front()), output_elements(layer)},
           elementwise_type(layer)}};
}

// --- Matrix products: A, perhaps B, and the result, with axes in any order of storage.

std::optional<MatMul> product_of(const EngineLayer& layer) {
  if (layer.inputs.empty() || layer.outputs.empty()) return std::nullopt;
  const Shape& out = layer.outputs.front().shape;
  const Shape& in = layer.inputs.front().shape;
  const std::int64_t results = output_elements(layer);
  if (out.empty() || in.empty() || results <= 0) return std::nullopt;
  MatMul op;
  op.n = out.back();
  if (layer.inputs.size() == 1) {  // with weights, which all rows share
    op.m = results / op.n;
    op.k = in.back();
    if (multiplied({op.k, op.m}) != elements_of(layer.inputs.front())) return std::nullopt;
    if (!multiplied({op.k, op.n})) return std::nullopt;
    return op;
  }
  if (layer.inputs.size() != 2 || out.size() < 2) return std::nullopt;
  op.m = out[out.size() - 2];
  const std::int64_t a = elements_of(layer.inputs[0]), b = elements_of(layer.inputs[1]);
  op.batch = results / (op.m * op.n);
  if (a % (op.batch * op.m) != 0) return std::nullopt;
  op.k = a / (op.batch * op.m);
  const bool is_shared = b == multiplied({op.k, op.n});
  if (b != multiplied({op.batch, op.k, op.n}) && !is_shared) return std::nullopt;
  if (is_shared) {  // one right-hand side for all: its rows are those of one product
    op.m *= op.batch;
    op.batch = 1;
  }
  return op;
}

std::vector<Part> gemm(const EngineLayer& layer) {
  const auto op = product_of(layer);
  if (!op) return unknown_layer(needs_onnx);
  return {{*op, compute_type(layer)}};
}

// --- Plugins whose work follows from their tensors.

struct PluginRule {
  std::string_view plugin;  // in lower case, its beginning
  Op (*op)(const EngineLayer& layer);
};

Op normalize_rows(const EngineLayer& layer, Normalization kind, std::size_t leading) {
  const Shape& shape = layer.outputs.front().shape;
  const std::int64_t rows = element_count(std::span(shape).first(std::min(leading, shape.size())));
  return Normalize{kind, output_elements(layer), rows, true, false, 0};
}

constexpr PluginRule plugin_rules[] = {
    {"instancenormalization",
     [](const EngineLayer& layer) -> Op {
       return normalize_rows(layer, Normalization::instance, 2);
     }},
    {"customgelu",
     [](const EngineLayer& layer) -> Op {
       return Elementwise{Function::gelu, output_elements(layer)};
     }},
};

std::vector<Part> plugin(const EngineLayer& layer) {
  const std::string name = lower(layer.plugin);
  for (const PluginRule& rule : plugin_rules)
    if (name.starts_with(rule.plugin) && !layer.outputs.empty())
      return {{rule.op(layer), elementwise_type(layer)}};
  return unknown_layer(fmt::format("plugin {}; --onnx MODEL.onnx counts what it replaced",
                                   layer.plugin.empty() ? "without a type" : layer.plugin));
}

std::vector<Part> opaque(const EngineLayer&) { return unknown_layer(needs_onnx); }

std::vector<Part> dla(const EngineLayer&) {
  return unknown_layer("runs on the DLA; --onnx MODEL.onnx counts it");
}

struct LayerRule {
  std::string_view word;  // in lower case
  std::vector<Part> (*parts)(const EngineLayer& layer);
};

// By ParameterType.
constexpr LayerRule parameter_rules[] = {
    {"convolution", convolution},
    {"deconvolution", convolution},
    {"convactpool", convolution_and_pool},
    {"pooling", pool},
    {"pointwise", pointwise},
    {"elementwise", elementwise},
    {"unary", elementwise},
    {"activation", activation},
    {"scale", scale},
    {"softmax", softmax},
    {"reduce", reduce},
    {"matrixmultiply", gemm},
    {"reformat", copy},
    {"shuffle", copy},
    {"padding", copy},
    {"concatenation", copy},
    {"slice", slice},
    {"gather", gather},
    {"constant", view},
};

// By LayerType, of layers without a ParameterType: the whole word.
constexpr LayerRule type_rules[] = {
    {"noop", view},
    {"constant", view},
    {"shape_call", view},
    {"trainstation", view},
    {"signal", view},
    {"wait", view},
    {"shapehosttodevice", view},
    {"reformat", copy},
    {"myelinreformat", copy},
    {"shuffle", copy},
    {"slice", slice},
    {"gather", gather},
    {"padding", copy},
    {"concatenation", copy},
    {"gemm", gemm},
    {"matrixmultiply", gemm},
    {"softmax", softmax},
    {"cudasoftmax", softmax},
    {"casksoftmaxv2", softmax},
    {"kgen", opaque},
    {"myelin", opaque},
    {"foreignnode", opaque},
    {"pluginv2", plugin},
    {"pluginv3", plugin},
    {"plugin", plugin},
    {"dla", dla},
};

}  // namespace

std::vector<Part> layer_parts(const EngineLayer& layer) {
  const std::string parameter = lower(layer.parameter), type = lower(layer.type);
  // Deconvolutions inside convolutions are told apart by convolution_of.
  for (const LayerRule& rule : parameter_rules)
    if (!parameter.empty() && rule.word == parameter) return rule.parts(layer);
  for (const LayerRule& rule : type_rules)
    if (rule.word == type) return rule.parts(layer);
  return unknown_layer("no rule for this layer type; --onnx MODEL.onnx counts it");
}

std::vector<StoredWeights> implied_weights(const EngineLayer& layer) {
  if (!layer.parameter.empty() || layer.inputs.size() != 1) return {};
  if (!same_word(layer.type, "gemm") && !same_word(layer.type, "MatrixMultiply")) return {};
  const auto op = product_of(layer);
  if (!op) return {};
  return {{layer.inputs.front().format.type, op->k * op->n}};
}

DType compute_type(const EngineLayer& layer) {
  if (const auto named = parse_tactic(layer.tactic).dtype) return *named;
  if (const auto stored = compute_dtype(layer.weights.type); stored && layer.weights.count > 0)
    return *stored;
  for (const EngineTensor& input : layer.inputs)
    if (const auto dtype = dtype_of(input)) return *dtype;
  for (const EngineTensor& output : layer.outputs)
    if (const auto dtype = dtype_of(output)) return *dtype;
  return DType::fp32;
}

bool is_idle(const EngineLayer& layer) {
  const std::vector<Part> parts = layer_parts(layer);
  return std::all_of(parts.begin(), parts.end(),
                     [](const Part& part) { return std::holds_alternative<View>(part.op); });
}

}  // namespace ridgeline::tensorrt
