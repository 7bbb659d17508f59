// Published: multiprocessors, clocks, caches, buses and the rates that NVIDIA states (Jetson AGX
// Orin technical brief, Orin Nano and Xavier NX datasheets, Ada whitepaper). Assumed: latencies,
// shares of the bus, how much crowding costs, launch costs, governors.
#include "tests/kernels/cuda/board.h"

#include <algorithm>

namespace ridgeline::testing {
namespace {

constexpr std::uint64_t kibibyte = 1024, mebibyte = kibibyte * kibibyte;

std::map<Direction, double> dram_rates(double read, double write, double copy, double update,
                                       double triad, double random) {
  return {{Direction::read, read},     {Direction::write, write}, {Direction::copy, copy},
          {Direction::update, update}, {Direction::triad, triad}, {Direction::random, random}};
}

// Ampere's integrated GPU, GA10B.
std::map<std::string, Pipe> orin_pipes() {
  return {{"fma_fp64", {4, 48}},       {"fma_fp32", {256, 4}},        {"fma_fp16", {512, 5}},
          {"fma_bf16", {256, 5}},      {"mad_int32", {128, 4}},       {"dp4a_int8", {512, 5}},
          {"mma_fp16", {2048, 33}},    {"mma_fp16_fp16", {2048, 33}}, {"mma_bf16", {2048, 33}},
          {"mma_tf32", {1024, 35}},    {"mma_fp64", {8, 80}},         {"mma_int8", {4096, 32}},
          {"mma_int4", {8192, 32}},    {"sparse_fp16", {4096, 34}},   {"sparse_bf16", {4096, 34}},
          {"sparse_tf32", {2048, 36}}, {"sparse_int8", {8192, 34}}};
}

}  // namespace

void Board::set_dram(double bytes_per_s) {
  dram_bytes_per_s =
      dram_rates(bytes_per_s, bytes_per_s, bytes_per_s, bytes_per_s, bytes_per_s, bytes_per_s);
}

void Board::scale_arithmetic(double factor, const std::string& part_of_name) {
  for (auto& [name, pipe] : pipes)
    if (name.find(part_of_name) != std::string::npos) pipe.flop_per_cycle *= factor;
}

double Board::flops_per_s(const std::string& pipe) const {
  return pipes.at(pipe).flop_per_cycle * facts.multiprocessors * clock_hz;
}

double Board::dram(Direction direction, const std::string& allocation) const {
  const double share = allocation == "pinned"    ? pinned_share
                       : allocation == "managed" ? managed_share
                                                 : 1;
  return share * dram_bytes_per_s.at(direction);
}

double Board::sweep_bytes_per_s(int fma_per_element) const {
  const double dram = dram_bytes_per_s.at(Direction::read);
  if (fma_per_element == 0) return dram;
  const double fma = 4.0 * fma_per_element;  // instructions for each load of four elements a lane
  const double cycles =
      std::max(fma / (pipes.at("fma_fp32").flop_per_cycle / 64), (fma + 1) / issue_per_cycle);
  return std::min(dram, 512 / cycles * facts.multiprocessors * clock_hz);
}

double Board::load_latency_s(std::uint64_t bytes, std::uint64_t stride, bool through_l1) const {
  constexpr std::uint64_t line = 128;
  const std::uint64_t held = bytes / stride * line;
  const double walk_s = bytes > tlb_bytes ? tlb_miss_s : 0;
  if (through_l1 && held <= facts.l1_bytes) return near_latency_cycles / clock_hz + walk_s;
  return (held <= facts.l2_bytes ? l2_latency_cycles / clock_hz : dram_latency_s) + walk_s;
}

Board agx_orin() {
  Board board;
  board.facts.name = "Orin";
  board.facts.architecture = 87;
  board.facts.multiprocessors = 16;
  board.facts.threads_per_multiprocessor = 1536;
  board.facts.l2_bytes = 4 * mebibyte;
  board.facts.l1_bytes = 164 * kibibyte;
  board.facts.memory_bytes_per_s = 204.7e9;
  board.facts.integrated = true;
  board.facts.free_bytes = 48 * 1024 * mebibyte;
  board.clock_hz = 1300.5e6;
  board.pipes = orin_pipes();
  board.arithmetic_best_warps = 32;
  board.arithmetic_crowd_loss = 0.03;
  board.shared_bytes = 164 * kibibyte;
  board.near_bytes_per_cycle = 122;
  board.near_latency_cycles = 36;
  board.l2_bytes_per_cycle = 620;
  board.l2_latency_cycles = 270;
  board.dram_bytes_per_s = dram_rates(186e9, 190e9, 178e9, 181e9, 180e9, 47e9);
  board.dram_latency_s = 690e-9;
  board.dram_best_warps = 16;
  board.dram_crowd_loss = 0.07;
  board.contiguous_share = 0.9;
  board.pinned_share = 0.97;
  board.managed_share = 0.99;
  board.launch_s = 6.4e-6;
  board.start_s = 2.2e-6;
  board.node_s = 1.4e-6;
  board.idle_w = 7;
  board.constant_w = 13;
  board.memory_governor = {.lowest = 0.667, .rise_s = 0.015, .fall_s = 0.02};
  return board;
}

Board orin_nano() {
  Board board;
  board.facts.name = "Orin";
  board.facts.architecture = 87;
  board.facts.multiprocessors = 8;
  board.facts.threads_per_multiprocessor = 1536;
  board.facts.l2_bytes = 2 * mebibyte;
  board.facts.l1_bytes = 164 * kibibyte;
  board.facts.memory_bytes_per_s = 68.3e9;
  board.facts.integrated = true;
  board.facts.free_bytes = 5 * 1024 * mebibyte;
  board.clock_hz = 624.75e6;
  board.pipes = orin_pipes();
  board.arithmetic_best_warps = 24;
  board.arithmetic_crowd_loss = 0.02;
  board.shared_bytes = 164 * kibibyte;
  board.near_bytes_per_cycle = 119;
  board.l2_bytes_per_cycle = 330;
  board.l2_latency_cycles = 230;
  board.dram_bytes_per_s = dram_rates(62e9, 63e9, 58.5e9, 59.5e9, 59e9, 15.5e9);
  board.dram_latency_s = 740e-9;
  board.tlb_bytes = 128 * mebibyte;
  board.tlb_miss_s = 410e-9;
  board.dram_best_warps = 24;
  board.dram_crowd_loss = 0.05;
  board.interleaved_share = 0.94;
  board.pinned_share = 0.9;
  board.managed_share = 0.98;
  board.noise = 0.005;
  board.launch_s = 9.1e-6;
  board.start_s = 3.4e-6;
  board.node_s = 2.1e-6;
  board.idle_w = 4.5;
  board.constant_w = 3;
  board.gpu_governor = {.lowest = 0.49, .rise_s = 0.03, .fall_s = 0.25};
  board.memory_governor = {.lowest = 0.312, .rise_s = 0.025, .fall_s = 0.06};
  return board;
}

// Volta's integrated GPU, GV11B.
Board xavier_nx() {
  Board board;
  board.facts.name = "Xavier";
  board.facts.architecture = 72;
  board.facts.multiprocessors = 6;
  board.facts.threads_per_multiprocessor = 2048;
  board.facts.l2_bytes = 512 * kibibyte;
  board.facts.l1_bytes = 96 * kibibyte;
  board.facts.memory_bytes_per_s = 59.7e9;
  board.facts.integrated = true;
  board.facts.free_bytes = 6 * 1024 * mebibyte;
  board.clock_hz = 1109.25e6;
  board.pipes = {{"fma_fp64", {64, 8}},
                 {"fma_fp32", {128, 4}},
                 {"fma_fp16", {256, 6}},
                 {"mad_int32", {128, 5}},
                 {"dp4a_int8", {512, 5}},
                 {"mma_fp16_k4", {1024, 30}},
                 {"mma_fp16_fp16_k4", {1024, 26}},
                 {"wmma_int8", {2048, 40}}};
  board.arithmetic_best_warps = 40;
  board.arithmetic_crowd_loss = 0.04;
  board.blocks_per_multiprocessor = 32;
  board.shared_bytes = 96 * kibibyte;
  board.near_bytes_per_cycle = 117;
  board.near_latency_cycles = 30;
  board.l2_bytes_per_cycle = 190;
  board.l2_latency_cycles = 200;
  board.dram_bytes_per_s = dram_rates(51e9, 49e9, 46e9, 47e9, 46.5e9, 12e9);
  board.dram_latency_s = 850e-9;
  board.dram_best_warps = 12;
  board.dram_crowd_loss = 0.12;
  board.pinned_share = 0.62;
  board.managed_share = 0.96;
  board.noise = 0.006;
  board.launch_s = 12.5e-6;
  board.start_s = 4.1e-6;
  board.node_s = 2.6e-6;
  board.idle_w = 3.5;
  board.constant_w = 3;
  board.memory_governor = {.lowest = 0.43, .rise_s = 0.02, .fall_s = 0.05};
  return board;
}

Board ada_card() {
  Board board;
  board.facts.name = "Ada card";
  board.facts.architecture = 89;
  board.facts.multiprocessors = 128;
  board.facts.threads_per_multiprocessor = 1536;
  board.facts.l2_bytes = 72 * mebibyte;
  board.facts.l1_bytes = 100 * kibibyte;
  board.facts.memory_bytes_per_s = 1008e9;
  board.facts.free_bytes = 23 * 1024 * mebibyte;
  board.facts.pci_bus_id = "0000:01:00.0";
  board.clock_hz = 2520e6;
  board.pipes = {
      {"fma_fp64", {4, 30}},       {"fma_fp32", {256, 4}},        {"fma_fp16", {256, 4}},
      {"fma_bf16", {256, 4}},      {"mad_int32", {128, 4}},       {"dp4a_int8", {512, 4}},
      {"mma_fp16", {512, 33}},     {"mma_fp16_fp16", {1024, 25}}, {"mma_bf16", {512, 33}},
      {"mma_tf32", {256, 33}},     {"mma_fp64", {4, 128}},        {"mma_int8", {2048, 18}},
      {"mma_int4", {4096, 18}},    {"mma_fp8", {1024, 33}},       {"mma_fp8_fp16", {2048, 25}},
      {"sparse_fp16", {1024, 34}}, {"sparse_bf16", {1024, 34}},   {"sparse_tf32", {512, 34}},
      {"sparse_int8", {4096, 20}}, {"sparse_fp8", {2048, 34}}};
  board.blocks_per_multiprocessor = 24;
  board.shared_bytes = 100 * kibibyte;
  board.near_bytes_per_cycle = 124;
  board.l2_bytes_per_cycle = 1900;
  board.l2_latency_cycles = 280;
  board.dram_bytes_per_s = dram_rates(938e9, 925e9, 902e9, 907e9, 911e9, 240e9);
  board.dram_latency_s = 560e-9;
  board.tlb_bytes = 384 * mebibyte;
  board.tlb_miss_s = 130e-9;
  board.dram_best_warps = 24;
  board.dram_crowd_loss = 0.04;
  board.contiguous_share = 0.93;
  board.noise = 0.002;
  board.launch_s = 2.3e-6;
  board.start_s = 1.1e-6;
  board.node_s = 0.6e-6;
  board.idle_w = 22;
  board.constant_w = 70;
  board.joule_per_flop = 1.1e-12;
  board.joule_per_byte = 60e-12;
  board.gpu_governor = {.lowest = 0.083, .rise_s = 0.01, .fall_s = 1.5};
  return board;
}

// What mma.sync leaves of the tensor cores' rate is assumed; the rates are those of the whitepaper.
Board hopper_card() {
  Board board;
  board.facts.name = "Hopper card";
  board.facts.architecture = 90;
  board.facts.multiprocessors = 132;
  board.facts.threads_per_multiprocessor = 2048;
  board.facts.l2_bytes = 50 * mebibyte;
  board.facts.l1_bytes = 228 * kibibyte;
  board.facts.memory_bytes_per_s = 3352e9;
  board.facts.free_bytes = 78 * 1024 * mebibyte;
  board.facts.pci_bus_id = "0000:41:00.0";
  board.clock_hz = 1755e6;
  board.pipes = {{"fma_fp64", {128, 8}},           {"fma_fp32", {256, 4}},
                 {"fma_fp16", {512, 5}},           {"fma_bf16", {512, 5}},
                 {"mad_int32", {128, 4}},          {"dp4a_int8", {512, 4}},
                 {"mma_fp16", {2560, 33}},         {"mma_fp16_fp16", {2600, 32}},
                 {"mma_bf16", {2560, 33}},         {"mma_tf32", {1290, 33}},
                 {"mma_fp64", {128, 26}},          {"mma_fp64_k16", {256, 35}},
                 {"mma_int8", {5100, 33}},         {"sparse_fp16", {4900, 34}},
                 {"sparse_bf16", {4900, 34}},      {"sparse_tf32", {2450, 34}},
                 {"sparse_int8", {9800, 34}},      {"wgmma_fp16", {4096, 128}},
                 {"wgmma_fp16_fp16", {4096, 128}}, {"wgmma_bf16", {4096, 128}},
                 {"wgmma_tf32", {2048, 128}},      {"wgmma_fp8", {8192, 128}},
                 {"wgmma_fp8_fp16", {8192, 128}},  {"wgmma_int8", {8192, 128}}};
  board.blocks_per_multiprocessor = 32;
  board.shared_bytes = 227 * kibibyte;
  board.near_bytes_per_cycle = 125;
  board.near_latency_cycles = 33;
  board.l2_bytes_per_cycle = 5500;
  board.l2_latency_cycles = 260;
  board.dram_bytes_per_s = dram_rates(3060e9, 2990e9, 2940e9, 2960e9, 2950e9, 900e9);
  board.dram_latency_s = 610e-9;
  board.tlb_bytes = 512 * mebibyte;
  board.tlb_miss_s = 240e-9;
  board.dram_best_warps = 40;
  board.dram_crowd_loss = 0.03;
  board.contiguous_share = 0.95;
  board.noise = 0.002;
  board.launch_s = 2.6e-6;
  board.start_s = 1.2e-6;
  board.node_s = 0.7e-6;
  board.idle_w = 70;
  board.constant_w = 150;
  board.joule_per_flop = 0.6e-12;
  board.joule_per_byte = 40e-12;
  board.gpu_governor = {.lowest = 0.2, .rise_s = 0.01, .fall_s = 1};
  return board;
}

// Multiprocessors, clock, bus and L2 are those of Jetson AGX Thor; that mma.sync leaves a quarter
// of the tensor cores' rate, and everything else, is assumed: that plain products into one place
// wait for each other, so that two blocks are better than one, and that scaled ones, of which one
// block is all that fits, follow each other without a gap, as in every matrix product.
Board thor() {
  Board board;
  board.facts.name = "Thor";
  board.facts.architecture = 110;
  board.facts.multiprocessors = 20;
  board.facts.threads_per_multiprocessor = 1536;
  board.facts.l2_bytes = 32 * mebibyte;
  board.facts.l1_bytes = 228 * kibibyte;
  board.facts.memory_bytes_per_s = 273e9;
  board.facts.integrated = true;
  board.facts.free_bytes = 110 * 1024 * mebibyte;
  board.clock_hz = 1575e6;
  board.pipes = {{"fma_fp64", {4, 40}},           {"fma_fp32", {256, 4}},
                 {"fma_fp16", {512, 5}},          {"fma_bf16", {512, 5}},
                 {"mad_int32", {128, 4}},         {"dp4a_int8", {512, 4}},
                 {"mma_fp16", {2048, 34}},        {"mma_fp16_fp16", {2048, 34}},
                 {"mma_bf16", {2048, 34}},        {"mma_tf32", {1024, 35}},
                 {"mma_fp64", {8, 90}},           {"mma_int8", {4096, 33}},
                 {"sparse_fp16", {4096, 35}},     {"sparse_bf16", {4096, 35}},
                 {"sparse_tf32", {2048, 36}},     {"sparse_int8", {8192, 35}},
                 {"tcgen05_fp16", {8150, 200}},   {"tcgen05_fp16_fp16", {8160, 200}},
                 {"tcgen05_bf16", {8140, 200}},   {"tcgen05_tf32", {4090, 200}},
                 {"tcgen05_fp8", {16300, 200}},   {"tcgen05_fp8_fp16", {16280, 200}},
                 {"tcgen05_int8", {16250, 200}},  {"tcgen05_mxfp8", {16200, 120}},
                 {"tcgen05_mxfp4", {32300, 120}}, {"tcgen05_nvfp4", {32100, 120}}};
  board.arithmetic_best_warps = 32;
  board.arithmetic_crowd_loss = 0.02;
  board.blocks_per_multiprocessor = 24;
  board.shared_bytes = 227 * kibibyte;
  board.near_bytes_per_cycle = 123;
  board.near_latency_cycles = 37;
  board.l2_bytes_per_cycle = 980;
  board.l2_latency_cycles = 310;
  board.dram_bytes_per_s = dram_rates(238e9, 229e9, 224e9, 227e9, 226e9, 61e9);
  board.dram_latency_s = 820e-9;
  board.tlb_bytes = 512 * mebibyte;
  board.tlb_miss_s = 260e-9;
  board.dram_best_warps = 24;
  board.dram_crowd_loss = 0.05;
  board.interleaved_share = 0.96;
  board.pinned_share = 0.98;
  board.managed_share = 0.99;
  board.launch_s = 4.2e-6;
  board.start_s = 1.9e-6;
  board.node_s = 1.1e-6;
  board.idle_w = 14;
  board.constant_w = 22;
  board.joule_per_flop = 0.7e-12;
  board.joule_per_byte = 70e-12;
  board.memory_governor = {.lowest = 0.75, .rise_s = 0.02, .fall_s = 0.03};
  return board;
}

const std::vector<Board>& all_boards() {
  static const std::vector<Board> boards{agx_orin(), orin_nano(),   xavier_nx(),
                                         ada_card(), hopper_card(), thor()};
  return boards;
}

}  // namespace ridgeline::testing
