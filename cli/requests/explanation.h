// ExplainRequest: a network on a machine as `explain` is asked about it; and ExplainedNetwork,
// which answers it: the Explanation of the requested mode, of other modes and types, and timelines.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/training/training.h"
#include "base/conditions.h"
#include "cli/requests/values.h"
#include "roofline/explain/advice.h"
#include "roofline/explain/explanation.h"
#include "roofline/explain/timeline.h"
#include "roofline/model/draws.h"
#include "roofline/model/machine.h"
#include "roofline/model/memory.h"
#include "roofline/model/network_load.h"
#include "workloads/network_variants.h"

namespace ridgeline::cli {

struct ExplainRequest {
  NetworkRequest network;
  std::optional<TrainingOptions> training;
  MachineRequest machine;
  std::optional<Runtime> runtime;  // absent: what such a network is usually run with
  bool locked = true;
  std::optional<Given<double>> free_memory;
  bool by_module = false;
  std::optional<double> time_s;  // measured, of one run
};

// The network's variants on one machine: what each of them is predicted to cost. Keeps references
// to request and machine.
class ExplainedNetwork {
 public:
  ExplainedNetwork(const ExplainRequest& request, const MachineSource& machine);

  Runtime runtime() const { return runtime_; }

  // Of the requested mode, with memory, measured times and advice. A run that does not fit into
  // the machine's memory is an Error.
  Explanation explanation();
  Timeline timeline();

  // Of another mode and type, with these draws of the machine's parameters (coefficient_draws) for
  // the intervals: totals, layers and ceilings alone.
  Explanation in_mode(const OperatingPoint& point, DType dtype,
                      std::span<const CoefficientDraw> draws);
  Timeline timeline_in(const OperatingPoint& point, DType dtype);

  // With the network's own scales if the machine was fitted to it.
  const MachineModel& model_in(Runtime runtime);

 private:
  const NetworkVariant& runnable(std::vector<std::string>& notes);
  std::optional<MemoryFit> memory(const NetworkVariant& variant, Runtime runtime) const;
  std::optional<MemoryFit> checked_memory(const NetworkVariant& variant) const;
  std::optional<Cost> cost(const Setting& setting);
  const NetworkLoad& load_of(const NetworkVariant& variant, Runtime runtime);
  const NetworkVariant& variant_in(DType dtype);
  // Of the measured time, if there is one.
  void add_utilization(const NetworkVariant& variant, Explanation& explanation) const;
  ExplainedRun run_of(const NetworkVariant& variant) const;

  const ExplainRequest& request_;
  const MachineSource& machine_;
  Runtime runtime_;
  Conditions conditions_;
  NetworkVariants variants_;
  std::map<const NetworkVariant*, NetworkLoad> loads_;
  std::optional<MemoryAmount> usable_;
  std::map<Runtime, MachineModel> models_;  // with the network's own scales
};

}  // namespace ridgeline::cli
