// A build without TensorRT's headers: engine files need trtexec.
#include "analyzer/tensorrt/inspector.h"

namespace ridgeline::tensorrt {

std::unique_ptr<EngineInspector> EngineInspector::open(const std::string&, std::string& why_not) {
  why_not = "this ridgeline was built without TensorRT's headers, so libnvinfer cannot help";
  return nullptr;
}

}  // namespace ridgeline::tensorrt
