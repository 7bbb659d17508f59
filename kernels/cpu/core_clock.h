// The clock of the core that the calling thread runs on, by a chain of known latency.
// Under the load of a kernel runner.h probes it; here nothing but the chain runs.
#pragma once

#include <cstdint>
#include <memory>

#include "kernels/cpu/kernel.h"

namespace ridgeline::cpu {

class CoreClock {
 public:
  CoreClock();
  ~CoreClock();

  // Takes a fifth of a millisecond; 0 where this CPU runs no clock kernel.
  double read_hz();

 private:
  struct State;

  const Kernel* kernel_ = nullptr;
  std::unique_ptr<State> state_;
  std::uint64_t repeats_ = 64;
};

}  // namespace ridgeline::cpu
