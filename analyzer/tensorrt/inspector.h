// libnvinfer, loaded when an engine is to be opened and trtexec is not here. It lists layers; it
// does not run them, which would need buffers on the GPU: times take trtexec.
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
  virtual Inspection inspect(const std::string& engine, const InputShapes& shapes) = 0;
};

}  // namespace ridgeline::tensorrt
