// Times of a network's kernels that were measured elsewhere, beside the kernels of a file that
// lists them. Means of one run: rows, shared and other kernels add up to the total.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ridgeline {

struct KernelTimes {
  std::vector<std::optional<double>> mean_s, median_s;  // one per layer of the file
  double total_s = 0;
  double shared_s = 0;          // thereof in kernels that several layers launch
  double other_s = 0;           // thereof in kernels that no layer names
  std::optional<double> run_s;  // of a whole run without profiling, if a file states it
  std::optional<std::int64_t> runs;
  std::string device;  // that a log names; may be empty
  std::vector<std::string> files;
  std::vector<std::string> notes;

  friend bool operator==(const KernelTimes&, const KernelTimes&) = default;
};

}  // namespace ridgeline
