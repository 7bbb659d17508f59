// NameMap: values by name, for names that live in the file. One stretch of memory, no node per
// entry: a model has thousands of names, and is read once. Entries are never taken out.
#pragma once

#include <bit>
#include <cstddef>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace ridgeline::onnx {

template <class T>
class NameMap {
 public:
  explicit NameMap(std::size_t expected = 0) { reserve(expected); }

  void reserve(std::size_t expected) {
    if (2 * expected > slots_.size()) rehash(std::bit_ceil(2 * expected));
  }

  const T* find(std::string_view name) const {
    if (slots_.empty()) return nullptr;
    const Slot& slot = slots_[place_of(name)];
    return slot.is_used ? &slot.value : nullptr;
  }

  // The value of this name, and whether it is new.
  std::pair<T*, bool> insert(std::string_view name, T value) {
    if (2 * (size_ + 1) > slots_.size()) rehash(std::bit_ceil(4 * (size_ + 1)));
    Slot& slot = slots_[place_of(name)];
    if (slot.is_used) return {&slot.value, false};
    slot = {name, std::move(value), true};
    ++size_;
    return {&slot.value, true};
  }

  void set(std::string_view name, T value) { *insert(name, value).first = value; }

 private:
  struct Slot {
    std::string_view name;
    T value{};
    bool is_used = false;
  };

  // Of the name, or of the free slot that it would go to; half of them are free.
  std::size_t place_of(std::string_view name) const {
    std::size_t place = std::hash<std::string_view>()(name);
    for (;; ++place) {
      const Slot& slot = slots_[place & (slots_.size() - 1)];
      if (!slot.is_used || slot.name == name) return place & (slots_.size() - 1);
    }
  }

  void rehash(std::size_t slots) {
    std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(slots));
    for (Slot& slot : before)
      if (slot.is_used) slots_[place_of(slot.name)] = std::move(slot);
  }

  std::vector<Slot> slots_;  // a power of two of them, or none
  std::size_t size_ = 0;
};

}  // namespace ridgeline::onnx
