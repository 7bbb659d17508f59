// Random bytes on both sides: pages that were never written are one page, and zeros may be
// compressed. As with kernels, the difference of a long and a short run has no cost of starting in
// it.
#include "kernels/cuda/transfer.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/cuda/bench.h"

namespace ridgeline::cuda {

std::string_view to_string(TransferKind kind) {
  switch (kind) {
    case TransferKind::host_to_device:
      return "host_to_device";
    case TransferKind::device_to_host:
      return "device_to_host";
    case TransferKind::both:
      return "both";
  }
  return "?";
}

TransferBench::TransferBench(Gpu& gpu, std::uint64_t bytes) : gpu_(gpu), bytes_(bytes) {
  for (std::size_t i = 0; i < 2; ++i) {
    device_[i] = DeviceBuffer(gpu, bytes);
    fill_elements(gpu, device_[i]);
    pinned_[i] = DeviceBuffer(gpu, bytes, MemoryKind::pinned);
    fill_elements(gpu, pinned_[i]);
    pageable_[i] = std::make_unique_for_overwrite<std::byte[]>(bytes);
    gpu.download(pageable_[i].get(), device_[i].data(), bytes);
  }
}

Reading TransferBench::read(const Transfer& transfer) {
  const auto host = [&](std::size_t i) -> void* {
    return transfer.pinned ? pinned_[i].data() : pageable_[i].get();
  };
  std::vector<Copy> copies;
  if (transfer.kind != TransferKind::device_to_host)
    copies.push_back({device_[0].data(), host(0), bytes_});
  if (transfer.kind != TransferKind::host_to_device)
    copies.push_back({host(1), device_[1].data(), bytes_});
  constexpr int few = 1, many = 3;
  const double part = gpu_.copy_seconds(copies, few);
  const double whole = gpu_.copy_seconds(copies, many);
  const double bytes = static_cast<double>(bytes_) * static_cast<double>(copies.size());
  if (whole <= part) return {many * bytes / whole, 0};
  return {(many - few) * bytes / (whole - part), 0};
}

}  // namespace ridgeline::cuda
