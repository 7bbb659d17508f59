// Memory of any kind that a GPU reaches, released in the end.
// It is not filled.
#pragma once

#include <cstdint>
#include <utility>

#include "kernels/cuda/gpu.h"

namespace ridgeline::cuda {

class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(Gpu& gpu, std::uint64_t bytes, MemoryKind kind = MemoryKind::device)
      : gpu_(&gpu), memory_(gpu.allocate(bytes, kind)), bytes_(bytes), kind_(kind) {}
  DeviceBuffer(DeviceBuffer&& other) noexcept { swap(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~DeviceBuffer() {
    if (memory_) gpu_->release(memory_, kind_);
  }
  void* data() const { return memory_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  void swap(DeviceBuffer& other) noexcept {
    std::swap(gpu_, other.gpu_);
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
    std::swap(kind_, other.kind_);
  }
  Gpu* gpu_ = nullptr;
  void* memory_ = nullptr;
  std::uint64_t bytes_ = 0;
  MemoryKind kind_ = MemoryKind::device;
};

}  // namespace ridgeline::cuda
