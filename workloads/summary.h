// WorkloadSummary: the counts of a network at its defaults, as `ridgeline workloads` shows them.
// `ridgeline analyze NAME` gives a full analysis, with options.
#pragma once

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "workloads/workload.h"

namespace ridgeline {

struct LayerSummary {
  std::string name, op;
  double macs = 0;
  double parameters = 0;  // not shared with an earlier layer
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

// Default value of an option: "1", "224", "prefill", "fp32".
std::string default_text(const Workload& workload, WorkloadOption option);

enum class LayerDetail { left_out, shown };
Json to_json(const WorkloadSummary& summary, LayerDetail detail);

}  // namespace ridgeline
