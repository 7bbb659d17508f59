// Lays out data and builds the jobs. Threads fill what they will use, so that pages land on their
// node; the DRAM buffer is shared by all DRAM trials, which walk through all of it.
#include "kernels/cpu/bench.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <new>

#include "base/error.h"
#include "kernels/cpu/pointer_chain.h"
#include "kernels/cpu/state.h"

namespace ridgeline::cpu {
namespace {

constexpr std::uint64_t page = 4096;
// Arrays start at different offsets within a page: stores would otherwise seem to hit the loads
// of the other array (the low 12 address bits decide).
constexpr std::uint64_t skew = 1280;

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

}  // namespace

ThreadData lay_out(const Kernel& kernel, std::byte* data, std::uint64_t bytes) {
  const auto arrays = static_cast<std::uint64_t>(kernel.arrays);
  const auto block = static_cast<std::uint64_t>(kernel.block_bytes());
  const std::uint64_t padding = arrays > 1 ? (arrays - 1) * skew : 0;
  // The sweep stores its last block behind the array.
  const std::uint64_t behind = kernel.role == Role::sweep ? block + 64 : 0;
  const std::uint64_t usable = bytes > padding + behind ? bytes - padding - behind : 0;
  const std::uint64_t array = usable / arrays / block * block;
  if (array == 0)
    throw Error(std::string(kernel.name),
                std::to_string(bytes) + " bytes per thread are less than one trip of the kernel",
                "use at least " + std::to_string(arrays * block + padding + behind) + " bytes");
  const std::uint64_t pitch = kernel.role == Role::sweep ? (array + 63) / 64 * 64 : array + skew;
  return {data, array, pitch};
}

struct Bench::Buffers {
  PageBuffer dram;                                         // shared by all DRAM trials
  std::map<std::pair<Level, int>, PageBuffer> per_thread;  // caches, by level and thread
  std::vector<std::unique_ptr<void, Free>> states;         // of compute and clock kernels
  std::vector<PageBuffer> chains;                          // of the latency ladder
  std::vector<std::unique_ptr<void*>> positions;           // in the chains
};

Bench::Bench(const std::vector<PlannedTrial>& plan, const MeasureOptions& options,
             const Topology& topology)
    : plan_(plan),
      options_(options),
      team_([&] {
        int most = 1;
        for (const PlannedTrial& trial : plan) most = std::max(most, trial.threads);
        return std::vector(topology.cpus.begin(), topology.cpus.begin() + most);
      }()),
      buffers_(std::make_unique<Buffers>()),
      calibrated_(plan.size(), false) {
  // The largest need per level over all thread counts.
  std::uint64_t dram_bytes = 0;
  std::map<std::pair<Level, int>, std::uint64_t> cache_bytes;
  for (const PlannedTrial& trial : plan) {
    if (trial.section != Section::memory && trial.section != Section::sweep) continue;
    if (trial.set.level == Level::dram) {
      dram_bytes = std::max(dram_bytes,
                            trial.set.bytes_per_thread * static_cast<std::uint64_t>(trial.threads));
      continue;
    }
    for (int thread = 0; thread < trial.threads; ++thread) {
      std::uint64_t& need = cache_bytes[{trial.set.level, thread}];
      need = std::max(need, trial.set.bytes_per_thread);
    }
  }
  for (const auto& [key, bytes] : cache_bytes) buffers_->per_thread.emplace(key, PageBuffer(bytes));
  if (dram_bytes > 0) buffers_->dram = PageBuffer(dram_bytes);
  team_.run(team_.size(), [&](int thread) {
    for (const auto& [key, buffer] : buffers_->per_thread)
      if (key.second == thread)
        fill_random(buffer.data(), buffer.size(), static_cast<std::uint64_t>(thread) + 1);
    if (dram_bytes == 0) return;
    const auto threads = static_cast<std::uint64_t>(team_.size());
    const std::uint64_t part = dram_bytes / threads / page * page;
    const std::uint64_t first = part * static_cast<std::uint64_t>(thread);
    const std::uint64_t last = thread + 1 == team_.size() ? dram_bytes : first + part;
    fill_random(buffers_->dram.data() + first, last - first,
                static_cast<std::uint64_t>(thread) + 1);
  });
  for (const PlannedTrial& trial : plan)
    jobs_.push_back(trial.missing.empty() && trial.kernel ? make_job(trial) : Job{});
}

Bench::~Bench() = default;

Job Bench::make_job(const PlannedTrial& trial) {
  Job job;
  job.kernel = trial.kernel;
  if (trial.section == Section::compute || trial.set.level != Level::dram)
    job.probe = find_kernel(trial.kernel->probe);
  const auto new_state = [&](const Kernel& kernel, int thread) -> void* {
    const std::size_t bytes = (state_bytes(kernel) + page - 1) / page * page;
    buffers_->states.emplace_back(std::aligned_alloc(page, bytes));
    if (!buffers_->states.back()) throw std::bad_alloc();
    prepare_state(kernel, buffers_->states.back().get(), static_cast<std::uint64_t>(thread) + 1);
    return buffers_->states.back().get();
  };
  for (int thread = 0; thread < trial.threads; ++thread) {
    switch (trial.section) {
      case Section::compute:
        job.threads.push_back({new_state(*trial.kernel, thread), 0, 0});
        break;
      case Section::latency: {
        buffers_->chains.emplace_back(trial.set.bytes_per_thread);
        const PageBuffer& chain = buffers_->chains.back();
        buffers_->positions.push_back(std::make_unique<void*>(
            make_pointer_chain(chain.data(), trial.set.bytes_per_thread, 64, 1)));
        job.threads.push_back({buffers_->positions.back().get(), 0, 0});
        break;
      }
      default: {
        std::byte* data = nullptr;
        if (trial.set.level == Level::dram) {
          const std::uint64_t part = trial.set.bytes_per_thread / page * page;
          data = buffers_->dram.data() + part * static_cast<std::uint64_t>(thread);
          job.threads.push_back(lay_out(*trial.kernel, data, part));
        } else {
          data = buffers_->per_thread.at({trial.set.level, thread}).data();
          job.threads.push_back(lay_out(*trial.kernel, data, trial.set.bytes_per_thread));
        }
      }
    }
    if (!job.probe) continue;
    // Probes of memory kernels load from the kernel's own data, probes of compute kernels have a
    // state of their own: another kernel's bits could be denormal numbers to them.
    job.probe_data.push_back(trial.section == Section::compute ? new_state(*job.probe, thread)
                                                               : job.threads.back().data);
  }
  return job;
}

std::vector<Trial> Bench::trials() {
  std::vector<Trial> trials;
  for (std::size_t i = 0; i < plan_.size(); ++i) {
    const PlannedTrial& planned = plan_[i];
    Trial trial{planned.name(), {}};
    if (planned.section == Section::launch)
      trial.run = [this, threads = planned.threads] { return run_fork_join(threads); };
    else if (planned.missing.empty())
      trial.run = [this, i] { return run_job(i); };
    trials.push_back(std::move(trial));
  }
  return trials;
}

std::uint64_t Bench::working_set_bytes(std::size_t index) const {
  const PlannedTrial& trial = plan_[index];
  if (trial.section == Section::latency) return trial.set.bytes_per_thread;
  std::uint64_t bytes = 0;
  for (const ThreadData& data : jobs_[index].threads)
    bytes += data.bytes * static_cast<std::uint64_t>(trial.kernel->arrays);
  return bytes;
}

Reading Bench::run_job(std::size_t index) {
  Job& job = jobs_[index];
  if (!calibrated_[index]) {
    calibrate(team_, job, options_.window_s);
    calibrated_[index] = true;
  }
  const Window window = run_window(team_, job);
  switch (plan_[index].section) {
    case Section::compute:
      return {job.flop() / window.seconds, window.clock_hz};
    case Section::latency:
      return {static_cast<double>(job.repeats) * job.kernel->loads / window.seconds, 0};
    default:
      return {job.bytes() / window.seconds, window.clock_hz};
  }
}

Bench::ExactRun Bench::run_exactly(std::size_t index, std::uint64_t repeats) {
  Job& job = jobs_[index];
  job.probe = nullptr;
  if (repeats > 0) {
    job.repeats = repeats;
  } else if (!calibrated_[index]) {
    calibrate(team_, job, options_.window_s);
    calibrated_[index] = true;
  }
  job.lead = 0;
  const Window window = run_window(team_, job);
  // The latency kernel has no arrays: its trips are counted by the loads of its descriptor.
  return {window.seconds, job.repeats, job.flop(), job.bytes()};
}

Reading Bench::run_fork_join(int threads) {
  constexpr int jobs = 200;
  const std::function<void(int)> nothing = [](int) {};
  const double start = now_s();
  for (int i = 0; i < jobs; ++i) team_.run(threads, nothing);
  return {jobs / (now_s() - start), 0};
}

}  // namespace ridgeline::cpu
