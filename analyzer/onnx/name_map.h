// NameMap: values by name, for names that live in the file. Two flat arrays instead of a node per
// entry, since a model has thousands of names and is read once. Entries cannot be removed.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace ridgeline::onnx {

// Eight bytes at a time: names are long, and each is looked up about ten times. The last eight may
// overlap those before.
inline std::size_t hash_of(std::string_view name) {
  constexpr std::uint64_t factor = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio, odd
  constexpr std::size_t step = sizeof(std::uint64_t);
  const auto mixed = [](std::uint64_t hash, std::uint64_t word) {
    hash = (hash ^ word) * factor;
    return hash ^ hash >> 32;
  };
  const auto word_at = [&](std::size_t place) {
    std::uint64_t word = 0;
    std::memcpy(&word, name.data() + place, step);
    return word;
  };
  std::uint64_t hash = name.size();
  if (name.size() < step) {
    std::uint64_t word = 0;
    for (const char letter : name) word = word << 8 | static_cast<unsigned char>(letter);
    return mixed(hash, word);
  }
  for (std::size_t place = 0; place + step < name.size(); place += step)
    hash = mixed(hash, word_at(place));
  return mixed(hash, word_at(name.size() - step));
}

template <class T>
class NameMap {
 public:
  explicit NameMap(std::size_t expected = 0) { reserve(expected); }

  void reserve(std::size_t expected) {
    entries_.reserve(expected);
    if (2 * expected > places_.size()) rehash(std::bit_ceil(2 * expected));
  }

  const T* find(std::string_view name) const {
    if (places_.empty()) return nullptr;
    const std::uint32_t place = places_[place_of(name)];
    return place != free ? &entries_[place].second : nullptr;
  }

  // The value, valid until the next insertion, and whether it is new.
  std::pair<T*, bool> insert(std::string_view name, T value) {
    if (2 * (entries_.size() + 1) > places_.size())
      rehash(std::bit_ceil(4 * (entries_.size() + 1)));
    std::uint32_t& place = places_[place_of(name)];
    if (place != free) return {&entries_[place].second, false};
    place = static_cast<std::uint32_t>(entries_.size());
    return {&entries_.emplace_back(name, std::move(value)).second, true};
  }

  void set(std::string_view name, T value) { *insert(name, value).first = value; }

 private:
  static constexpr std::uint32_t free = ~std::uint32_t{0};

  // Slot of the name, or the free slot where it belongs; half of the slots are free.
  std::size_t place_of(std::string_view name) const {
    std::size_t at = hash_of(name);
    for (;; ++at) {
      at &= places_.size() - 1;
      if (places_[at] == free || entries_[places_[at]].first == name) return at;
    }
  }

  void rehash(std::size_t places) {
    places_.assign(places, free);
    for (std::size_t i = 0; i < entries_.size(); ++i)
      places_[place_of(entries_[i].first)] = static_cast<std::uint32_t>(i);
  }

  std::vector<std::pair<std::string_view, T>> entries_;  // in insertion order
  std::vector<std::uint32_t> places_;  // indices into entries_; the size is zero or a power of two
};

}  // namespace ridgeline::onnx
