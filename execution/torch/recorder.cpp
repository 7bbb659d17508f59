// LibTorch calls plain functions, so the state is found by thread. The CPU's backward pass runs in
// the thread that asks for it.
#include "execution/torch/recorder.h"

#include <ATen/record_function.h>

#include <chrono>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

namespace ridgeline::torch_module {
namespace {

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The engine's own call around each backward function: it would hide which layer it belongs to.
bool is_engine_call(const at::RecordFunction& function) {
  return std::string_view(function.name()).starts_with("autograd::engine::");
}

}  // namespace

struct Recorder::State {
  double began_s = now_s();
  RecordedStep step;
  std::vector<std::size_t> open;                 // calls that have not ended, the innermost last
  std::map<std::int64_t, std::size_t> layer_of;  // by sequence number of the forward call
  at::CallbackHandle handle = 0;

  void begin(const std::string& name, std::size_t layer, StepPhase phase) {
    ExecutedCall call;
    call.name = name;
    call.layer = layer;
    call.phase = phase;
    call.depth = static_cast<int>(open.size());
    call.start_s = now_s() - began_s;
    open.push_back(step.calls.size());
    step.calls.push_back(std::move(call));
  }

  void end() {
    if (open.empty()) return;
    ExecutedCall& call = step.calls[open.back()];
    open.pop_back();
    call.time_s = now_s() - began_s - call.start_s;
    call.self_s += call.time_s;
    if (!open.empty()) step.calls[open.back()].self_s -= call.time_s;
  }

  void begin(const at::RecordFunction& function) {
    const bool backward = function.scope() == at::RecordScope::BACKWARD_FUNCTION;
    std::size_t layer = no_index;
    StepPhase phase = backward ? StepPhase::backward : StepPhase::forward;
    if (backward) {
      const auto found = layer_of.find(function.seqNr());
      if (found != layer_of.end()) layer = found->second;
    } else if (!open.empty()) {
      const ExecutedCall& outer = step.calls[open.back()];
      layer = outer.layer;
      phase = outer.phase;
      // The last call with a number is the one that made the node of the backward pass.
      if (phase == StepPhase::forward && function.seqNr() >= 0) layer_of[function.seqNr()] = layer;
    }
    begin(function.name(), layer, phase);
  }
};

namespace {

thread_local void* active_state = nullptr;

}  // namespace

Recorder::Recorder() : state_(new State) {
  active_state = state_;
  state_->handle = at::addThreadLocalCallback(
      at::RecordFunctionCallback(
          [](const at::RecordFunction& function) -> std::unique_ptr<at::ObserverContext> {
            if (active_state != nullptr && !is_engine_call(function))
              static_cast<State*>(active_state)->begin(function);
            return nullptr;
          },
          [](const at::RecordFunction& function, at::ObserverContext*) {
            if (active_state != nullptr && !is_engine_call(function))
              static_cast<State*>(active_state)->end();
          })
          .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
}

Recorder::~Recorder() {
  at::removeCallback(state_->handle);
  active_state = nullptr;
  delete state_;
}

void Recorder::begin(const std::string& name, std::size_t layer, StepPhase phase) {
  state_->begin(name, layer, phase);
}

void Recorder::end() { state_->end(); }

RecordedStep Recorder::finish() {
  state_->step.time_s = now_s() - state_->began_s;
  return std::move(state_->step);
}

}  // namespace ridgeline::torch_module
