// Runs a TorchScript module node by node, the way LibTorch's own interpreter does, and shows every
// call of an operator to an observer together with the module it is made in. LibTorch's observers
// see the calls as well, but not which module makes them.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace ridgeline::torch_module {

struct ScriptCall {
  const torch::jit::Node& node;
  const c10::FunctionSchema& schema;
  std::span<const c10::IValue> inputs;  // gone after the call
  const std::string& module;            // path of the module that makes it: "layer1.0.conv1"
  const std::string& type;              // its class: "torch.nn.modules.conv.Conv2d"
};

class ScriptObserver {
 public:
  virtual ~ScriptObserver() = default;
  virtual void before(const ScriptCall& call) = 0;
  virtual void after(const ScriptCall& call, std::span<const c10::IValue> outputs) = 0;
};

class ScriptInterpreter {
 public:
  // `path` of the file is for messages.
  ScriptInterpreter(const torch::jit::Module& module, std::string path);
  ~ScriptInterpreter();

  // forward(inputs). An Error names the module and the operator that failed. Values are freed after
  // their last use.
  c10::IValue run(std::vector<c10::IValue> inputs, ScriptObserver& observer);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ridgeline::torch_module
