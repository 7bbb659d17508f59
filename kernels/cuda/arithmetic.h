// The arithmetic of the compute kernels: one struct each says what one instruction does and costs.
// How a device does it is in device/, how a host does the same in host_machine.h. C++17.
#pragma once

#include "base/tokens.h"

namespace ridgeline::cuda {

// --- CUDA cores: one register per chain; the constants are registers too ------------------------
// x ← x·x + c for floating point, which stays bounded and chaotic (reference.cpp has the c).
// Modulo 2³² that map would draw all chains together, so that integers take x ← x·a + c, and
// packed bytes x ← x + Σ₄ x·b.

struct FmaFp64 {
  static constexpr DType dtype = DType::fp64, accumulate = DType::fp64;
  static constexpr int flop = 2, register_bytes = 8;
  static constexpr const char* opcodes = "DFMA";
  static constexpr const char* ptx = "fma.rn.f64";
};
struct FmaFp32 {
  static constexpr DType dtype = DType::fp32, accumulate = DType::fp32;
  static constexpr int flop = 2, register_bytes = 4;
  static constexpr const char* opcodes = "FFMA";
  static constexpr const char* ptx = "fma.rn.f32";
};
struct FmaFp16x2 {
  static constexpr DType dtype = DType::fp16, accumulate = DType::fp16;
  static constexpr int flop = 4, register_bytes = 4;
  static constexpr const char* opcodes = "HFMA2|HFMA2.MMA";  // one pipe or two, by architecture
  static constexpr const char* ptx = "fma.rn.f16x2";
};
struct FmaBf16x2 {
  static constexpr DType dtype = DType::bf16, accumulate = DType::bf16;
  static constexpr int flop = 4, register_bytes = 4;
  static constexpr const char* opcodes = "HFMA2|HFMA2.MMA";
  static constexpr const char* ptx = "fma.rn.bf16x2";
};
struct MadInt32 {
  static constexpr DType dtype = DType::int32, accumulate = DType::int32;
  static constexpr int flop = 2, register_bytes = 4;
  static constexpr const char* opcodes = "IMAD";
  static constexpr const char* ptx = "mad.lo.s32";
};
struct Dp4aInt8 {
  static constexpr DType dtype = DType::int8, accumulate = DType::int32;
  static constexpr int flop = 8, register_bytes = 4;
  static constexpr const char* opcodes = "IDP";
  static constexpr const char* ptx = "dp4a.s32.s32";
};

// --- Tensor cores: C ← A·B + C by one warp -------------------------------------------------------

// Registers are of 32 bits, but of 64 for FP64. A sparse A holds half of its K columns; `k` counts
// all of them, so that FLOP are those of the dense product.
template <DType type, DType sum, int rows, int columns, int inner, int a_registers, int b_registers,
          int c_registers, bool is_sparse = false>
struct Mma {
  static constexpr DType dtype = type, accumulate = sum;
  static constexpr int m = rows, n = columns, k = inner;
  static constexpr int a = a_registers, b = b_registers, c = c_registers;
  static constexpr bool sparse = is_sparse;
  static constexpr int flop = 2 * rows * columns * inner;  // of the warp
  static constexpr int register_bytes = type == DType::fp64 ? 8 : 4;
  static constexpr int split = 1;        // machine instructions that one of PTX becomes
  static constexpr bool opaque = false;  // results do not depend on the layout of operands
  static constexpr int warps = 1;        // that take one step together
  static constexpr int allocated = 0;    // columns of tensor memory that a block has
  // At least, between two of them: FP64 at the rate of GH100, the fastest; others may take one.
  static constexpr int cycles = type == DType::fp64 ? 8 : 1;
  // Architectures from sm_90 to sm_119 make FP8 out of FP16, but for wgmma and tcgen05.
  static constexpr int emulated_first = type == DType::fp8 ? 90 : 0;
  static constexpr int emulated_last = type == DType::fp8 ? 119 : 0;
};

struct MmaFp16 : Mma<DType::fp16, DType::fp32, 16, 8, 16, 4, 2, 4> {
  static constexpr const char* opcodes = "HMMA";
  static constexpr const char* ptx = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";
};
struct MmaFp16Fp16 : Mma<DType::fp16, DType::fp16, 16, 8, 16, 4, 2, 2> {
  static constexpr const char* opcodes = "HMMA";
  static constexpr const char* ptx = "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16";
};
struct MmaFp16K8 : Mma<DType::fp16, DType::fp32, 16, 8, 8, 2, 1, 4> {
  static constexpr const char* opcodes = "HMMA";
  static constexpr const char* ptx = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32";
};
struct MmaFp16Fp16K8 : Mma<DType::fp16, DType::fp16, 16, 8, 8, 2, 1, 2> {
  static constexpr const char* opcodes = "HMMA";
  static constexpr const char* ptx = "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16";
};
// sm_72: each quarter of a warp multiplies matrices of its own.
struct MmaFp16K4 : Mma<DType::fp16, DType::fp32, 8, 8, 4, 2, 2, 8> {
  static constexpr int flop = 4 * Mma::flop, split = 4;
  static constexpr const char* opcodes = "HMMA.884";
  static constexpr const char* ptx = "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32";
};
struct MmaFp16Fp16K4 : Mma<DType::fp16, DType::fp16, 8, 8, 4, 2, 2, 4> {
  static constexpr int flop = 4 * Mma::flop, split = 2;
  static constexpr const char* opcodes = "HMMA.884";
  static constexpr const char* ptx = "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16";
};
// The only way to INT8 on tensor cores of sm_72.
struct WmmaInt8 : Mma<DType::int8, DType::int32, 16, 16, 16, 2, 2, 8> {
  static constexpr int split = 4;
  static constexpr bool opaque = true;
  static constexpr const char* opcodes = "IMMA";
  static constexpr const char* ptx = "wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32";
};
struct MmaBf16 : Mma<DType::bf16, DType::fp32, 16, 8, 16, 4, 2, 4> {
  static constexpr const char* opcodes = "HMMA";
  static constexpr const char* ptx = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32";
};
struct MmaTf32 : Mma<DType::tf32, DType::fp32, 16, 8, 8, 4, 2, 4> {
  static constexpr const char* opcodes = "HMMA";
  static constexpr const char* ptx = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32";
};
struct MmaFp64 : Mma<DType::fp64, DType::fp64, 8, 8, 4, 1, 1, 2> {
  static constexpr const char* opcodes = "DMMA";
  static constexpr const char* ptx = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64";
};
// sm_90 has a shape that is twice as fast; newer architectures split it into eight of the above.
struct MmaFp64K16 : Mma<DType::fp64, DType::fp64, 16, 8, 16, 8, 4, 4> {
  static constexpr int cycles = 64;
  static constexpr const char* opcodes = "DMMA";
  static constexpr const char* ptx = "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64";
};
struct MmaInt8 : Mma<DType::int8, DType::int32, 16, 8, 32, 4, 2, 4> {
  static constexpr const char* opcodes = "IMMA";
  static constexpr const char* ptx = "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32";
};
struct MmaInt8K16 : Mma<DType::int8, DType::int32, 8, 8, 16, 1, 1, 2> {
  static constexpr const char* opcodes = "IMMA";
  static constexpr const char* ptx = "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32";
};
struct MmaInt4 : Mma<DType::int4, DType::int32, 16, 8, 64, 4, 2, 4> {
  static constexpr const char* opcodes = "IMMA";
  static constexpr const char* ptx = "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32";
};
struct MmaInt4K32 : Mma<DType::int4, DType::int32, 8, 8, 32, 1, 1, 2> {
  static constexpr const char* opcodes = "IMMA";
  static constexpr const char* ptx = "mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32";
};
struct MmaFp8 : Mma<DType::fp8, DType::fp32, 16, 8, 32, 4, 2, 4> {
  static constexpr const char* opcodes = "QMMA";
  static constexpr const char* ptx = "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32";
};
struct MmaFp8Fp16 : Mma<DType::fp8, DType::fp16, 16, 8, 32, 4, 2, 2> {
  static constexpr const char* opcodes = "QMMA";
  static constexpr const char* ptx = "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16";
};
// Floats with a scale for each block of them, here ones, four in a register: of 32 floats with an
// exponent for scale (OCP Microscaling, MXFP8 and MXFP4), or of 16 with a float (NVFP4).
constexpr unsigned mx_ones = 0x7f7f7f7f;  // UE8M0: the exponent with a bias of 127
constexpr unsigned nv_ones = 0x38383838;  // UE4M3: a float without sign, with a bias of 7
struct MmaMxFp8 : Mma<DType::fp8, DType::fp32, 16, 8, 32, 4, 2, 4> {
  static constexpr const char* opcodes = "QMMA";
  static constexpr const char* ptx =
      "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3."
      "f32.ue8m0";
};
struct MmaMxFp4 : Mma<DType::fp4, DType::fp32, 16, 8, 64, 4, 2, 4> {
  static constexpr const char* opcodes = "OMMA";
  static constexpr const char* ptx =
      "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32."
      "ue8m0";
};
struct MmaNvFp4 : Mma<DType::fp4, DType::fp32, 16, 8, 64, 4, 2, 4> {
  static constexpr const char* opcodes = "OMMA";
  static constexpr const char* ptx =
      "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1."
      "f32.ue4m3";
};
struct SparseFp16 : Mma<DType::fp16, DType::fp32, 16, 8, 32, 4, 4, 4, true> {
  static constexpr const char* opcodes = "HMMA";
  static constexpr const char* ptx = "m16n8k32.row.col.f32.f16.f16.f32";
};
struct SparseBf16 : Mma<DType::bf16, DType::fp32, 16, 8, 32, 4, 4, 4, true> {
  static constexpr const char* opcodes = "HMMA";
  static constexpr const char* ptx = "m16n8k32.row.col.f32.bf16.bf16.f32";
};
struct SparseTf32 : Mma<DType::tf32, DType::fp32, 16, 8, 16, 4, 4, 4, true> {
  static constexpr const char* opcodes = "HMMA";
  static constexpr const char* ptx = "m16n8k16.row.col.f32.tf32.tf32.f32";
};
struct SparseInt8 : Mma<DType::int8, DType::int32, 16, 8, 64, 4, 4, 4, true> {
  static constexpr const char* opcodes = "IMMA";
  static constexpr const char* ptx = "m16n8k64.row.col.s32.s8.s8.s32";
};
struct SparseFp8 : Mma<DType::fp8, DType::fp32, 16, 8, 64, 4, 4, 4, true> {
  static constexpr const char* opcodes = "QMMA";
  static constexpr const char* ptx = "m16n8k64.row.col.f32.e4m3.e4m3.f32";
};

// --- wgmma (sm_90a): four warps together, operands in shared memory -----------------------------

// A tile is 64 × 128, of which each warp holds a quarter of the rows; `flop` is that of one warp.
// At the full rate of GH100 a step takes 64 cycles, whatever the type.
template <DType type, DType sum, int inner>
struct Wgmma : Mma<type, sum, 64, 128, inner, 1, 1, sum == DType::fp16 ? 32 : 64> {
  static constexpr int warps = 4;
  static constexpr int flop = 2 * 64 * 128 * inner / warps;
  static constexpr int cycles = 64;
  static constexpr bool opaque = true;
  static constexpr int emulated_first = 0, emulated_last = 0;
};

struct WgmmaFp16 : Wgmma<DType::fp16, DType::fp32, 16> {
  static constexpr const char* opcodes = "HGMMA";
  static constexpr const char* ptx = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16";
};
struct WgmmaFp16Fp16 : Wgmma<DType::fp16, DType::fp16, 16> {
  static constexpr const char* opcodes = "HGMMA";
  static constexpr const char* ptx = "wgmma.mma_async.sync.aligned.m64n128k16.f16.f16.f16";
};
struct WgmmaBf16 : Wgmma<DType::bf16, DType::fp32, 16> {
  static constexpr const char* opcodes = "HGMMA";
  static constexpr const char* ptx = "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16";
};
struct WgmmaTf32 : Wgmma<DType::tf32, DType::fp32, 8> {
  static constexpr const char* opcodes = "HGMMA";
  static constexpr const char* ptx = "wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32";
};
struct WgmmaFp8 : Wgmma<DType::fp8, DType::fp32, 32> {
  static constexpr const char* opcodes = "QGMMA";
  static constexpr const char* ptx = "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3";
};
struct WgmmaFp8Fp16 : Wgmma<DType::fp8, DType::fp16, 32> {
  static constexpr const char* opcodes = "QGMMA";
  static constexpr const char* ptx = "wgmma.mma_async.sync.aligned.m64n128k32.f16.e4m3.e4m3";
};
struct WgmmaInt8 : Wgmma<DType::int8, DType::int32, 32> {
  static constexpr const char* opcodes = "IGMMA";
  static constexpr const char* ptx = "wgmma.mma_async.sync.aligned.m64n128k32.s32.s8.s8";
};

// --- tcgen05 (sm_100 to sm_110): one thread for a block, sums in tensor memory -------------------

// A tile is 128 × 256, and 32 bytes of each operand's rows; a quarter of the block's threads hold a
// quarter of its rows before and after the loop. `flop` is that of one warp. At the rate of GB100 a
// step takes 128 cycles, whatever the type. `types` are the fields of the instruction's descriptor
// that say types (PTX ISA, "Instruction descriptor").
//
// Columns of tensor memory are allocated, of 512 that a multiprocessor has: a power of two, at
// least 32 (PTX ISA, "tcgen05.alloc"). The sums take as many as a tile has; scales lie behind them.
constexpr int tensor_memory_columns = 512;
template <int count>
constexpr bool is_tensor_allocation = count >= 32 && count <= tensor_memory_columns &&
                                      (count & (count - 1)) == 0;
template <DType type, DType sum, int inner, unsigned scale_word = 0>
struct Tcgen05 : Mma<type, sum, 128, 256, inner, 1, 1, sum == DType::fp16 ? 128 : 256> {
  static constexpr int warps = 4;
  static constexpr int flop = 2 * 128 * 256 * inner / warps;
  static constexpr int cycles = 128;
  static constexpr unsigned scales = scale_word;  // four of them; 0: has none
  static constexpr int allocated = scales == 0 ? 256 : 512;
  static_assert(is_tensor_allocation<allocated> && allocated >= 256 + (scales == 0 ? 0 : 16));
  static constexpr bool opaque = true;
  static constexpr int emulated_first = 0, emulated_last = 0;
};

struct Tcgen05Fp16 : Tcgen05<DType::fp16, DType::fp32, 16> {
  static constexpr unsigned types = 1u << 4;
  static constexpr const char* opcodes = "UTCHMMA";
  static constexpr const char* ptx = "tcgen05.mma.cta_group::1.kind::f16";
};
struct Tcgen05Fp16Fp16 : Tcgen05<DType::fp16, DType::fp16, 16> {
  static constexpr unsigned types = 0;
  static constexpr const char* opcodes = "UTCHMMA";
  static constexpr const char* ptx = "tcgen05.mma.cta_group::1.kind::f16";
};
struct Tcgen05Bf16 : Tcgen05<DType::bf16, DType::fp32, 16> {
  static constexpr unsigned types = 1u << 4 | 1u << 7 | 1u << 10;
  static constexpr const char* opcodes = "UTCHMMA";
  static constexpr const char* ptx = "tcgen05.mma.cta_group::1.kind::f16";
};
struct Tcgen05Tf32 : Tcgen05<DType::tf32, DType::fp32, 8> {
  static constexpr unsigned types = 1u << 4 | 2u << 7 | 2u << 10;
  static constexpr const char* opcodes = "UTCHMMA";
  static constexpr const char* ptx = "tcgen05.mma.cta_group::1.kind::tf32";
};
struct Tcgen05Fp8 : Tcgen05<DType::fp8, DType::fp32, 32> {
  static constexpr unsigned types = 1u << 4;
  static constexpr const char* opcodes = "UTCQMMA";
  static constexpr const char* ptx = "tcgen05.mma.cta_group::1.kind::f8f6f4";
};
struct Tcgen05Fp8Fp16 : Tcgen05<DType::fp8, DType::fp16, 32> {
  static constexpr unsigned types = 0;
  static constexpr const char* opcodes = "UTCQMMA";
  static constexpr const char* ptx = "tcgen05.mma.cta_group::1.kind::f8f6f4";
};
struct Tcgen05MxFp8 : Tcgen05<DType::fp8, DType::fp32, 32, mx_ones> {
  static constexpr unsigned types = 1u << 23;
  static constexpr const char* opcodes = "UTCQMMA";
  static constexpr const char* ptx = "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block32";
};
struct Tcgen05MxFp4 : Tcgen05<DType::fp4, DType::fp32, 64, mx_ones> {
  static constexpr unsigned types = 1u << 7 | 1u << 10 | 1u << 23;
  static constexpr const char* opcodes = "UTCOMMA";
  static constexpr const char* ptx = "tcgen05.mma.cta_group::1.kind::mxf4.block_scale.block32";
};
struct Tcgen05NvFp4 : Tcgen05<DType::fp4, DType::fp32, 64, nv_ones> {
  static constexpr unsigned types = 1u << 7 | 1u << 10;
  static constexpr const char* opcodes = "UTCOMMA";
  static constexpr const char* ptx = "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16";
};
struct Tcgen05Int8 : Tcgen05<DType::int8, DType::int32, 32> {
  static constexpr unsigned types = 2u << 4 | 1u << 7 | 1u << 10;
  static constexpr const char* opcodes = "UTCIMMA";
  static constexpr const char* ptx = "tcgen05.mma.cta_group::1.kind::i8";
  static constexpr int emulated_first = 103, emulated_last = 103;  // has no such kind
};
}  // namespace ridgeline::cuda
