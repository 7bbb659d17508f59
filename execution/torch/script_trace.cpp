// One run of a TorchScript module as a Program: every call with the shapes of its tensors. Tensors
// are told apart by their address, which none gets again while the run lasts; a call in place gives
// its tensor a new name.
#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>
#include <torch/csrc/api/include/torch/version.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <unordered_map>

#include "analyzer/torch/script.h"
#include "execution/torch/crash_line.h"
#include "execution/torch/script_interpreter.h"
#include "execution/torch/script_module.h"
#include "execution/torch/torch_call.h"

namespace ridgeline::torch_module {
namespace {

using pytorch::InputKind;
using pytorch::ProgramNode;
using pytorch::ProgramValue;
using pytorch::TensorName;

ElementType element_type(at::ScalarType type) {
  switch (type) {
    case at::kByte:
    case at::kQUInt8:
      return ElementType::uint8;
    case at::kChar:
    case at::kQInt8:
      return ElementType::int8;
    case at::kShort:
      return ElementType::int16;
    case at::kInt:
    case at::kQInt32:
      return ElementType::int32;
    case at::kLong:
      return ElementType::int64;
    case at::kHalf:
      return ElementType::fp16;
    case at::kFloat:
      return ElementType::fp32;
    case at::kDouble:
      return ElementType::fp64;
    case at::kComplexFloat:
      return ElementType::complex64;
    case at::kComplexDouble:
      return ElementType::complex128;
    case at::kBool:
      return ElementType::boolean;
    case at::kBFloat16:
      return ElementType::bf16;
    default:
      return ElementType::unknown;
  }
}

pytorch::TensorMeta meta_of(const at::Tensor& tensor) {
  pytorch::TensorMeta meta;
  meta.type = element_type(tensor.scalar_type());
  const bool strided = tensor.layout() == at::kStrided;
  for (std::int64_t axis = 0; axis < tensor.dim(); ++axis) {
    meta.sizes.push_back({tensor.size(axis)});
    if (strided) meta.strides.push_back({tensor.stride(axis)});
  }
  return meta;
}

// Codes of c10 that archives of torch.export do not write as numbers; no rule reads them.
bool is_code(std::string_view name) {
  return name == "dtype" || name == "layout" || name == "device" || name == "memory_format";
}

class Tracer : public ScriptObserver {
 public:
  Tracer(const torch::jit::Module& module, pytorch::Program& program) : program_(program) {
    for (const auto& named : module.named_parameters())
      stored_.emplace(named.value.unsafeGetTensorImpl(), Stored{named.name, true});
    // Freezing turns parameters into constants of the code.
    is_frozen_ = stored_.empty();
    for (const auto& named : module.named_buffers())
      stored_.emplace(named.value.unsafeGetTensorImpl(), Stored{named.name, false});
  }

  void add_input(const std::string& name, const at::Tensor& tensor) {
    names_[tensor.unsafeGetTensorImpl()] = name;
    program_.graph.tensors[name] = meta_of(tensor);
    program_.inputs.push_back({InputKind::user, name, name});
  }

  void before(const ScriptCall& call) override {
    ProgramNode& node = program_.graph.nodes.emplace_back();
    const std::string_view name = call.node.kind().toQualString();
    const auto colons = name.find("::");
    const std::string& overload = call.schema.overload_name();
    op_ = name.substr(colons + 2);
    node.target = fmt::format("torch.ops.{}.{}.{}", name.substr(0, colons), op_,
                              overload.empty() ? "default" : overload);
    node.name = fmt::format("{}_{}", op_, program_.graph.nodes.size());
    node.modules = fmt::format("module,{},{}", call.module, call.type);
    const auto& arguments = call.schema.arguments();
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
      const std::string argument = i < arguments.size() ? arguments[i].name() : "input";
      statistics_ = argument == "running_mean" || argument == "running_var";
      node.inputs.push_back(
          {argument, is_code(argument) ? ProgramValue() : value_of(call.inputs[i])});
    }
    statistics_ = false;
  }

  void after(const ScriptCall&, std::span<const c10::IValue> outputs) override {
    for (const c10::IValue& output : outputs)
      program_.graph.nodes.back().outputs.push_back(result_of(output));
  }

  void add_outputs(const c10::IValue& value) {
    if (value.isTensor() && value.toTensor().defined()) {
      program_.outputs.push_back({pytorch::OutputKind::user, name_of(value.toTensor())});
    } else if (value.isTuple()) {
      for (const c10::IValue& element : value.toTupleRef().elements()) add_outputs(element);
    } else if (value.isList()) {
      for (const c10::IValue& element : value.toListRef()) add_outputs(element);
    } else if (value.isGenericDict()) {
      for (const auto& entry : value.toGenericDict()) add_outputs(entry.value());
    }
  }

 private:
  struct Stored {
    std::string name;
    bool is_parameter;
  };

