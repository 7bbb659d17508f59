// While it lives, a crash of LibTorch on a file ends the program with one line and exit code 1.
// LibTorch checks less of a TorchScript file than it relies on: 1.13 dereferences a null pointer in
// ScriptTypeParser::parseClassConstant if the code of a class was changed.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "base/error.h"

namespace ridgeline::torch_module {

class CrashLine {
 public:
  explicit CrashLine(const std::string& path) : stack_(stack_bytes) {
    std::string name = path;
    std::ranges::replace_if(
        name, [](unsigned char byte) { return byte < ' ' || byte == 127; }, '?');
    line() = "ridgeline: " + name +
             ": LibTorch crashed while reading it: the file is damaged; save it again\n";
    // A stack of its own: code that is nested too deeply leaves none.
    stack_t stack{};
    stack.ss_sp = stack_.data();
    stack.ss_size = stack_.size();
    sigaltstack(&stack, &stack_before_);
    struct sigaction action {};
    action.sa_handler = print_and_exit;
    action.sa_flags = SA_ONSTACK;
    for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &action, &before_[i]);
  }
  ~CrashLine() {
    for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &before_[i], nullptr);
    sigaltstack(&stack_before_, nullptr);
  }
  CrashLine(const CrashLine&) = delete;
  CrashLine& operator=(const CrashLine&) = delete;

 private:
  static constexpr std::array signals{SIGSEGV, SIGBUS, SIGFPE, SIGILL};
  static constexpr std::size_t stack_bytes = 64 * 1024;

  static std::string& line() {
    static std::string text;
    return text;
  }

  // Calls only what a signal handler may call.
  static void print_and_exit(int) {
    const std::string& text = line();
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    _exit(static_cast<int>(ExitCode::error));
  }

  std::vector<char> stack_;
  stack_t stack_before_{};
  std::array<struct sigaction, signals.size()> before_{};
};

}  // namespace ridgeline::torch_module
