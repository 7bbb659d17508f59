// One network in the variants that can be run: by batch, dtype and runtime. Each batch and dtype is
// loaded once, and lowered once per runtime. What the kernels cost is computed in roofline/.
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
#include "base/runtime.h"
#include "base/tokens.h"
#include "workloads/network.h"

namespace ridgeline {

struct NetworkVariant {
  std::vector<Demand> demands;
  std::int64_t batch = 1;     // 1 where the network does not say
  DType dtype = DType::fp32;  // that most of its arithmetic is in
  std::vector<std::string> warnings;
};

class NetworkVariants {
 public:
  // With `training`, one training step instead of inference.
  explicit NetworkVariants(NetworkRequest request, std::optional<TrainingOptions> training = {})
      : request_(std::move(request)), training_(std::move(training)) {}

  // As requested. Operators that no rule describes are an Error, or a warning where they are
  // allowed.
  const NetworkVariant& as_given(Runtime runtime);

  // With another batch or dtype; an Error where the network does not have it, such as a file,
  // whose types are its own.
  const NetworkVariant& with(std::int64_t batch, DType dtype, Runtime runtime);

 private:
  // What differs from the request; nothing: as requested.
  using Change = std::pair<std::optional<std::int64_t>, std::optional<DType>>;

  const Network& loaded(const Change& change);
  const NetworkVariant& lowered(const Change& change, Runtime runtime);

  NetworkRequest request_;
  std::optional<TrainingOptions> training_;
  std::map<Change, Network> loaded_;
  std::map<std::pair<Change, Runtime>, NetworkVariant> lowered_;
};

// What a training step leaves out, in words.
std::vector<std::string> training_warnings(const Training& training);

// Bytes that a run holds at least: its weights, and the tensors of its largest kernel.
double least_memory_bytes(const std::vector<Demand>& demands);

}  // namespace ridgeline
