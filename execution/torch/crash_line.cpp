// The handler may call few functions, so both lines and the addresses of our code are ready before.
#include "execution/torch/crash_line.h"

#include <link.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/error.h"

namespace ridgeline::torch_module {
namespace {

constexpr std::size_t stack_bytes = 64 * 1024;

struct CrashFacts {
  std::string of_torch, of_ours;                                // lines
  std::vector<std::pair<std::uintptr_t, std::uintptr_t>> code;  // of the program and this module
};

CrashFacts& crash_facts() {
  static CrashFacts facts;
  return facts;
}

int add_code(dl_phdr_info* info, std::size_t, void* facts) {
  auto& code = static_cast<CrashFacts*>(facts)->code;
  const std::string_view name = info->dlpi_name == nullptr ? "" : info->dlpi_name;
  if (!name.empty() && !name.ends_with("/libridgeline_torch.so")) return 0;
  for (const ElfW(Phdr) & part : std::span(info->dlpi_phdr, info->dlpi_phnum))
    if (part.p_type == PT_LOAD && (part.p_flags & PF_X) != 0)
      code.emplace_back(info->dlpi_addr + part.p_vaddr,
                        info->dlpi_addr + part.p_vaddr + part.p_memsz);
  return 0;
}

std::uintptr_t place_of_fault(const void* context) {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#ifdef __aarch64__
  return static_cast<std::uintptr_t>(machine.pc);
#else
  return static_cast<std::uintptr_t>(machine.gregs[REG_RIP]);
#endif
}

void print_and_exit(int, siginfo_t*, void* context) {
  const CrashFacts& facts = crash_facts();
  const std::uintptr_t place = place_of_fault(context);
  bool is_ours = false;
  for (const auto& [begin, end] : facts.code) is_ours |= begin <= place && place < end;
  const std::string& text = is_ours ? facts.of_ours : facts.of_torch;
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
  _exit(static_cast<int>(ExitCode::error));
}

}  // namespace

CrashLine::CrashLine(const std::string& path) : stack_(stack_bytes) {
  CrashFacts& facts = crash_facts();
  std::string name = path;
  std::ranges::replace_if(
      name, [](unsigned char byte) { return byte < ' ' || byte == 127; }, '?');
  facts.of_torch = "ridgeline: " + name +
                   ": LibTorch crashed on it: the file is damaged, or made for another LibTorch "
                   "(save it again)\n";
  facts.of_ours = "ridgeline: " + name +
                  ": ridgeline itself crashed on it (report it as a fault, with this file)\n";
  if (facts.code.empty()) dl_iterate_phdr(add_code, &facts);
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
}

}  // namespace ridgeline::torch_module
