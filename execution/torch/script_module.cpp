// What forward() takes is in its schema; which inputs are indices follows from their uses.
#include "execution/torch/script_module.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/csrc/api/include/torch/version.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/runtime/print_handler.h>
#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "execution/torch/torch_call.h"

namespace ridgeline::torch_module {
namespace {

constexpr const char* example = "1x3x224x224";

// "Unknown builtin op: aten::scaled_dot_product_attention." on one of many lines.
std::string unknown_operator(const std::string& text) {
  for (const std::string_view mark :
       {"Unknown builtin op: ", "Unknown operator: ", "unknown builtin op: "}) {
    const auto at = text.find(mark);
    if (at == std::string::npos) continue;
    const auto begin = at + mark.size();
    return text.substr(begin, text.find_first_of(" .,\n(", begin) - begin);
  }
  return {};
}

[[noreturn]] void refuse_file(const std::string& path, const std::exception& failure) {
  if (is_out_of_memory(failure)) throw memory_error(path);
  const std::string text = failure.what();
  if (const std::string name = unknown_operator(text); !name.empty())
    throw Error(path, fmt::format("uses {}, which LibTorch {} does not have", name, TORCH_VERSION),
                "build ridgeline with a newer LibTorch (RIDGELINE_TORCH_ROOT), or save it with "
                "torch.export.save");
  throw Error(path, fmt::format("LibTorch {} cannot read it: {}", TORCH_VERSION, cause_of(failure)),
              "save it again, with a PyTorch that is not newer, or with torch.export.save");
}

torch::jit::Module read_script(const std::string& path) {
  torch::jit::setPrintHandler([](const std::string&) {});  // stdout belongs to the answer
  try {
    torch::jit::Module module = torch::jit::load(path, at::kCPU);
    module.eval();
    if (!module.find_method("forward")) throw Error(path, "its module has no forward()");
    return module;
  } catch (const Error&) {
    throw;
  } catch (const std::exception& failure) {
    refuse_file(path, failure);
  }
}

// --- inputs

// Whether it is read as indices: it reaches the table of an embedding or the like, perhaps through
// views and methods.
class IndexUses {
 public:
  bool is_index(const torch::jit::Value& value) {
    if (!seen_.insert(&value).second) return false;
    for (const torch::jit::Use& use : value.uses())
      if (is_index_in(*use.user, use.offset)) return true;
    return false;
  }

 private:
  bool is_index_in(const torch::jit::Node& node, std::size_t place) {
    const std::string_view name = node.kind().toQualString();
    if (name == "aten::embedding" || name == "aten::embedding_bag") return place == 1;
    if (name == "aten::index_select" || name == "aten::gather") return place == 2;
    if (name == "aten::one_hot") return place == 0;
    if (name == "prim::CallMethod") {
      const auto type = node.input(0)->type()->cast<c10::ClassType>();
      auto* method = type ? type->findMethod(node.s(c10::attr::name)) : nullptr;
      auto* code = method == nullptr ? nullptr : torch::jit::tryToGraphFunction(*method);
      if (code == nullptr) return false;
      code->ensure_defined();
      const auto graph = code->graph();
      return place < graph->inputs().size() && is_index(*graph->inputs()[place]);
    }
    static const std::set<std::string_view> views = {
        "aten::view",      "aten::reshape",       "aten::slice",      "aten::select",
        "aten::unsqueeze", "aten::squeeze",       "aten::expand",     "aten::flatten",
        "aten::transpose", "aten::permute",       "aten::contiguous", "aten::t",
        "aten::detach",    "prim::unchecked_cast"};
    return place == 0 && views.contains(name) && is_index(*node.output(0));
  }

  std::set<const torch::jit::Value*> seen_;
};

// Of its weights: a network in half precision takes inputs in half precision.
at::ScalarType floating_type(const torch::jit::Module& module) {
  for (const auto& parameter : module.parameters())
    if (parameter.is_floating_point()) return parameter.scalar_type();
  return at::kFloat;
}

bool is_tensor(const c10::Type& type) {
  if (type.kind() == c10::TypeKind::TensorType) return true;
  return type.kind() == c10::TypeKind::OptionalType &&
         type.castRaw<c10::OptionalType>()->getElementType()->kind() == c10::TypeKind::TensorType;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) (text += text.empty() ? "" : ", ") += word;
  return text;
}

template <class Named>
void require_known(const Named& given, const std::vector<std::string>& known, const char* option,
                   const std::string& path) {
  for (const auto& [name, value] : given)
    if (!name.empty() && std::find(known.begin(), known.end(), name) == known.end())
      throw usage_error(fmt::format("{} {}", option, name),
                        fmt::format("{} has no input of this name", path),
                        known.empty() ? "it has none at all" : "it has " + joined(known));
}

class InputMaker {
 public:
  InputMaker(const torch::jit::Module& module, const ReadOptions& options, const std::string& path)
      : module_(module),
        options_(options),
        path_(path),
        function_(module.get_method("forward").function()),
        arguments_(function_.getSchema().arguments().begin() + 1,
                   function_.getSchema().arguments().end()) {
    for (const c10::Argument& argument : arguments_) {
      names_.push_back(argument.name());
      if (is_tensor(*argument.type()) && !argument.default_value())
        needed_.push_back(names_.back());
    }
  }

