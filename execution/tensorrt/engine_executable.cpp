// Samples are taken in a context without a profiler, since TensorRT synchronises every layer for
// one; recorded steps have another. Only one of the two exists at a time: each has activation
// memory of its own, and a small board may have no room for both.
#include <NvInferRuntime.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <random>
#include <unordered_map>
#include <utility>

#include "analyzer/tensorrt/nvinfer/library.h"
#include "analyzer/tensorrt/trtexec.h"
#include "base/error.h"
#include "base/text.h"
#include "execution/engine_backend.h"
#include "execution/tensorrt/driver.h"

namespace ridgeline {
namespace tensorrt {
namespace {

using nvinfer1::DataType;
using nvinfer1::Dims;

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Nothing for types that no input or output of a network has.
std::size_t bytes_of(DataType type) {
  switch (type) {
    case DataType::kINT64:
      return 8;
    case DataType::kFLOAT:
    case DataType::kINT32:
      return 4;
    case DataType::kHALF:
    case DataType::kBF16:
      return 2;
    case DataType::kINT8:
    case DataType::kUINT8:
    case DataType::kBOOL:
    case DataType::kFP8:
      return 1;
    default:
      return 0;
  }
}

// Random elements between 0.1 and 1; of integers of 32 and 64 bits, which are usually indices, and
// of truth values zeros, which are valid for every table.
std::string random_elements(DataType type, std::size_t bytes) {
  std::string data(bytes, '\0');
  std::mt19937 random(1);
  const auto fill = [&](auto least, auto most) {
    using Element = decltype(least);
    for (std::size_t at = 0; at + sizeof(Element) <= bytes; at += sizeof(Element)) {
      const auto element = static_cast<Element>(least + random() % (most - least));
      std::memcpy(data.data() + at, &element, sizeof element);
    }
  };
  switch (type) {  // bit patterns of floating-point numbers
    case DataType::kFLOAT:
      fill(std::uint32_t{0x3e000000}, std::uint32_t{0x3f800000});
      break;
    case DataType::kHALF:
      fill(std::uint16_t{0x3000}, std::uint16_t{0x3c00});
      break;
    case DataType::kBF16:
      fill(std::uint16_t{0x3e00}, std::uint16_t{0x3f80});
      break;
    case DataType::kFP8:
      fill(std::uint8_t{0x20}, std::uint8_t{0x38});
      break;
    case DataType::kINT8:
    case DataType::kUINT8:
      fill(std::uint8_t{0}, std::uint8_t{127});
      break;
    default:
      break;
  }
  return data;
}

// The times of one run; TensorRT calls it once per layer, in the order of execution.
class CollectedTimes final : public nvinfer1::IProfiler {
 public:
  void reportLayerTime(const char* name, float milliseconds) noexcept override {
    rows.emplace_back(name == nullptr ? "" : name, 1e-3 * static_cast<double>(milliseconds));
  }

  std::vector<std::pair<std::string, double>> rows;
};

class RunningEngine final : public EngineExecutable {
 public:
  RunningEngine(std::string path, const EngineRunOptions& options)
      : path_(std::move(path)), options_(options) {
    std::string why_not;
    library_ = NvinferLibrary::open(options.library, why_not);
    if (!library_) throw Error(path_, "is a TensorRT engine, and " + why_not);
    with_path([&] { driver_ = GpuDriver::open(options.driver); });
    const std::string bytes = engine_in_file(path_);
    engine_ = library_->deserialize(bytes);
    if (!engine_)
      throw engine_error({path_, engine_version(bytes),
                          "run it where it was built, or build it again for this machine"},
                         library_->log().text(), library_->name());
    context_ = new_context();
    with_path([&] { allocate_tensors(); });
    bind(*context_);
  }

  void step() override {
    use_context(false);
    run(*context_);
  }

