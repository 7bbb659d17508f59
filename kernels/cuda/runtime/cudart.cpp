// The CUDA runtime API behind the interface of gpu.h: plain calls, two events, one stream (a second
// one for two copies at once).
// A statically linked runtime starts without a driver; what is missing is found out here, in words.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <future>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/cuda/code.h"
#include "kernels/cuda/function.h"
#include "kernels/cuda/gpu.h"

namespace ridgeline::cuda {

#define RIDGELINE_DECLARE(name) extern const Function name##_functions[];
RIDGELINE_CODE_GROUPS(RIDGELINE_DECLARE)
#undef RIDGELINE_DECLARE

namespace {

struct CodeGroup {
  std::string_view name;
  const Function* functions;
  std::span<const int> code, ptx;  // architectures
};

#define RIDGELINE_GROUP(name) CodeGroup{#name, name##_functions, name##_code, name##_ptx},
const auto code_groups = std::to_array<CodeGroup>({RIDGELINE_CODE_GROUPS(RIDGELINE_GROUP)});
#undef RIDGELINE_GROUP

const CodeGroup* group_of(const Kernel& kernel) {
  const auto found = std::ranges::find(code_groups, kernel.group, &CodeGroup::name);
  return found == code_groups.end() ? nullptr : &*found;
}

// By row of the kernel table; null for what this build has no code for. Found once: a search
// through the names would be part of what every launch costs.
const std::vector<const void*>& addresses() {
  static const std::vector<const void*> all = [] {
    std::vector<const void*> found;
    for (const Kernel& kernel : kernel_table()) {
      found.push_back(nullptr);
      if (const CodeGroup* group = group_of(kernel))
        for (const Function* function = group->functions; function->name; ++function)
          if (kernel.name == function->name) found.back() = function->address;
    }
    return found;
  }();
  return all;
}

const void* address_of(const Kernel& kernel) {
  const auto row = static_cast<std::size_t>(&kernel - kernel_table().data());
  const void* const address = row < addresses().size() ? addresses()[row] : nullptr;
  if (address) return address;
  throw GpuError(GpuError::Kind::launch, std::string(kernel.name), "this build has no code for it");
}

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

// Errors after which the context is gone (CUDA Runtime API, "Data types used by CUDA Runtime").
bool is_sticky(cudaError_t error) {
  switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorHardwareStackError:
    case cudaErrorLaunchTimeout:
    case cudaErrorLaunchFailure:
    case cudaErrorECCUncorrectable:
    case cudaErrorDevicesUnavailable:
    case cudaErrorContextIsDestroyed:
    case cudaErrorUnknown:
      return true;
    default:
      return false;
  }
}

std::string fix_for(cudaError_t error) {
  switch (error) {
    case cudaErrorLaunchTimeout:
      return "a display driver ends kernels after two seconds: stop the desktop";
    case cudaErrorDevicesUnavailable:
      return "another process has the device in exclusive mode";
    case cudaErrorNoKernelImageForDevice:
      return "build for this GPU: RIDGELINE_CUDA_ARCHITECTURES";
    case cudaErrorECCUncorrectable:
      return "the GPU's memory has a fault: reset it";
    default:
      return {};
  }
}

void check(cudaError_t error, std::string_view where) {
  if (error == cudaSuccess) return;
  const auto kind = error == cudaErrorMemoryAllocation ? GpuError::Kind::out_of_memory
                    : is_sticky(error)                 ? GpuError::Kind::lost
                                                       : GpuError::Kind::launch;
  cudaGetLastError();  // a plain error does not outlive its report
  throw GpuError(kind, std::string(where),
                 fmt::format("{} ({})", cudaGetErrorString(error), cudaGetErrorName(error)),
                 fix_for(error));
}

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  if (cudaDeviceGetAttribute(&value, which, device) != cudaSuccess) {
    cudaGetLastError();
    return 0;
  }
  return value;
}