  ScriptInputs make() {
    require_known(options_.shapes, names_, "--shape", path_);
    require_known(options_.values, names_, "--input", path_);
    require_known(options_.batch_axes, names_, "--batch-axis", path_);
    if (options_.shapes.contains("") && needed_.size() != 1)
      throw usage_error(
          "--shape", fmt::format("needs a name: the inputs of {} are {}", path_, joined(needed_)),
          fmt::format("write for example --shape {}={}",
                      needed_.empty() ? "input" : needed_.front(), example));
    at::manual_seed(0);
    for (std::size_t i = 0; i < arguments_.size(); ++i) add(i);
    if (!missing_.empty())
      throw Error(path_, "TorchScript holds no shapes; missing: " + joined(missing_),
                  "give " + fix_, ExitCode::incomplete);
    if (options_.batch && !result_.batch)
      throw usage_error(fmt::format("--batch {}", *options_.batch),
                        path_ + " has no input with a dimension that could be a batch",
                        "--batch-axis INPUT=0 names one");
    return std::move(result_);
  }

 private:
  void ask(const std::string& name, const std::string& option) {
    missing_.push_back(name);
    (fix_ += fix_.empty() ? "" : " ") += option;
  }

  void add(std::size_t i) {
    const c10::Argument& argument = arguments_[i];
    if (is_tensor(*argument.type()))
      add_tensor(i);
    else
      result_.values.push_back(plain_value(argument));
  }

  const Shape* given_shape(const std::string& name) const {
    if (const auto found = options_.shapes.find(name); found != options_.shapes.end())
      return &found->second;
    const auto unnamed = options_.shapes.find("");
    return unnamed != options_.shapes.end() && needed_.front() == name ? &unnamed->second : nullptr;
  }

  std::optional<std::size_t> batch_axis(const std::string& name, const Shape& shape) const {
    const auto given = options_.batch_axes.find(name);
    if (given == options_.batch_axes.end())
      return shape.empty() ? std::nullopt : std::optional<std::size_t>(0);
    if (!given->second) return std::nullopt;
    const auto axis = *given->second;
    if (axis < 0 || axis >= std::ssize(shape))
      throw usage_error(fmt::format("--batch-axis {}={}", name, axis),
                        fmt::format("the input has {} dimensions, counted from 0", shape.size()));
    return static_cast<std::size_t>(axis);
  }

  void add_tensor(std::size_t i) {
    const c10::Argument& argument = arguments_[i];
    const Shape* given = given_shape(argument.name());
    if (given == nullptr) {
      if (argument.default_value())
        result_.values.push_back(*argument.default_value());
      else if (argument.type()->kind() == c10::TypeKind::OptionalType)
        result_.values.emplace_back();
      else
        ask(argument.name(), fmt::format("--shape {}={}", argument.name(), example));
      return;
    }
    Shape shape = *given;
    if (const auto axis = batch_axis(argument.name(), shape)) {
      if (options_.batch) shape[*axis] = *options_.batch;
      if (!result_.batch) result_.batch = shape[*axis];
    }
    at::Tensor tensor = without_torch_errors(path_, [&] { return tensor_of(i, shape); });
    result_.tensors.emplace_back(argument.name(), tensor);
    result_.values.emplace_back(std::move(tensor));
  }

  at::Tensor tensor_of(std::size_t i, const Shape& shape) {
    auto* code = torch::jit::tryToGraphFunction(function_);
    if (code != nullptr) code->ensure_defined();
    const bool is_index = code != nullptr && IndexUses().is_index(*code->graph()->inputs()[i + 1]);
    const at::ScalarType type = is_index ? at::kLong : floating_type(module_);
    const auto values = options_.values.find(arguments_[i].name());
    if (values == options_.values.end())
      return is_index ? at::zeros(shape, type) : at::randn(shape, at::kFloat).to(type);
    if (std::ssize(values->second) != element_count(shape))
      throw usage_error("--input " + values->first,
                        fmt::format("has {} values, the shape {} elements", values->second.size(),
                                    element_count(shape)));
    return at::tensor(values->second, at::kDouble).to(type).reshape(shape);
  }

  c10::IValue plain_value(const c10::Argument& argument) {
    const auto given = options_.values.find(argument.name());
    const c10::TypeKind kind = argument.type()->kind();
    if (given != options_.values.end() && given->second.size() == 1) {
      const double value = given->second.front();
      if (kind == c10::TypeKind::IntType) return static_cast<std::int64_t>(value);
      if (kind == c10::TypeKind::FloatType) return value;
      if (kind == c10::TypeKind::BoolType) return value != 0;
    }
    if (argument.default_value()) return *argument.default_value();
    if (kind == c10::TypeKind::OptionalType) return {};
    if (kind != c10::TypeKind::IntType && kind != c10::TypeKind::FloatType &&
        kind != c10::TypeKind::BoolType)
      throw Error(path_,
                  fmt::format("its input {} is a {}, not a tensor", argument.name(),
                              argument.type()->annotation_str()),
                  "save a module that takes tensors");
    ask(argument.name(), fmt::format("--input {}=1", argument.name()));
    return {};
  }

  const torch::jit::Module& module_;
  const ReadOptions& options_;
  const std::string& path_;
  torch::jit::Function& function_;
  std::vector<c10::Argument> arguments_;  // without self
  std::vector<std::string> names_, needed_;
  std::vector<std::string> missing_;
  std::string fix_;
  ScriptInputs result_;
};

struct LoadedFile {
  std::string path;
  std::filesystem::file_time_type written;
  std::optional<torch::jit::Module> module;
};

}  // namespace

torch::jit::Module load_script(const std::string& path) {
  static LoadedFile last;
  std::error_code fault;
  const auto written = std::filesystem::last_write_time(path, fault);
  if (fault || !last.module || last.path != path || last.written != written)
    last = {path, written, read_script(path)};
  return *last.module;
}

ScriptInputs script_inputs(const torch::jit::Module& module, const ReadOptions& options,
                           const std::string& path) {
  return InputMaker(module, options, path).make();
}

}  // namespace ridgeline::torch_module
