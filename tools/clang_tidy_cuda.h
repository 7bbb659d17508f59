// Words of CUDA for clang-tidy, which reads the .cu files as clang's own CUDA and without a
// toolkit: clang 14 knows the headers of none that is newer than 11.5. Not part of any build.
#pragma once

#include <cstdlib>

#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};
struct float4 {
  float x, y, z, w;
};
struct uint4 {
  unsigned x, y, z, w;
};
extern const __device__ dim3 threadIdx, blockIdx, blockDim, gridDim;
__device__ void __syncthreads();
__device__ float __uint_as_float(unsigned bits);
__device__ unsigned __float_as_uint(float value);
__device__ unsigned __umulhi(unsigned a, unsigned b);
__device__ float __fmaf_rn(float a, float b, float c);
__device__ std::size_t __cvta_generic_to_shared(const void* address);
