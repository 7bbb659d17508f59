// The rows. CUPTI itself lists the names for a chip of each architecture (its host side needs no
// GPU): those of sm_72 are from CUPTI 11.8, all others from 13.0. `./run tests` checks them again
// if CUPTI is installed.
#include "kernels/cuda/counter_table.h"

#include <algorithm>
#include <array>

namespace ridgeline::cuda {
namespace {

// Where names and meanings are from.
constexpr std::string_view nvprof = "Nsight Compute CLI, nvprof metric comparison: flop_count_*";
constexpr std::string_view half =
    "Nsight Compute, half roofline section: hfma_pred_on_x4, hadd_ and hmul_pred_on_x2";
constexpr std::string_view packed = "CUPTI 13.0, description; FADD2 and FFMA2 are two lanes";
constexpr std::string_view integer = "Nsight Compute CLI, nvprof metric comparison: inst_integer";
constexpr std::string_view ops = "CUPTI 13.0, description: # of math ops executed in Tensor path";
constexpr std::string_view pipe = "CUPTI 13.0, description: warp instructions of the tensor pipe";
constexpr std::string_view dram = "Nsight Compute CLI, nvprof metric comparison: dram_*_bytes";
constexpr std::string_view dram_op = "CUPTI 13.0, description: the newer name of dram__bytes_*";
constexpr std::string_view fills =
    "CUPTI 13.0, description: sectors of 32 bytes filled into L2; this chip counts no DRAM bytes";
constexpr std::string_view written =
    "CUPTI 13.0, description: sectors of 32 bytes written to L2; this chip counts no DRAM bytes";
constexpr std::string_view sectors =
    "Nsight Compute CLI, nvprof metric comparison: gld_transactions, l2_read_transactions; sectors "
    "of 32 bytes";
constexpr std::string_view shared = "CUPTI 13.0, description: data bytes of shared memory loads";

using enum Quantity;
constexpr auto rows = std::to_array<CounterRow>({
    {flop_fp64, 72, 121, "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum", 1, nvprof},
    {flop_fp64, 72, 121, "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum", 1, nvprof},
    {flop_fp64, 72, 121, "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", 2, nvprof},
    {flop_fp32, 72, 121, "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", 1, nvprof},
    {flop_fp32, 72, 121, "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", 1, nvprof},
    {flop_fp32, 72, 121, "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 2, nvprof},
    {flop_fp32, 100, 103, "smsp__sass_thread_inst_executed_op_fadd2_pred_on.sum", 2, packed},
    {flop_fp32, 100, 103, "smsp__sass_thread_inst_executed_op_fmul2_pred_on.sum", 2, packed},
    {flop_fp32, 100, 103, "smsp__sass_thread_inst_executed_op_ffma2_pred_on.sum", 4, packed},
    {flop_fp16, 72, 121, "smsp__sass_thread_inst_executed_op_hadd_pred_on.sum", 2, half},
    {flop_fp16, 72, 121, "smsp__sass_thread_inst_executed_op_hmul_pred_on.sum", 2, half},
    {flop_fp16, 72, 121, "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum", 4, half},
    {op_integer, 72, 121, "smsp__sass_thread_inst_executed_op_integer_pred_on.sum", 1, integer},

    {tensor_fp64, 80, 121, "sm__ops_path_tensor_src_fp64.sum", 1, ops},
    {tensor_tf32, 80, 121, "sm__ops_path_tensor_src_tf32_dst_fp32.sum", 1, ops},
    {tensor_bf16, 80, 121, "sm__ops_path_tensor_src_bf16_dst_fp32.sum", 1, ops},
    {tensor_fp16, 75, 75, "sm__ops_path_tensor_src_fp16_bf16_tf32_dst_fp32.sum", 1, ops},
    {tensor_fp16, 80, 89, "sm__ops_path_tensor_src_fp16_dst_fp32.sum", 1, ops},
    {tensor_fp16, 75, 89, "sm__ops_path_tensor_src_fp16_dst_fp16.sum", 1, ops},
    {tensor_fp16, 90, 90, "sm__ops_path_tensor_src_fp16.sum", 1, ops},
    {tensor_fp16, 100, 121, "sm__ops_path_tensor_src_fp16_dst_fp32.sum", 1, ops},
    {tensor_fp16, 100, 121, "sm__ops_path_tensor_src_fp16_dst_fp16.sum", 1, ops},
    {tensor_fp8, 89, 90, "sm__ops_path_tensor_src_fp8.sum", 1, ops},
    {tensor_fp8, 100, 100, "sm__ops_path_tensor_src_fp4_fp6_fp8_dst_fp32.sum", 1, ops},
    {tensor_fp8, 100, 100, "sm__ops_path_tensor_src_fp4_fp6_fp8_dst_fp16.sum", 1, ops},
    {tensor_fp8, 103, 103, "sm__ops_path_tensor_src_fp8_dst_fp32.sum", 1, ops},
    {tensor_fp8, 103, 103, "sm__ops_path_tensor_src_fp8_dst_fp16.sum", 1, ops},
    {tensor_fp8, 110, 110, "sm__ops_path_tensor_src_fp4_fp6_fp8_dst_fp32.sum", 1, ops},
    {tensor_fp8, 110, 110, "sm__ops_path_tensor_src_fp4_fp6_fp8_dst_fp16.sum", 1, ops},
    {tensor_fp8, 120, 121, "sm__ops_path_tensor_src_fp8_dst_fp32.sum", 1, ops},
    {tensor_fp8, 120, 121, "sm__ops_path_tensor_src_fp8_dst_fp16.sum", 1, ops},
    {tensor_int8, 75, 121, "sm__ops_path_tensor_src_int8.sum", 1, ops},
    {tensor_int4, 75, 89, "sm__ops_path_tensor_src_int4.sum", 1, ops},
    {tensor_instructions, 72, 121, "smsp__inst_executed_pipe_tensor.sum", 1, pipe},

    {dram_read, 75, 86, "dram__bytes_read.sum", 1, dram},
    {dram_read, 89, 103, "dram__bytes_read.sum", 1, dram},
    {dram_read, 120, 120, "dram__bytes_op_read.sum", 1, dram_op},
    {dram_write, 75, 86, "dram__bytes_write.sum", 1, dram},
    {dram_write, 89, 103, "dram__bytes_write.sum", 1, dram},
    {dram_write, 120, 120, "dram__bytes_op_write.sum", 1, dram_op},
    // Jetson and DGX Spark: the memory controller is outside of the GPU.
    {dram_read, 72, 72, "lts__d_sectors_fill_device.sum", 32, fills},
    {dram_read, 87, 87, "lts__d_sectors_fill_device.sum", 32, fills},
    {dram_read, 72, 72, "lts__d_sectors_fill_sysmem.sum", 32, fills},
    {dram_read, 87, 87, "lts__d_sectors_fill_sysmem.sum", 32, fills},
    {dram_read, 110, 110, "lts__d_sectors_fill_sysmem.sum", 32, fills},
    {dram_read, 121, 121, "lts__d_sectors_fill_device.sum", 32, fills},
    {dram_read, 121, 121, "lts__d_sectors_fill_sysmem.sum", 32, fills},
    {dram_write, 72, 72, "lts__t_sectors_op_write.sum", 32, written},
    {dram_write, 87, 87, "lts__t_sectors_op_write.sum", 32, written},
    {dram_write, 110, 110, "lts__t_sectors_op_write.sum", 32, written},
    {dram_write, 121, 121, "lts__t_sectors_op_write.sum", 32, written},

    {l2_read, 72, 121, "lts__t_sectors_srcunit_tex_op_read.sum", 32, sectors},
    {l1_read, 72, 121, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 32, sectors},
    {shared_read, 72, 121, "smsp__sass_data_bytes_mem_shared_op_ld.sum", 1, shared},
});

// Counts of instructions are exact; what surrounds the loop is in them. Integer instructions count
// the loop itself too, up to 3 % of it by proof. Caches keep a part of what goes to DRAM, and page
// tables, stamps and error correction add to it.
constexpr double exact = 0.01, integers = 0.05, caches = 0.05, memory = 0.10;

constexpr auto quantities = std::to_array<QuantityFacts>({
    {flop_fp64, "flop_fp64", "FP64 FLOP", exact},
    {flop_fp32, "flop_fp32", "FP32 FLOP", exact},
    {flop_fp16, "flop_fp16", "FP16 FLOP", exact},
    {op_integer, "op_integer", "integer OP", integers},
    {tensor_fp64, "tensor_fp64", "tensor FP64 FLOP", exact},
    {tensor_tf32, "tensor_tf32", "tensor TF32 FLOP", exact},
    {tensor_fp16, "tensor_fp16", "tensor FP16 FLOP", exact},
    {tensor_bf16, "tensor_bf16", "tensor BF16 FLOP", exact},
    {tensor_fp8, "tensor_fp8", "tensor FP8 FLOP", exact},
    {tensor_int8, "tensor_int8", "tensor INT8 OP", exact},
    {tensor_int4, "tensor_int4", "tensor INT4 OP", exact},
    {tensor_instructions, "tensor_instructions", "tensor instructions", exact},
    {dram_read, "dram_read", "bytes read from DRAM", memory},
    {dram_write, "dram_write", "bytes written to DRAM", memory},
    {l2_read, "l2_read", "bytes read from L2", caches},
    {l1_read, "l1_read", "bytes read from L1", exact},
    {shared_read, "shared_read", "bytes read from shared memory", exact},
});

constexpr auto shapes = std::to_array<TensorShape>(
    {{"884", 1024}, {"1688", 2048}, {"16816", 4096}, {"16832 INT8", 8192}});

}  // namespace

std::span<const CounterRow> counter_table() { return rows; }
std::span<const QuantityFacts> quantity_table() { return quantities; }
std::span<const TensorShape> tensor_shapes() { return shapes; }

const QuantityFacts& facts_of(Quantity quantity) {
  return *std::ranges::find(quantities, quantity, &QuantityFacts::quantity);
}

std::vector<const CounterRow*> counters_of(Quantity quantity, int architecture) {
  std::vector<const CounterRow*> found;
  for (const CounterRow& row : rows)
    if (row.quantity == quantity && architecture >= row.first && architecture <= row.last)
      found.push_back(&row);
  return found;
}

std::vector<std::string> metrics_of_programs(int architecture) {
  std::vector<std::string> metrics;
  for (const CounterRow& row : rows) {
    const bool cache =
        row.quantity == l2_read || row.quantity == l1_read || row.quantity == shared_read;
    if (!cache && architecture >= row.first && architecture <= row.last)
      metrics.emplace_back(row.metric);
  }
  return metrics;
}

}  // namespace ridgeline::cuda
