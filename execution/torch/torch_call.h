// Calls of LibTorch: its failures as one Error, its threads, and as much memory as there is.
#pragma once

#include <ATen/Parallel.h>
#include <c10/util/Exception.h>
#include <dlfcn.h>
#include <sys/resource.h>

#include <exception>
#include <fstream>
#include <new>
#include <string>

#include "base/error.h"

namespace ridgeline::torch_module {

// OpenBLAS has threads of its own, which LibTorch does not set.
inline void set_threads(int threads) {
  at::set_num_threads(threads);
  if (void* set = dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))
    reinterpret_cast<void (*)(int)>(set)(threads);
}

// What went wrong, in one line: LibTorch's messages go on with traces of calls.
inline std::string cause_of(const std::exception& failure) {
  const auto* error = dynamic_cast<const c10::Error*>(&failure);
  std::string text = error != nullptr ? error->what_without_backtrace() : failure.what();
  // Tracebacks of TorchScript come before the message.
  constexpr const char* traceback = "RuntimeError: ";
  if (const auto at = text.rfind(traceback); at != std::string::npos)
    text = text.substr(at + std::char_traits<char>::length(traceback));
  const auto begin = text.find_first_not_of(" \n\t");
  if (begin == std::string::npos) return "no cause given";
  text = text.substr(begin, text.find('\n', begin) - begin);
  while (text.ends_with(' ') || text.ends_with('.') || text.ends_with(':')) text.pop_back();
  return text;
}

inline bool is_out_of_memory(const std::exception& failure) {
  if (dynamic_cast<const std::bad_alloc*>(&failure) != nullptr) return true;
  const std::string text = failure.what();
  return text.find("allocate memory") != std::string::npos ||
         text.find("std::bad_alloc") != std::string::npos;
}

inline Error memory_error(const std::string& where) {
  return {where, "there is not enough memory to run it", "give a smaller --batch or --shape"};
}

// Any failure of LibTorch, as one line.
template <class Call>
auto without_torch_errors(const std::string& where, Call call) {
  try {
    return call();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& failure) {
    if (is_out_of_memory(failure)) throw memory_error(where);
    throw Error(where, "LibTorch: " + cause_of(failure));
  }
}

// While it lives, allocations beyond the memory that is free now fail. The system would grant them
// and kill the program when they are used.
class MemoryLimit {
 public:
  MemoryLimit() {
    const double more = free_bytes(), present = present_bytes();
    if (getrlimit(RLIMIT_AS, &before_) != 0 || more <= 0 || present <= 0) return;
    rlimit limit = before_;
    const auto wanted = static_cast<rlim_t>(present + more);
    if (before_.rlim_cur != RLIM_INFINITY && before_.rlim_cur <= wanted) return;
    limit.rlim_cur = wanted;
    is_set_ = setrlimit(RLIMIT_AS, &limit) == 0;
  }
  ~MemoryLimit() {
    if (is_set_) setrlimit(RLIMIT_AS, &before_);
  }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

 private:
  static double free_bytes() {
    std::ifstream file("/proc/meminfo");
    std::string word;
    double kilobytes = 0, sum = 0;
    while (file >> word)
      if ((word == "MemAvailable:" || word == "SwapFree:") && file >> kilobytes) sum += kilobytes;
    return sum * 1024;
  }

  static double present_bytes() {
    std::ifstream file("/proc/self/status");
    std::string word;
    double kilobytes = 0;
    while (file >> word)
      if (word == "VmSize:" && file >> kilobytes) return kilobytes * 1024;
    return 0;
  }

  rlimit before_{};
  bool is_set_ = false;
};

}  // namespace ridgeline::torch_module
