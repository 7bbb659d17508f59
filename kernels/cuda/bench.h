// The bench: buffers on the device, the best way to launch each kernel, and one reading of it.
// The sampler repeats and averages readings; verdict.h judges them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/profile.h"
#include "kernels/cuda/device_buffer.h"
#include "kernels/cuda/gpu.h"
#include "kernels/cuda/plan.h"
#include "kernels/cuda/transfer.h"
#include "kernels/sampler.h"

namespace ridgeline::cuda {

// One way to launch a kernel. `repeats` are trips, or passes over the set for DRAM and L2.
struct Setup {
  const Kernel* kernel = nullptr;
  Grid grid;
  bool contiguous = false;      // blocks walk through regions of their own, or all side by side
  std::uint64_t set_bytes = 0;  // of all arrays together; 0 for compute kernels
  std::uint32_t repeats = 2;

  bool dram() const;                  // whether its data lie there
  bool walks() const;                 // through DRAM, place by place
  bool passes() const;                // whether repeats are passes over the set
  std::uint32_t trips() const;        // of one pass
  double flop() const;                // of one launch
  double bytes() const;               // likewise
  double work() const;                // FLOP, bytes or dependent loads, whatever its rate counts
  std::uint64_t least_bytes() const;  // of a set that one trip stays within
  Arguments arguments() const;        // but for the buffers
};

struct Timed {
  double seconds = 0;
  double clock_hz = 0;  // median over the blocks; 0 if none ran long enough
};

// Launches once and reads time and stamps; `meanwhile` is called while the kernel runs.
Timed run_once(Gpu& gpu, const Setup& setup, const DeviceBuffer& data, const DeviceBuffer& stamps,
               const std::function<void()>& meanwhile = {});

// Enough for the stamps of a grid and for what its memory kernels leave behind them.
std::uint64_t stamp_bytes(Grid grid);

// Fills device memory: registers of all warps of a grid, or random elements.
void fill_registers(Gpu& gpu, const Setup& setup, const DeviceBuffer& data);
void fill_elements(Gpu& gpu, const DeviceBuffer& data);

// What a compute kernel got wrong in one trip, against the host; empty where nothing.
std::string wrong_result(Gpu& gpu, Setup setup, const DeviceBuffer& data,
                         const DeviceBuffer& stamps);

// The search for the best launch shape of a kernel, and how far it came.
struct Tuning {
  struct Shape {
    Setup setup;
    double merit = 0;  // rate, or rate per clock
  };
  std::size_t shapes = 0, tried = 0;
  std::vector<Shape> best;           // of those tried
  bool confirmed = false;            // the best were measured again, on the whole set
  std::uint64_t threads = 0;         // that there are registers for
  const Kernel* prepared = nullptr;  // whose registers they are

  bool cut_short() const { return tried < shapes || !confirmed; }
  std::string note() const;  // empty unless it was cut short
};

// Sets in DRAM are this many times as large as L2, if memory allows: a cache that keeps some lines
// for good serves at most the share of a set that it holds. Up to 1 % is not worth a remark.
inline constexpr std::uint64_t dram_l2 = 160, enough_dram_l2 = 100;

class Bench {
 public:
  // Allocates and tunes in about `tuning_s`.
  Bench(Gpu& gpu, const std::vector<PlannedTrial>& plan, const MeasureOptions& options,
        const SamplerWorld& world, double tuning_s);

  // One per planned trial; those that cannot run or are launch costs have no `run`.
  std::vector<Trial> trials();

  // Runs a trial's kernel once, as it was tuned, with other repeats.
  Timed run(std::size_t index, std::uint32_t repeats, const std::function<void()>& meanwhile);
  // The same with another setup of its kernel: repeats, and a part of its set.
  Timed run(std::size_t index, const Setup& setup, const std::function<void()>& meanwhile);
  // Keeps what goes wrong with a trial on the device as its failure instead of ending the run.
  void guard(std::size_t index, const std::function<void()>& action);

  const Setup& setup(std::size_t index) const { return setups_[index]; }
  const Tuning& tuning(std::size_t index) const { return tunings_[index]; }
  const std::string& failure(std::size_t index) const { return failures_[index]; }
  std::uint64_t transfer_bytes() const { return transfers_ ? transfers_->bytes() : 0; }
  bool lost() const { return lost_; }  // the device stopped responding
  const std::vector<Warning>& warnings() const { return warnings_; }

 private:
  void allocate();
  DeviceBuffer allocate_elements(std::uint64_t wanted, MemoryKind kind);
  void prepare_transfers();
  void prepare_chains();
  std::string wrong_position(const Setup& setup);
  void share_out(const std::vector<std::size_t>& kernels, double end_s,
                 const std::function<void(std::size_t, double)>& step);
  std::vector<Setup> setups_to_try(const PlannedTrial& trial) const;
  void reserve_registers(std::size_t index, const std::vector<Setup>& setups);
  void prepare(const Setup& setup);
  void settle(const Setup& setup, double until_s);
  void scout(std::size_t index, double until_s);
  void confirm(std::size_t index, double until_s);
  void choose(std::size_t index);
  Timed calibrate(Setup& setup, double window_s);
  void cut(Setup& setup);
  void choose_chain(std::size_t index);
  void touch_chain(const Setup& setup);
  void lead_in(const Setup& setup);
  Reading read(const Setup& setup);

  Gpu& gpu_;
  const std::vector<PlannedTrial>& plan_;
  const MeasureOptions& options_;
  const SamplerWorld& world_;
  std::array<DeviceBuffer, 3> elements_;  // by MemoryKind
  DeviceBuffer stamps_;
  std::unique_ptr<TransferBench> transfers_;
  std::vector<DeviceBuffer> registers_;  // by trial
  std::vector<DeviceBuffer> chains_;     // likewise
  const DeviceBuffer& data_of(const Setup& setup) const;
  std::size_t current_ = 0;  // trial whose registers are in use
  std::vector<Setup> setups_;
  std::vector<Tuning> tunings_;
  std::vector<double> lead_in_rates_;                          // the highest of each trial
  double launch_s_ = std::numeric_limits<double>::infinity();  // the shortest one: nearly all cost
  std::vector<std::string> failures_;
  std::vector<Warning> warnings_;
  bool lost_ = false;
  bool cut_ = false;  // a set, since long launches are ended
};

}  // namespace ridgeline::cuda
