// Each recurrence in plain C++, one lane after the other, rounded exactly as the machine rounds.
// Standard library only: the cross-compiled check of the other architecture links it too.
#include "tests/kernels/reference.h"

#include <cmath>
#include <cstring>

#include "kernels/cpu/small_floats.h"

namespace ridgeline::cpu {
namespace {

// An element of the state that lies at any address.
template <class T>
T get(const std::byte* at, int index) {
  T value;
  std::memcpy(&value, at + std::size_t(index) * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void put(std::byte* at, int index, T value) {
  std::memcpy(at + std::size_t(index) * sizeof(T), &value, sizeof(T));
}

// FP16 as it lies in memory.
struct Half {
  std::uint16_t bits;
};

float fused(float a, float b, float c) { return std::fma(a, b, c); }
double fused(double a, double b, double c) { return std::fma(a, b, c); }
// Below 32 a product of halves and its sum with a half have at most 53 bits: one rounding, ours.
Half fused(Half a, Half b, Half c) {
  return {to_fp16(from_fp16(a.bits) * from_fp16(b.bits) + from_fp16(c.bits))};
}

// The store to a volatile keeps a compiler from fusing what the machine rounds twice.
template <class T>
T multiplied_and_added(T a, T b, T c) {
  volatile T product = a * b;
  return product + c;
}
Half multiplied_and_added(Half a, Half b, Half c) {
  const Half product{to_fp16(from_fp16(a.bits) * from_fp16(b.bits))};
  return {to_fp16(from_fp16(product.bits) + from_fp16(c.bits))};
}

// Steps of each chain in one trip.
int rounds(const Kernel& kernel) {
  const int instructions_per_step = kernel.recurrence == Recurrence::mul_add ? 2 : 1;
  return kernel.chains == 0 ? 0 : kernel.arithmetic / kernel.chains / instructions_per_step;
}

template <class T>
void floating_point_trip(const Kernel& kernel, std::byte* state) {
  const int lanes = kernel.access_bytes / int(sizeof(T));
  const int active = kernel.unit == Unit::scalar ? 1 : lanes;
  const int constants = kernel.recurrence == Recurrence::fma_accumulate ? 2 : 1;
  for (int chain = 0; chain < kernel.chains; ++chain)
    for (int lane = 0; lane < active; ++lane) {
      const int index = (constants + chain) * lanes + lane;
      const T first = get<T>(state, lane);
      T x = get<T>(state, index);
      for (int round = 0; round < rounds(kernel); ++round) {
        if (kernel.recurrence == Recurrence::mul_add)
          x = multiplied_and_added(x, x, first);
        else if (kernel.recurrence == Recurrence::fma)
          x = fused(x, x, first);
        else if (round % 2 == 0)
          x = fused(x, x, x);
        else
          x = fused(first, get<T>(state, lanes + lane), x);
      }
      put(state, index, x);
    }
}

// Wraps around, as the machine does.
std::int32_t wrapping_add(std::int32_t a, std::int32_t b) {
  return std::int32_t(std::uint32_t(a) + std::uint32_t(b));
}

// A and B are the operand registers, x the accumulator of one 32-bit lane.
std::int32_t dot_int8(bool a_is_signed, const std::byte* a, const std::byte* b, int lane,
                      std::int32_t x) {
  for (int i = 4 * lane; i < 4 * lane + 4; ++i) {
    const int left = a_is_signed ? int{get<std::int8_t>(a, i)} : int{get<std::uint8_t>(a, i)};
    x = wrapping_add(x, left * get<std::int8_t>(b, i));
  }
  return x;
}

// The operands are small integers, so that every order of summation gives the same bits.
float dot_bf16(const std::byte* a, const std::byte* b, int lane, float x) {
  for (int i = 2 * lane; i < 2 * lane + 2; ++i)
    x += from_bf16(get<std::uint16_t>(a, i)) * from_bf16(get<std::uint16_t>(b, i));
  return x;
}

void dot_trip(const Kernel& kernel, std::byte* state) {
  const int width = kernel.access_bytes;
  for (int round = 0; round < rounds(kernel); ++round) {
    const std::byte* const b = state + width * (1 + round % 2);
    for (int i = 0; i < kernel.chains * width / 4; ++i) {
      std::byte* const chains = state + 3 * width;
      const int lane = i % (width / 4);
      if (kernel.recurrence == Recurrence::dot_bf16)
        put(chains, i, dot_bf16(state, b, lane, get<float>(chains, i)));
      else
        put(chains, i,
            dot_int8(kernel.recurrence == Recurrence::dot_s8s8, state, b, lane,
                     get<std::int32_t>(chains, i)));
    }
  }
}

// B lies as the unit wants it: row k holds, for each column, the elements of k that belong
// together, so each step is a dot product of 32-bit groups.
void tile_trip(const Kernel& kernel, std::byte* state) {
  constexpr int side = 16, row_bytes = 64, tile_bytes = side * row_bytes;
  const std::byte* const a = state + 64;  // behind the tile configuration
  const std::byte* const b = a + tile_bytes;
  for (int tile = 0; tile < kernel.chains; ++tile) {
    std::byte* const c = state + 64 + tile_bytes * (2 + tile);
    for (int round = 0; round < rounds(kernel); ++round)
      for (int m = 0; m < side; ++m)
        for (int n = 0; n < side; ++n)
          for (int k = 0; k < side; ++k) {
            const std::byte* const left = a + row_bytes * m + 4 * k;
            const std::byte* const right = b + row_bytes * k + 4 * n;
            const int at = side * m + n;
            if (kernel.recurrence == Recurrence::tile_bf16)
              put(c, at, dot_bf16(left, right, 0, get<float>(c, at)));
            else
              put(c, at, dot_int8(true, left, right, 0, get<std::int32_t>(c, at)));
          }
  }
}

void trip(const Kernel& kernel, std::byte* state) {
  switch (kernel.recurrence) {
    case Recurrence::none:
      return;
    case Recurrence::fma:
    case Recurrence::mul_add:
    case Recurrence::fma_accumulate:
      if (kernel.dtype == DType::fp64) return floating_point_trip<double>(kernel, state);
      if (kernel.dtype == DType::fp16) return floating_point_trip<Half>(kernel, state);
      return floating_point_trip<float>(kernel, state);
    case Recurrence::dot_u8s8:
    case Recurrence::dot_s8s8:
    case Recurrence::dot_bf16:
      return dot_trip(kernel, state);
    case Recurrence::tile_int8:
    case Recurrence::tile_bf16:
      return tile_trip(kernel, state);
  }
}

}  // namespace

void run_reference(const Kernel& kernel, std::uint64_t repeats, void* state) {
  for (; repeats > 0; --repeats) trip(kernel, static_cast<std::byte*>(state));
}

}  // namespace ridgeline::cpu
