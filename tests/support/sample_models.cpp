// One function per sample.
// Shapes are small: a fuzz target runs thousands of them per second.
#include "tests/support/sample_models.h"

#include "analyzer/onnx/node_context.h"
#include "tests/support/onnx_builder.h"

namespace ridgeline::testing {
namespace {

constexpr ElementType fp32 = ElementType::fp32;

OnnxBuilder convolutional() {
  OnnxBuilder model;
  model.opset(17).input("x", fp32, {"batch", 3, 32, 32});
  model.initializer("w", fp32, {8, 3, 3, 3}).zeros();
  for (const char* name : {"scale", "shift", "mean", "variance"})
    model.initializer(name, fp32, {8}).zeros();
  model.initializer("fc", fp32, {10, 8}).zeros();
  model.node("Conv", {"x", "w"}, {"c"})
      .attribute("pads", {1, 1, 1, 1})
      .attribute("strides", {2, 2});
  model.node("BatchNormalization", {"c", "scale", "shift", "mean", "variance"}, {"n"});
  model.node("Relu", {"n"}, {"r"});
  model.node("MaxPool", {"r"}, {"p"}).attribute("kernel_shape", {2, 2});
  model.node("GlobalAveragePool", {"p"}, {"g"});
  model.node("Flatten", {"g"}, {"f"});
  model.node("Gemm", {"f", "fc"}, {"y"}).attribute("transB", 1);
  model.output("y", fp32, {"batch", 10});
  return model;
}

// With the shape arithmetic that exporters emit.
OnnxBuilder attention() {
  OnnxBuilder model;
  model.opset(17).input("x", fp32, {"batch", "length", 16});
  model.initializer("wq", fp32, {16, 16}).zeros();
  model.integers("axis", {2});
  model.integers("tail", {4, 4});
  model.node("MatMul", {"x", "wq"}, {"q"});
  model.node("Shape", {"x"}, {"s"}).attribute("end", 2);
  model.node("Concat", {"s", "tail"}, {"split"}).attribute("axis", 0);
  model.node("Reshape", {"q", "split"}, {"heads"});
  model.node("Transpose", {"heads"}, {"h"}).attribute("perm", {0, 2, 1, 3});
  model.node("Transpose", {"heads"}, {"k"}).attribute("perm", {0, 2, 3, 1});
  model.node("MatMul", {"h", "k"}, {"scores"});
  model.node("Softmax", {"scores"}, {"weights"}).attribute("axis", -1);
  model.node("MatMul", {"weights", "h"}, {"mixed"});
  model.node("ReduceMean", {"mixed"}, {"m"}).attribute("axes", {-1});
  model.node("Unsqueeze", {"m", "axis"}, {"y"});
  model.output("y");
  return model;
}

OnnxBuilder control_flow() {
  GraphBuilder add, multiply, body, scan;
  add.node("Add", {"x", "x"}, {"branch"});
  add.output("branch", fp32, {4});
  multiply.node("Mul", {"x", "x"}, {"branch"});
  multiply.output("branch", fp32, {4});
  body.input("i", ElementType::int64, {})
      .input("go", ElementType::boolean, {})
      .input("state", fp32, {4});
  body.node("Identity", {"go"}, {"go_on"});
  body.node("Add", {"state", "x"}, {"next"});
  body.node("Relu", {"next"}, {"row"});
  body.output("go_on", ElementType::boolean, {}).output("next", fp32, {4}).output("row", fp32, {4});
  scan.input("sum", fp32, {}).input("element", fp32, {});
  scan.node("Add", {"sum", "element"}, {"sum_out"});
  scan.output("sum_out", fp32, {});
  OnnxBuilder model;
  model.opset(17).input("x", fp32, {4}).input("c", ElementType::boolean, {});
  model.initializer("trips", ElementType::int64, {}).ints({3});
  model.initializer("zero", fp32, {}).floats({0});
  model.node("If", {"c"}, {"b"}).attribute("then_branch", add).attribute("else_branch", multiply);
  model.node("Loop", {"trips", "", "b"}, {"last", "rows"}).attribute("body", body);
  model.node("Scan", {"zero", "last"}, {"total"})
      .attribute("body", scan)
      .attribute("num_scan_inputs", 1);
  model.output("total").output("rows");
  return model;
}

OnnxBuilder functions() {
  OnnxBuilder model;
  model.opset(17).opset(1, "local").input("x", fp32, {2, 3});
  model.node("Outer", {"x"}, {"y"}).domain("local").attribute("axis", 1);
  FunctionBuilder& outer = model.function("local", "Outer", {"a"}, {"b"});
  outer.opset(17).opset(1, "local").attribute("axis");
  outer.node("Softmax", {"a"}, {"s"}).attribute_reference("axis", "axis", 2);
  outer.node("Inner", {"s"}, {"b"}).domain("local");
  FunctionBuilder& inner = model.function("local", "Inner", {"a"}, {"b"});
  inner.opset(17).node("Mul", {"a", "a"}, {"b"});
  model.output("y");
  return model;
}

OnnxBuilder quantized() {
  OnnxBuilder model;
  model.opset(21).input("x", fp32, {1, 8});
  model.initializer("s", fp32, {}).floats({0.1});
  model.initializer("z", ElementType::int8, {}).ints({0});
  model.initializer("w", ElementType::int8, {8, 4}).zeros();
  model.initializer("w4", ElementType::int4, {4, 4}).zeros();
  model.initializer("scales", fp32, {1, 4}).zeros();
  model.node("QuantizeLinear", {"x", "s", "z"}, {"xq"});
  model.node("DequantizeLinear", {"xq", "s", "z"}, {"xd"});
  model.node("DequantizeLinear", {"w", "s", "z"}, {"wd"});
  model.node("MatMul", {"xd", "wd"}, {"m"});
  model.node("DequantizeLinear", {"w4", "scales"}, {"w4d"})
      .attribute("axis", 0)
      .attribute("block_size", 4);
  model.node("MatMul", {"m", "w4d"}, {"y"});
  model.output("y");
  return model;
}

// Indices, selections and data-dependent shapes.
OnnxBuilder data_dependent() {
  OnnxBuilder model;
  model.opset(17).input("x", fp32, {6, 4}).input("i", ElementType::int64, {3});
  model.initializer("k", ElementType::int64, {1}).ints({2});
  model.node("Gather", {"x", "i"}, {"rows"}).attribute("axis", 0);
  model.node("TopK", {"rows", "k"}, {"top", "where"});
  model.node("NonZero", {"top"}, {"places"});
  model.node("Transpose", {"places"}, {"pairs"});
  model.node("GatherND", {"top", "pairs"}, {"found"});
  model.node("SequenceConstruct", {"found", "found"}, {"list"});
  model.node("ConcatFromSequence", {"list"}, {"y"}).attribute("axis", 0);
  model.output("y");
  return model;
}

OnnxBuilder recurrent() {
  OnnxBuilder model;
  model.opset(17).input("x", fp32, {5, 2, 3});
  model.initializer("w", fp32, {1, 16, 3}).zeros();
  model.initializer("r", fp32, {1, 16, 4}).zeros();
  model.node("LSTM", {"x", "w", "r"}, {"all", "h", "c"}).attribute("hidden_size", 4);
  model.output("all").output("h").output("c");
  return model;
}

}  // namespace

std::string varied_model() {
  GraphBuilder inner;
  inner.node("Identity", {"x"}, {"inner_y"});
  inner.initializer("inner_w", ElementType::int4, {5}).zeros();
  OnnxBuilder model;
  model.opset(21).opset(1, "com.microsoft").producer("test", "1");
  model.input("x", fp32, {"batch", 3, Dim{}});
  model.input("s", ValueType::optional(
                       ValueType::sequence(ValueType::tensor(ElementType::int64, {1, "n"}))));
  model.initializer("w", ElementType::fp16, {3, 4}).zeros();
  model.initializer("e", fp32, {2}).external("w.bin", 4, 8);
  model.initializer("d", ElementType::fp64, {2}).double_data({1, 2});
  model.initializer("b", ElementType::boolean, {3}).int32_data({0, 1, 1});
  model.initializer("t", ElementType::string, {2}).string_data({"a", "b"});
  model.integers("axes", {0, -1});
  model.sparse_initializer(sparse_tensor(TensorBuilder("p", fp32, {1}).zeros(),
                                         TensorBuilder("", ElementType::int64, {1}).zeros(), {9}));
  model.node("MatMul", {"x", "w"}, {"y"}).name("first").attribute("alpha", 0.5);
  model.node("If", {"c"}, {"z"}).attribute("then_branch", inner).attribute("pads", {1, 2, 3});
  model.function("f", "F", {"x"}, {"y"}).opset(18).attribute("axis").node("Relu", {"x"}, {"y"});
  model.value_info("y", fp32, {"batch", 3, 4}).output("z");
  return model.bytes();
}

std::vector<SampleModel> sample_models() {
  return {{"convolutional", convolutional().bytes()}, {"attention", attention().bytes()},
          {"control_flow", control_flow().bytes()},   {"functions", functions().bytes()},
          {"quantized", quantized().bytes()},         {"data_dependent", data_dependent().bytes()},
          {"recurrent", recurrent().bytes()}};
}

std::vector<SampleModel> operator_models() {
  std::vector<SampleModel> models;
  for (const onnx::Operator& row : onnx::known_operators()) {
    const std::string name(row.name);
    const std::string domain(row.domain);
    OnnxBuilder model;
    model.opset(21).opset(1, "com.microsoft");
    if (!domain.empty() && domain != "com.microsoft") model.opset(1, domain);
    model.input("x", fp32, {1, 4, 8, 8}).input("m", fp32, {8, 8});
    model.initializer("w", fp32, {4, 4, 3, 3}).zeros();
    model.integers("i", {1, 2});
    model.node(name, {"x", "w"}, {"a", "a2"}).domain(domain).attribute("axis", 1);
    model.node(name, {"m", "m", "m"}, {"b"}).domain(domain).attribute("num_heads", 2);
    model.node(name, {"x", "i", "i"}, {"c"}).domain(domain).attribute("axes", {1});
    model.node(name, {"i"}, {"d"}).domain(domain).attribute("to", 1);
    for (const char* output : {"a", "b", "c", "d"}) model.output(output);
    models.push_back({domain + (domain.empty() ? "" : ".") + name, model.bytes()});
  }
  return models;
}

}  // namespace ridgeline::testing
