// The monotonic clock that kernels and runs are timed by, in seconds.
// What must be testable without waiting takes it through SamplerWorld::now_s instead.
#pragma once

#include <chrono>

namespace ridgeline {

inline double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace ridgeline
