// Records the calls of LibTorch while a step runs, by its own observer interface (RecordFunction):
// start, time, self time, and to which layer each call belongs. Backward functions belong to the
// layer whose forward call has the same sequence number.
#pragma once

#include <string>

#include "execution/executable.h"

namespace ridgeline::torch_module {

class Recorder {
 public:
  Recorder();  // records the calls of this thread while it lives
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // A call of ours, around those of LibTorch.
  void begin(const std::string& name, std::size_t layer, StepPhase phase);
  void end();

  RecordedStep finish();

 private:
  struct State;
  State* state_;
};

}  // namespace ridgeline::torch_module
