// Each kernel's declared work beside what the GPU's own counters say it did.
// Rates are not verified: kernels run with fixed sizes, and profilers repeat them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/cuda/bench.h"
#include "kernels/cuda/counter_table.h"
#include "kernels/cuda/profiler.h"

namespace ridgeline::cuda {

struct VerifiedQuantity {
  Quantity quantity = Quantity::flop_fp32;
  double declared = 0;
  std::optional<double> measured = {};
  struct Term {
    const CounterRow* row;
    double factor;  // of the row, in this kernel's unit
  };
  std::vector<Term> terms = {};  // that were added up
  std::string why = {};          // there is no measured value

  double difference() const;  // relative; only where measured
  bool agrees() const;        // within the quantity's tolerance; true where not measured
};

struct VerifiedKernel {
  Setup setup;  // as it was launched
  std::vector<VerifiedQuantity> quantities = {};
  std::optional<double> time_s = {};  // of one launch, by its own record
  std::string failure = {};           // why it did not run
};

struct Verification {
  std::vector<VerifiedKernel> kernels;
  bool complete = true;  // neither interrupted nor was the device lost
};

// What a launch declares, as counters measure it.
std::vector<VerifiedQuantity> declared_quantities(const Setup& setup);

// Every kernel of the plan that can run. Throws where no counter can be read at all.
Verification verify_counters(Gpu& gpu, const std::vector<PlannedTrial>& plan, ProfilerApi api,
                             const std::function<bool()>& interrupted,
                             const std::function<void(double)>& progress);

}  // namespace ridgeline::cuda
