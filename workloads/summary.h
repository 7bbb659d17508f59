// WorkloadSummary: a network at its defaults, counted: what `ridgeline workloads` shows.
// A full analysis of one with options is `ridgeline analyze NAME`.
#pragma once

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "workloads/workload.h"

namespace ridgeline {

struct LayerSummary {
  std::string name, op;
  double macs = 0;
  double parameters = 0;  // that no layer before it has
};

struct TensorSummary {
  std::string name;
  ElementType type = ElementType::unknown;
  Shape shape;
};

struct WorkloadSummary {
  Workload workload;
  double parameters = 0, macs = 0;
  std::vector<TensorSummary> inputs, outputs;
  std::vector<LayerSummary> layers;
};

WorkloadSummary summarize(const Workload& workload);

// "1", "224", "prefill", "fp32": what an option is where it is not given.
std::string default_text(const Workload& workload, WorkloadOption option);

enum class LayerDetail { left_out, shown };
Json to_json(const WorkloadSummary& summary, LayerDetail detail);

}  // namespace ridgeline
