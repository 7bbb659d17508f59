// trtexec as a child process: the command line, and what a failed run means.
// What its exported files mean is for the readers of those files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/tensorrt/engine_file.h"
#include "base/error.h"

namespace ridgeline::tensorrt {

// For messages.
struct EngineFacts {
  std::string path;                    // as the user wrote it
  std::optional<std::string> version;  // of TensorRT that built it
  std::string elsewhere;               // how to get its layers on another machine
};

struct TrtexecRun {
  std::string program;
  std::string engine;
  std::string folder;  // for what it exports
  InputShapes shapes;
  int profile = 0;  // optimisation profile
  double limit_s = 600;
};

std::vector<std::string> trtexec_command(const TrtexecRun& run);

ExportedEngine run_trtexec(const TrtexecRun& run, const EngineFacts& facts);

// Why `tool` did not open the engine, by the messages that TensorRT has for it.
Error engine_error(const EngineFacts& facts, const std::string& log, const std::string& tool);

}  // namespace ridgeline::tensorrt
