// Two clocks: the host's, which advances by launches and waits, and the stream's, in which kernels
// run one after the other. Memory is real but only reserved; large buffers stay unwritten.
#include "tests/kernels/cuda/test_gpu.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "kernels/cuda/reference.h"

namespace ridgeline::testing {

using cuda::Arguments;
using cuda::GpuError;
using cuda::Grid;
using cuda::Kernel;
using cuda::Role;

namespace {

constexpr std::uint64_t large = std::uint64_t{64} << 20;  // their contents are never read

double warps_of(Grid grid) { return double(grid.blocks) * (grid.threads / 32); }

}  // namespace

TestGpuSettings test_orin() {
  TestGpuSettings settings;
  settings.facts.name = "Test Orin";
  settings.facts.architecture = 87;
  settings.facts.multiprocessors = 16;
  settings.facts.threads_per_multiprocessor = 1536;
  settings.facts.l2_bytes = 4 << 20;
  settings.facts.l1_bytes = 164 << 10;
  settings.facts.integrated = true;
  settings.flop_per_cycle = [](const Kernel& kernel) {
    if (kernel.unit == Unit::matrix) {
      switch (kernel.dtype) {
        case DType::fp64:
          return 32.0;
        case DType::tf32:
          return 1024.0;
        case DType::int8:
          return 4096.0;
        case DType::int4:
          return 8192.0;
        default:
          return 2048.0;
      }
    }
    switch (kernel.dtype) {
      case DType::fp64:
        return 4.0;
      case DType::fp16:
        return 512.0;
      case DType::int32:
        return 128.0;
      case DType::int8:
        return 512.0;
      default:
        return 256.0;
    }
  };
  return settings;
}

TestGpu::TestGpu(TestGpuSettings settings) : settings_(std::move(settings)) {
  settings_.facts.memory_bytes = settings_.free_bytes;
  settings_.facts.free_bytes = settings_.free_bytes;
}

TestGpu::~TestGpu() {
  for (const auto& [memory, buffer] : buffers_) munmap(const_cast<void*>(memory), buffer.bytes);
}

SamplerWorld TestGpu::world() {
  return {[this] { return host_s_; }, [] { return OtherLoad{}; }, [] { return false; },
          [](double, double) {}};
}

cuda::CodeSupport TestGpu::support(const Kernel&) const {
  return {settings_.missing_code, settings_.from_ptx};
}

int TestGpu::resident_blocks(const Kernel&, std::uint32_t threads) const {
  return settings_.facts.threads_per_multiprocessor / int(threads);
}

void* TestGpu::allocate(std::uint64_t bytes, cuda::MemoryKind kind) {
  check_lost();
  if (allocated_ + bytes > settings_.free_bytes)
    throw GpuError(GpuError::Kind::out_of_memory, "GPU memory", "out of memory");
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  allocated_ += bytes;
  buffers_[memory] = {bytes, kind};
  return memory;
}

void TestGpu::release(void* memory, cuda::MemoryKind) noexcept {
  const auto found = buffers_.find(memory);
  if (found == buffers_.end()) return;
  allocated_ -= found->second.bytes;
  munmap(memory, found->second.bytes);
  buffers_.erase(found);
}

const TestGpu::Buffer* TestGpu::buffer_at(const void* address) const {
  auto found = buffers_.upper_bound(address);
  if (found == buffers_.begin()) return nullptr;
  --found;
  const auto* const end = static_cast<const std::byte*>(found->first) + found->second.bytes;
  return address < end ? &found->second : nullptr;
}

void TestGpu::upload(void* device, const void* host, std::uint64_t bytes) {
  check_lost();
  if (buffer_at(device)->bytes < large) std::memcpy(device, host, bytes);
}

void TestGpu::download(void* host, const void* device, std::uint64_t bytes) {
  synchronize();
  if (buffer_at(device)->bytes < large) std::memcpy(host, device, bytes);
}

double TestGpu::copy_seconds(std::span<const cuda::Copy> copies, int repeats) {
  synchronize();
  double bytes = 0;
  bool pageable = false, to_host = false;
  for (const cuda::Copy& copy : copies) {
    const Buffer *to = buffer_at(copy.to), *from = buffer_at(copy.from);
    pageable = pageable || !to || !from;
    to_host = !to || to->kind == cuda::MemoryKind::pinned;
    bytes += double(copy.bytes) * repeats;
  }
  const double speed = copies.size() > 1 ? settings_.both_bytes_per_s
                       : to_host         ? settings_.to_host_bytes_per_s
                                         : settings_.to_device_bytes_per_s;
  const double noisy = 1 + settings_.noise * (2 * random_.unit() - 1);
  const double seconds =
      settings_.start_s + noisy * bytes / (speed * (pageable ? settings_.pageable_share : 1));
  host_s_ += settings_.launch_s + seconds;
  device_s_ = host_s_;
  return seconds;
}

double TestGpu::kernel_seconds(const Kernel& kernel, Grid grid, const Arguments& arguments) const {
  if (kernel.role == Role::launch) return 0;
  const double clock = settings_.clock_at ? settings_.clock_at(device_s_) : settings_.clock_hz;
  const double trips = warps_of(grid) * arguments.trips * arguments.passes;
  const int multiprocessors = settings_.facts.multiprocessors;
  const double threads =
      double(grid.blocks) * grid.threads / multiprocessors * std::max(kernel.chains / 4.0, 1.0);
  const double filled = std::min(1.0, threads / settings_.best_threads);
  double seconds = 0;
  if (kernel.arithmetic > 0)
    seconds = trips * kernel.flop_per_trip() /
              (settings_.flop_per_cycle(kernel) * multiprocessors * clock * filled);
  const double bytes = trips * kernel.bytes_per_trip();
  if (bytes > 0) {
    const Buffer* const buffer = buffer_at(arguments.data);
    const double share = !buffer || buffer->kind == cuda::MemoryKind::device ? 1
                         : buffer->kind == cuda::MemoryKind::pinned ? settings_.pinned_share
                                                                    : settings_.managed_share;
    const double speed = kernel.level == Level::dram || kernel.role == Role::sweep
                             ? settings_.dram_bytes_per_s * share
                         : kernel.level == Level::l2
                             ? settings_.l2_bytes_per_s
                             : settings_.near_bytes_per_cycle * multiprocessors * clock;
    seconds = std::max(seconds, bytes / (speed * filled));
  }
  return seconds;
}

// Short runs are computed, since the host checks their results.
void TestGpu::compute(const Kernel& kernel, const Arguments& arguments) const {
  if (kernel.role != Role::compute || arguments.trips > 1 || kernel.name == settings_.wrong_kernel)
    return;
  const auto bytes = std::size_t(32 * kernel.registers() * kernel.register_bytes);
  cuda::run_reference(kernel, arguments.trips, {static_cast<std::byte*>(arguments.data), bytes});
}

void TestGpu::check_lost() const {
  if (timed_out_)
    throw GpuError(GpuError::Kind::lost, "GPU kernel", "the launch timed out and was terminated");
  if (settings_.lost_after_s > 0 && host_s_ > settings_.lost_after_s)
    throw GpuError(GpuError::Kind::lost, "GPU", "unspecified launch failure");
}

void TestGpu::launch(const Kernel& kernel, Grid grid, const Arguments& arguments) {
  check_lost();
  if (++launches_ == settings_.fail_launch)
    throw GpuError(GpuError::Kind::launch, std::string(kernel.name), "too many resources");
  host_s_ += settings_.launch_s;
  const double noisy = 1 + settings_.noise * (2 * random_.unit() - 1);
  const double begin = std::max(device_s_, host_s_) + settings_.start_s;
  const double seconds = kernel_seconds(kernel, grid, arguments) * noisy;
  timed_out_ = timed_out_ || (settings_.facts.watchdog && seconds > 2);
  compute(kernel, arguments);
  device_s_ = begin + seconds;
  if (settings_.on_launch) settings_.on_launch(kernel, grid, arguments, seconds);
  if (seconds > 0) {
    const double trips = warps_of(grid) * arguments.trips * arguments.passes;
    drawn_.push_back({begin, device_s_,
                      settings_.constant_w + settings_.ripple_w * (2 * random_.unit() - 1) +
                          trips *
                              (settings_.joule_per_flop * kernel.flop_per_trip() +
                               settings_.joule_per_byte * kernel.bytes_per_trip()) /
                              seconds});
  }
  if (!arguments.stamps) return;
  const double clock = settings_.clock_at ? settings_.clock_at(begin) : settings_.clock_hz;
  for (std::uint32_t block = 0; block < grid.blocks; ++block)
    arguments.stamps[block] = {std::uint64_t(1e9),
                               std::uint64_t(1e9 + seconds * clock),
                               std::uint64_t(begin * 1e9),
                               std::uint64_t((begin + seconds) * 1e9),
                               block % std::uint32_t(settings_.facts.multiprocessors),
                               0};
}

void TestGpu::record_begin() { begin_s_ = std::max(device_s_, host_s_ + settings_.launch_s); }
void TestGpu::record_end() { end_s_ = device_s_; }
double TestGpu::elapsed_s() {
  synchronize();
  return end_s_ - begin_s_;
}
void TestGpu::synchronize() {
  check_lost();
  host_s_ = std::max(host_s_, device_s_);
}

void TestGpu::capture(const Kernel&, Grid, const Arguments&, int nodes) { nodes_ = nodes; }
void TestGpu::replay() {
  check_lost();
  host_s_ += settings_.launch_s;
  device_s_ = std::max(device_s_, host_s_) + nodes_ * settings_.node_s;
}

}  // namespace ridgeline::testing
