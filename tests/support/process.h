// Runs a program as a user would: arguments and environment in, both streams and exit code out.
// For tests only; the environment is fixed, so that a developer's settings cannot change a result.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace ridgeline::testing {

struct ProcessResult {
  int exit_code = -1;  // -1 if a signal ended it
  int signal = 0;
  std::string out;
  std::string err;
  // Peak memory; at least that of the test itself, which the child inherits on Linux.
  long max_resident_kib = 0;
};

struct ProcessSettings {
  std::map<std::string, std::string> environment = {};  // on top of PATH, TERM=dumb, COLUMNS=80 …
  std::string stdout_path = {};                         // a file instead of `out`: "/dev/full"
  std::string working_directory = {};
};

ProcessResult run_process(const std::vector<std::string>& command,
                          const ProcessSettings& settings = {});

// The binary under test: that of this build, or the one in RIDGELINE_TESTED.
std::string tested_program();

// Whether sanitizers are on: the test is then slow and takes much memory.
bool is_sanitized();

// tested_program(), with an empty profile store unless XDG_DATA_HOME is set.
ProcessResult run_ridgeline(const std::vector<std::string>& arguments,
                            const ProcessSettings& settings = {});

// The shell, with `ridgeline` on its PATH.
ProcessResult run_shell(const std::string& script, const ProcessSettings& settings = {});

}  // namespace ridgeline::testing
