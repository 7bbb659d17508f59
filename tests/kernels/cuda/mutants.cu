// Kernels that are wrong on purpose, each posing as an honest row.
// They are compiled and read, never run.
#include "kernels/cuda/device/memory.cuh"

namespace ridgeline::cuda {

RIDGELINE_MMA(MmaFp16, std::uint32_t,
              RIDGELINE_MMA_424("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"))

using Core = DeviceCore<FmaFp32>;

// All chains start from the same register, so a compiler may merge them.
RIDGELINE_GLOBAL identical_chains(Arguments arguments) {
  const Registers<float, 9> registers(arguments);
  float constants[1] = {registers[0]}, x[8];
  for (int i = 0; i < 8; ++i) x[i] = registers[1];
  const Begin begun = begin();
#pragma unroll 1
  for (std::uint32_t trip = arguments.trips; trip != 0; --trip)
    chain_trip<Core, 8, 64>(x, constants);
  for (int i = 0; i < 8; ++i) registers[1 + i] = x[i];
  end(arguments, begun);
}

// The result is never stored, so it is not computed.
RIDGELINE_GLOBAL missing_store(Arguments arguments) {
  const Registers<float, 9> registers(arguments);
  float constants[1] = {registers[0]}, x[8];
  for (int i = 0; i < 8; ++i) x[i] = registers[1 + i];
  const Begin begun = begin();
#pragma unroll 1
  for (std::uint32_t trip = arguments.trips; trip != 0; --trip)
    chain_trip<Core, 8, 64>(x, constants);
  end(arguments, begun);
}

// The same on tensor cores: the assembler ignores volatile.
RIDGELINE_GLOBAL missing_store_of_mma(Arguments arguments) {
  using Machine = DeviceMma<MmaFp16>;
  const Registers<std::uint32_t, 44> registers(arguments);
  Machine::Left a[2];
  Machine::Right b[2];
  Machine::Accumulator c[8];
  int next = 0;
  load(a, registers, next);
  load(b, registers, next);
  load(c, registers, next);
  const Begin begun = begin();
#pragma unroll 1
  for (std::uint32_t trip = arguments.trips; trip != 0; --trip)
    mma_trip<Machine, 8, 20>(c, a, b, 0);
  end(arguments, begun);
}

// A tile's products, whose operands stay in registers.
RIDGELINE_GLOBAL unfed_mma(Arguments arguments) { run_mma<MmaFp16, 32, 4>(arguments); }
RIDGELINE_GLOBAL honest_fed(Arguments arguments) { run_fed<MmaFp16, 4, 8, 4>(arguments); }

// The coefficient is known at compile time.
RIDGELINE_GLOBAL constant_coefficient(Arguments arguments) {
  const Registers<float, 9> registers(arguments);
  float constants[1] = {-1.875f}, x[8];
  for (int i = 0; i < 8; ++i) x[i] = registers[1 + i];
  const Begin begun = begin();
#pragma unroll 1
  for (std::uint32_t trip = arguments.trips; trip != 0; --trip)
    chain_trip<Core, 8, 64>(x, constants);
  for (int i = 0; i < 8; ++i) registers[1 + i] = x[i];
  end(arguments, begun);
}

// The chains feed one another: one long chain instead of eight.
RIDGELINE_GLOBAL crossed_chains(Arguments arguments) {
  const Registers<float, 9> registers(arguments);
  float constants[1] = {registers[0]}, x[8];
  for (int i = 0; i < 8; ++i) x[i] = registers[1 + i];
  const Begin begun = begin();
#pragma unroll 1
  for (std::uint32_t trip = arguments.trips; trip != 0; --trip) {
    chain_trip<Core, 8, 64>(x, constants);
    const float first = x[0];
    for (int i = 0; i < 7; ++i) x[i] = x[i + 1];
    x[7] = first;
  }
  for (int i = 0; i < 8; ++i) registers[1 + i] = x[i];
  end(arguments, begun);
}

// Only one word of each load is used, so it becomes a 4-byte load.
RIDGELINE_GLOBAL narrowed_loads(Arguments arguments) {
  std::uint32_t sum = 0;
  const Begin begun = begin();
  walk(arguments, place<16>(arguments), [&](const char* at) {
    for (int i = 0; i < 16; ++i) {
      const Vector v = load_vector<Cache::streaming>(at + i * warp_bytes);
      combine(sum, v.x, v.x);
    }
  });
  keep(arguments, sum);
  end(arguments, begun);
}

// The loaded values are only used after the loop, so the loads move there.
RIDGELINE_GLOBAL moved_loads(Arguments arguments) {
  Vector v[16] = {};
  const Begin begun = begin();
  walk(arguments, place<16>(arguments), [&](const char* at) {
    for (int i = 0; i < 16; ++i) v[i] = load_vector<Cache::streaming>(at + i * warp_bytes);
  });
  std::uint32_t sum = 0;
  combine(sum, v);
  keep(arguments, sum);
  end(arguments, begun);
}

// Words of the same vector are combined: the assembler waits for the first loads before it issues
// the last ones.
RIDGELINE_GLOBAL serial_loads(Arguments arguments) {
  std::uint32_t sum = 0;
  const Begin begun = begin();
  walk(arguments, place<16>(arguments), [&](const char* at) {
    Vector v[16];
    for (int i = 0; i < 16; ++i) v[i] = load_vector<Cache::streaming>(at + i * warp_bytes);
    for (int i = 0; i < 16; ++i) {
      combine(sum, v[i].x, v[i].y);
      combine(sum, v[i].z, v[i].w);
    }
  });
  keep(arguments, sum);
  end(arguments, begun);
}

// A short trip: the loop control takes too large a share.
RIDGELINE_GLOBAL short_trip(Arguments arguments) { run_chains<FmaFp32, 8, 2>(arguments); }

// A division calls its slow path.
RIDGELINE_GLOBAL call_in_loop(Arguments arguments) {
  const Registers<float, 9> registers(arguments);
  float constants[1] = {registers[0]}, x[8];
  for (int i = 0; i < 8; ++i) x[i] = registers[1 + i];
  const Begin begun = begin();
#pragma unroll 1
  for (std::uint32_t trip = arguments.trips; trip != 0; --trip) {
    chain_trip<Core, 8, 64>(x, constants);
    x[0] = constants[0] / x[0];
  }
  for (int i = 0; i < 8; ++i) registers[1 + i] = x[i];
  end(arguments, begun);
}

// Two chains side by side: the time of a load is that of two.
RIDGELINE_GLOBAL crossed_links(Arguments arguments) {
  auto** const positions = static_cast<const char**>(arguments.data);
  const char *at = positions[1], *other = positions[2];
  const Begin begun = begin();
#pragma unroll 1
  for (std::uint32_t i = arguments.trips; i != 0; --i)
#pragma unroll
    for (int j = 0; j < 32; ++j) {
      asm volatile("ld.global.u64 %0, [%0];" : "+l"(at));
      asm volatile("ld.global.u64 %0, [%0];" : "+l"(other));
    }
  positions[1] = at;
  positions[2] = other;
  end(arguments, begun);
}

// Honest twins, which the proof must accept.
RIDGELINE_GLOBAL honest_chains(Arguments arguments) { run_chains<FmaFp32, 8, 64>(arguments); }
RIDGELINE_GLOBAL honest_mma(Arguments arguments) { run_mma<MmaFp16, 8, 20>(arguments); }
RIDGELINE_GLOBAL honest_read(Arguments arguments) { run_read<Cache::streaming, 16>(arguments); }
RIDGELINE_GLOBAL honest_chase(Arguments arguments) { run_chase<Cache::l1, 64>(arguments); }

}  // namespace ridgeline::cuda
