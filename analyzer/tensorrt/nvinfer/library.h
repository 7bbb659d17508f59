// libnvinfer, loaded at run time: the library of the same major version as NVIDIA's headers, its
// log, and an engine opened by it with the sizes that its free inputs get. What is done with the
// engine is in inspector.cpp and in execution/tensorrt.
#pragma once

#include <NvInferRuntime.h>
#include <dlfcn.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>

#include "analyzer/tensorrt/engine_file.h"

namespace ridgeline::tensorrt {

// Warnings and errors, in the form of trtexec. TensorRT logs from any thread.
class CollectedLog final : public nvinfer1::ILogger {
 public:
  void log(Severity severity, const char* message) noexcept override;

  std::string text() const;
  std::size_t size() const;

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

struct CloseLibrary {
  void operator()(void* handle) const { dlclose(handle); }
};
using Library = std::unique_ptr<void, CloseLibrary>;

class NvinferLibrary {
 public:
  // `path`: empty for the library of the major version that ridgeline was built with. nullptr
  // where there is none, or only one of another major version.
  static std::unique_ptr<NvinferLibrary> open(const std::string& path, std::string& why_not);

  NvinferLibrary(Library library, std::string path, std::string version);

  std::string name() const { return path_ + " (" + version_ + ")"; }  // "libnvinfer.so.10 (10.3.0)"
  const std::string& version() const { return version_; }
  CollectedLog& log() { return log_; }

  // nullptr where TensorRT refuses, as it does without a GPU; the log says why.
  std::unique_ptr<nvinfer1::ICudaEngine> deserialize(const std::string& engine);

 private:
  void load_plugins();

  // In the order in which they must outlive each other.
  CollectedLog log_;
  Library plugins_, library_;
  std::string path_, version_;
  std::unique_ptr<nvinfer1::IRuntime> runtime_;
};

// Given shapes, else those that the profile was optimised for; false if TensorRT does not accept
// one. A shape without a name is that of the only input; a name that the engine lacks is a usage
// error.
bool set_shapes(const nvinfer1::ICudaEngine& engine, nvinfer1::IExecutionContext& context,
                const InputShapes& shapes, int profile);

}  // namespace ridgeline::tensorrt
