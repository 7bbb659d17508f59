// While it lives, a crash ends the program with one line and exit code 1. LibTorch checks less of a
// TorchScript file than it relies on: 1.13 dereferences a null pointer in
// ScriptTypeParser::parseClassConstant if the code of a class was changed. Only a fault in the code
// of LibTorch blames the file, and one in the code of ridgeline blames ridgeline; an abort, or a
// fault in a library that both call, blames neither.
#pragma once

#include <signal.h>

#include <array>
#include <string>
#include <vector>

namespace ridgeline::torch_module {

// They nest; the innermost is in force. End them in reverse order.
class CrashLine {
 public:
  explicit CrashLine(const std::string& path);
  ~CrashLine();
  CrashLine(const CrashLine&) = delete;
  CrashLine& operator=(const CrashLine&) = delete;

 private:
  static constexpr std::array signals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

  static void print_and_exit(int number, siginfo_t* info, void* context);

  static const CrashLine* innermost_;
  const CrashLine* outer_;
  std::string of_torch_, of_ours_, of_either_;  // lines
  std::vector<char> stack_;
  stack_t stack_before_{};
  std::array<struct sigaction, signals.size()> before_{};
};

}  // namespace ridgeline::torch_module
