// The clock kernel with the narrowest registers is taken: wide ones lower the clock on some CPUs.
#include "kernels/cpu/core_clock.h"

#include <vector>

#include "kernels/cpu/isa.h"
#include "kernels/cpu/state.h"
#include "kernels/steady_clock.h"

namespace ridgeline::cpu {
namespace {

constexpr double idle_probe_s = 2e-4;  // as long as the probe under load (runner.cpp)

// Those that load need a working set.
bool fits(const Kernel& kernel) {
  return kernel.role == Role::clock && kernel.loads == 0 && isa_support(kernel.isa).runs;
}

}  // namespace

struct CoreClock::State {
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> lines;
};

CoreClock::CoreClock() : state_(std::make_unique<State>()) {
  for (const Kernel& kernel : kernel_table())
    if (fits(kernel) && (!kernel_ || kernel.access_bytes < kernel_->access_bytes))
      kernel_ = &kernel;
  if (!kernel_) return;
  state_->lines.resize(state_bytes(*kernel_) / sizeof(State::Line) + 1);
  prepare_state(*kernel_, state_->lines.data(), 1);
}

CoreClock::~CoreClock() = default;

double CoreClock::read_hz() {
  if (!kernel_) return 0;
  for (;;) {
    const double start_s = steady_seconds();
    kernel_->body(repeats_, state_->lines.data(), 0, 0);
    const double taken_s = steady_seconds() - start_s;
    if (taken_s >= idle_probe_s) return static_cast<double>(repeats_) * kernel_->cycles / taken_s;
    repeats_ *= 2;
  }
}

}  // namespace ridgeline::cpu