DeviceFacts read_facts(int device) {
  DeviceFacts facts;
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "CUDA device");
  facts.name = properties.name;
  facts.architecture = 10 * properties.major + properties.minor;
  facts.multiprocessors = properties.multiProcessorCount;
  facts.threads_per_multiprocessor = properties.maxThreadsPerMultiProcessor;
  facts.l2_bytes = std::uint64_t(properties.l2CacheSize);
  // L1 and shared memory are one; the maximum of shared memory is the runtime's only word of it.
  facts.l1_bytes = std::uint64_t(properties.sharedMemPerMultiprocessor);
  facts.integrated = properties.integrated != 0;
  facts.watchdog = attribute(cudaDevAttrKernelExecTimeout, device) != 0;
  std::size_t free_bytes = 0, total_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &total_bytes), "CUDA device");
  facts.free_bytes = free_bytes;
  facts.memory_bytes = total_bytes;
  if (const int khz = attribute(cudaDevAttrClockRate, device); khz > 0)
    facts.max_clock_hz = 1e3 * khz;
  // On Jetson the driver reports another clock and bus than the memory has.
  const int memory_khz = attribute(cudaDevAttrMemoryClockRate, device);
  const int bus_bits = attribute(cudaDevAttrGlobalMemoryBusWidth, device);
  if (!facts.integrated && memory_khz > 0 && bus_bits > 0)
    facts.memory_bytes_per_s = 2e3 * memory_khz * bus_bits / 8;
  cudaDriverGetVersion(&facts.driver_version);
  cudaRuntimeGetVersion(&facts.runtime_version);
  std::array<char, 32> id{};
  if (!facts.integrated && cudaDeviceGetPCIBusId(id.data(), int(id.size()), device) == cudaSuccess)
    facts.pci_bus_id = id.data();
  return facts;
}

class CudartGpu final : public Gpu {
 public:
  explicit CudartGpu(int device) : device_(device) {
    check(cudaSetDevice(device), "CUDA device");
    facts_ = read_facts(device);
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "CUDA stream");
    check(cudaEventCreate(&begin_), "CUDA event");
    check(cudaEventCreate(&end_), "CUDA event");
  }
  CudartGpu(const CudartGpu&) = delete;
  CudartGpu& operator=(const CudartGpu&) = delete;
  ~CudartGpu() override {
    drop_graph();
    if (second_) cudaStreamDestroy(second_);
    if (joined_) cudaEventDestroy(joined_);
    cudaEventDestroy(end_);
    cudaEventDestroy(begin_);
    cudaStreamDestroy(stream_);
  }

  const DeviceFacts& facts() const override { return facts_; }
  void correct(const DeviceFacts& facts) override { facts_ = facts; }

  CodeSupport support(const Kernel& kernel) const override {
    const CodeGroup* const group = group_of(kernel);
    if (!group) return {"this build has no code for it", false};
    if (std::ranges::any_of(group->code,
                            [&](int code) { return runs_machine_code(code, facts_.architecture); }))
      return {};
    if (std::ranges::any_of(group->ptx, [&](int ptx) { return ptx <= facts_.architecture; }))
      return {{}, true};
    return {fmt::format("this build has no code for sm_{}", facts_.architecture), false};
  }

  int resident_blocks(const Kernel& kernel, std::uint32_t threads) const override {
    int blocks = 0;
    check(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, address_of(kernel), int(threads), 0),
        kernel.name);
    return blocks;
  }

  void* allocate(std::uint64_t bytes, MemoryKind kind) override {
    void* memory = nullptr;
    const std::string where = fmt::format("GPU memory of {} bytes", bytes);
    switch (kind) {
      case MemoryKind::device:
        check(cudaMalloc(&memory, bytes), where);
        break;
      case MemoryKind::pinned:
        check(cudaHostAlloc(&memory, bytes, cudaHostAllocMapped), where);
        break;
      case MemoryKind::managed:
        check(cudaMallocManaged(&memory, bytes, cudaMemAttachGlobal), where);
        break;
    }
    return memory;
  }
  void release(void* memory, MemoryKind kind) noexcept override {
    if (kind == MemoryKind::pinned)
      cudaFreeHost(memory);
    else
      cudaFree(memory);
  }
  void upload(void* device, const void* host, std::uint64_t bytes) override {
    check(cudaMemcpy(device, host, bytes, cudaMemcpyDefault), "copy to the GPU");
  }
  void download(void* host, const void* device, std::uint64_t bytes) override {
    check(cudaMemcpy(host, device, bytes, cudaMemcpyDefault), "copy from the GPU");
  }

  double copy_seconds(std::span<const Copy> copies, int repeats) override {
    if (!second_) check(cudaStreamCreateWithFlags(&second_, cudaStreamNonBlocking), "CUDA stream");
    if (!joined_) check(cudaEventCreateWithFlags(&joined_, cudaEventDisableTiming), "CUDA event");
    record_begin();
    check(cudaStreamWaitEvent(second_, begin_, 0), "CUDA stream");
    const auto run = [&](std::size_t i) {
      cudaError_t error = cudaSetDevice(device_);
      for (int k = 0; k < repeats && error == cudaSuccess; ++k)
        error = cudaMemcpyAsync(copies[i].to, copies[i].from, copies[i].bytes, cudaMemcpyDefault,
                                i == 0 ? stream_ : second_);
      return error;
    };
    // A copy of ordinary pages does not return before it is done: the other one needs a thread.
    std::future<cudaError_t> other;
    if (copies.size() > 1) other = std::async(std::launch::async, run, std::size_t{1});
    cudaError_t error = run(0);
    if (other.valid())
      if (const cudaError_t second = other.get(); error == cudaSuccess) error = second;
    check(error, "copy between host and GPU");
    check(cudaEventRecord(joined_, second_), "CUDA event");
    check(cudaStreamWaitEvent(stream_, joined_, 0), "CUDA stream");
    record_end();
    return elapsed_s();
  }

  void launch(const Kernel& kernel, Grid grid, const Arguments& arguments) override {
    Arguments copy = arguments;
    void* pointers[] = {&copy};
    check(cudaLaunchKernel(address_of(kernel), dim3(grid.blocks), dim3(grid.threads), pointers, 0,
                           stream_),
          kernel.name);
  }
  void record_begin() override { check(cudaEventRecord(begin_, stream_), "CUDA event"); }
  void record_end() override { check(cudaEventRecord(end_, stream_), "CUDA event"); }
  double elapsed_s() override {
    check(cudaEventSynchronize(end_), "GPU kernel");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin_, end_), "CUDA event");
    return 1e-3 * double{milliseconds};
  }
  void synchronize() override { check(cudaStreamSynchronize(stream_), "GPU kernel"); }

  void capture(const Kernel& kernel, Grid grid, const Arguments& arguments, int nodes) override {
    drop_graph();
    cudaGraph_t graph = nullptr;
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "CUDA graph");
    for (int i = 0; i < nodes; ++i) launch(kernel, grid, arguments);
    check(cudaStreamEndCapture(stream_, &graph), "CUDA graph");
    // With flags of zero it is the plain form; the older one changed its parameters in CUDA 12.
    const cudaError_t error = cudaGraphInstantiateWithFlags(&graph_, graph, 0);
    cudaGraphDestroy(graph);
    check(error, "CUDA graph");
  }
  void replay() override { check(cudaGraphLaunch(graph_, stream_), "CUDA graph"); }

 private:
  void drop_graph() noexcept {
    if (graph_) cudaGraphExecDestroy(graph_);
    graph_ = nullptr;
  }

  int device_ = 0;
  DeviceFacts facts_;
  cudaStream_t stream_ = nullptr, second_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr, joined_ = nullptr;
  cudaGraphExec_t graph_ = nullptr;
};

