// A thread that sleeps until the next moment of a fixed grid, so that a late reading does not delay
// the ones after it.
#include "devices/sensors/power_recorder.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <system_error>

#include "base/error.h"

namespace ridgeline {
namespace {

double clock_seconds(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

PowerRecorder::PowerRecorder(PowerChannels& channels, double period_s)
    : channels_(channels), period_s_(period_s), begin_s_(clock_seconds(CLOCK_MONOTONIC)) {
  record_.source = channels.source();
  record_.channels = channels.channels();
  take();  // counters have a start, and a short program is not missed
  thread_ = std::thread([this] { run(); });
}

PowerRecorder::~PowerRecorder() {
  ends_ = true;
  if (thread_.joinable()) thread_.join();
}

double PowerRecorder::now_s() const { return clock_seconds(CLOCK_MONOTONIC) - begin_s_; }

void PowerRecorder::take() {
  PowerSample sample;
  sample.time_s = now_s();
  channels_.read_w(sample.time_s, sample.power_w);
  record_.samples.push_back(std::move(sample));
}

void PowerRecorder::run() {
  // Signals are for the thread that waits.
  sigset_t all;
  sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
  double next_s = now_s() + period_s_;
  while (!ends_) {
    const double left_s = next_s - now_s();
    if (left_s > 0) {
      std::this_thread::sleep_for(std::chrono::duration<double>(std::min(left_s, 0.05)));
      continue;
    }
    take();
    next_s += period_s_ * std::max(1.0, std::ceil((now_s() - next_s) / period_s_));
  }
  cpu_s_ = clock_seconds(CLOCK_THREAD_CPUTIME_ID);
}

PowerRecord PowerRecorder::stop() {
  ends_ = true;
  if (thread_.joinable()) thread_.join();
  take();
  record_.sampler_cpu_s = cpu_s_;
  record_.counted_j = channels_.counted_j();
  return std::move(record_);
}

ProgramRun run_recorded(const PowerRecorder& recorder, const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  // A pipe that closes on a successful exec tells a program that cannot start from one that fails.
  std::array<int, 2> report{};
  if (::pipe2(report.data(), O_CLOEXEC) != 0)
    throw Error(command.front(), std::generic_category().message(errno));
  ProgramRun run;
  run.begin_s = recorder.now_s();
  const pid_t child = ::fork();
  if (child < 0) throw Error(command.front(), std::generic_category().message(errno));
  if (child == 0) {
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    ::signal(SIGINT, SIG_DFL);
    ::signal(SIGTERM, SIG_DFL);
    ::execvp(words.front(), words.data());
    const int fault = errno;
    [[maybe_unused]] const ssize_t wrote = ::write(report[1], &fault, sizeof fault);
    ::_exit(127);
  }
  ::close(report[1]);
  int fault = 0;
  const bool failed = ::read(report[0], &fault, sizeof fault) == sizeof fault;
  ::close(report[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  run.end_s = recorder.now_s();
  if (failed)
    throw Error(command.front(), "cannot be run: " + std::generic_category().message(fault));
  run.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return run;
}

}  // namespace ridgeline
