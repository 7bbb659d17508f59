// A library in the place of libnvinfer: engines whose bytes after the header say what becomes of
// them. RIDGELINE_TEST_NVINFER_TIMES names a file with the time and name of each layer ("0.25
// conv1" for 250 µs): an engine takes that long to run, by the clock, and reports it. NVIDIA's
// interfaces have hundreds of functions, which differ from version to version; only those that
// ridgeline calls are filled in, at the place where the headers at hand have them.
#include <NvInferRuntime.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

namespace {

using nvinfer1::Dims;

nvinfer1::ILogger* logger = nullptr;
std::string engine_text;  // after the header
Dims input_shape{};       // as set in the context
bool is_context_set = false;

void unexpected() { std::abort(); }

// The place of a virtual function in its table, as the C++ ABI of GCC and clang encodes it in a
// pointer to that function.
template <class Member>
std::size_t place_of(Member member) {
  std::array<std::size_t, 2> parts{};
  static_assert(sizeof member == sizeof parts);
  std::memcpy(parts.data(), &member, sizeof member);
#ifdef __aarch64__
  return parts[0] / sizeof(void*);
#else
  return (parts[0] - 1) / sizeof(void*);
#endif
}

// An object of an interface: a pointer to its table, before which stand its offset and type.
template <class Interface>
class StandIn {
 public:
  StandIn() {
    table_.fill(reinterpret_cast<void*>(&unexpected));
    table_[0] = nullptr;
    table_[1] = const_cast<void*>(static_cast<const void*>(&typeid(Interface)));
  }
  template <class Member, class Function>
  void set(Member member, Function function) {
    table_[2 + place_of(member)] = reinterpret_cast<void*>(function);
  }
  Interface* get() { return reinterpret_cast<Interface*>(&pointer_); }

 private:
  std::array<void*, 256> table_;
  void** pointer_ = table_.data() + 2;
};

namespace apiv = nvinfer1::apiv;

std::vector<std::pair<float, std::string>> layer_times() {
  std::vector<std::pair<float, std::string>> times;
  const char* const path = std::getenv("RIDGELINE_TEST_NVINFER_TIMES");
  std::ifstream file(path == nullptr ? "" : path);
  float milliseconds = 0;
  for (std::string name; file >> milliseconds && std::getline(file >> std::ws, name);)
    times.emplace_back(milliseconds, name);
  return times;
}

void pass(double milliseconds) {
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::duration<double, std::milli>(milliseconds);
  while (std::chrono::steady_clock::now() < end) {
  }
}

struct Context;
std::map<void*, Context*> contexts;  // by their implementation

struct Context final : nvinfer1::IExecutionContext {
  Context() {
    using V = apiv::VExecutionContext;
    implementation.set(
        &V::setInputShape, +[](void*, const char* name, const Dims& dims) noexcept {
          input_shape = dims;
          if (engine_text == "old error" && dims.nbDims != 4)
            logger->log(nvinfer1::ILogger::Severity::kERROR, "setInputShape: four axes needed");
          return std::string_view(name) == "images" && dims.nbDims == 4 && dims.d[0] <= 16;
        });
    implementation.set(
        &V::getTensorShape, +[](void*, const char*) noexcept { return input_shape; });
    implementation.set(
        &V::getMaxOutputSize, +[](void*, const char* name) noexcept {
          return std::string_view(name) == "output" ? output_bytes() : std::int64_t{-1};
        });
    implementation.set(
        &V::setOptimizationProfileAsync,
        +[](void*, int profile, cudaStream_t) noexcept { return profile < 2; });
    implementation.set(
        &V::setProfiler, +[](void* self, nvinfer1::IProfiler* profiler) noexcept {
          contexts.at(self)->profiler = profiler;
        });
    implementation.set(
        &V::setTensorAddress, +[](void* self, const char* name, void* memory) noexcept {
          contexts.at(self)->memory[name] = static_cast<char*>(memory);
          return true;
        });
    implementation.set(
        &V::enqueueV3, +[](void* self, cudaStream_t stream) noexcept {
          return stream != nullptr && contexts.at(self)->run();
        });
    mImpl = implementation.get();
    contexts[mImpl] = this;
  }
  ~Context() noexcept { contexts.erase(mImpl); }
  Context(const Context&) = delete;

  static std::int64_t output_bytes() { return input_shape.d[0] * 1000 * 4; }

  // Touches all of its memory, which is the host's here.
  bool run() {
    if (engine_text == "does not run") {
      logger->log(nvinfer1::ILogger::Severity::kERROR,
                  "IExecutionContext::enqueueV3: Error Code 1: Cuda Runtime (an illegal memory "
                  "access was encountered)");
      return false;
    }
    if (memory["images"] == nullptr || memory["output"] == nullptr) return false;
    std::size_t bytes = 4;
    for (int i = 0; i < input_shape.nbDims; ++i)
      bytes *= static_cast<std::size_t>(input_shape.d[i]);
    const std::vector<char> input(memory["images"], memory["images"] + bytes);
    std::memset(memory["output"], input.back(), static_cast<std::size_t>(output_bytes()));
    for (const auto& [milliseconds, name] : layer_times()) {
      pass(static_cast<double>(milliseconds));
      if (profiler != nullptr) profiler->reportLayerTime(name.c_str(), milliseconds);
    }
    return true;
  }

