// The handler may call few functions, so all lines and the addresses of code are ready before.
#include "execution/torch/crash_line.h"

#include <link.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace ridgeline::torch_module {
namespace {

constexpr std::size_t stack_bytes = 64 * 1024;

struct CodeRange {
  std::uintptr_t begin = 0, end = 0;
  bool is_torch = false;  // otherwise of the program or of this module
};

bool is_of_torch(std::string_view library) {
  const std::string_view name = library.substr(library.rfind('/') + 1);
  return name.starts_with("libtorch") || name.starts_with("libc10");
}

int add_code(dl_phdr_info* info, std::size_t, void* ranges) {
  const std::string_view name = info->dlpi_name == nullptr ? "" : info->dlpi_name;
  const bool is_torch = is_of_torch(name);
  if (!is_torch && !name.empty() && !name.ends_with("/libridgeline_torch.so")) return 0;
  for (const ElfW(Phdr) & part : std::span(info->dlpi_phdr, info->dlpi_phnum))
    if (part.p_type == PT_LOAD && (part.p_flags & PF_X) != 0)
      static_cast<std::vector<CodeRange>*>(ranges)->push_back(
          {info->dlpi_addr + part.p_vaddr, info->dlpi_addr + part.p_vaddr + part.p_memsz,
           is_torch});
  return 0;
}

const std::vector<CodeRange>& code_ranges() {
  static const std::vector<CodeRange> ranges = [] {
    std::vector<CodeRange> found;
    dl_iterate_phdr(add_code, &found);
    return found;
  }();
  return ranges;
}

std::uintptr_t place_of_fault(const void* context) {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#ifdef __aarch64__
  return static_cast<std::uintptr_t>(machine.pc);
#else
  return static_cast<std::uintptr_t>(machine.gregs[REG_RIP]);
#endif
}

}  // namespace

const CrashLine* CrashLine::innermost_ = nullptr;

void CrashLine::print_and_exit(int number, siginfo_t*, void* context) {
  const std::string* line = &innermost_->of_either_;
  const std::uintptr_t place = place_of_fault(context);
  // An abort comes from libc, for whoever called it.
  if (number != SIGABRT)
    for (const CodeRange& range : code_ranges())
      if (range.begin <= place && place < range.end)
        line = range.is_torch ? &innermost_->of_torch_ : &innermost_->of_ours_;
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line->data(), line->size());
  _exit(static_cast<int>(ExitCode::error));
}

CrashLine::CrashLine(const std::string& path) : outer_(innermost_), stack_(stack_bytes) {
  std::string name = path;
  std::ranges::replace_if(
      name, [](unsigned char byte) { return byte < ' ' || byte == 127; }, '?');
  of_torch_ = "ridgeline: " + name +
              ": LibTorch crashed on it: the file is damaged, or made for another LibTorch "
              "(save it again)\n";
  of_ours_ = "ridgeline: " + name +
             ": ridgeline itself crashed on it (report it as a fault, with this file)\n";
  of_either_ = "ridgeline: " + name +
               ": the program crashed on it (save it again; if it crashes again, report it as a "
               "fault, with this file)\n";
  code_ranges();
  innermost_ = this;
  // A stack of its own: code that is nested too deeply leaves none.
  stack_t stack{};
  stack.ss_sp = stack_.data();
  stack.ss_size = stack_.size();
  sigaltstack(&stack, &stack_before_);
  struct sigaction action {};
  action.sa_sigaction = print_and_exit;
  action.sa_flags = SA_ONSTACK | SA_SIGINFO;
  for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &action, &before_[i]);
}

CrashLine::~CrashLine() {
  for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &before_[i], nullptr);
  sigaltstack(&stack_before_, nullptr);
  innermost_ = outer_;
}

}  // namespace ridgeline::torch_module
