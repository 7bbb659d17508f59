// Rows of a profile that beat the ceiling of their kind and still are no ceiling, because they are
// throttled or impossible. They are named wherever the ceilings are shown; see roofline.h.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/estimate.h"
#include "base/profile.h"
#include "base/tokens.h"

namespace ridgeline {

struct Roofline;

// A measured row that is faster than the ceiling of its kind and still is no ceiling.
struct LeftOut {
  std::string name;  // "FP64 AVX2" or "DRAM read"
  Processor processor = Processor::cpu;
  std::string kernel;
  int threads = 1;
  Status status = Status::throttled;  // why it was left out
  std::string note;                   // of the row
  std::string instead;                // name of the ceiling of its kind; empty where there is none
  std::optional<Estimate> flops_per_s;  // OP/s for integer dtypes; of a compute row
  std::optional<Estimate> bytes_per_s;  // of a memory row
  std::optional<DType> dtype;           // of a compute row
};

// "FP64 AVX2 96.6 GFLOP/s (throttled: the clock fell by 9 %); instead FP64 SSE4".
std::string left_out_text(const LeftOut& row);

// Rows with the thread counts that `takes` accepts which the roofline does not show.
std::vector<LeftOut> find_left_out(const Roofline& roofline, const ProfileMode& mode,
                                   const std::function<bool(Processor, int threads)>& takes);

}  // namespace ridgeline
