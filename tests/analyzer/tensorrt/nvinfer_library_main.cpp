// A library in the place of libnvinfer: engines whose bytes after the header say what becomes of
// them. NVIDIA's interfaces have hundreds of functions, which differ from version to version; only
// those that ridgeline calls are filled in, at the place where the headers at hand have them.
#include <NvInferRuntime.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <typeinfo>

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

struct Context final : nvinfer1::IExecutionContext {
  Context() {
    implementation.set(
        &apiv::VExecutionContext::setInputShape,
        +[](void*, const char* name, const Dims& dims) noexcept {
          input_shape = dims;
          return std::string_view(name) == "images";
        });
    mImpl = implementation.get();
  }
  StandIn<apiv::VExecutionContext> implementation;
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
        +[](void*, nvinfer1::ExecutionContextAllocationStrategy) noexcept
        -> nvinfer1::IExecutionContext* { return new Context; });
    implementation.set(
        &V::getNbIOTensors, +[](void*) noexcept { return 2; });
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
        &V::getProfileShape,
        +[](void*, const char*, int profile, nvinfer1::OptProfileSelector select) noexcept {
          const bool is_best = profile == 0 && select == nvinfer1::OptProfileSelector::kOPT;
          return Dims{4, {is_best ? 8 : 0, 3, 224, 224}};
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
