// Compiled against NVIDIA's headers of major version 10 or 11: virtual tables of the two differ, so
// a library of another major version than the headers is never called. Everything used here exists
// in both; none of it is about building engines, where weak typing ended with version 11.
#include "analyzer/tensorrt/nvinfer/library.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace ridgeline::tensorrt {
namespace {

int major_of(int version) { return version >= 100'000 ? version / 10'000 : version / 1000; }

// Every shape by the name of its input: without a name it is that of the only input.
InputShapes named_shapes(const nvinfer1::ICudaEngine& engine, const InputShapes& shapes) {
  std::vector<std::string> inputs, quoted;
  for (std::int32_t i = 0; i < engine.getNbIOTensors(); ++i) {
    const char* const name = engine.getIOTensorName(i);
    if (engine.getTensorIOMode(name) != nvinfer1::TensorIOMode::kINPUT) continue;
    inputs.emplace_back(name);
    quoted.push_back(quote(name));
  }
  const std::string known =
      fmt::format("its input{} {}", inputs.size() == 1 ? " is" : "s are", fmt::join(quoted, ", "));
  InputShapes named;
  for (const auto& [name, shape] : shapes) {
    if (name.empty() && inputs.size() != 1)
      throw usage_error("--shape", fmt::format("the engine has {} inputs", inputs.size()),
                        "write NAME=1x3x224x224; " + known);
    if (!name.empty() && std::ranges::find(inputs, name) == inputs.end())
      throw usage_error("--shape", "the engine has no input " + quote(name), known);
    const std::string& input = name.empty() ? inputs.front() : name;
    if (!named.emplace(input, shape).second)
      throw usage_error("--shape", quote(input) + " is given twice");
  }
  return named;
}

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
                const InputShapes& given_shapes, int profile) {
  const InputShapes shapes = named_shapes(engine, given_shapes);
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
