// Executable: a network that is ready to run on this machine, whatever library runs it. One step is
// one inference or one step of training. How often it runs and what its times mean is decided in
// network_run.h.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/graph/graph.h"
#include "base/tokens.h"

namespace ridgeline {

enum class StepPhase { forward, backward, update };

template <>
struct TokenTable<StepPhase> {
  static constexpr std::string_view noun = "phase of a step";
  static constexpr std::array<std::pair<StepPhase, std::string_view>, 3> rows{
      {{StepPhase::forward, "forward"},
       {StepPhase::backward, "backward"},
       {StepPhase::update, "update"}}};
};

// One call in a recorded step. At depth 0 it is a layer of the network, the backward function of
// one, or the update of a parameter; the library's operators are below.
struct ExecutedCall {
  std::string name;              // "conv1"; "aten::conv2d"
  std::size_t layer = no_index;  // of the network's layers; no_index for anything between them
  StepPhase phase = StepPhase::forward;
  int depth = 0;
  double start_s = 0;  // since the step began
  double time_s = 0;
  double self_s = 0;  // without the calls inside
};

struct RecordedStep {
  double time_s = 0;  // recording takes time as well: more than a step takes by itself
  std::vector<ExecutedCall> calls;  // in the order of their beginning
};

class Executable {
 public:
  virtual ~Executable() = default;

  virtual void step() = 0;  // returns when its results are there
  virtual RecordedStep recorded_step() = 0;

  virtual std::vector<std::string> layer_names() const = 0;
  // Where it does not do what the network says; empty if it does.
  virtual std::vector<std::string> notes() const = 0;
  virtual std::string library() const = 0;  // "LibTorch 1.13.1"
};

}  // namespace ridgeline
