// Which hardware counters measure the work of a kernel, by GPU architecture: one row per metric.
// Names and factors only; profiler.h reads them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ridgeline::cuda {

// What a program did, as counters measure it. FLOP are of CUDA cores unless the name says tensor;
// a multiply-add is two.
enum class Quantity {
  flop_fp64,
  flop_fp32,
  flop_fp16,   // bfloat16 too: both are HFMA2
  op_integer,  // instructions: how many operations one is, its kernel knows
  tensor_fp64,
  tensor_tf32,
  tensor_fp16,
  tensor_bf16,
  tensor_fp8,
  tensor_int8,
  tensor_int4,
  tensor_instructions,  // of all types: what one does depends on its shape
  dram_read,            // bytes, as all below
  dram_write,
  l2_read,
  l1_read,
  shared_read,
};

struct QuantityFacts {
  Quantity quantity;
  std::string_view token;  // "flop_fp32"
  std::string_view words;  // "FP32 FLOP"
  double tolerance;        // relative, between declared and measured
};
std::span<const QuantityFacts> quantity_table();
const QuantityFacts& facts_of(Quantity quantity);

// Amount = Σ factor × metric over the rows of a quantity that fit the architecture.
struct CounterRow {
  Quantity quantity;
  int first, last;  // architectures, both included: 87 = sm_87
  std::string_view metric;
  double factor;
  std::string_view source;
};
std::span<const CounterRow> counter_table();

// Rows of a quantity on an architecture; none if it cannot be counted there.
std::vector<const CounterRow*> counters_of(Quantity quantity, int architecture);

// Every metric that helps with a program whose instructions are unknown.
std::vector<std::string> metrics_of_programs(int architecture);

// FLOP of one tensor instruction by its shape, as machine code names it (HMMA.16816): for GPUs and
// toolkits that count instructions only.
struct TensorShape {
  std::string_view shape;
  int flop;
};
std::span<const TensorShape> tensor_shapes();

}  // namespace ridgeline::cuda
