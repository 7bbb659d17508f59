// Runs another program and waits until it ends or its time is up. No shell is involved: words reach
// the program as they are.
#pragma once

#include <array>
#include <csignal>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ridgeline {

struct ChildRequest {
  std::vector<std::string> command;                     // the program is looked up in PATH
  std::map<std::string, std::string> environment = {};  // on top of this process's own
  // Its output is kept and it reads `input`; otherwise it reads our stdin and writes to our stderr.
  bool is_captured = false;
  std::string input = {};
  std::optional<double> limit_s = {};  // it is killed then
};

struct ChildResult {
  int exit_code = 0;  // 128 + the signal that ended it, as shells count
  bool timed_out = false;
  std::string output;  // both streams if captured, the last megabyte
};

// An Error if the program cannot be started; what it returns is for the caller to judge.
ChildResult run_child(const ChildRequest& request);

// While one of these lives, what asks this process to end (SIGINT, SIGTERM, SIGHUP) goes to the
// child, a second time as SIGKILL; at the end of its life this process ends by the same signal.
// Whoever has a TemporaryFolder declares it before that: the folder is then removed first.
class EndsWithChild {
 public:
  EndsWithChild();
  ~EndsWithChild();
  EndsWithChild(const EndsWithChild&) = delete;
  EndsWithChild& operator=(const EndsWithChild&) = delete;

 private:
  static constexpr std::array<int, 3> numbers{SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, 3> before_{};
};

// The executable file of this name in the folders of PATH.
std::optional<std::string> find_in_path(const std::string& name);

}  // namespace ridgeline