  // The present name; what nothing has made yet is stored in the file.
  std::string name_of(const at::Tensor& tensor) {
    const auto known = names_.find(tensor.unsafeGetTensorImpl());
    if (known != names_.end()) return known->second;
    const auto stored = stored_.find(tensor.unsafeGetTensorImpl());
    pytorch::InputSpec spec;
    spec.graph_name = fmt::format("stored.{}", program_.inputs.size());
    if (stored != stored_.end()) {
      spec.name = stored->second.name;
      spec.kind = stored->second.is_parameter ? InputKind::parameter : InputKind::buffer;
    } else {
      spec.name = fmt::format("constant_{}", program_.inputs.size());
      const bool learned =
          is_frozen_ && !statistics_ && tensor.is_floating_point() && tensor.numel() > 1;
      spec.kind = learned ? InputKind::parameter : InputKind::constant;
      kept_.push_back(tensor);
    }
    program_.graph.tensors[spec.graph_name] = meta_of(tensor);
    names_[tensor.unsafeGetTensorImpl()] = spec.graph_name;
    program_.inputs.push_back(spec);
    return spec.graph_name;
  }

  TensorName named(const c10::IValue& value) {
    if (!value.isTensor() || !value.toTensor().defined()) return {};
    return {name_of(value.toTensor())};
  }

  static bool holds_tensors(const c10::IValue& list) {
    const auto elements = list.toListRef();
    return std::any_of(elements.begin(), elements.end(),
                       [](const c10::IValue& element) { return element.isTensor(); });
  }

  ProgramValue value_of(const c10::IValue& value) {
    if (value.isTensor()) {
      if (!value.toTensor().defined()) return {};
      return named(value);
    }
    if (value.isBool()) return value.toBool();
    if (value.isInt()) return value.toInt();
    if (value.isDouble()) return value.toDouble();
    if (value.isString()) return value.toStringRef();
    if (value.isIntList()) return value.toIntVector();
    if (value.isDoubleList()) return value.toDoubleVector();
    if (value.isBoolList()) {
      std::vector<std::int64_t> numbers;
      for (const bool flag : value.toBoolList()) numbers.push_back(flag ? 1 : 0);
      return numbers;
    }
    if (value.isList() && holds_tensors(value)) {
      std::vector<TensorName> names;
      for (const c10::IValue& element : value.toListRef()) names.push_back(named(element));
      return names;
    }
    return {};
  }

  TensorName new_name(const at::Tensor& tensor) {
    if (!tensor.defined()) return {};
    const std::string name =
        fmt::format("{}.{}", op_, ++made_);  // no input has a point in its name
    program_.graph.tensors[name] = meta_of(tensor);
    names_[tensor.unsafeGetTensorImpl()] = name;
    seen_.emplace_back(tensor.getIntrusivePtr());
    return {name};
  }

  ProgramValue result_of(const c10::IValue& value) {
    if (value.isTensor()) return new_name(value.toTensor());
    if (value.isList() && holds_tensors(value)) {
      std::vector<TensorName> names;
      for (const c10::IValue& element : value.toListRef())
        names.push_back(element.isTensor() ? new_name(element.toTensor()) : TensorName{});
      return names;
    }
    return {};
  }

  pytorch::Program& program_;
  std::unordered_map<const c10::TensorImpl*, Stored> stored_;
  std::unordered_map<const c10::TensorImpl*, std::string> names_;
  std::vector<at::Tensor> kept_;  // constants: no other tensor gets the address of one
  // The same for results, whose elements are freed as usual: numbers that a script makes into
  // tensors are no calls, and one at the address of a dead result would be taken for it.
  std::vector<c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>> seen_;
  std::string op_;
  std::size_t made_ = 0;
  bool is_frozen_ = false;
  bool statistics_ = false;  // the argument at hand is a running statistic
};

pytorch::TracedScript* trace_script(const std::string& path, const ReadOptions& options) {
  const MemoryLimit limit;
  const CrashLine crash_line(path);
  const torch::jit::Module module = load_script(path);
  const ScriptInputs inputs = script_inputs(module, options, path);
  auto traced = std::make_unique<pytorch::TracedScript>();
  traced->program.torch_version = TORCH_VERSION;
  traced->batch = inputs.batch;
  without_torch_errors(path, [&] {
    const c10::InferenceMode guard;
    Tracer tracer(module, traced->program);
    for (const auto& [name, tensor] : inputs.tensors) tracer.add_input(name, tensor);
    ScriptInterpreter interpreter(module, path);
    tracer.add_outputs(interpreter.run(inputs.values, tracer));
  });
  return traced.release();
}

}  // namespace
}  // namespace ridgeline::torch_module

extern "C" __attribute__((visibility("default"))) ridgeline::pytorch::TracedScript*
ridgeline_torch_trace_script(const std::string& path, const ridgeline::ReadOptions& options) {
  return ridgeline::torch_module::trace_script(path, options);
}
