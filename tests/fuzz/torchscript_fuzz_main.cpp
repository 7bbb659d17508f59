// Fuzz target of the TorchScript front end: an archive is checked, read by LibTorch, run once and
// counted, or refused with an Error. libFuzzer drives it (`./run fuzz torchscript`). LibTorch and
// the module that calls it have no sanitizers here, so that of their faults only those of the heap
// are seen.
//
// LibTorch itself crashes on some damaged files; the program then ends with one line. So each input
// is read in a child, as in a program of its own: LibTorch's crash with its line counts as a
// refusal, a crash with another line (an abort has one) or none as a fault. The counters of
// branches are shared with the child, so that libFuzzer sees what the input reached.
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "analyzer/count/count.h"
#include "analyzer/count/op_weights.h"
#include "analyzer/torch/archive.h"
#include "analyzer/torch/import.h"
#include "analyzer/torch/script.h"
#include "base/torch_module.h"
#include "tests/fuzz/refused_or.h"
#include "tests/fuzz/script_mutator.h"

namespace {

using namespace ridgeline;

constexpr int exit_code_of_asan = 99;

// One file per process and purpose.
std::string scratch(const char* purpose) {
  return std::filesystem::temp_directory_path() /
         ("torchscript_fuzz." + std::to_string(getpid()) + purpose + ".pt");
}

// Inputs that fit one of the samples each.
const std::vector<ReadOptions>& inputs() {
  static const std::vector<ReadOptions> all = [] {
    std::vector<ReadOptions> options(4);
    options[0].shapes[""] = {2, 8, 16, 16};
    options[1].shapes[""] = {2, 5, 16};
    options[2].shapes["ids"] = options[2].shapes["mask"] = {2, 12};
    options[3].shapes["x"] = {2, 8};
    options[3].values["steps"] = {2};
    return options;
  }();
  return all;
}

// Whole pages of these counters become memory that children share; the rest stays as it is.
void share_counters(char* begin, char* end) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto first = (reinterpret_cast<std::uintptr_t>(begin) + page - 1) / page * page;
  const auto last = reinterpret_cast<std::uintptr_t>(end) / page * page;
  if (first >= last) return;
  const std::string before(reinterpret_cast<const char*>(first), last - first);
  void* const shared = mmap(reinterpret_cast<void*>(first), last - first, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  if (shared == MAP_FAILED) std::abort();
  std::memcpy(shared, before.data(), before.size());
}

void read_and_count(const std::string& path, const ReadOptions& options) {
  if (!pytorch::is_script_archive(path)) return;
  for (const Layer& layer : pytorch::import_script(path, options).import.graph.layers)
    for (const Part& part : layer.parts)
      if (!(count_part(part, default_weights()).macs >= 0)) std::abort();
}

// Of this process; sanitizers reserve terabytes.
std::uint64_t address_space_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t pages = 0;
  file >> pages;
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// What a program of its own would end with.
struct Ending {
  int status = 0;
  std::string messages;
};

Ending read_in_child(const std::string& path) {
  const int messages = memfd_create("messages", 0);
  const pid_t child = fork();
  if (child < 0 || messages < 0) std::abort();
  if (child == 0) {
    dup2(messages, STDERR_FILENO);
    const rlimit seconds{20, 20};  // of processor time
    setrlimit(RLIMIT_CPU, &seconds);
    const rlim_t bytes = address_space_bytes() + (std::uint64_t{2} << 30);
    const rlimit memory{bytes, bytes};
    setrlimit(RLIMIT_AS, &memory);
    for (const ReadOptions& options : inputs())
      testing::refused_or([&] { read_and_count(path, options); });
    _exit(0);
  }
  Ending ending;
  waitpid(child, &ending.status, 0);
  ending.messages.resize(static_cast<std::size_t>(lseek(messages, 0, SEEK_END)));
  if (pread(messages, ending.messages.data(), ending.messages.size(), 0) < 0) std::abort();
  close(messages);
  return ending;
}

// Where LibTorch asks for more memory than there is, it gets std::bad_alloc; the sanitizer's
// operator new ends the program instead.
bool is_memory_of_torch(const std::string& messages) {
  if (messages.find("AddressSanitizer: allocator is out of memory") == std::string::npos)
    return false;
  const std::size_t caller = messages.find("    #1 ");
  if (caller == std::string::npos) return false;
  const std::string line = messages.substr(caller, messages.find('\n', caller) - caller);
  return line.find("/libtorch_cpu.so") != std::string::npos ||
         line.find("/libc10.so") != std::string::npos;
}

bool is_refusal_or_result(const Ending& ending) {
  if (!WIFEXITED(ending.status)) return false;
  if (WEXITSTATUS(ending.status) == exit_code_of_asan) return is_memory_of_torch(ending.messages);
  if (WEXITSTATUS(ending.status) == 0) return true;
  return WEXITSTATUS(ending.status) == 1 &&
         ending.messages.find(": LibTorch crashed on it") != std::string::npos;
}

}  // namespace

extern "C" char __start___sancov_cntrs, __stop___sancov_cntrs;

// What LibTorch does once per process is done before the children are made: a file of the last
// folder on the command line, the seeds, is read.
void warm_up(int count, char** arguments) {
  for (int i = count - 1; i > 0; --i) {
    if (!std::filesystem::is_directory(arguments[i])) continue;
    for (const auto& entry : std::filesystem::directory_iterator(arguments[i]))
      for (const ReadOptions& options : inputs())
        testing::refused_or([&] { read_and_count(entry.path(), options); });
    return;
  }
}

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  // A child has no threads but its own.
  setenv("OMP_NUM_THREADS", "1", 1);
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  if (const std::string why = why_no_torch(); !why.empty()) {
    std::fprintf(stderr, "%s\n", why.c_str());
    std::exit(1);
  }
  share_counters(&__start___sancov_cntrs, &__stop___sancov_cntrs);
  warm_up(*count, *arguments);
  return 0;
}

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

// A tensor of any size that a script asks for fails as without sanitizers. What LibTorch keeps
// until the end is no leak of ours. A report has an exit code of its own.
extern "C" const char* __asan_default_options() {
  return "allocator_may_return_null=1:detect_leaks=0:exitcode=99";
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  static const std::string path = scratch(".changed");
  const std::string before(reinterpret_cast<const char*>(data), size);
  const auto mutate_bytes = [](std::string& bytes, std::size_t limit) {
    const std::size_t used = bytes.size();
    bytes.resize(limit);
    bytes.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(bytes.data()), used, limit));
  };
  const std::string after = testing::mutated_script(before, seed, path, mutate_bytes);
  if (after.empty() || after.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  after.copy(reinterpret_cast<char*>(data), after.size());
  return after.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string path = scratch("");
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  if (!pytorch::looks_like_archive(bytes)) return 0;
  std::ofstream(path, std::ios::binary) << bytes;
  const Ending ending = read_in_child(path);
  if (is_refusal_or_result(ending)) return 0;
  std::fprintf(stderr, "%s\nthe child ended with status %d\n", ending.messages.c_str(),
               ending.status);
  std::abort();
}
