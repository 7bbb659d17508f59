// The loops of the memory kernels: 16-byte accesses, 512 contiguous bytes per warp and access.
// Every loaded word is combined into a sum: a word that nobody wants makes the assembler narrow its
// load, and a load that only the last trip needs is moved behind the loop.
#pragma once

#include "kernels/cuda/device/entry.cuh"

namespace ridgeline::cuda {

constexpr int warp_bytes = 512;  // of one access

struct alignas(16) Vector {
  std::uint32_t x, y, z, w;
};

enum class Cache { streaming, l2, l1 };

// Volatile, so that no load moves or merges.
template <Cache cache>
__device__ __forceinline__ Vector load_vector(const char* address) {
  Vector v;
  if (cache == Cache::streaming)
    asm volatile("ld.global.cs.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(address));
  else if (cache == Cache::l2)
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(address));
  else
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(address));
  return v;
}

__device__ __forceinline__ void store_vector(char* address, const Vector& v) {
  asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(address), "r"(v.x), "r"(v.y),
               "r"(v.z), "r"(v.w)
               : "memory");
}

__device__ __forceinline__ float as_float(std::uint32_t bits) { return __uint_as_float(bits); }

__device__ __forceinline__ Vector multiply_add(float scale, const Vector& a, const Vector& b) {
  return {__float_as_uint(__fmaf_rn(scale, as_float(a.x), as_float(b.x))),
          __float_as_uint(__fmaf_rn(scale, as_float(a.y), as_float(b.y))),
          __float_as_uint(__fmaf_rn(scale, as_float(a.z), as_float(b.z))),
          __float_as_uint(__fmaf_rn(scale, as_float(a.w), as_float(b.w)))};
}

// Where a thread starts: the place of its block, then of its warp, whose accesses lie together.
template <int accesses>
__device__ __forceinline__ char* place(const Arguments& arguments) {
  return static_cast<char*>(arguments.data) +
         (blockIdx.x * arguments.block_step) % arguments.window +
         std::uint64_t{threadIdx.x / 32} * (accesses * warp_bytes) + threadIdx.x % 32 * 16;
}

// Three inputs, one instruction.
__device__ __forceinline__ void combine(std::uint32_t& sum, std::uint32_t a, std::uint32_t b) {
  asm("lop3.b32 %0, %0, %1, %2, 0x96;" : "+r"(sum) : "r"(a), "r"(b));
}

// Words of different vectors are combined, in two rings. With words of the same vector, or of fixed
// pairs of vectors, ptxas issues five loads and then waits for one before each further one, to save
// registers. With rings it issues 15 of 16 first (ptxas 13.0, sm_75 to sm_120; 76 registers).
template <int count>
__device__ __forceinline__ void combine(std::uint32_t& sum, const Vector (&v)[count]) {
#pragma unroll
  for (int i = 0; i < count; ++i) combine(sum, v[i].x, v[(i + count / 2) % count].y);
#pragma unroll
  for (int i = 0; i < count; ++i) combine(sum, v[i].z, v[(i + 1) % count].w);
}

