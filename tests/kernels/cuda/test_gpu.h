// A GPU of known speed in place of the CUDA runtime library: it simulates time, clock, noise,
// launch cost and faults, and takes a kernel's work from its row. The measuring loop must recover
// the configured values.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "kernels/cuda/gpu.h"
#include "kernels/sampler.h"

namespace ridgeline::testing {

struct TestGpuSettings {
  cuda::DeviceFacts facts;
  double clock_hz = 1.3e9;
  // FLOP per multiprocessor and clock of a kernel with a good launch configuration.
  std::function<double(const cuda::Kernel&)> flop_per_cycle;
  double dram_bytes_per_s = 180e9, l2_bytes_per_s = 600e9;
  double near_bytes_per_cycle = 120;           // L1 and shared memory, per multiprocessor
  double pinned_share = 1, managed_share = 1;  // of the DRAM bandwidth
  // Copy engines with pinned memory: each way alone, and both together; pageable memory is slower.
  double to_device_bytes_per_s = 24e9, to_host_bytes_per_s = 26e9, both_bytes_per_s = 44e9;
  double pageable_share = 0.4;
  double noise = 0.003;     // of each launch's time, relative
  double launch_s = 5e-6;   // host time per launch
  double start_s = 2e-6;    // device time before a kernel starts
  double node_s = 1e-6;     // per node of a graph
  int best_threads = 1024;  // per multiprocessor; fewer leave units idle

  // Power: idle, or while a kernel runs constant_w + the energy of its work per time.
  double idle_w = 9, constant_w = 14, joule_per_flop = 2.4e-12, joule_per_byte = 95e-12;
  double ripple_w = 0;  // largest change of a kernel's power from launch to launch

  std::function<double(double now_s)> clock_at = {};  // throttling; empty = clock_hz
  std::uint64_t free_bytes = std::uint64_t{8} << 30;
  int fail_launch = 0;       // only the n-th launch fails
  double lost_after_s = 0;   // every call fails from then on; 0 = never
  std::string wrong_kernel;  // its results are wrong
  std::string missing_code;  // why no kernel has code; "" = all have
  bool from_ptx = false;
  // Called at every launch, with its duration.
  std::function<void(const cuda::Kernel&, cuda::Grid, const cuda::Arguments&, double)> on_launch =
      {};
};

// An AGX Orin 64 GB as in the catalog, in round numbers.
TestGpuSettings test_orin();

class TestGpu final : public cuda::Gpu {
 public:
  explicit TestGpu(TestGpuSettings settings);
  ~TestGpu() override;

  double now_s() const { return host_s_; }
  void wait(double seconds) { host_s_ += seconds; }

  struct Drawn {  // by one kernel; idle in between
    double begin_s = 0, end_s = 0, power_w = 0;
  };
  const std::vector<Drawn>& drawn() const { return drawn_; }
  double idle_w() const { return settings_.idle_w; }
  SamplerWorld world();  // on this GPU's clock; quiet, never interrupted

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
  double kernel_seconds(const cuda::Kernel& kernel, cuda::Grid grid,
                        const cuda::Arguments& arguments) const;
  void compute(const cuda::Kernel& kernel, const cuda::Arguments& arguments) const;
  void check_lost() const;
  struct Buffer {
    std::uint64_t bytes = 0;
    cuda::MemoryKind kind = cuda::MemoryKind::device;
  };
  const Buffer* buffer_at(const void* address) const;  // null for host memory

  TestGpuSettings settings_;
  std::vector<Drawn> drawn_;
  Random random_{11};
  double host_s_ = 0, device_s_ = 0;  // now, and when the stream is empty
  double begin_s_ = 0, end_s_ = 0;
  int launches_ = 0, nodes_ = 0;
  bool timed_out_ = false;  // the driver ended a kernel, and the context with it
  std::uint64_t allocated_ = 0;
  std::map<const void*, Buffer> buffers_;
};

}  // namespace ridgeline::testing
