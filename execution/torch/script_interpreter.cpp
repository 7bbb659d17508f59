// Control flow, containers, attributes and calls of methods are handled here; everything else is an
// operator that LibTorch has registered.
#include "execution/torch/script_interpreter.h"

#include <ATen/core/jit_type.h>
#include <fmt/format.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "execution/torch/torch_call.h"

namespace ridgeline::torch_module {
namespace {

using c10::IValue;
using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Stack;
using torch::jit::Value;
namespace prim = c10::prim;

constexpr int most_calls_deep = 400;
constexpr long most_nodes = 50'000'000;

bool holds_tensors(const c10::Type& type) {
  if (type.kind() == c10::TypeKind::TensorType) return true;
  return type.kind() == c10::TypeKind::ListType &&
         type.castRaw<c10::ListType>()->getElementType()->kind() == c10::TypeKind::TensorType;
}

// An operator that makes tensors, not one that takes them out of a container.
bool makes_tensors(const Node& node) {
  const std::string_view name = node.kind().toQualString();
  if (name.starts_with("prim::") || name == "aten::__getitem__" || name == "aten::append" ||
      name == "aten::pop" || name == "aten::list" || name == "aten::get" || name == "aten::copy")
    return false;
  for (const Value* output : node.outputs())
    if (holds_tensors(*output->type())) return true;
  return false;
}

// "__torch__.torch.nn.modules.conv.___torch_mangle_3.Conv2d": "torch.nn.modules.conv.Conv2d".
std::string class_name(const c10::ClassType& type) {
  std::string name = type.name() ? type.name()->qualifiedName() : std::string();
  constexpr std::string_view home = "__torch__.";
  if (name.starts_with(home)) name.erase(0, home.size());
  for (std::size_t at; (at = name.find("___torch_mangle_")) != std::string::npos;)
    name.erase(at, name.find('.', at) == std::string::npos ? std::string::npos
                                                           : name.find('.', at) + 1 - at);
  return name;
}

IValue list_of(std::vector<IValue> elements, const c10::Type& type) {
  const c10::TypePtr element = type.castRaw<c10::ListType>()->getElementType();
  switch (element->kind()) {
    case c10::TypeKind::IntType: {
      c10::List<std::int64_t> list;
      for (const IValue& value : elements) list.push_back(value.toInt());
      return list;
    }
    case c10::TypeKind::FloatType: {
      c10::List<double> list;
      for (const IValue& value : elements) list.push_back(value.toDouble());
      return list;
    }
    case c10::TypeKind::BoolType: {
      c10::List<bool> list;
      for (const IValue& value : elements) list.push_back(value.toBool());
      return list;
    }
    case c10::TypeKind::TensorType: {
      c10::List<at::Tensor> list;
      for (IValue& value : elements) list.push_back(std::move(value).toTensor());
      return list;
    }
    default: {
      c10::impl::GenericList list(element);
      for (IValue& value : elements) list.push_back(std::move(value));
      return list;
    }
  }
}

}  // namespace

struct ScriptInterpreter::State {
  torch::jit::Module module;
  std::string path;
  std::unordered_map<const c10::ivalue::Object*, std::string> paths;  // of modules
  // Per node: values that nothing reads afterwards. Per graph: whether it has been looked at.
  std::unordered_map<const Node*, std::vector<const Value*>> last_uses;
  std::unordered_map<const Block*, bool> known_blocks;
  std::unordered_map<const Node*, torch::jit::Operation> operations;
  ScriptObserver* observer = nullptr;
  std::string current, type;  // the module that runs, and its class
  int depth = 0;
  long nodes = 0;

  using Frame = std::unordered_map<const Value*, IValue>;

  [[noreturn]] void fail(const Node& node, const std::string& cause, const std::string& fix) const {
    const std::string name = node.kind().toQualString();
    throw Error(path, fmt::format("{}{}: {}", current.empty() ? "" : current + ": ", name, cause),
                fix);
  }

  // --- when values can be freed

  static const Node* user_in(const Block& block, const Node* user) {
    while (user->owningBlock() != &block) user = user->owningBlock()->owningNode();
    return user;
  }

  void note_last_use(const Value& value, const Block& block, const Node* made_by) {
    const Node* last = made_by;
    for (const torch::jit::Use& use : value.uses()) {
      const Node* user = user_in(block, use.user);
      if (user == block.return_node()) return;
      if (last == nullptr || last->isBefore(user)) last = user;
    }
    if (last != nullptr) last_uses[last].push_back(&value);
  }

  void note_last_uses(const Block& block) {
    if (!known_blocks.emplace(&block, true).second) return;
    for (const Value* input : block.inputs()) note_last_use(*input, block, nullptr);
    for (const Node* node : block.nodes())
      for (const Value* output : node->outputs()) note_last_use(*output, block, node);
  }

  bool is_last_use(const Node& node, const Value* value) const {
    const auto found = last_uses.find(&node);
    return found != last_uses.end() &&
           std::find(found->second.begin(), found->second.end(), value) != found->second.end();
  }

  // --- nodes

