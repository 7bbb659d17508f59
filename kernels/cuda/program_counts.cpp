// The library leaves one file per process in a folder of its own; they are added up by kernel.
#include "kernels/cuda/program_counts.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/child_process.h"
#include "base/error.h"
#include "base/temporary_folder.h"
#include "base/text.h"
#include "base/text_file.h"
#include "base/units.h"
#include "kernels/cuda/cupti/injection.h"

namespace ridgeline::cuda {
namespace {

namespace fs = std::filesystem;

// Beside the program in a build, under lib/ where it is installed.
std::string injection_library() {
  if (const char* const asked = std::getenv("RIDGELINE_INJECTION_LIBRARY")) return asked;
  const std::string name = "libridgeline_injection.so";
  std::error_code ignored;
  const fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const fs::path& path : {folder / name, folder / ".." / "lib" / "ridgeline" / name})
    if (fs::exists(path, ignored)) return fs::weakly_canonical(path, ignored).string();
  throw Error(name, "is not beside this ridgeline",
              "build with RIDGELINE_CUPTI=ON, or name the file in RIDGELINE_INJECTION_LIBRARY");
}

std::string source_name(const std::string& mangled) {
  int status = 0;
  char* const name = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  const std::string result = status == 0 && name ? name : mangled;
  std::free(name);
  return result;
}

class ResultReader {
 public:
  explicit ResultReader(const fs::path& path) : path_(path) {}

  void add_to(ProgramCounts& counts, std::map<std::string, CountedKernel>& kernels) {
    std::istringstream lines(read_text_file(path_.string()));
    std::vector<std::string> metrics;
    bool whole = false;
    for (std::string line; std::getline(lines, line);) {
      const auto pieces = split(line, '\t');
      const std::vector<std::string> words(pieces.begin(), pieces.end());
      if (words[0] == line_end) {
        whole = true;
      } else if (words.size() < 2) {
        throw damaged();
      } else if (words[0] == line_architecture) {
        counts.architecture = std::max(counts.architecture, static_cast<int>(number(words[1])));
      } else if (words[0] == line_metric) {
        metrics.push_back(words[1]);
      } else if (words[0] == line_lost) {
        counts.lost += static_cast<std::uint64_t>(number(words[1]));
      } else if (words[0] == line_error) {
        throw Error({}, words[1]);
      } else if (words[0] == line_kernel) {
        add_kernel(words, metrics, counts.architecture, kernels);
      }
    }
    if (!whole) throw damaged();
  }

 private:
  Error damaged() const { return {path_.string(), "damaged result of the library"}; }

  double number(const std::string& text) const {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != 0) throw damaged();
    return value;
  }

  void add_kernel(const std::vector<std::string>& words, const std::vector<std::string>& metrics,
                  int architecture, std::map<std::string, CountedKernel>& kernels) const {
    constexpr std::size_t first_value = 3;
    const std::size_t values = words.size() < 4 ? 0 : words.size() - 4;
    if (words.size() < 4 || (values != 0 && values != metrics.size())) throw damaged();
    const std::string name = source_name(words.back());
    CountedKernel& kernel = kernels[name];
    kernel.name = name;
    kernel.launches += static_cast<std::uint64_t>(number(words[1]));
    if (values == 0) {
      kernel.time_s = kernel.time_s.value_or(0) + number(words[2]);
      return;
    }
    for (const CounterRow& row : counter_table()) {
      const auto found = std::ranges::find(metrics, row.metric);
      if (found == metrics.end() || architecture < row.first || architecture > row.last) continue;
      const auto at = first_value + static_cast<std::size_t>(found - metrics.begin());
      kernel.counts[row.quantity] += row.factor * number(words[at]);
    }
  }

  fs::path path_;
};

ProgramCounts run_injected(const std::vector<std::string>& command, const char* work) {
  const EndsWithChild ending;
  const TemporaryFolder folder("counters");
  ProgramCounts counts;
  counts.exit_code = run_child({.command = command,
                                .environment = {{"CUDA_INJECTION64_PATH", injection_library()},
                                                {injection_folder_variable, folder.path()},
                                                {injection_work_variable, work}}})
                         .exit_code;
  std::map<std::string, CountedKernel> kernels;
  for (const auto& entry : fs::directory_iterator(folder.path()))
    if (entry.path().extension() == ".txt") ResultReader(entry.path()).add_to(counts, kernels);
  for (auto& [name, kernel] : kernels) counts.kernels.push_back(std::move(kernel));
  if (counts.kernels.empty())
    throw Error(
        command[0],
        counts.exit_code == 0
            ? "ran no CUDA kernel"
            : fmt::format("ran no CUDA kernel and ended with exit code {}", counts.exit_code),
        "it must use CUDA, and end by itself");
  std::ranges::stable_sort(counts.kernels, std::greater<>{},
                           [](const CountedKernel& kernel) { return kernel.time_s.value_or(0); });
  return counts;
}

}  // namespace

ProgramCounts count_program(const std::vector<std::string>& command) {
  return run_injected(command, injection_counters);
}

ProgramCounts time_program(const std::vector<std::string>& command) {
  return run_injected(command, injection_times);
}

ProgramCounts merge_runs(ProgramCounts counts, const ProgramCounts& times) {
  for (CountedKernel& kernel : counts.kernels) {
    const auto timed = std::ranges::find(times.kernels, kernel.name, &CountedKernel::name);
    const bool found = timed != times.kernels.end();
    if (times.lost == 0 && (!found || timed->launches != kernel.launches))
      throw Error(kernel.name,
                  fmt::format("ran {} times while counted and {} times while timed",
                              kernel.launches, found ? timed->launches : 0),
                  "use --only counters or --only times for a program that differs from run to run");
    if (found) kernel.time_s = timed->time_s;
  }
  counts.lost = times.lost;
  counts.exit_code = std::max(counts.exit_code, times.exit_code);
  std::ranges::stable_sort(counts.kernels, std::greater<>{},
                           [](const CountedKernel& kernel) { return kernel.time_s.value_or(0); });
  return counts;
}

}  // namespace ridgeline::cuda
