// MeasureRequest: what `ridgeline measure` is to run: the kernels of CPU or GPU, storage, decoding.
// The measuring is in kernels/.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "kernels/cpu/measure.h"
#include "kernels/cuda/measure.h"
#include "kernels/input/measure.h"

namespace ridgeline::cli {

struct MeasureRequest {
  bool gpu = false;  // its kernels instead of the CPU's
  bool quick = false;
  bool everything = true;                        // no --only: all kernels, nothing else
  std::vector<std::string> kernels;              // words of --only for the backend of the kernels
  std::optional<input::StorageOptions> storage;  // both of these only where --only names them
  bool decode = false;
  double part_budget_s = 0;         // of each part; 0: none is given
  std::optional<double> sustain_s;  // that a GPU's peaks are held; absent: as usual
  std::vector<int> threads;         // of the CPU; empty: one and all cores
  std::string output;               // a file beside the store; empty: none
  std::string modes;    // one after the other: "stock", "grid:cores=all"; empty: as found
  bool resume = false;  // go on with the modes that the last sweep did not reach
  bool list = false, check_targets = false, verify_counters = false;

  bool any_kernel() const { return everything || !kernels.empty(); }

  cpu::MeasureOptions cpu_options() const;
  cuda::MeasureOptions gpu_options() const;
  // `decoding_threads`: a row each.
  input::MeasureOptions input_options(const std::vector<int>& decoding_threads) const;
};

void add_measure_options(OptionsDescription& options);
MeasureRequest measure_request(const Options& options);

}  // namespace ridgeline::cli
