// Runs one of the system's own programs with a fixed answer on its standard input and a time limit.
// Only what it printed and how it ended comes back.
#pragma once

#include <string>
#include <vector>

namespace ridgeline::control {

struct CommandOutput {
  int exit_code = -1;      // -1: it did not start, or a signal ended it
  std::string text;        // both streams, as they came
  bool timed_out = false;  // and was killed
};

CommandOutput run_command(const std::vector<std::string>& words, const std::string& input,
                          double limit_s);

}  // namespace ridgeline::control
