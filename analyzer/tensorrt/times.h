// Times of an engine: what trtexec (--exportProfile, --exportTimes, its log) or nsys (CSV of
// kernels or NVTX ranges) measured, joined with the engine's layers by name. Measured elsewhere;
// nothing is timed here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/kernel_times.h"
#include "analyzer/tensorrt/engine.h"

namespace ridgeline::tensorrt {

struct LayerTime {
  std::string name;  // as written: trtexec does not escape it
  double mean_s = 0;
  std::optional<double> median_s;
  double instances = 1;  // how often it was timed; of nsys, else the runs

  friend bool operator==(const LayerTime&, const LayerTime&) = default;
};

struct EngineTimes {
  std::string path;
  std::optional<std::int64_t> runs;
  std::vector<LayerTime> layers;  // of one run; empty if only whole runs were timed
  bool are_kernels = false;       // the names are those of kernels, as nsys lists them
  std::optional<double> run_s;    // GPU time of a whole run, median or mean, without profiling
  std::string device;             // of a log

  friend bool operator==(const EngineTimes&, const EngineTimes&) = default;
};

// Any of the forms above, recognised by its content. Text without times is an Error.
EngineTimes read_times(std::string_view text, const std::string& path);
EngineTimes read_times_file(const std::string& path);

// By name, never by position; layers of the same name in their order. Times of another engine are
// an Error: a name that the engine does not have, or too many layers without a time.
KernelTimes join_times(const Engine& engine, const std::vector<EngineTimes>& times);

}  // namespace ridgeline::tensorrt