  RecordedStep recorded_step() override {
    use_context(true);
    times_.rows.clear();
    RecordedStep step;
    const double begin_s = now_s();
    run(*context_);
    step.time_s = now_s() - begin_s;
    if (times_.rows.empty())
      throw Error(path_, "reports no times of layers",
                  "build it with --profilingVerbosity=detailed");
    double start_s = 0;  // one after the other: TensorRT reports no gaps and no streams
    for (const auto& [name, time_s] : times_.rows) {
      step.calls.push_back({name, index_of(name), StepPhase::forward, 0, start_s, time_s, time_s});
      start_s += time_s;
    }
    return step;
  }

  std::vector<std::string> layer_names() const override { return names_; }
  std::vector<std::string> notes() const override { return notes_; }
  std::string library() const override {
    const std::string gpu = driver_->gpu_name();
    return "TensorRT " + library_->version() + (gpu.empty() ? "" : " on " + gpu);
  }
  std::string gpu_bus_id() const override { return driver_->bus_id(); }

 private:
  using Context = std::unique_ptr<nvinfer1::IExecutionContext>;
  struct Free {
    GpuDriver* driver;
    void operator()(void* memory) const { driver->free(memory); }
  };

  // The driver does not know which file it works for.
  template <class Call>
  void with_path(const Call& call) const {
    try {
      call();
    } catch (const Error& error) {
      throw Error(path_, error.cause(), error.fix(), error.code());
    }
  }

  // Where the log ends now: what TensorRT reports of the next call is behind it.
  std::size_t log_end() const { return library_->log().size(); }

  // After a call of TensorRT's, with what it reported since `before`.
  [[noreturn]] void fail(const std::string& what, std::size_t before,
                         const std::string& fix = {}) const {
    const std::string log = library_->log().text().substr(before);
    const auto begin = log.rfind("[E] ");
    std::string reason;
    if (begin != std::string::npos) {
      reason = log.substr(begin + 4, log.find('\n', begin) - begin - 4);
      reason = ": TensorRT reports \"" + reason + "\"";
    }
    throw Error(path_, what + reason, fix);
  }

  Context new_context() {
    const std::size_t before = log_end();
    Context context(
        engine_->createExecutionContext(nvinfer1::ExecutionContextAllocationStrategy::kSTATIC));
    if (!context)
      fail("cannot be prepared for running on this GPU", before,
           "end other programs that use its memory, or build an engine with a smaller workspace");
    if (options_.profile != 0) {
      if (!context->setOptimizationProfileAsync(options_.profile,
                                                static_cast<cudaStream_t>(driver_->stream())))
        fail(fmt::format("has no optimisation profile {}", options_.profile), before);
      driver_->wait();
    }
    if (!set_shapes(*engine_, *context, options_.shapes, options_.profile))
      fail("does not accept these sizes of its inputs", before,
           "give others with --shape NAME=1x3x224x224");
    return context;
  }

  void use_context(bool is_recording) {
    if (context_ && is_recording_ == is_recording) return;
    context_.reset();
    context_ = new_context();
    is_recording_ = is_recording;
    bind(*context_);
    if (is_recording) context_->setProfiler(&times_);
    run(*context_);  // prepares kernels and events: no step to time
  }

  // Of an input at its size; the last axis of a packed layout is padded.
  std::size_t input_bytes(const char* name) const {
    const Dims dims = context_->getTensorShape(name);
    Shape shape(dims.d, dims.d + std::max(0, dims.nbDims));
    const std::int32_t axis = engine_->getTensorVectorizedDim(name, options_.profile);
    if (axis >= 0 && axis < dims.nbDims) {
      const std::int64_t pack =
          std::max(1, engine_->getTensorComponentsPerElement(name, options_.profile));
      auto& size = shape[static_cast<std::size_t>(axis)];
      size = (size + pack - 1) / pack * pack;
    }
    const auto count = checked_element_count(shape);
    const std::size_t size = bytes_of(engine_->getTensorDataType(name));
    if (size == 0)
      throw Error(path_,
                  fmt::format("has an input {} of a type that 'run' does not know", quote(name)));
    std::size_t bytes = 0;
    if (!count || __builtin_mul_overflow(*count, size, &bytes))
      throw Error(path_,
                  fmt::format("has an input {} without a size that memory can have", quote(name)),
                  "give it with --shape");
    return bytes;
  }

