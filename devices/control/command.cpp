// A child with pipes. The input is written before reading starts, so it must be short.
#include "devices/control/command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>

namespace ridgeline::control {
namespace {

struct Pipe {
  std::array<int, 2> ends{-1, -1};
  bool open() { return ::pipe2(ends.data(), O_CLOEXEC) == 0; }
  void close_end(std::size_t end) {
    if (ends[end] >= 0) ::close(ends[end]);
    ends[end] = -1;
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
};

}  // namespace

CommandOutput run_command(const std::vector<std::string>& words, const std::string& input,
                          double limit_s) {
  using Clock = std::chrono::steady_clock;
  CommandOutput output;
  Pipe in, out;
  if (!in.open() || !out.open()) return output;
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0) return output;
  if (child == 0) {
    ::setpgid(0, 0);  // what it starts is killed with it
    ::dup2(in.ends[0], STDIN_FILENO);
    ::dup2(out.ends[1], STDOUT_FILENO);
    ::dup2(out.ends[1], STDERR_FILENO);
    ::execv(arguments.front(), arguments.data());
    ::_exit(127);
  }
  in.close_end(0);
  out.close_end(1);
  // A child that does not read its input must not end us.
  struct sigaction ignore {
  }, before{};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &before);
  [[maybe_unused]] const ssize_t written = ::write(in.ends[1], input.data(), input.size());
  in.close_end(1);
  ::sigaction(SIGPIPE, &before, nullptr);

  const auto deadline = Clock::now() + std::chrono::duration<double>(limit_s);
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) {
      output.timed_out = true;
      break;
    }
    pollfd wait{out.ends[0], POLLIN, 0};
    const int ready = ::poll(&wait, 1, static_cast<int>(left));
    if (ready < 0 && errno != EINTR) break;
    if (ready <= 0) continue;
    std::array<char, 4096> block;
    const ssize_t count = ::read(out.ends[0], block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    output.text.append(block.data(), static_cast<std::size_t>(count));
  }
  if (output.timed_out) ::kill(-child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) output.exit_code = WEXITSTATUS(status);
  return output;
}

}  // namespace ridgeline::control
