// Fills the state of each recurrence in the layout that the bodies read: constants, then chains.
// Standard library only: the cross-compiled check of the other architecture links it too.
#include "kernels/cpu/state.h"

#include <cstring>
#include <vector>

#include "base/random.h"
#include "kernels/cpu/small_floats.h"

namespace ridgeline::cpu {
namespace {

constexpr std::size_t tile_bytes = 1024;
constexpr std::size_t tile_config_bytes = 64;
constexpr int tiles = 8;

int integer(Random& random, int low, int high) {
  return low + int(random.below(std::size_t(high - low + 1)));
}

int nonzero(Random& random, int largest) {  // ±1 … ±largest
  const int magnitude = integer(random, 1, largest);
  return (random.next() & 1) != 0 ? magnitude : -magnitude;
}

class Writer {
 public:
  explicit Writer(void* data) : at_(static_cast<std::byte*>(data)) {}
  template <class T>
  void put(T value) {
    std::memcpy(at_, &value, sizeof value);
    at_ += sizeof value;
  }
  void put(DType dtype, double value) {
    if (dtype == DType::fp64) return put(value);
    if (dtype == DType::fp16) return put(to_fp16(value));
    put(float(value));
  }

 private:
  std::byte* at_;
};

int element_bytes(DType dtype) { return dtype == DType::fp64 ? 8 : dtype == DType::fp16 ? 2 : 4; }

void put_constant(const Kernel& kernel, Writer& out, double value) {
  for (int i = 0; i < kernel.access_bytes / element_bytes(kernel.dtype); ++i)
    out.put(kernel.dtype, value);
}

// One value from each of as many equal parts of [0.1, 1.15]: distinct in FP16 too,
// and so are their squares (x and −x would become one orbit after the first step).
void put_distinct(const Kernel& kernel, Writer& out, Random& random) {
  const int count = kernel.chains * kernel.access_bytes / element_bytes(kernel.dtype);
  for (int i = 0; i < count; ++i)
    out.put(kernel.dtype, 0.1 + 1.05 * (i + 0.3 + 0.4 * random.unit()) / count);
}

void put_random_bytes(Writer& out, Random& random, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) out.put(std::uint8_t(random.next()));
}

// BF16 operands and FP32 accumulators are small integers: sums are exact in any order, and a sum
// that grows stops at about 2²⁵ times its step, far from overflow.
void put_bf16_integers(Writer& out, Random& random, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes / 2; ++i) out.put(exact_bf16(float(nonzero(random, 4))));
}

void put_fp32_integers(Writer& out, std::size_t bytes) {
  const int count = int(bytes / 4), half = count / 2;
  for (int i = 0; i < count; ++i) out.put(float(i - half));
}

// B₁ = −B₀ but for one in every pair: were it all, the sums would come back after two steps and
// no test could see a missing trip.
void put_opposite_operands(Writer& out, Random& random, std::size_t bytes) {
  std::vector<int> first(bytes / 2);
  for (int& value : first) value = nonzero(random, 4);
  for (const int value : first) out.put(exact_bf16(float(value)));
  for (std::size_t i = 0; i < first.size(); ++i)
    out.put(exact_bf16(float(-first[i] + (i % 2 == 0 ? 0 : 1))));
}

void put_tiles(const Kernel& kernel, Writer& out, Random& random) {
  const bool integers = kernel.recurrence == Recurrence::tile_int8;
  out.put(std::uint8_t{1});  // palette 1: eight tiles of up to 16 rows of 64 bytes
  for (int i = 1; i < 16; ++i) out.put(std::uint8_t{0});
  for (int i = 0; i < 16; ++i) out.put(std::uint16_t(i < tiles ? 64 : 0));
  for (int i = 0; i < 16; ++i) out.put(std::uint8_t(i < tiles ? 16 : 0));
  for (int operand = 0; operand < 2; ++operand) {
    if (integers)
      put_random_bytes(out, random, tile_bytes);
    else
      put_bf16_integers(out, random, tile_bytes);
  }
  const std::size_t accumulators = std::size_t(kernel.chains) * tile_bytes;
  if (integers)
    put_random_bytes(out, random, accumulators);
  else
    put_fp32_integers(out, accumulators);
}

}  // namespace

std::size_t state_bytes(const Kernel& kernel) {
  const auto registers = [&](int constants) {
    return std::size_t(constants + kernel.chains) * std::size_t(kernel.access_bytes);
  };
  switch (kernel.recurrence) {
    case Recurrence::none:
      return kernel.role == Role::clock ? std::size_t(kernel.loads * kernel.access_bytes) : 0;
    case Recurrence::fma:
    case Recurrence::mul_add:
      return registers(1);
    case Recurrence::fma_accumulate:
      return registers(2);
    case Recurrence::dot_u8s8:
    case Recurrence::dot_s8s8:
    case Recurrence::dot_bf16:
      return registers(3);
    case Recurrence::tile_int8:
    case Recurrence::tile_bf16:
      return tile_config_bytes + tiles * tile_bytes;
  }
  return 0;
}

void prepare_state(const Kernel& kernel, void* data, std::uint64_t seed) {
  Writer out(data);
  Random random{seed};
  const auto register_bytes = std::size_t(kernel.access_bytes);
  const std::size_t chain_bytes = std::size_t(kernel.chains) * register_bytes;
  switch (kernel.recurrence) {
    case Recurrence::none:
      put_random_bytes(out, random, state_bytes(kernel));
      break;
    case Recurrence::fma:
    case Recurrence::mul_add:
      // x² + c is chaotic here; at −1.75 every orbit would end in the same cycle of three values.
      put_constant(kernel, out, -1.875);
      put_distinct(kernel, out, random);
      break;
    case Recurrence::fma_accumulate:
      // x + x² and then + a·b is y² + ¼ + a·b in y = x + ½: the orbits of the case above.
      put_constant(kernel, out, 1.375);
      put_constant(kernel, out, -1.5625);
      put_distinct(kernel, out, random);
      break;
    case Recurrence::dot_u8s8:
    case Recurrence::dot_s8s8:
      put_random_bytes(out, random, 3 * register_bytes + chain_bytes);
      break;
    case Recurrence::dot_bf16:
      put_bf16_integers(out, random, register_bytes);
      put_opposite_operands(out, random, register_bytes);
      put_fp32_integers(out, chain_bytes);
      break;
    case Recurrence::tile_int8:
    case Recurrence::tile_bf16:
      put_tiles(kernel, out, random);
      break;
  }
}

}  // namespace ridgeline::cpu
