// Boards for the simulated GPU: what the hardware can do, in numbers of its own. None of them comes
// from kernels/; what is published about a board is said in board.cpp, the rest is plausible and
// different for each.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/tokens.h"
#include "kernels/cuda/gpu.h"

namespace ridgeline::testing {

struct Pipe {
  double flop_per_cycle = 0;  // of one multiprocessor
  double latency_cycles = 4;  // from one instruction of a chain to the next
};

// A clock that falls while nothing needs it and rises when something does; shares of the highest.
struct Governor {
  double lowest = 1;
  double rise_s = 0, fall_s = 0;  // from lowest to highest and back; 0 = at once
};

struct Heat {
  double ambient_c = 40, kelvin_per_w = 0, time_constant_s = 15;  // kelvin_per_w 0 = stays cool
  double limit_c = 85, recovered_c = 80;
  double throttled_share = 0.8;  // of the clock, from the limit on until it has recovered
};

// Another process on the GPU, which takes a share of it now and then.
struct Neighbour {
  double share = 0;
  double period_s = 1, busy_s = 0;  // of each period
};

struct Board {
  cuda::DeviceFacts facts;  // as the driver and the catalog report them
  double clock_hz = 1.3e9;

  // Multiprocessors
  std::map<std::string, Pipe> pipes;  // by family: "fma_fp32"; what is not here cannot run
  double issue_per_cycle = 4;         // warp instructions
  int arithmetic_best_warps = 64;     // of a multiprocessor; more of them only get in each other's
  double arithmetic_crowd_loss = 0;   // way, up to this share with all that fit
  int blocks_per_multiprocessor = 16;
  int registers = 65536;
  std::uint64_t shared_bytes = 100 << 10;  // per multiprocessor
  double near_bytes_per_cycle = 120;       // L1 and shared memory, per multiprocessor
  double near_latency_cycles = 33;

  // L2, all of it together
  double l2_bytes_per_cycle = 460, l2_latency_cycles = 260;

  // DRAM at its full clock
  std::map<Direction, double> dram_bytes_per_s;
  double dram_latency_s = 600e-9;
  int dram_best_warps = 64;                            // per multiprocessor …
  double dram_crowd_loss = 0;                          // … as above
  std::uint64_t tlb_bytes = 256 << 20;                 // that the TLB reaches …
  double tlb_miss_s = 200e-9;                          // … and what a page beyond it costs
  double contiguous_share = 1, interleaved_share = 1;  // of the two ways to walk
  double pinned_share = 1, managed_share = 1;          // of the three ways to a Jetson's memory

  // Copy engines with pinned memory: each way alone, and both together; pageable memory is slower.
  double to_device_bytes_per_s = 24e9, to_host_bytes_per_s = 26e9, both_bytes_per_s = 44e9;
  double pageable_share = 0.4;

  double noise = 0.003;  // of each launch's time, relative
  std::uint64_t noise_seed = 11;
  double launch_s = 5e-6;  // host time per launch
  double start_s = 2e-6;   // device time before a kernel starts
  double node_s = 1e-6;    // per node of a graph

  // Power: idle, or while a kernel runs constant_w + the energy of its work per time.
  double idle_w = 9, constant_w = 14, joule_per_flop = 2.4e-12, joule_per_byte = 95e-12;
  double ripple_w = 0;  // largest change of a kernel's power from launch to launch

  Governor gpu_governor, memory_governor;
  Heat heat;
  Neighbour neighbour;

  void set_dram(double bytes_per_s);  // all directions alike, random too
  void scale_arithmetic(double factor, const std::string& part_of_name = "");

  // The truth that a measurement must find, at full clocks.
  double flops_per_s(const std::string& pipe) const;
  double dram(Direction direction, const std::string& allocation) const;
  // Of loads with so many FMA per element: the loads take issue slots too.
  double sweep_bytes_per_s(int fma_per_element) const;
  // Of one load of a chain with one line in each `stride` of a set.
  double load_latency_s(std::uint64_t bytes, std::uint64_t stride, bool through_l1) const;
  double l2_bytes_per_s() const { return l2_bytes_per_cycle * clock_hz; }
  double near_bytes_per_s() const {
    return near_bytes_per_cycle * facts.multiprocessors * clock_hz;
  }
};

Board agx_orin();
Board orin_nano();
Board xavier_nx();
Board ada_card();     // 72 MB of L2
Board hopper_card();  // whose tensor cores need wgmma
Board thor();         // whose tensor cores need tcgen05

const std::vector<Board>& all_boards();

}  // namespace ridgeline::testing
