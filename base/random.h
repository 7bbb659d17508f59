// Random numbers that are the same on every platform (splitmix64).
// For orders, fillings and start values that can be repeated; not for secrets. Standard library
// only: the kernels use it where nothing else is linked.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ridgeline {

struct Random {
  std::uint64_t state = 42;

  std::uint64_t next() {
    std::uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(next() % limit); }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }  // [0, 1)
};

}  // namespace ridgeline
