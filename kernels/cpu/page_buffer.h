// A buffer of large pages, and what fills it. The memory is reserved here and first touched by the
// thread that fills it, so that pages land on the node of that thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace ridgeline::cpu {

class PageBuffer {
 public:
  PageBuffer() = default;
  explicit PageBuffer(std::size_t bytes);  // throws Error where the system gives no memory
  ~PageBuffer();
  PageBuffer(PageBuffer&& other) noexcept { *this = std::move(other); }
  PageBuffer& operator=(PageBuffer&& other) noexcept {
    std::swap(mapping_, other.mapping_);
    std::swap(mapped_bytes_, other.mapped_bytes_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  std::byte* data() const { return data_; }
  std::size_t size() const { return bytes_; }

 private:
  void* mapping_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  std::byte* data_ = nullptr;  // 2 MiB aligned
  std::size_t bytes_ = 0;
};

// Random finite FP32 values, |x| in [0.25, 1): zeros would draw less power. Read as FP64 they
// are finite, normal and small.
void fill_random(std::byte* data, std::size_t bytes, std::uint64_t seed);

// A random cycle of pointers over the cache lines of a buffer, for the latency kernel: one cycle
// through all lines, so that there is no shorter loop and no order that a prefetcher could learn.
// Returns its start. `line_bytes` is the distance of two elements.
void* make_pointer_chain(std::byte* data, std::size_t bytes, std::size_t line_bytes,
                         std::uint64_t seed);

}  // namespace ridgeline::cpu
