// Copies between host and device memory by the copy engines of a discrete GPU: what is planned, and
// one reading of it. The sampler averages readings; verdict.h judges them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "kernels/cuda/device_buffer.h"
#include "kernels/cuda/gpu.h"
#include "kernels/sampler.h"

namespace ridgeline::cuda {

enum class TransferKind { host_to_device, device_to_host, both };  // both at once, both counted
std::string_view to_string(TransferKind kind);

struct Transfer {
  TransferKind kind = TransferKind::host_to_device;
  bool pinned = true;  // pages that stay where they are, or ordinary ones

  std::string_view host_memory() const { return pinned ? "pinned" : "pageable"; }
};

// Buffers on both sides; a direction has its own, so that both can run at once.
class TransferBench {
 public:
  TransferBench(Gpu& gpu, std::uint64_t bytes);

  std::uint64_t bytes() const { return bytes_; }  // of one copy
  Reading read(const Transfer& transfer);

 private:
  Gpu& gpu_;
  std::uint64_t bytes_ = 0;
  std::array<DeviceBuffer, 2> device_, pinned_;  // [0] towards the device, [1] from it
  std::array<std::unique_ptr<std::byte[]>, 2> pageable_;
};

}  // namespace ridgeline::cuda
