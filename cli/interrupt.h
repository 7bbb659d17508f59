// Ctrl-C as a question instead of an end: work in progress is finished and kept.
// A second Ctrl-C ends the program at once.
#pragma once

namespace ridgeline::cli {

class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  static bool interrupted();
};

}  // namespace ridgeline::cli