  // Moved out of the frame if this is the last use, so that a callee can free it; blocks of a node
  // may read its inputs again.
  std::vector<IValue> take_inputs(const Node& node, Frame& frame) {
    std::vector<IValue> values;
    values.reserve(node.inputs().size());
    for (std::size_t i = 0; i < node.inputs().size(); ++i) {
      const Value* input = node.inputs()[i];
      bool again = false;
      for (std::size_t k = i + 1; k < node.inputs().size(); ++k) again |= node.inputs()[k] == input;
      IValue& value = frame[input];
      if (!again && node.blocks().empty() && is_last_use(node, input))
        values.push_back(std::move(value));
      else
        values.push_back(value);
    }
    return values;
  }

  static void set_outputs(const Node& node, Frame& frame, std::vector<IValue> values) {
    for (std::size_t i = 0; i < node.outputs().size() && i < values.size(); ++i)
      frame[node.outputs()[i]] = std::move(values[i]);
  }

  void run_block(const Block& block, Frame& frame) {
    note_last_uses(block);
    for (const Node* node : block.nodes()) {
      if (++nodes > most_nodes)
        fail(*node, "the script runs for too long; its loops may not end", "");
      run_node(*node, frame);
      if (const auto found = last_uses.find(node); found != last_uses.end())
        for (const Value* value : found->second) frame.erase(value);
    }
  }

  std::vector<IValue> block_outputs(const Block& block, const Frame& frame) const {
    std::vector<IValue> values;
    for (const Value* output : block.outputs()) values.push_back(frame.at(output));
    return values;
  }

  void run_loop(const Node& node, Frame& frame) {
    std::vector<IValue> carried = take_inputs(node, frame);
    const std::int64_t trips = carried[0].toInt();
    bool goes_on = carried[1].toBool();
    carried.erase(carried.begin(), carried.begin() + 2);
    const Block& body = *node.blocks()[0];
    for (std::int64_t i = 0; i < trips && goes_on; ++i) {
      frame[body.inputs()[0]] = i;
      for (std::size_t k = 0; k < carried.size(); ++k)
        frame[body.inputs()[k + 1]] = std::move(carried[k]);
      run_block(body, frame);
      std::vector<IValue> results = block_outputs(body, frame);
      goes_on = results[0].toBool();
      carried.assign(results.begin() + 1, results.end());
    }
    set_outputs(node, frame, std::move(carried));
  }

  void run_branch(const Node& node, Frame& frame) {
    const bool condition = frame.at(node.input(0)).toBool();
    const Block& taken = *node.blocks()[condition ? 0 : 1];
    run_block(taken, frame);
    set_outputs(node, frame, block_outputs(taken, frame));
  }

  IValue call(torch::jit::Function& function, std::vector<IValue> inputs, const Node* caller) {
    auto* code = torch::jit::tryToGraphFunction(function);
    if (code == nullptr) {
      Stack stack(std::make_move_iterator(inputs.begin()), std::make_move_iterator(inputs.end()));
      function.run(stack);
      return stack.empty() ? IValue() : stack.back();
    }
    if (++depth > most_calls_deep) {
      if (caller != nullptr) fail(*caller, "calls are nested too deeply", "");
      throw Error(path, "calls are nested too deeply");
    }
    code->ensure_defined();
    const std::shared_ptr<torch::jit::Graph> graph = code->graph();
    Frame frame;
    for (std::size_t i = 0; i < graph->inputs().size() && i < inputs.size(); ++i)
      frame[graph->inputs()[i]] = std::move(inputs[i]);
    run_block(*graph->block(), frame);
    --depth;
    std::vector<IValue> results = block_outputs(*graph->block(), frame);
    if (results.size() == 1) return std::move(results.front());
    return c10::ivalue::Tuple::create(std::move(results));
  }

  IValue call_method(const Node& node, Frame& frame) {
    std::vector<IValue> inputs = take_inputs(node, frame);
    const auto object = inputs.front().toObject();
    torch::jit::Function& method = object->type()->getMethod(node.s(c10::attr::name));
    const auto place = paths.find(object.get());
    if (place == paths.end()) return call(method, std::move(inputs), &node);
    std::string outer = std::exchange(current, place->second);
    std::string outer_type = std::exchange(type, class_name(*object->type()));
    IValue result = call(method, std::move(inputs), &node);
    current = std::move(outer);
    type = std::move(outer_type);
    return result;
  }

  bool is_instance(const Node& node, const IValue& value) const {
    const c10::TypePtr own = value.type<c10::Type>();
    for (const c10::TypePtr& wanted : node.tys(c10::attr::types))
      if (own->isSubtypeOf(*wanted)) return true;
    return false;
  }

