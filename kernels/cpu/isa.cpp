// Combines feature bits and a trial in a child process into one result per instruction set.
// The trial matters: virtual machines exist that list tile units with empty CPUID leaves.
#include "kernels/cpu/isa.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <optional>
#include <utility>

#include "kernels/cpu/isa_bits.h"

namespace ridgeline::cpu {
namespace {

#if defined(__aarch64__)
constexpr std::string_view baseline_name = "armv8-a";
#else
constexpr std::string_view baseline_name = "x86-64";
#endif

constexpr std::array<std::pair<Isa, std::string_view>, 13> names{{
    {Isa::baseline, baseline_name},
    {Isa::sse4, "sse4"},
    {Isa::avx2_fma, "avx2_fma"},
    {Isa::avx_vnni, "avx_vnni"},
    {Isa::avx512f, "avx512f"},
    {Isa::avx512_vnni, "avx512_vnni"},
    {Isa::avx512_bf16, "avx512_bf16"},
    {Isa::avx512_fp16, "avx512_fp16"},
    {Isa::amx_bf16, "amx_bf16"},
    {Isa::amx_int8, "amx_int8"},
    {Isa::neon, "neon"},
    {Isa::neon_fp16, "neon_fp16"},
    {Isa::neon_dotprod, "neon_dotprod"},
}};

enum class Outcome { survived, died, not_tried };

template <class Trial>
Outcome try_in_child(Trial trial) {
  const pid_t child = fork();
  if (child < 0) return Outcome::not_tried;
  if (child == 0) {
    // Default handlers, so that neither a sanitizer nor a core dump talks about the fault.
    for (const int signal : {SIGILL, SIGSEGV, SIGBUS, SIGFPE}) std::signal(signal, SIG_DFL);
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    trial();
    _exit(0);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? Outcome::survived : Outcome::died;
}

IsaSupport find_out(Isa isa) {
  if (isa == Isa::baseline) return {true, {}};
  if (std::string missing = missing_feature(isa); !missing.empty())
    return {false, std::move(missing)};
  const auto trial = [isa] {
    if (!request_permission(isa)) _exit(1);
    execute_trial(isa);
  };
  switch (try_in_child(trial)) {
    case Outcome::survived:
      break;
    case Outcome::died:
      return {false, "listed by the CPU, but its instructions fault here"};
    case Outcome::not_tried:
      return {false, "could not be tried: the system starts no child process"};
  }
  if (!request_permission(isa)) return {false, "the kernel refuses permission to use it"};
  return {true, {}};
}

}  // namespace

std::string_view to_string(Isa isa) {
  for (const auto& [value, name] : names)
    if (value == isa) return name;
  return "?";
}

bool survives(void (*trial)()) { return try_in_child(trial) == Outcome::survived; }

const IsaSupport& isa_support(Isa isa) {
  static std::mutex mutex;
  static std::array<std::optional<IsaSupport>, names.size()> answers;
  const std::scoped_lock lock(mutex);
  auto& answer = answers.at(static_cast<std::size_t>(isa));
  if (!answer) answer = find_out(isa);
  return *answer;
}

std::vector<std::string> running_isas() {
  std::vector<std::string> running;
  for (const auto& [isa, name] : names)
    if (isa_support(isa).runs) running.emplace_back(name);
  return running;
}

}  // namespace ridgeline::cpu
