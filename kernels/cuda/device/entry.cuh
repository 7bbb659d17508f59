// From the arguments of a launch to a body's registers and back, and the loops around the bodies.
// Each kernel is a C function of its row's name, so that profilers and disassemblers show it.
#pragma once

#include "kernels/cuda/arguments.h"
#include "kernels/cuda/bodies.h"
#include "kernels/cuda/device/machine.cuh"
#include "kernels/cuda/function.h"

namespace ridgeline::cuda {

__device__ __forceinline__ std::uint64_t cycles() {
  std::uint64_t value;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(value)::"memory");
  return value;
}

__device__ __forceinline__ std::uint64_t nanoseconds() {
  std::uint64_t value;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(value)::"memory");
  return value;
}

struct Begin {
  std::uint64_t begin_cycles, begin_ns;
};

__device__ __forceinline__ Begin begin() { return {cycles(), nanoseconds()}; }

__device__ __forceinline__ void end(const Arguments& arguments, const Begin& begun) {
  const std::uint64_t end_cycles = cycles(), end_ns = nanoseconds();
  if (threadIdx.x != 0) return;
  std::uint32_t multiprocessor;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
  arguments.stamps[blockIdx.x] = {begun.begin_cycles, end_cycles, begun.begin_ns, end_ns,
                                  multiprocessor,     0};
}

// Registers of a warp lie together, lane by lane within a register: a warp loads whole lines, and
// one pointer with known offsets reaches all of them.
template <class Word, int count>
struct Registers {
  Word* base;
  __device__ __forceinline__ explicit Registers(const Arguments& arguments) {
    const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    base = static_cast<Word*>(arguments.data) + std::uint64_t{thread / 32} * (32 * count) +
           thread % 32;
  }
  __device__ __forceinline__ Word& operator[](int index) const { return base[32 * index]; }
};

template <class Arithmetic, int chains, int rounds>
__device__ __forceinline__ void run_chains(const Arguments& arguments) {
  using Machine = DeviceCore<Arithmetic>;
  const Registers<typename Machine::Register, Machine::constants + chains> registers(arguments);
  typename Machine::Register constants[Machine::constants], x[chains];
#pragma unroll
  for (int i = 0; i < Machine::constants; ++i) constants[i] = registers[i];
#pragma unroll
  for (int i = 0; i < chains; ++i) x[i] = registers[Machine::constants + i];
  const Begin begun = begin();
#pragma unroll 1
  for (std::uint32_t trip = arguments.trips; trip != 0; --trip)
    chain_trip<Machine, chains, rounds>(x, constants);
#pragma unroll
  for (int i = 0; i < chains; ++i) registers[Machine::constants + i] = x[i];
  end(arguments, begun);
}

template <class Part, int count, class Registers>
__device__ __forceinline__ void load(Part (&parts)[count], const Registers& registers, int& next) {
#pragma unroll
  for (int i = 0; i < count; ++i)
#pragma unroll
    for (auto& word : parts[i].words) word = registers[next++];
}

template <class Arithmetic, int chains, int rounds>
__device__ __forceinline__ void run_mma(const Arguments& arguments) {
  using Machine = DeviceMma<Arithmetic>;
  constexpr int words =
      (Arithmetic::sparse ? 1 : 0) + 2 * Arithmetic::a + 2 * Arithmetic::b + chains * Arithmetic::c;
  const Registers<typename Machine::Register, words> registers(arguments);
  typename Machine::Left a[2];
  typename Machine::Right b[2];
  typename Machine::Accumulator c[chains];
  int next = 0;
  std::uint32_t metadata = 0;
  if (Arithmetic::sparse) metadata = static_cast<std::uint32_t>(registers[next++]);
  load(a, registers, next);
  load(b, registers, next);
  const int first = next;
  load(c, registers, next);
  const Begin begun = begin();
#pragma unroll 1
  for (std::uint32_t trip = arguments.trips; trip != 0; --trip)
    mma_trip<Machine, chains, rounds>(c, a, b, metadata);
  next = first;
#pragma unroll
  for (int i = 0; i < chains; ++i)
#pragma unroll
    for (const auto& word : c[i].words) registers[next++] = word;
  end(arguments, begun);
}

// Four registers of a warp, as they lie in shared memory: lane after lane within a register.
__device__ __forceinline__ void load_matrices(std::uint32_t (&words)[4], std::uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(address)
               : "memory");
}

// Products of a whole tile, whose operands come from shared memory in each step, as in a matrix
// product: one operand of each row with one of each column. The next step's operands are loaded
// beside the products of this one. Each step of a trip has operands of its own, which the block's
// warps share: equal loads would be merged.
template <class Arithmetic, int rows, int columns, int rounds>
__device__ __forceinline__ void run_fed(const Arguments& arguments) {
  using Machine = DeviceMma<Arithmetic>;
  constexpr int step_words = rows * Arithmetic::a + columns * Arithmetic::b;
  constexpr int step_bytes = step_words * 128;
  static_assert(step_words % 4 == 0 && rounds % 2 == 0, "whole loads, and two sets of registers");
  __shared__ alignas(16) std::uint32_t shared[rounds * step_words * 32];
  const Registers<std::uint32_t, rounds * step_words + rows * columns * Arithmetic::c> registers(
      arguments);
  if (threadIdx.x < 32)
#pragma unroll 1
    for (int i = 0; i < rounds * step_words; ++i) shared[32 * i + threadIdx.x] = registers[i];
  __syncthreads();
  typename Machine::Accumulator c[rows * columns];
  int next = rounds * step_words;
  load(c, registers, next);
  // Each lane has the place of one row of eight times eight halves.
  std::uint32_t at =
      static_cast<std::uint32_t>(__cvta_generic_to_shared(shared)) + threadIdx.x % 32 * 16;
  std::uint32_t words[2][step_words];
  const auto fetch = [&](int step, std::uint32_t(&into)[step_words]) {
#pragma unroll
    for (int i = 0; i < step_words; i += 4) {
      std::uint32_t four[4];
      load_matrices(four, at + std::uint32_t(step * step_bytes + i * 128));
#pragma unroll
      for (int k = 0; k < 4; ++k) into[i + k] = four[k];
    }
  };
  const Begin begun = begin();
  fetch(0, words[0]);
#pragma unroll 1
  for (std::uint32_t trip = arguments.trips; trip != 0; --trip) {
#pragma unroll
    for (int round = 0; round < rounds; ++round) {
      fetch((round + 1) % rounds, words[(round + 1) % 2]);
#pragma unroll
      for (int row = 0; row < rows; ++row)
#pragma unroll
        for (int column = 0; column < columns; ++column) {
          typename Machine::Left a;
          typename Machine::Right b;
#pragma unroll
          for (int i = 0; i < Arithmetic::a; ++i)
            a.words[i] = words[round % 2][row * Arithmetic::a + i];
#pragma unroll
          for (int i = 0; i < Arithmetic::b; ++i)
            b.words[i] = words[round % 2][rows * Arithmetic::a + column * Arithmetic::b + i];
          Machine::step(c[row * columns + column], a, b, 0);
        }
    }
    at += arguments.zero;
  }
  next = rounds * step_words;
#pragma unroll
  for (auto& sum : c)
#pragma unroll
    for (const auto& word : sum.words) registers[next++] = word;
  end(arguments, begun);
}

}  // namespace ridgeline::cuda

#define RIDGELINE_GLOBAL extern "C" __global__ void
