// The bodies of the compute kernels' loops, as templates over the machine that does the arithmetic:
// a device (device/machine.cuh) and a host (host_machine.h) take the very same steps. C++17.
#pragma once

#if defined(__CUDACC__)
#define RIDGELINE_ANYWHERE __host__ __device__ __forceinline__
#else
#define RIDGELINE_ANYWHERE inline
#endif
#if defined(__CUDA_ARCH__)
#define RIDGELINE_UNROLL _Pragma("unroll")
#else
#define RIDGELINE_UNROLL
#endif

namespace ridgeline::cuda {

// One trip of a kernel on CUDA cores: each chain takes `rounds` steps, the chains in turn.
template <class Machine, int chains, int rounds>
RIDGELINE_ANYWHERE void chain_trip(
    typename Machine::Register (&x)[chains],
    const typename Machine::Register (&constants)[Machine::constants]) {
  RIDGELINE_UNROLL
  for (int round = 0; round < rounds; ++round) {
    RIDGELINE_UNROLL
    for (int chain = 0; chain < chains; ++chain) Machine::step(x[chain], constants);
  }
}

// One trip of a kernel on tensor cores: two pairs of operands take turns.
template <class Machine, int chains, int rounds>
RIDGELINE_ANYWHERE void mma_trip(typename Machine::Accumulator (&c)[chains],
                                 const typename Machine::Left (&a)[2],
                                 const typename Machine::Right (&b)[2],
                                 const typename Machine::Metadata& metadata) {
  RIDGELINE_UNROLL
  for (int round = 0; round < rounds; ++round) {
    RIDGELINE_UNROLL
    for (int chain = 0; chain < chains; ++chain)
      Machine::step(c[chain], a[round % 2], b[round % 2], metadata);
  }
}

// One element of the intensity sweep: n steps with the loaded value as constant.
template <class Machine, int n>
RIDGELINE_ANYWHERE void sweep_element(typename Machine::Register& x,
                                      const typename Machine::Register& loaded) {
  const typename Machine::Register constants[1] = {loaded};
  RIDGELINE_UNROLL
  for (int i = 0; i < n; ++i) Machine::step(x, constants);
}

}  // namespace ridgeline::cuda
