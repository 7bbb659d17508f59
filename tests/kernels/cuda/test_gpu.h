// A simulated GPU in place of the CUDA runtime library. It works out the time of a launch from its
// arguments alone: which addresses the grid touches, which cache holds them, how many instructions
// and bytes are in flight, how the clocks stand. The measuring loop must find the board's numbers.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "devices/sensors/gpu_watch.h"
#include "kernels/cuda/gpu.h"
#include "kernels/sampler.h"
#include "tests/kernels/cuda/board.h"
#include "tests/kernels/cuda/kernel_program.h"

namespace ridgeline::testing {

// A board and what goes wrong with it.
struct TestGpuSettings : Board {
  TestGpuSettings() = default;
  explicit TestGpuSettings(Board board) : Board(std::move(board)) {}

  std::function<double(double now_s)> clock_at = {};  // throttling; empty = the board's own
  std::map<std::string, double> slow_kernels = {};    // by name: so many times slower
  int fail_launch = 0;                                // only the n-th launch fails
  double lost_after_s = 0;                            // every call fails from then on; 0 = never
  std::string wrong_kernel;                           // its results are wrong
  std::string missing_code;                           // why no kernel has code; "" = all have
  bool from_ptx = false;
  // Called at every launch, with its duration.
  std::function<void(const cuda::Kernel&, cuda::Grid, const cuda::Arguments&, double)> on_launch =
      {};
};

// An AGX Orin 64 GB in round numbers: every direction of DRAM 180 GB/s, all clocks pinned.
TestGpuSettings test_orin();

class TestGpu final : public cuda::Gpu {
 public:
  explicit TestGpu(TestGpuSettings settings);
  explicit TestGpu(const Board& board) : TestGpu(TestGpuSettings(board)) {}
  ~TestGpu() override;

  double now_s() const { return host_s_; }
  void wait(double seconds) { host_s_ += seconds; }

  struct Drawn {  // by one kernel; idle in between
    double begin_s = 0, end_s = 0, power_w = 0;
    double bytes_per_s = 0;  // of DRAM
  };
  const std::vector<Drawn>& drawn() const { return drawn_; }
  double idle_w() const { return settings_.idle_w; }
  SamplerWorld world();    // on this GPU's clock; quiet, never interrupted
  GpuState state() const;  // as instruments read it

  // What the last launch of a kernel touched in one pass, and how it was shaped.
  struct Touched {
    Footprint footprint;
    cuda::Grid grid;
    double in_l2 = 0;  // share of the accesses that L2 answered
  };
  const std::map<std::string, Touched>& touched() const { return touched_; }

  // Of all launches, the most columns of tensor memory that the blocks of one multiprocessor want.
  int most_tensor_columns() const { return most_tensor_columns_; }

  const cuda::DeviceFacts& facts() const override { return settings_.facts; }
  void correct(const cuda::DeviceFacts& facts) override { settings_.facts = facts; }
  cuda::CodeSupport support(const cuda::Kernel& kernel) const override;
  int resident_blocks(const cuda::Kernel& kernel, std::uint32_t threads) const override;
  void* allocate(std::uint64_t bytes, cuda::MemoryKind kind) override;
  void release(void* memory, cuda::MemoryKind kind) noexcept override;
  void upload(void* device, const void* host, std::uint64_t bytes) override;
  void download(void* host, const void* device, std::uint64_t bytes) override;
  double copy_seconds(std::span<const cuda::Copy> copies, int repeats) override;
  void launch(const cuda::Kernel& kernel, cuda::Grid grid,
              const cuda::Arguments& arguments) override;
  void record_begin() override;
  void record_end() override;
  double elapsed_s() override;
  void synchronize() override;
  void capture(const cuda::Kernel& kernel, cuda::Grid grid, const cuda::Arguments& arguments,
               int nodes) override;
  void replay() override;

  std::uint64_t allocated_bytes() const { return allocated_; }

 private:
  // A launch as the hardware sees it: each part runs at its own clock, the slowest one counts.
  struct Cost {
    double cycles = 0;  // of the multiprocessors and L2
    double dram_s = 0;  // at the full memory clock
    double wait_s = 0;  // for DRAM, by too few accesses in flight
    double flop = 0, bytes = 0;
    bool in_turn = false;  // one after the other, and not at once
    double seconds(double clock_hz, double memory_share) const;
  };
  struct Buffer {
    std::uint64_t bytes = 0;
    cuda::MemoryKind kind = cuda::MemoryKind::device;
  };
  struct Ran {
    double seconds = 0, cycles = 0;
  };

  // What a chain of pointers has touched since something else took its lines out of L2.
  struct Followed {
    std::vector<bool> seen;  // by line
    std::vector<bool> pages;
    std::uint64_t lines = 0, touched_pages = 0;
    const void* start = nullptr;
    bool closed = false;  // it is back where it began
  };
  void evict_chains(const void* data, std::uint64_t bytes, bool walks);

  Cost follow(const KernelProgram& program, const cuda::Arguments& arguments);
  Cost cost_of(const cuda::Kernel& kernel, cuda::Grid grid, const cuda::Arguments& arguments);
  const Footprint& footprint(const std::string& name, cuda::Grid grid,
                             const cuda::Arguments& arguments);
  int resident(const KernelProgram& program, std::uint32_t threads) const;
  double warps_at_once(const KernelProgram& program, cuda::Grid grid) const;
  Ran run(const Cost& cost, double begin_s);
  void pass_time(double seconds, bool busy, bool uses_memory, double power_w);
  double clock_hz(double now_s) const;
  double power_of(const Cost& cost, double seconds) const;
  void compute(const cuda::Kernel& kernel, const cuda::Arguments& arguments) const;
  void check_lost() const;
  const Buffer* buffer_at(const void* address) const;  // null for host memory

  TestGpuSettings settings_;
  std::vector<Drawn> drawn_;
  std::map<std::string, Touched> touched_;
  using WalkKey = std::tuple<std::string, std::uint32_t, std::uint32_t, std::uint64_t,
                             std::uint64_t, std::uint64_t, std::uint64_t, std::uint32_t>;
  std::map<WalkKey, Footprint> walks_;
  std::map<const void*, Followed> chains_;
  Random random_;
  double host_s_ = 0, device_s_ = 0;  // now, and when the stream is empty
  double begin_s_ = 0, end_s_ = 0;
  double gpu_share_ = 1, memory_share_ = 1, celsius_ = 0;
  bool hot_ = false;
  double state_s_ = 0;         // time that clocks and temperature are known for
  std::string cached_kernel_;  // whose data L2 holds
  const void* cached_ = nullptr;
  int launches_ = 0, nodes_ = 0, most_tensor_columns_ = 0;
  bool gone_ = false;  // after an illegal address or a timeout nothing runs any more
  std::string why_gone_;
  std::uint64_t allocated_ = 0;
  std::map<const void*, Buffer> buffers_;
};

}  // namespace ridgeline::testing
