// A buffer of large pages. The memory is reserved here and first touched by whoever fills it,
// so that pages land on the node of the thread that uses them.
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

}  // namespace ridgeline::cpu