constexpr int oldest_toolkit = 11040;  // that cmake/Cuda.cmake takes

// The number of devices, or why there is none.
std::pair<int, std::string> count_devices() {
  int count = 0, driver = 0, runtime = 0;
  cudaRuntimeGetVersion(&runtime);
  cudaDriverGetVersion(&driver);
  const cudaError_t error = cudaGetDeviceCount(&count);
  cudaGetLastError();
  if (error == cudaSuccess && count > 0) return {count, {}};
  if (driver == 0) return {0, "no NVIDIA driver is loaded"};
  if (error == cudaErrorInsufficientDriver)
    return {0, fmt::format("the driver is for CUDA {} and this ridgeline for {}: it takes a newer "
                           "driver{}",
                           version_text(driver), version_text(runtime),
                           driver >= oldest_toolkit ? " or an older toolkit" : "")};
  if (error == cudaErrorNoDevice || error == cudaSuccess) return {0, "the driver sees no GPU"};
  return {0, fmt::format("{} ({})", cudaGetErrorString(error), cudaGetErrorName(error))};
}

}  // namespace

std::string why_no_gpu() { return count_devices().second; }

std::unique_ptr<Gpu> open_gpu(int index) {
  const auto [count, reason] = count_devices();
  if (count == 0) throw Error("no CUDA device", reason);
  if (index < 0 || index >= count)
    throw usage_error(fmt::format("GPU {}", index), fmt::format("this machine has {} CUDA device{}",
                                                                count, count == 1 ? "" : "s"));
  return std::make_unique<CudartGpu>(index);
}

}  // namespace ridgeline::cuda