  void run_node(const Node& node, Frame& frame) {
    const auto set = [&](IValue value) { frame[node.output()] = std::move(value); };
    switch (node.kind()) {
      case prim::Constant: {
        auto value = torch::jit::toIValue(node.output());
        return set(value ? std::move(*value) : IValue());  // functions are constants without value
      }
      case prim::If:
        return run_branch(node, frame);
      case prim::Loop:
        return run_loop(node, frame);
      case prim::GetAttr:
        return set(frame.at(node.input(0)).toObjectRef().getAttr(node.s(c10::attr::name)));
      case prim::SetAttr:
        frame.at(node.input(0))
            .toObject()
            ->setAttr(node.s(c10::attr::name), frame.at(node.input(1)));
        return;
      case prim::CallMethod:
        return set(call_method(node, frame));
      case prim::CallFunction: {
        std::vector<IValue> inputs = take_inputs(node, frame);
        inputs.erase(inputs.begin());
        torch::jit::Function* function =
            node.input(0)->type()->expect<c10::FunctionType>()->function();
        return set(call(*function, std::move(inputs), &node));
      }
      case prim::TupleConstruct: {
        const auto type = node.output()->type()->expect<c10::TupleType>();
        std::vector<IValue> values = take_inputs(node, frame);
        return set(type->name() ? c10::ivalue::Tuple::createNamed(std::move(values), type)
                                : c10::ivalue::Tuple::create(std::move(values)));
      }
      case prim::TupleUnpack: {
        const IValue tuple = std::move(take_inputs(node, frame).front());
        const auto& elements = tuple.toTupleRef().elements();
        return set_outputs(node, frame, std::vector<IValue>(elements.begin(), elements.end()));
      }
      case prim::TupleSlice: {
        const IValue tuple = std::move(take_inputs(node, frame).front());
        const auto& elements = tuple.toTupleRef().elements();
        return set(c10::ivalue::Tuple::create(std::vector<IValue>(
            elements.begin() + node.i(c10::attr::beg), elements.begin() + node.i(c10::attr::end))));
      }
      case prim::ListConstruct:
        return set(list_of(take_inputs(node, frame), *node.output()->type()));
      case prim::ListUnpack: {
        const IValue list = std::move(take_inputs(node, frame).front());
        const auto elements = list.toListRef();
        if (elements.size() != node.outputs().size())
          fail(node, "the list does not have as many elements as the script expects", "");
        return set_outputs(node, frame, std::vector<IValue>(elements.begin(), elements.end()));
      }
      case prim::DictConstruct: {
        const auto type = node.output()->type()->expect<c10::DictType>();
        c10::impl::GenericDict dict(type->getKeyType(), type->getValueType());
        const std::vector<IValue> values = take_inputs(node, frame);
        for (std::size_t i = 0; i + 1 < values.size(); i += 2)
          dict.insert_or_assign(values[i], values[i + 1]);
        return set(std::move(dict));
      }
      case prim::isinstance:
        return set(is_instance(node, frame.at(node.input(0))));
      case prim::Uninitialized:
        return set(IValue::uninitialized());
      case c10::aten::warn:
        return;
      default:
        return run_operator(node, frame);
    }
  }

  void run_operator(const Node& node, Frame& frame) {
    const torch::jit::Operator* registered = node.maybeOperator();
    if (registered == nullptr || !registered->hasOperation())
      fail(node, "cannot be followed here", "save the network with torch.export.save");
    auto found = operations.find(&node);
    if (found == operations.end()) found = operations.emplace(&node, node.getOperation()).first;
    const bool shown = makes_tensors(node);
    std::vector<IValue> inputs = take_inputs(node, frame);
    Stack stack(std::make_move_iterator(inputs.begin()), std::make_move_iterator(inputs.end()));
    const std::size_t count = stack.size();
    if (registered->schema().is_vararg()) stack.emplace_back(static_cast<std::int64_t>(count));
    const ScriptCall about{node, registered->schema(), {stack.data(), count}, current, type};
    if (shown) observer->before(about);
    try {
      found->second(stack);
    } catch (const Error&) {
      throw;
    } catch (const std::exception& failure) {
      if (is_out_of_memory(failure)) throw memory_error(path);
      const std::string cause = cause_of(failure);
      const bool by_type = cause.find("not implemented for") != std::string::npos;
      fail(node, "LibTorch: " + cause, by_type ? "save it in fp32" : "check --shape");
    }
    if (shown) observer->after(about, stack);
    if (stack.size() != node.outputs().size())
      fail(node, "returned another number of values than it declares", "");
    set_outputs(node, frame, std::move(stack));
  }
};

ScriptInterpreter::ScriptInterpreter(const torch::jit::Module& module, std::string path)
    : state_(new State) {
  state_->module = module;
  state_->path = std::move(path);
  for (const auto& named : module.named_modules())
    state_->paths.emplace(named.value._ivalue().get(), named.name);
}

ScriptInterpreter::~ScriptInterpreter() = default;

IValue ScriptInterpreter::run(std::vector<IValue> inputs, ScriptObserver& observer) {
  State& state = *state_;
  state.observer = &observer;
  state.current.clear();
  state.type = class_name(*state.module.type());
  state.depth = 0;
  state.nodes = 0;
  inputs.insert(inputs.begin(), state.module._ivalue());
  return state.call(state.module.get_method("forward").function(), std::move(inputs), nullptr);
}

}  // namespace ridgeline::torch_module
