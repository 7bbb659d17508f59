// Anonymous memory aligned to large pages, with the kernel asked for them (MADV_HUGEPAGE).
// Small buffers get a large page too, so that no level's rate depends on the TLB.
#include "kernels/cpu/page_buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/error.h"
#include "base/random.h"

namespace ridgeline::cpu {
namespace {

constexpr std::size_t large_page = std::size_t{2} << 20;

}  // namespace

PageBuffer::PageBuffer(std::size_t bytes) : bytes_(bytes) {
  const std::size_t whole_pages = (bytes + large_page - 1) / large_page * large_page;
  mapped_bytes_ = whole_pages + large_page;
  void* const memory = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    throw Error("memory",
                "no " + std::to_string(bytes >> 20) + " MiB for a buffer: " + std::strerror(errno),
                "close other programs or use a smaller working set");
  mapping_ = memory;
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  data_ = static_cast<std::byte*>(memory) + (large_page - address % large_page) % large_page;
  madvise(data_, whole_pages, MADV_HUGEPAGE);
}

PageBuffer::~PageBuffer() {
  if (mapping_) munmap(mapping_, mapped_bytes_);
}

void fill_random(std::byte* data, std::size_t bytes, std::uint64_t seed) {
  // Two FP32 per step: random sign and mantissa, one of two exponents. From there the recurrence
  // of the sweep stays bounded.
  Random random{seed};
  for (std::size_t offset = 0; offset + 8 <= bytes; offset += 8) {
    const std::uint64_t bits = random.next();
    const std::uint64_t exponents = (bits >> 24 & 1) ? 0x3f0000003f000000u : 0x3e8000003e800000u;
    const std::uint64_t value = (bits & 0x807fffff807fffffu) | exponents;
    std::memcpy(data + offset, &value, 8);
  }
}

void* make_pointer_chain(std::byte* data, std::size_t bytes, std::size_t line_bytes,
                         std::uint64_t seed) {
  // Sattolo's shuffle, in place on the pointers themselves: a uniformly random single cycle.
  const std::size_t lines = std::max<std::size_t>(bytes / line_bytes, 1);
  const auto element = [&](std::size_t i) -> void*& {
    return *reinterpret_cast<void**>(data + i * line_bytes);
  };
  for (std::size_t i = 0; i < lines; ++i) element(i) = data + i * line_bytes;
  Random random{seed};
  for (std::size_t i = lines - 1; i > 0; --i) std::swap(element(i), element(random.below(i)));
  return data;
}

}  // namespace ridgeline::cpu
