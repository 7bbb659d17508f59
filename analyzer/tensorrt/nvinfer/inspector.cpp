// Compiled against NVIDIA's headers of major version 10 or 11: virtual tables of the two differ, so
// a library of another major version than the headers is never called. Everything used here exists
// in both; none of it is about building engines, where weak typing ended with version 11.
#include "analyzer/tensorrt/inspector.h"

#include <NvInferRuntime.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace ridgeline::tensorrt {
namespace {

class CollectedLog final : public nvinfer1::ILogger {
 public:
  void log(Severity severity, const char* message) noexcept override {
    if (severity > Severity::kWARNING) return;
    const bool is_error = severity <= Severity::kERROR;
    text += std::string(is_error ? "[E] " : "[W] ") + message + '\n';
  }

  std::string text;
};

struct CloseLibrary {
  void operator()(void* handle) const { dlclose(handle); }
};
using Library = std::unique_ptr<void, CloseLibrary>;

int major_of(int version) { return version >= 100'000 ? version / 10'000 : version / 1000; }

class LoadedInspector final : public EngineInspector {
 public:
  LoadedInspector(Library library, std::string name)
      : library_(std::move(library)), name_(std::move(name)) {
    const auto create = reinterpret_cast<void* (*)(void*, std::int32_t)>(
        dlsym(library_.get(), "createInferRuntime_INTERNAL"));
    load_plugins();
    if (create != nullptr)
      runtime_.reset(static_cast<nvinfer1::IRuntime*>(create(&log_, NV_TENSORRT_VERSION)));
  }

  std::string name() const override { return name_; }

  Inspection inspect(const std::string& engine, const InputShapes& shapes) override {
    if (!runtime_) {
      if (log_.text.empty()) log_.text = "[E] CUDA initialization failure\n";
      return {{}, log_.text};
    }
    const std::unique_ptr<nvinfer1::ICudaEngine> opened(
        runtime_->deserializeCudaEngine(engine.data(), engine.size()));
    if (!opened) return {{}, log_.text};
    const std::unique_ptr<nvinfer1::IEngineInspector> inspector(opened->createEngineInspector());
    if (!inspector) return {{}, log_.text};
    // Without memory of its own: it only says which shapes are meant.
    const std::unique_ptr<nvinfer1::IExecutionContext> context(opened->createExecutionContext(
        nvinfer1::ExecutionContextAllocationStrategy::kUSER_MANAGED));
    if (context && set_shapes(*opened, *context, shapes))
      inspector->setExecutionContext(context.get());
    const char* const json =
        inspector->getEngineInformation(nvinfer1::LayerInformationFormat::kJSON);
    return {json == nullptr ? "" : json, log_.text};
  }

 private:
  // Engines with NVIDIA's own plugins need their library; others do without.
  void load_plugins() {
    const std::string name = fmt::format("libnvinfer_plugin.so.{}", NV_TENSORRT_MAJOR);
    plugins_.reset(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL));
    if (!plugins_) return;
    const auto start = reinterpret_cast<bool (*)(void*, const char*)>(
        dlsym(plugins_.get(), "initLibNvInferPlugins"));
    if (start != nullptr) start(&log_, "");
  }

  // Given shapes, else those that the first profile was optimised for. Whether all are known then.
  bool set_shapes(const nvinfer1::ICudaEngine& engine, nvinfer1::IExecutionContext& context,
                  const InputShapes& shapes) {
    for (std::int32_t i = 0; i < engine.getNbIOTensors(); ++i) {
      const char* const name = engine.getIOTensorName(i);
      if (engine.getTensorIOMode(name) != nvinfer1::TensorIOMode::kINPUT) continue;
      nvinfer1::Dims dims = engine.getTensorShape(name);
      const bool is_free = std::find(dims.d, dims.d + dims.nbDims, -1) != dims.d + dims.nbDims;
      const auto given = shapes.find(name);
      if (!is_free && given == shapes.end()) continue;
      if (given == shapes.end()) {
        dims = engine.getProfileShape(name, 0, nvinfer1::OptProfileSelector::kOPT);
      } else {
        dims.nbDims = static_cast<std::int32_t>(
            std::min<std::size_t>(given->second.size(), nvinfer1::Dims::MAX_DIMS));
        std::copy_n(given->second.begin(), dims.nbDims, dims.d);
      }
      if (!context.setInputShape(name, dims)) return false;
    }
    return true;
  }

  // In the order in which they must outlive each other.
  CollectedLog log_;
  Library plugins_, library_;
  std::string name_;
  std::unique_ptr<nvinfer1::IRuntime> runtime_;
};

}  // namespace

std::unique_ptr<EngineInspector> EngineInspector::open(const std::string& library,
                                                       std::string& why_not) {
  const std::string wanted = fmt::format("libnvinfer.so.{}", NV_TENSORRT_MAJOR);
  const std::string path = library.empty() ? wanted : library;
  Library handle(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!handle) {
    why_not = path + " is not installed";
    return nullptr;
  }
  const auto version_of =
      reinterpret_cast<std::int32_t (*)()>(dlsym(handle.get(), "getInferLibVersion"));
  if (version_of == nullptr) {
    why_not = path + " is not TensorRT";
    return nullptr;
  }
  const int version = version_of();
  if (const int major = major_of(version); major != NV_TENSORRT_MAJOR) {
    why_not = fmt::format("{} is TensorRT {}, and this ridgeline was built with the headers of {}",
                          path, major, NV_TENSORRT_MAJOR);
    return nullptr;
  }
  const int rest = version % 10'000;
  return std::make_unique<LoadedInspector>(
      std::move(handle),
      fmt::format("{} ({}.{}.{})", path, NV_TENSORRT_MAJOR, rest / 100, rest % 100));
}

}  // namespace ridgeline::tensorrt
