// Compiled against NVIDIA's headers of major version 10 or 11: virtual tables of the two differ, so
// a library of another major version than the headers is never called. Everything used here exists
// in both; none of it is about building engines, where weak typing ended with version 11.
#include "analyzer/tensorrt/nvinfer/library.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace ridgeline::tensorrt {
namespace {

int major_of(int version) { return version >= 100'000 ? version / 10'000 : version / 1000; }

}  // namespace

void CollectedLog::log(Severity severity, const char* message) noexcept {
  if (severity > Severity::kWARNING) return;
  const char* const mark = severity <= Severity::kERROR ? "[E] " : "[W] ";
  try {
    std::string line = std::string(mark) + (message == nullptr ? "" : message) + '\n';
    const std::lock_guard lock(mutex_);
    text_ += line;
  } catch (const std::exception&) {  // without memory a message is lost, not the run
  }
}

std::string CollectedLog::text() const {
  const std::lock_guard lock(mutex_);
  return text_;
}

std::size_t CollectedLog::size() const {
  const std::lock_guard lock(mutex_);
  return text_.size();
}

std::unique_ptr<NvinferLibrary> NvinferLibrary::open(const std::string& path,
                                                     std::string& why_not) {
  const std::string name = path.empty() ? fmt::format("libnvinfer.so.{}", NV_TENSORRT_MAJOR) : path;
  Library handle(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!handle) {
    why_not = name + " is not installed";
    return nullptr;
  }
  const auto version_of =
      reinterpret_cast<std::int32_t (*)()>(dlsym(handle.get(), "getInferLibVersion"));
  if (version_of == nullptr) {
    why_not = name + " is not TensorRT";
    return nullptr;
  }
  const int version = version_of();
  if (const int major = major_of(version); major != NV_TENSORRT_MAJOR) {
    why_not = fmt::format("{} is TensorRT {}, and this ridgeline was built with the headers of {}",
                          name, major, NV_TENSORRT_MAJOR);
    return nullptr;
  }
  const int rest = version % 10'000;
  return std::make_unique<NvinferLibrary>(
      std::move(handle), name, fmt::format("{}.{}.{}", NV_TENSORRT_MAJOR, rest / 100, rest % 100));
}

NvinferLibrary::NvinferLibrary(Library library, std::string path, std::string version)
    : library_(std::move(library)), path_(std::move(path)), version_(std::move(version)) {}

std::unique_ptr<nvinfer1::ICudaEngine> NvinferLibrary::deserialize(const std::string& engine) {
  if (!runtime_) {
    load_plugins();
    const auto create = reinterpret_cast<void* (*)(void*, std::int32_t)>(
        dlsym(library_.get(), "createInferRuntime_INTERNAL"));
    if (create != nullptr)
      runtime_.reset(static_cast<nvinfer1::IRuntime*>(create(&log_, NV_TENSORRT_VERSION)));
  }
  if (!runtime_) {
    if (log_.size() == 0)
      log_.log(nvinfer1::ILogger::Severity::kERROR, "CUDA initialization failure");
    return nullptr;
  }
  return std::unique_ptr<nvinfer1::ICudaEngine>(
      runtime_->deserializeCudaEngine(engine.data(), engine.size()));
}

// Engines with NVIDIA's own plugins need their library; others do without.
void NvinferLibrary::load_plugins() {
  const std::string name = fmt::format("libnvinfer_plugin.so.{}", NV_TENSORRT_MAJOR);
  plugins_.reset(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!plugins_) return;
  const auto start = reinterpret_cast<bool (*)(void*, const char*)>(
      dlsym(plugins_.get(), "initLibNvInferPlugins"));
  if (start != nullptr) start(&log_, "");
}

bool set_shapes(const nvinfer1::ICudaEngine& engine, nvinfer1::IExecutionContext& context,
                const InputShapes& shapes, int profile) {
  for (std::int32_t i = 0; i < engine.getNbIOTensors(); ++i) {
    const char* const name = engine.getIOTensorName(i);
    if (engine.getTensorIOMode(name) != nvinfer1::TensorIOMode::kINPUT) continue;
    nvinfer1::Dims dims = engine.getTensorShape(name);
    const bool is_free = std::find(dims.d, dims.d + dims.nbDims, -1) != dims.d + dims.nbDims;
    const auto given = shapes.find(name);
    if (!is_free && given == shapes.end()) continue;
    if (given == shapes.end()) {
      dims = engine.getProfileShape(name, profile, nvinfer1::OptProfileSelector::kOPT);
    } else {
      dims.nbDims = static_cast<std::int32_t>(
          std::min<std::size_t>(given->second.size(), nvinfer1::Dims::MAX_DIMS));
      std::copy_n(given->second.begin(), dims.nbDims, dims.d);
    }
    if (!context.setInputShape(name, dims)) return false;
  }
  return true;
}

}  // namespace ridgeline::tensorrt
