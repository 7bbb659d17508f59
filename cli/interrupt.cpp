// A handler for SIGINT and SIGTERM that sets a flag and restores the default action.
#include "cli/interrupt.h"

#include <csignal>

namespace ridgeline::cli {
namespace {

volatile std::sig_atomic_t seen = 0;

extern "C" void note_interrupt(int signal) {
  seen = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  seen = 0;
  std::signal(SIGINT, note_interrupt);
  std::signal(SIGTERM, note_interrupt);
}

InterruptGuard::~InterruptGuard() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

bool InterruptGuard::interrupted() { return seen != 0; }

}  // namespace ridgeline::cli
