// Types and names of the functions are those of cuda.h, which is not needed to compile this; where
// it is installed, the compiler compares them.
#include "execution/tensorrt/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <type_traits>
#if __has_include(<cuda.h>)
#include <cuda.h>
#define RIDGELINE_HAS_CUDA_H
#endif

#include "base/error.h"
#include "base/units.h"

namespace ridgeline::tensorrt {
namespace {

using Result = int;
using Address = unsigned long long;  // CUdeviceptr
constexpr Result out_of_memory = 2;
constexpr unsigned non_blocking = 1;

#ifdef RIDGELINE_HAS_CUDA_H
static_assert(out_of_memory == CUDA_ERROR_OUT_OF_MEMORY && non_blocking == CU_STREAM_NON_BLOCKING);

// Whether a value is passed alike: a number of the same size and sign, or a pointer to such. What
// handles point to is only declared in cuda.h; here they are void*.
template <class Ours, class Theirs>
constexpr bool same_value() {
  if constexpr (std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>) {
    using Here = std::remove_pointer_t<Ours>;
    using There = std::remove_pointer_t<Theirs>;
    if constexpr (std::is_void_v<Here> || std::is_void_v<There>)
      return std::is_const_v<Here> == std::is_const_v<There>;
    else
      return std::is_const_v<Here> == std::is_const_v<There> &&
             same_value<std::remove_const_t<Here>, std::remove_const_t<There>>();
  } else if constexpr (std::is_enum_v<Theirs>) {
    return std::is_integral_v<Ours> && sizeof(Ours) == sizeof(Theirs);
  } else {
    return std::is_same_v<Ours, Theirs>;
  }
}

template <class Ours, class Theirs>
struct SameCall : std::false_type {};
template <class Ours, class... Mine, class Theirs, class... Others>
requires(sizeof...(Mine) ==
         sizeof...(Others)) struct SameCall<Ours (*)(Mine...), Theirs (*)(Others...)>
    : std::bool_constant<same_value<Ours, Theirs>() && (same_value<Mine, Others>() && ...)> {
};

template <class Ours, class Theirs>
constexpr bool same_call() {
  return SameCall<Ours, Theirs>::value;
}
#endif

class LoadedDriver final : public GpuDriver {
 public:
  LoadedDriver(void* handle, const std::string& library) : handle_(handle) {
    load(init_, "cuInit");
    load(device_get_, "cuDeviceGet");
    load(device_name_, "cuDeviceGetName");
    load(bus_id_, "cuDeviceGetPCIBusId");
    load(retain_, "cuDevicePrimaryCtxRetain");
    load(release_, "cuDevicePrimaryCtxRelease_v2");
    load(set_current_, "cuCtxSetCurrent");
    load(allocate_, "cuMemAlloc_v2");
    load(free_, "cuMemFree_v2");
    load(copy_, "cuMemcpyHtoD_v2");
    load(stream_create_, "cuStreamCreate");
    load(stream_wait_, "cuStreamSynchronize");
    load(stream_destroy_, "cuStreamDestroy_v2");
    load(error_text_, "cuGetErrorString");
    if (!missing_.empty()) {
      dlclose(handle_);
      throw Error(library, "lacks " + missing_ + ", so it is not a usable driver of NVIDIA's GPUs");
    }
    Result result = init_(0);
    if (result == 0) result = device_get_(&device_, 0);
    void* context = nullptr;
    if (result == 0) result = retain_(&context, device_);
    is_retained_ = result == 0;
    if (result == 0) result = set_current_(context);
    if (result == 0) result = stream_create_(&stream_, non_blocking);
    if (result == 0) return;
    const std::string cause = text(result);
    close();
    throw Error({}, "no working GPU here: CUDA reports " + cause,
                "run it on the board or server that the engine was built for");
  }
  ~LoadedDriver() override { close(); }
  LoadedDriver(const LoadedDriver&) = delete;
  LoadedDriver& operator=(const LoadedDriver&) = delete;

  std::string gpu_name() const override { return text_of(device_name_); }
  std::string bus_id() const override { return text_of(bus_id_); }

