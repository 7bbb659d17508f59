// One network in the variants that can be run: by batch, dtype and runtime, each built and lowered
// once. What they cost is roofline/'s.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "analyzer/training/training.h"
#include "base/demand.h"
#include "base/runtime.h"
#include "base/tokens.h"
#include "cli/command.h"
#include "roofline/model/network_load.h"

namespace ridgeline::cli {

struct NetworkVariant {
  std::vector<Demand> demands;
  NetworkLoad load;
  std::int64_t batch = 1;     // 1 where the network does not say
  DType dtype = DType::fp32;  // that most of its arithmetic is in
  std::vector<std::string> warnings;
};

class NetworkVariants {
 public:
  // `word` and `options` as load_network() takes them.
  NetworkVariants(std::string word, const Options& options,
                  std::optional<TrainingOptions> training);

  // As asked for, with the options as they were given. Operators that nobody has described are an
  // Error, with --allow-unknown a warning.
  const NetworkVariant& as_given(Runtime runtime);

  // With another batch or dtype; an Error where the network does not have it, such as a file,
  // whose types are its own.
  const NetworkVariant& with(std::int64_t batch, DType dtype, Runtime runtime);

 private:
  const NetworkVariant& made(std::optional<std::int64_t> batch, std::optional<DType> dtype,
                             Runtime runtime);

  std::string word_;
  Options options_;
  std::optional<TrainingOptions> training_;
  std::map<std::tuple<std::optional<std::int64_t>, std::optional<DType>, Runtime>, NetworkVariant>
      made_;
};

// Bytes that a run holds at least: its weights, and the tensors of its largest kernel.
double least_memory_bytes(const std::vector<Demand>& demands);

}  // namespace ridgeline::cli