// Behind the stamps, a word for each thread: nobody reads it, which the compiler does not know.
__device__ __forceinline__ void keep(const Arguments& arguments, std::uint32_t sum) {
  auto* const sink = reinterpret_cast<std::uint32_t*>(arguments.stamps + gridDim.x);
  sink[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// `Trip` is called with a pointer for each trip.
template <class Trip>
__device__ __forceinline__ void walk(const Arguments& arguments, char* const first, Trip&& trip) {
  const std::uint64_t step = arguments.trip_step;
#pragma unroll 1
  for (std::uint32_t pass = arguments.passes; pass != 0; --pass) {
    char* at = first;
#pragma unroll 1
    for (std::uint32_t i = arguments.trips; i != 0; --i) {
      trip(at);
      at += step;
    }
  }
}

template <Cache cache, int loads>
__device__ __forceinline__ void run_read(const Arguments& arguments) {
  std::uint32_t sum = 0;
  const Begin begun = begin();
  walk(arguments, place<loads>(arguments), [&](const char* at) {
    Vector v[loads];
#pragma unroll
    for (int i = 0; i < loads; ++i) v[i] = load_vector<cache>(at + i * warp_bytes);
    combine(sum, v);
  });
  keep(arguments, sum);
  end(arguments, begun);
}

template <int stores>
__device__ __forceinline__ void run_write(const Arguments& arguments) {
  const std::uint32_t seed = arguments.zero + 0x3f800000u + threadIdx.x;
  const Vector value = {seed, seed + 0x1111u, seed + 0x2222u, seed + 0x3333u};
  const Begin begun = begin();
  walk(arguments, place<stores>(arguments), [&](char* at) {
#pragma unroll
    for (int i = 0; i < stores; ++i) store_vector(at + i * warp_bytes, value);
  });
  end(arguments, begun);
}

// first array ← second array
template <int accesses>
__device__ __forceinline__ void run_copy(const Arguments& arguments) {
  const std::uint64_t pitch = arguments.pitch;
  const Begin begun = begin();
  walk(arguments, place<accesses>(arguments), [&](char* at) {
    Vector v[accesses];
#pragma unroll
    for (int i = 0; i < accesses; ++i)
      v[i] = load_vector<Cache::streaming>(at + pitch + i * warp_bytes);
#pragma unroll
    for (int i = 0; i < accesses; ++i) store_vector(at + i * warp_bytes, v[i]);
  });
  end(arguments, begun);
}

// x ← x + scale · x; with the scale −2 the sign changes and nothing else
template <int accesses>
__device__ __forceinline__ void run_update(const Arguments& arguments) {
  const float scale = arguments.scale;
  const Begin begun = begin();
  walk(arguments, place<accesses>(arguments), [&](char* at) {
    Vector v[accesses];
#pragma unroll
    for (int i = 0; i < accesses; ++i) v[i] = load_vector<Cache::streaming>(at + i * warp_bytes);
#pragma unroll
    for (int i = 0; i < accesses; ++i)
      store_vector(at + i * warp_bytes, multiply_add(scale, v[i], v[i]));
  });
  end(arguments, begun);
}

// first array ← second + scale · third
template <int accesses>
__device__ __forceinline__ void run_triad(const Arguments& arguments) {
  const std::uint64_t pitch = arguments.pitch, pitch2 = 2 * arguments.pitch;
  const float scale = arguments.scale;
  const Begin begun = begin();
  walk(arguments, place<accesses>(arguments), [&](char* at) {
    Vector b[accesses], c[accesses];
#pragma unroll
    for (int i = 0; i < accesses; ++i) {
      b[i] = load_vector<Cache::streaming>(at + pitch + i * warp_bytes);
      c[i] = load_vector<Cache::streaming>(at + pitch2 + i * warp_bytes);
    }
#pragma unroll
    for (int i = 0; i < accesses; ++i)
      store_vector(at + i * warp_bytes, multiply_add(scale, c[i], b[i]));
  });
  end(arguments, begun);
}

// Sectors of 32 bytes at hashed places, two lanes each.
template <int loads>
__device__ __forceinline__ void run_random(const Arguments& arguments) {
  const char* const base = static_cast<const char*>(arguments.data) + threadIdx.x % 2 * 16;
  const auto sectors = static_cast<std::uint32_t>(arguments.window / 32);
  const std::uint32_t pair = (blockIdx.x * blockDim.x + threadIdx.x) / 2;
  std::uint32_t hash = pair * 2654435769u + arguments.zero;
  std::uint32_t sum = 0;
  const Begin begun = begin();
#pragma unroll 1
  for (std::uint32_t i = arguments.trips; i != 0; --i) {
    Vector v[loads];
#pragma unroll
    for (int j = 0; j < loads; ++j) {
      hash = hash * 1664525u + 1013904223u;
      const char* address;
      asm("mad.wide.u32 %0, %1, 32, %2;" : "=l"(address) : "r"(__umulhi(hash, sectors)), "l"(base));
      v[j] = load_vector<Cache::streaming>(address);
    }
    combine(sum, v);
  }
  keep(arguments, sum);
  end(arguments, begun);
}

// Each warp re-reads its part of 32 KiB; the place moves by a zero that no compiler knows.
template <int loads>
__device__ __forceinline__ void run_shared(const Arguments& arguments) {
  constexpr int bytes = 32 * 1024;
  __shared__ Vector memory[bytes / 16];
#pragma unroll 1
  for (std::uint32_t i = threadIdx.x; i < bytes / 16; i += blockDim.x)
    memory[i] = {i, i + 1, i + 2, i + 3};
  __syncthreads();
  const std::uint32_t warp = threadIdx.x / 32 * (loads * warp_bytes) % bytes;
  std::uint32_t at =
      static_cast<std::uint32_t>(__cvta_generic_to_shared(memory)) + warp + threadIdx.x % 32 * 16;
  std::uint32_t sum = 0;
  const Begin begun = begin();
#pragma unroll 1
  for (std::uint32_t i = arguments.trips; i != 0; --i) {
    Vector v[loads];
#pragma unroll
    for (int j = 0; j < loads; ++j)
      asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(v[j].x), "=r"(v[j].y), "=r"(v[j].z), "=r"(v[j].w)
                   : "r"(at + j * warp_bytes));
    combine(sum, v);
    at += arguments.zero;
  }
  keep(arguments, sum);
  end(arguments, begun);
}

// n steps of FP32 arithmetic per loaded element. The data lie in [−1.5, −1.25), which keeps every
// orbit of x ← x·x + element in [−1.5, 1].
template <int n, int loads>
__device__ __forceinline__ void run_steps(const Arguments& arguments) {
  using Machine = DeviceCore<FmaFp32>;
  float x[4 * loads];
#pragma unroll
  for (int i = 0; i < 4 * loads; ++i)
    x[i] = 0x1p-17f * static_cast<float>(1024 * i + 1 + threadIdx.x % 1024);
  const Begin begun = begin();
  walk(arguments, place<loads>(arguments), [&](const char* at) {
    Vector v[loads];
#pragma unroll
    for (int i = 0; i < loads; ++i) v[i] = load_vector<Cache::streaming>(at + i * warp_bytes);
#pragma unroll
    for (int i = 0; i < loads; ++i) {
      sweep_element<Machine, n>(x[4 * i], as_float(v[i].x));
      sweep_element<Machine, n>(x[4 * i + 1], as_float(v[i].y));
      sweep_element<Machine, n>(x[4 * i + 2], as_float(v[i].z));
      sweep_element<Machine, n>(x[4 * i + 3], as_float(v[i].w));
    }
  });
  std::uint32_t sum = 0;
#pragma unroll
  for (int i = 0; i < 4 * loads; i += 2)
    combine(sum, __float_as_uint(x[i]), __float_as_uint(x[i + 1]));
  keep(arguments, sum);
  end(arguments, begun);
}

// Without steps it is a read: what is loaded must be wanted.
template <int n, int loads>
__device__ __forceinline__ void run_sweep(const Arguments& arguments) {
  if constexpr (n == 0)
    run_read<Cache::streaming, loads>(arguments);
  else
    run_steps<n, loads>(arguments);
}

// Each load gives the address of the next one, the same for all lanes. The chain goes on where the
// last launch left it (chain.h).
template <Cache cache, int loads>
__device__ __forceinline__ void run_chase(const Arguments& arguments) {
  const char** const position = static_cast<const char**>(arguments.data) + 1;
  const char* at = *position;
  const Begin begun = begin();
#pragma unroll 1
  for (std::uint32_t i = arguments.trips; i != 0; --i) {
#pragma unroll
    for (int j = 0; j < loads; ++j)
      if (cache == Cache::l2)
        asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at));
      else
        asm volatile("ld.global.u64 %0, [%0];" : "+l"(at));
  }
  *position = at;
  end(arguments, begun);
}

}  // namespace ridgeline::cuda
