// The layers of an engine as libnvinfer lists them, for 'run' and where trtexec is not installed.
// Nothing is executed here: see execution/tensorrt.
#pragma once

#include <memory>
#include <string>

#include "analyzer/tensorrt/engine_file.h"

namespace ridgeline::tensorrt {

struct Inspection {
  std::string layers;  // JSON; empty if the library refused the engine
  std::string log;     // what the library said
};

class EngineInspector {
 public:
  // `library`: a path, or empty for the library of the major version that ridgeline was built
  // with. nullptr where there is none, or only one of another major version.
  static std::unique_ptr<EngineInspector> open(const std::string& library, std::string& why_not);
  virtual ~EngineInspector() = default;

  virtual std::string name() const = 0;  // "libnvinfer.so.10 (10.3.0)"
  // With the sizes of one optimisation profile.
  virtual Inspection inspect(const std::string& engine, const InputShapes& shapes, int profile) = 0;
};

}  // namespace ridgeline::tensorrt
