// A TorchScript file as an Executable. A step is forward() as LibTorch runs it; recorded steps run
// the same calls node by node, so that each is known with its layer.
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>
#include <torch/csrc/api/include/torch/version.h>

#include <utility>

#include "execution/torch/crash_line.h"
#include "execution/torch/module.h"
#include "execution/torch/recorder.h"
#include "execution/torch/script_interpreter.h"
#include "execution/torch/script_module.h"
#include "execution/torch/torch_call.h"

namespace ridgeline::torch_module {
namespace {

// LibTorch watches the first runs and compiles the code afterwards.
constexpr int runs_until_compiled = 3;

class CallRecorder : public ScriptObserver {
 public:
  CallRecorder(Recorder& recorder, const ScriptLayers& layers)
      : recorder_(recorder), layers_(layers) {}

  void before(const ScriptCall& call) override {
    const std::size_t layer = next_ < layers_.of_calls.size() ? layers_.of_calls[next_] : no_index;
    ++next_;
    recorder_.begin(layer == no_index ? call.node.kind().toQualString() : layers_.names[layer],
                    layer, StepPhase::forward);
  }
  void after(const ScriptCall&, std::span<const c10::IValue>) override { recorder_.end(); }

 private:
  Recorder& recorder_;
  const ScriptLayers& layers_;
  std::size_t next_ = 0;
};

class ScriptExecutable : public Executable {
 public:
  ScriptExecutable(const std::string& path, const ReadOptions& reading, ScriptLayers layers,
                   int threads)
      : path_(path),
        crash_line_(path),
        layers_(std::move(layers)),
        module_(load_script(path)),
        inputs_(script_inputs(module_, reading, path)),
        interpreter_(module_, path) {
    set_threads(threads);
    for (int i = 0; i < runs_until_compiled; ++i) step();
  }

  void step() override {
    without_torch_errors(path_, [&] {
      const c10::InferenceMode guard;
      module_.forward(inputs_.values);
    });
  }

  RecordedStep recorded_step() override {
    return without_torch_errors(path_, [&] {
      const c10::InferenceMode guard;
      Recorder recorder;
      CallRecorder calls(recorder, layers_);
      interpreter_.run(inputs_.values, calls);
      return recorder.finish();
    });
  }

  std::vector<std::string> layer_names() const override { return layers_.names; }
  std::vector<std::string> notes() const override { return {}; }
  std::string library() const override { return fmt::format("LibTorch {}", TORCH_VERSION); }

 private:
  std::string path_;
  CrashLine crash_line_;
  ScriptLayers layers_;
  MemoryLimit limit_;
  torch::jit::Module module_;
  ScriptInputs inputs_;
  ScriptInterpreter interpreter_;
};

}  // namespace
}  // namespace ridgeline::torch_module

extern "C" __attribute__((visibility("default"))) ridgeline::Executable*
ridgeline_torch_build_script(const std::string& path, const ridgeline::ReadOptions& reading,
                             const ridgeline::ScriptLayers& layers, int threads) {
  return new ridgeline::torch_module::ScriptExecutable(path, reading, layers, threads);
}
