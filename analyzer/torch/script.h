// TorchScript files (.pt). They hold code and weights but no shapes, so LibTorch has to run them
// once: the module libridgeline_torch.so does that and returns the calls as a Program, the form
// that the archives of torch.export are read into. No header of LibTorch is included here.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/frontend.h"
#include "analyzer/torch/import.h"
#include "analyzer/torch/program.h"

namespace ridgeline::pytorch {

// One forward run, call by call. Sizes are numbers, loops are unrolled, and only the branch
// that was taken is there.
struct TracedScript {
  Program program;
  std::optional<std::int64_t> batch;  // of the first input that has one
};

// The module's function: reads the file and runs it with inputs of the given shapes. An Error says
// why it cannot. The caller owns the result.
inline constexpr const char* trace_script_name = "ridgeline_torch_trace_script";
using TraceScript = TracedScript*(const std::string& path, const ReadOptions& options);

struct ScriptImport {
  Import import;
  // Per call of the program: its layer in the graph; no_index if it costs nothing.
  std::vector<std::size_t> call_layers;
};

// An Error if this ridgeline has no LibTorch.
ScriptImport import_script(const std::string& path, const ReadOptions& options);

}  // namespace ridgeline::pytorch
