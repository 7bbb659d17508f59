// Another program, run with ridgeline's library inside it (CUDA_INJECTION64_PATH): what each of its
// kernels did by the GPU's counters, and how long they took.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernels/cuda/counter_table.h"

namespace ridgeline::cuda {

struct CountedKernel {
  std::string name;  // as in the source
  std::uint64_t launches = 0;
  std::optional<double> time_s = {};       // of all launches
  std::map<Quantity, double> counts = {};  // of all launches
};

struct ProgramCounts {
  int architecture = 0;                // 87 = sm_87; 0 where no kernel was counted
  std::vector<CountedKernel> kernels;  // the longest first
  std::uint64_t lost = 0;              // records of kernel times
  int exit_code = 0;                   // of the program, or 128 + signal as a shell has it
};

// The program's standard output goes to standard error. Throws where the program cannot be started
// and where nothing could be counted.
ProgramCounts count_program(const std::vector<std::string>& command);
ProgramCounts time_program(const std::vector<std::string>& command);

// Times of one run beside counts of another one; throws where they were not the same work, unless
// records of times were lost.
ProgramCounts merge_runs(ProgramCounts counts, const ProgramCounts& times);

}  // namespace ridgeline::cuda
