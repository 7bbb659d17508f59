// The benches: memory, threads and jobs for every trial of a plan, ready to be run.
// Owns all buffers; one trial runs at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "kernels/cpu/page_buffer.h"
#include "kernels/cpu/plan.h"
#include "kernels/cpu/runner.h"
#include "kernels/cpu/write_pattern.h"
#include "kernels/sampler.h"

namespace ridgeline::cpu {

class Bench {
 public:
  // Allocates what the trials need and makes the chains of latency steps. Arrays are filled by the
  // first trial that reads them, so that a run can be stopped or short of time at any point;
  // `filling` is called now and then while that goes on.
  // Trials that are `missing` something are left out.
  Bench(const std::vector<PlannedTrial>& plan, const MeasureOptions& options,
        const Topology& topology, std::function<void()> filling = {});
  ~Bench();

  // One per entry of the plan; an empty function for those that cannot run.
  std::vector<Trial> trials();

  // One window of exactly `repeats` (0 = chosen for a window of options.window_s), without
  // lead-in and clock probe: what a profiler sees is this kernel and nothing else.
  struct ExactRun {
    double seconds = 0;
    std::uint64_t repeats = 0;
    double flop = 0, bytes = 0;  // declared work of the window, all threads
  };
  ExactRun run_exactly(std::size_t index, std::uint64_t repeats);

  // Bytes that all threads of a trial together work on; 0 for compute and launch.
  std::uint64_t working_set_bytes(std::size_t index) const;

  // What a trial runs: the planned kernel, or the write pattern that was found to be the fastest in
  // DRAM.
  WritePattern pattern(std::size_t index) const { return {jobs_[index].kernel, apart_[index]}; }

  // Makes a trial in DRAM write `bytes` per window and thread in this pattern. Its first run takes
  // the fastest one, so call this after it.
  void use_pattern(std::size_t index, const WritePattern& pattern, std::uint64_t bytes);

  // Where each thread of a trial's latest window starts.
  std::vector<const std::byte*> starts(std::size_t index) const;

  bool threads_bound() const { return team_.bound(); }

 private:
  struct Buffers;

  Job make_job(const PlannedTrial& trial);
  void fill(const PlannedTrial& trial);
  void fill_dram();
  void prepare(std::size_t index);
  void prepare_dram(std::size_t index);
  std::uint64_t part_bytes(std::size_t index) const;
  std::uint64_t longest_stretch(std::size_t index, bool apart) const;
  void choose_pattern(std::size_t index);
  void walk_on(std::size_t index);
  Reading run_job(std::size_t index);
  Reading run_fork_join(int threads);

  const std::vector<PlannedTrial>& plan_;
  MeasureOptions options_;
  Team team_;
  std::unique_ptr<Buffers> buffers_;
  std::vector<Job> jobs_;
  std::vector<bool> prepared_;
  std::vector<bool> apart_;  // of the write pattern
  std::function<void()> filling_;
  std::uint64_t dram_position_ = 0;  // where the next window in DRAM starts
};

// Bytes of each array and distance of arrays for a kernel on `bytes` of memory; throws a usage
// error where they do not hold a single trip.
ThreadData lay_out(const Kernel& kernel, std::byte* data, std::uint64_t bytes);

}  // namespace ridgeline::cpu
