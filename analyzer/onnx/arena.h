// Arena: memory for all messages of one file, freed at once. A model has thousands of short lists
// with the same lifetime. Objects in an arena are never destroyed, so their destructors must be
// trivial.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <span>
#include <type_traits>

namespace ridgeline::onnx {

using Arena = std::pmr::monotonic_buffer_resource;

template <class T>
T* allocate(Arena& arena, std::size_t count) {
  static_assert(std::is_trivially_destructible_v<T> && std::is_trivially_copyable_v<T>);
  // T may be a pointer: NOLINTNEXTLINE(bugprone-sizeof-expression)
  return static_cast<T*>(arena.allocate(count * sizeof(T), alignof(T)));
}

// Copies one value into the arena.
template <class T>
T& keep(Arena& arena, const T& value) {
  return *std::construct_at(allocate<T>(arena, 1), value);
}

// A list that is built element by element and read as a span.
template <class T>
class ArenaList {
 public:
  // `expected` elements fit into the first allocation.
  ArenaList(Arena& arena, std::size_t expected) : arena_(&arena), expected_(expected) {}

  void push_back(const T& value) {
    if (size_ == capacity_) grow();
    std::construct_at(data_ + size_++, value);
  }

  std::size_t size() const { return size_; }
  operator std::span<const T>() const { return {data_, size_}; }  // NOLINT: that is what it is for

 private:
  void grow() {
    capacity_ = std::max({expected_, 2 * capacity_, std::size_t{1}});
    data_ = std::uninitialized_copy_n(data_, size_, allocate<T>(*arena_, capacity_)) - size_;
  }

  Arena* arena_;
  std::size_t expected_;
  T* data_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace ridgeline::onnx
