// One network in the variants that can run: by batch, dtype and runtime. Each batch and dtype is
// loaded once and lowered once per runtime. roofline/ computes what the kernels cost.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/training/training.h"
#include "base/demand.h"
#include "base/run_memory.h"
#include "base/runtime.h"
#include "base/tokens.h"
#include "workloads/network.h"

namespace ridgeline {

struct NetworkVariant {
  std::vector<Demand> demands;
  std::int64_t batch = 1;     // 1 if the network has none
  DType dtype = DType::fp32;  // of most of its arithmetic
  RunMemory memory;           // at its peak
  std::vector<std::string> warnings;
  double input_bytes = 0;                 // of one batch of samples; 0 if unknown
  const ChosenKernels* chosen = nullptr;  // if its file lists kernels; owned by NetworkVariants
};

class NetworkVariants {
 public:
  // With `training`, one training step instead of inference.
  explicit NetworkVariants(NetworkRequest request, std::optional<TrainingOptions> training = {})
      : request_(std::move(request)), training_(std::move(training)) {}

  // As requested. Operators without a rule are an Error, or a warning if the request allows them.
  const NetworkVariant& as_given(Runtime runtime);

  // With another batch or dtype. Throws an Error if the network cannot have it: a file's types are
  // fixed.
  const NetworkVariant& with(std::int64_t batch, DType dtype, Runtime runtime);

 private:
  // Differences from the request; none: as requested.
  using Change = std::pair<std::optional<std::int64_t>, std::optional<DType>>;

  struct Loaded {
    Network network;
    std::optional<RunMemory> training;  // of one step, if that is what the network was made into
  };

  const Loaded& loaded(const Change& change);
  const NetworkVariant& lowered(const Change& change, Runtime runtime);

  NetworkRequest request_;
  std::optional<TrainingOptions> training_;
  std::map<Change, Loaded> loaded_;
  std::map<std::pair<Change, Runtime>, NetworkVariant> lowered_;
};

// The module of each Demand, by its name, two levels deep: "layer1.0"; "outside" if they do
// not.
std::vector<std::string> demand_modules(const NetworkVariant& variant);

// Text for what a training step leaves out.
std::vector<std::string> training_warnings(const Training& training);

}  // namespace ridgeline