  void* allocate(std::size_t bytes) override {
    Address address = 0;
    const Result result = allocate_(&address, bytes);
    if (result == out_of_memory)
      throw Error({},
                  fmt::format("the GPU has no {} left for inputs and outputs",
                              format_bytes(static_cast<double>(bytes))),
                  "give smaller shapes, or end other programs that use it");
    check(result, "memory");
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
  }
  void free(void* memory) override { free_(as_address(memory)); }
  void copy_to(void* memory, const std::string& bytes) override {
    check(copy_(as_address(memory), bytes.data(), bytes.size()), "a copy");
  }
  void* stream() override { return stream_; }
  void wait() override { check(stream_wait_(stream_), "the engine"); }

 private:
  template <class Function>
  void load(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(handle_, name));
    if (function == nullptr && missing_.empty()) missing_ = name;
  }
  static Address as_address(void* memory) {
    return static_cast<Address>(reinterpret_cast<std::uintptr_t>(memory));
  }
  std::string text(Result result) const {
    const char* words = nullptr;
    if (error_text_(result, &words) == 0 && words != nullptr) return words;
    return fmt::format("error {}", result);
  }
  std::string text_of(Result (*function)(char*, int, int)) const {
    std::array<char, 256> name{};
    return function(name.data(), static_cast<int>(name.size()) - 1, device_) == 0 ? name.data()
                                                                                  : "";
  }
  void check(Result result, const char* what) const {
    if (result != 0) throw Error({}, fmt::format("CUDA reports {} for {}", text(result), what));
  }
  void close() {
    if (stream_ != nullptr) stream_destroy_(stream_);
    if (is_retained_) release_(device_);
    dlclose(handle_);
  }

  void* handle_;
  std::string missing_;
  int device_ = 0;
  void* stream_ = nullptr;
  bool is_retained_ = false;
  Result (*init_)(unsigned) = nullptr;
  Result (*device_get_)(int*, int) = nullptr;
  Result (*device_name_)(char*, int, int) = nullptr;
  Result (*bus_id_)(char*, int, int) = nullptr;
  Result (*retain_)(void**, int) = nullptr;
  Result (*release_)(int) = nullptr;
  Result (*set_current_)(void*) = nullptr;
  Result (*allocate_)(Address*, std::size_t) = nullptr;
  Result (*free_)(Address) = nullptr;
  Result (*copy_)(Address, const void*, std::size_t) = nullptr;
  Result (*stream_create_)(void**, unsigned) = nullptr;
  Result (*stream_wait_)(void*) = nullptr;
  Result (*stream_destroy_)(void*) = nullptr;
  Result (*error_text_)(Result, const char**) = nullptr;

#ifdef RIDGELINE_HAS_CUDA_H
  static_assert(same_call<decltype(init_), decltype(&cuInit)>());
  static_assert(same_call<decltype(device_get_), decltype(&cuDeviceGet)>());
  static_assert(same_call<decltype(device_name_), decltype(&cuDeviceGetName)>());
  static_assert(same_call<decltype(bus_id_), decltype(&cuDeviceGetPCIBusId)>());
  static_assert(same_call<decltype(retain_), decltype(&cuDevicePrimaryCtxRetain)>());
  static_assert(same_call<decltype(release_), decltype(&cuDevicePrimaryCtxRelease_v2)>());
  static_assert(same_call<decltype(set_current_), decltype(&cuCtxSetCurrent)>());
  static_assert(same_call<decltype(allocate_), decltype(&cuMemAlloc_v2)>());
  static_assert(same_call<decltype(free_), decltype(&cuMemFree_v2)>());
  static_assert(same_call<decltype(copy_), decltype(&cuMemcpyHtoD_v2)>());
  static_assert(same_call<decltype(stream_create_), decltype(&cuStreamCreate)>());
  static_assert(same_call<decltype(stream_wait_), decltype(&cuStreamSynchronize)>());
  static_assert(same_call<decltype(stream_destroy_), decltype(&cuStreamDestroy_v2)>());
  static_assert(same_call<decltype(error_text_), decltype(&cuGetErrorString)>());
#endif
};

}  // namespace

std::unique_ptr<GpuDriver> GpuDriver::open(const std::string& library) {
  const std::string name = library.empty() ? "libcuda.so.1" : library;
  void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    throw Error({}, "no working GPU here: NVIDIA's driver (" + name + ") is not installed",
                "run it on the board or server that the engine was built for");
  return std::make_unique<LoadedDriver>(handle, name);
}

}  // namespace ridgeline::tensorrt