  StandIn<apiv::VExecutionContext> implementation;
  nvinfer1::IProfiler* profiler = nullptr;
  std::map<std::string, char*, std::less<>> memory;
};

struct Inspector final : nvinfer1::IEngineInspector {
  Inspector() {
    implementation.set(
        &apiv::VEngineInspector::setExecutionContext,
        +[](void*, const nvinfer1::IExecutionContext*) noexcept { return is_context_set = true; });
    implementation.set(
        &apiv::VEngineInspector::getEngineInformation,
        +[](void*, nvinfer1::LayerInformationFormat) noexcept {
          static std::string json;
          json = engine_text;
          const std::string batch = is_context_set ? std::to_string(input_shape.d[0]) : "-1";
          for (auto at = json.find('@'); at != json.npos; at = json.find('@'))
            json.replace(at, 1, batch);
          return json.c_str();
        });
    mImpl = implementation.get();
  }
  StandIn<apiv::VEngineInspector> implementation;
};

struct Engine final : nvinfer1::ICudaEngine {
  Engine() {
    using V = apiv::VCudaEngine;
    implementation.set(
        &V::createEngineInspector,
        +[](void*) noexcept -> nvinfer1::IEngineInspector* { return new Inspector; });
    implementation.set(
        &V::createExecutionContext,
        +[](void*,
            nvinfer1::ExecutionContextAllocationStrategy) noexcept -> nvinfer1::IExecutionContext* {
          const bool has_room = !engine_text.ends_with("too large") &&
                                (engine_text != "room for one context" || contexts.empty());
          return has_room ? new Context : nullptr;
        });
    implementation.set(
        &V::getNbIOTensors, +[](void*) noexcept { return 2; });
    implementation.set(
        &V::getNbOptimizationProfiles, +[](void*) noexcept { return 2; });
    implementation.set(
        &V::getIOTensorName,
        +[](void*, int index) noexcept { return index == 0 ? "images" : "output"; });
    implementation.set(
        &V::getTensorIOMode, +[](void*, const char* name) noexcept {
          return std::string_view(name) == "images" ? nvinfer1::TensorIOMode::kINPUT
                                                    : nvinfer1::TensorIOMode::kOUTPUT;
        });
    implementation.set(
        &V::getTensorShape, +[](void*, const char*) noexcept {
          return Dims{4, {-1, 3, 224, 224}};
        });
    implementation.set(
        &V::getTensorDataType,
        +[](void*, const char*) noexcept { return nvinfer1::DataType::kFLOAT; });
    implementation.set(
        &V::getTensorLocation, +[](void*, const char*) noexcept {
          return engine_text == "sizes on the host" ? nvinfer1::TensorLocation::kHOST
                                                    : nvinfer1::TensorLocation::kDEVICE;
        });
    implementation.set(
        &V::getTensorVectorizedDimV2, +[](void*, const char*, int) noexcept { return -1; });
    implementation.set(
        &V::getProfileShape,
        +[](void*, const char*, int profile, nvinfer1::OptProfileSelector select) noexcept {
          const bool is_best = select == nvinfer1::OptProfileSelector::kOPT;
          return Dims{4, {is_best ? (profile == 0 ? 8 : 4) : 0, 3, 224, 224}};
        });
    mImpl = implementation.get();
  }
  StandIn<apiv::VCudaEngine> implementation;
};

nvinfer1::ICudaEngine* deserialize(void*, const void* bytes, std::size_t size) noexcept {
  constexpr std::size_t header = 28;
  engine_text.assign(static_cast<const char*>(bytes) + header, size - header);
  const auto refuse = [](const char* why) -> nvinfer1::ICudaEngine* {
    logger->log(nvinfer1::ILogger::Severity::kERROR, why);
    return nullptr;
  };
  if (engine_text == "other device")
    return refuse(
        "IRuntime::deserializeCudaEngine: Error Code 6: API Usage Error (The engine plan file is "
        "generated on an incompatible device, expecting compute 8.7 got compute 8.9, please "
        "rebuild.)");
  if (engine_text == "other version")
    return refuse(
        "IRuntime::deserializeCudaEngine: Error Code 1: Serialization (Serialization assertion "
        "stdVersionRead == kSERIALIZATION_VERSION failed.Version tag does not match. Note: Current "
        "Version: 239, Serialized Engine Version: 236)");
  if (engine_text == "old error" || engine_text == "old error, too large")
    logger->log(nvinfer1::ILogger::Severity::kERROR, "an error that something else caused");
  return new Engine;
}

struct Runtime final : nvinfer1::IRuntime {
  Runtime() {
    using FromMemory =
        nvinfer1::ICudaEngine* (apiv::VRuntime::*)(const void*, std::size_t) noexcept;
    implementation.set(static_cast<FromMemory>(&apiv::VRuntime::deserializeCudaEngine),
                       &deserialize);
    mImpl = implementation.get();
  }
  StandIn<apiv::VRuntime> implementation;
};

}  // namespace

extern "C" {

std::int32_t getInferLibVersion() noexcept {
  const char* const other = std::getenv("RIDGELINE_TEST_NVINFER_VERSION");
  return other != nullptr ? std::atoi(other) : NV_TENSORRT_VERSION;
}

void* createInferRuntime_INTERNAL(void* log, std::int32_t version) noexcept {
  logger = static_cast<nvinfer1::ILogger*>(log);
  if (version != NV_TENSORRT_VERSION) return nullptr;
  if (std::getenv("RIDGELINE_TEST_NVINFER_NO_GPU") != nullptr) {
    logger->log(nvinfer1::ILogger::Severity::kERROR,
                "createInferRuntime: Error Code 6: API Usage Error (CUDA initialization failure "
                "with error: 35.)");
    return nullptr;
  }
  return static_cast<nvinfer1::IRuntime*>(new Runtime);
}
}
