// The order is that of a counter, scrambled by a function that maps the lines of a set one to one:
// every line then has one successor, and all of them form one cycle.
#include "kernels/cuda/chain.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

namespace ridgeline::cuda {
namespace {

constexpr std::uint64_t factor = 0x9e3779b97f4a7c15;  // odd

// x · inverse · factor = x modulo 2^64: each step of Newton's method doubles the bits that hold.
constexpr std::uint64_t inverse_of(std::uint64_t odd) {
  std::uint64_t inverse = odd;
  for (int i = 0; i < 6; ++i) inverse *= 2 - odd * inverse;
  return inverse;
}

int index_bits(std::uint64_t lines) { return std::countr_zero(lines); }

// The upper half of the bits goes into the lower one; doing it twice undoes it.
std::uint64_t folded(std::uint64_t x, int bits) { return x ^ (x >> ((bits + 1) / 2)); }

std::uint64_t scrambled(std::uint64_t x, std::uint64_t lines) {
  const int bits = index_bits(lines);
  const std::uint64_t mask = lines - 1;
  x = folded(x * factor & mask, bits);
  return folded(x * factor & mask, bits);
}

std::uint64_t unscrambled(std::uint64_t x, std::uint64_t lines) {
  constexpr std::uint64_t inverse = inverse_of(factor);
  const int bits = index_bits(lines);
  const std::uint64_t mask = lines - 1;
  x = folded(x, bits) * inverse & mask;
  return folded(x, bits) * inverse & mask;
}

struct Link {
  std::uint64_t next = 0, position = 0;  // addresses
};

}  // namespace

std::uint64_t Chain::place(std::uint64_t line) const {
  return line * stride + line * line_bytes % stride;
}

std::uint64_t Chain::next(std::uint64_t line) const {
  return scrambled((unscrambled(line, lines) + 1) & (lines - 1), lines);
}

void fill_chain(Gpu& gpu, const DeviceBuffer& data, const Chain& chain) {
  auto* const base = static_cast<std::byte*>(data.data());
  const auto address = reinterpret_cast<std::uint64_t>(base);
  const auto link = [&](std::uint64_t line) {
    return Link{address + chain.place(chain.next(line)), address};
  };
  if (chain.stride != Chain::line_bytes) {
    for (std::uint64_t line = 0; line < chain.lines; ++line) {
      const Link one = link(line);
      gpu.upload(base + chain.place(line), &one, sizeof one);
    }
    return;
  }
  constexpr std::uint64_t lines_at_once = 8192;
  std::vector<std::byte> chunk(std::min(lines_at_once, chain.lines) * Chain::line_bytes);
  for (std::uint64_t first = 0; first < chain.lines; first += lines_at_once) {
    for (std::uint64_t at = 0; at < chunk.size(); at += Chain::line_bytes) {
      const Link one = link(first + at / Chain::line_bytes);
      std::memcpy(chunk.data() + at, &one, sizeof one);
    }
    gpu.upload(base + first * Chain::line_bytes, chunk.data(), chunk.size());
  }
}

std::uint64_t chain_position(Gpu& gpu, const DeviceBuffer& data) {
  Link first;
  gpu.download(&first, data.data(), sizeof first);
  return first.position - reinterpret_cast<std::uint64_t>(data.data());
}

}  // namespace ridgeline::cuda