  void allocate_tensors() {
    std::string of_zeros;
    for (std::int32_t i = 0; i < engine_->getNbIOTensors(); ++i) {
      const std::string name = engine_->getIOTensorName(i);
      const bool is_input =
          engine_->getTensorIOMode(name.c_str()) == nvinfer1::TensorIOMode::kINPUT;
      if (engine_->getTensorLocation(name.c_str()) == nvinfer1::TensorLocation::kHOST)
        throw Error(path_,
                    fmt::format("has {} {} on the host, which holds sizes",
                                is_input ? "an input" : "an output", quote(name)),
                    "run it with trtexec and give its times to 'ridgeline explain --times'",
                    ExitCode::incomplete);
      if (!is_input) continue;  // sizes of outputs follow from those of inputs
      const std::size_t bytes = input_bytes(name.c_str());
      const DataType type = engine_->getTensorDataType(name.c_str());
      driver_->copy_to(allocate(name, bytes), random_elements(type, bytes));
      if (type == DataType::kINT32 || type == DataType::kINT64 || type == DataType::kBOOL)
        of_zeros += (of_zeros.empty() ? "" : ", ") + quote(name);
    }
    for (std::int32_t i = 0; i < engine_->getNbIOTensors(); ++i) {
      const char* const name = engine_->getIOTensorName(i);
      if (engine_->getTensorIOMode(name) != nvinfer1::TensorIOMode::kOUTPUT) continue;
      const std::size_t before = log_end();
      const std::int64_t bytes = context_->getMaxOutputSize(name);
      if (bytes < 0) fail(fmt::format("has an output {} without a size", quote(name)), before);
      allocate(name, static_cast<std::size_t>(bytes));
    }
    if (!of_zeros.empty()) notes_.push_back("inputs of zeros: " + of_zeros);
  }

  void* allocate(const std::string& name, std::size_t bytes) {
    std::unique_ptr<void, Free> memory(driver_->allocate(std::max<std::size_t>(1, bytes)),
                                       Free{driver_.get()});
    return memory_.emplace_back(name, std::move(memory)).second.get();
  }

  void bind(nvinfer1::IExecutionContext& context) {
    const std::size_t before = log_end();
    for (const auto& [name, memory] : memory_)
      if (!context.setTensorAddress(name.c_str(), memory.get()))
        fail("does not accept memory for " + quote(name), before);
  }

  void run(nvinfer1::IExecutionContext& context) {
    const std::size_t before = log_end();
    if (!context.enqueueV3(static_cast<cudaStream_t>(driver_->stream())))
      fail("did not run", before);
    with_path([&] { driver_->wait(); });
  }

  std::size_t index_of(const std::string& name) {
    const auto [found, is_new] = indices_.emplace(name, names_.size());
    if (is_new) names_.push_back(name);
    return found->second;
  }

  std::string path_;
  EngineRunOptions options_;
  // In the order in which they must outlive each other.
  std::unique_ptr<GpuDriver> driver_;
  std::unique_ptr<NvinferLibrary> library_;
  std::unique_ptr<nvinfer1::ICudaEngine> engine_;
  std::vector<std::pair<std::string, std::unique_ptr<void, Free>>> memory_;  // inputs and outputs
  CollectedTimes times_;
  Context context_;
  bool is_recording_ = false;
  std::vector<std::string> names_, notes_;
  std::unordered_map<std::string, std::size_t> indices_;
};

}  // namespace
}  // namespace tensorrt

std::string why_no_engine_runs(const EngineRunOptions& options) {
  std::string why_not;
  tensorrt::NvinferLibrary::open(options.library, why_not);
  return why_not;
}

std::unique_ptr<EngineExecutable> engine_executable(const std::string& path,
                                                    const EngineRunOptions& options) {
  return std::make_unique<tensorrt::RunningEngine>(path, options);
}

}  // namespace ridgeline
