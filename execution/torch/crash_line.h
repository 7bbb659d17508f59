// While it lives, a crash of LibTorch on a file ends the program with one line and exit code 1.
// LibTorch checks less of a TorchScript file than it relies on: 1.13 dereferences a null pointer in
// ScriptTypeParser::parseClassConstant if the code of a class was changed. A fault in code of
// ridgeline has another line, which does not blame the file.
#pragma once

#include <signal.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace ridgeline::torch_module {

// They nest; the innermost is in force.
class CrashLine {
 public:
  explicit CrashLine(const std::string& path);
  ~CrashLine();
  CrashLine(const CrashLine&) = delete;
  CrashLine& operator=(const CrashLine&) = delete;

 private:
  static constexpr std::array signals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

  std::vector<char> stack_;
  stack_t stack_before_{};
  std::array<struct sigaction, signals.size()> before_{};
};

}  // namespace ridgeline::torch_module
