// A GraphProgram as an Executable: inference, or a step of training with autograd and an optimiser
// whose calls are those of torch.optim without foreach.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>
#include <torch/csrc/api/include/torch/version.h>

#include <cmath>
#include <memory>

#include "base/error.h"
#include "execution/torch/graph_program.h"
#include "execution/torch/module.h"
#include "execution/torch/recorder.h"
#include "execution/torch/torch_call.h"

namespace ridgeline::torch_module {
namespace {

constexpr double learning_rate = 1e-4, momentum_kept = 0.9, second_kept = 0.999;
constexpr double weight_decay = 0.01, adam_epsilon = 1e-8;

class GraphExecutable : public Executable {
 public:
  GraphExecutable(const Graph& graph, const ExecutionOptions& options)
      : name_(graph.name), optimizer_(options.optimizer) {
    set_threads(options.threads);
    program_ = without_torch_errors(
        name_, [&] { return graph_program(graph, options.optimizer.has_value()); });
    for (const Layer& layer : graph.layers) layers_.push_back(layer.name);
    if (optimizer_ && *optimizer_ != Optimizer::sgd)
      for (const LearnedTensor& parameter : program_.parameters) {
        first_.push_back(at::zeros_like(parameter.tensor));
        if (*optimizer_ != Optimizer::momentum) second_.push_back(at::zeros_like(parameter.tensor));
      }
  }

  void step() override {
    without_torch_errors(name_, [&] { run(nullptr); });
  }

  RecordedStep recorded_step() override {
    return without_torch_errors(name_, [&] {
      Recorder recorder;
      run(&recorder);
      return recorder.finish();
    });
  }

  std::vector<std::string> layer_names() const override { return layers_; }
  std::vector<std::string> notes() const override { return program_.notes; }
  std::string library() const override { return fmt::format("LibTorch {}", TORCH_VERSION); }

 private:
  void run(Recorder* recorder) {
    if (!optimizer_) {
      const c10::InferenceMode guard;
      forward(recorder);
      return;
    }
    for (LearnedTensor& parameter : program_.parameters) parameter.tensor.mutable_grad().reset();
    at::Tensor loss;
    {
      Values values = forward(recorder);
      for (const TensorId id : program_.outputs) {
        if (!values[id].defined() || !values[id].requires_grad()) continue;
        const at::Tensor sum = values[id].sum();
        loss = loss.defined() ? loss + sum : sum;
      }
    }
    if (!loss.defined()) throw Error(name_, "no output depends on a parameter that can learn");
    loss.backward();
    update(recorder);
  }

  Values forward(Recorder* recorder) {
    Values values = program_.constants;
    for (const LayerCall& call : program_.calls) {
      if (recorder != nullptr) recorder->begin(call.name, call.layer, StepPhase::forward);
      call.run(values);
      for (const TensorId id : call.last_uses) values[id].reset();
      if (recorder != nullptr) recorder->end();
    }
    return values;
  }

  void update(Recorder* recorder) {
    const c10::NoGradGuard guard;
    ++steps_;
    for (std::size_t i = 0; i < program_.parameters.size(); ++i) {
      LearnedTensor& parameter = program_.parameters[i];
      if (!parameter.tensor.grad().defined()) continue;
      if (recorder != nullptr)
        recorder->begin(parameter.name + ".update", no_index, StepPhase::update);
      update(parameter.tensor, i);
      if (recorder != nullptr) recorder->end();
    }
  }

  void update(at::Tensor& parameter, std::size_t i) {
    const at::Tensor slope = parameter.grad();
    switch (*optimizer_) {
      case Optimizer::sgd:
        parameter.add_(slope, -learning_rate);
        return;
      case Optimizer::momentum:
        first_[i].mul_(momentum_kept).add_(slope);
        parameter.add_(first_[i], -learning_rate);
        return;
      case Optimizer::adamw:
        parameter.mul_(1 - learning_rate * weight_decay);
        [[fallthrough]];
      case Optimizer::adam: {
        first_[i].mul_(momentum_kept).add_(slope, 1 - momentum_kept);
        second_[i].mul_(second_kept).addcmul_(slope, slope, 1 - second_kept);
        const double correction = std::sqrt(1 - std::pow(second_kept, steps_));
        const at::Tensor scale = (second_[i].sqrt() / correction).add_(adam_epsilon);
        parameter.addcdiv_(first_[i], scale,
                           -learning_rate / (1 - std::pow(momentum_kept, steps_)));
        return;
      }
    }
  }

  std::string name_;
  std::optional<Optimizer> optimizer_;
  MemoryLimit limit_;
  GraphProgram program_;
  std::vector<std::string> layers_;
  std::vector<at::Tensor> first_, second_;  // moments of the gradients
  double steps_ = 0;
};

}  // namespace
}  // namespace ridgeline::torch_module

extern "C" __attribute__((visibility("default"))) ridgeline::Executable*
ridgeline_torch_build_graph(const ridgeline::Graph& graph,
                            const ridgeline::ExecutionOptions& options) {
  return new ridgeline::torch_module::GraphExecutable(graph, options);
}
