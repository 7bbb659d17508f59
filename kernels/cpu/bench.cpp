// Lays out data and builds the jobs. Threads fill what they will use, so that pages land on their
// node. The DRAM buffer is shared by all DRAM trials: each window takes the next stretch of it,
// so that none comes again before most of the buffer, four times the last cache, has passed.
#include "kernels/cpu/bench.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <new>
#include <set>

#include "base/error.h"
#include "kernels/cpu/state.h"
#include "kernels/steady_clock.h"

namespace ridgeline::cpu {
namespace {

constexpr std::uint64_t page = 4096;
// Arrays start at different offsets within a page: stores would otherwise seem to hit the loads
// of the other array (the low 12 address bits decide).
constexpr std::uint64_t skew = 1280;
constexpr double dram_window_s = 10e-3;
// Of one thread and window while a write pattern is chosen: a fraction of a millisecond to some.
constexpr std::uint64_t pattern_bytes = std::uint64_t{16} << 20;
constexpr int pattern_rounds = 7;

constexpr std::uint64_t line = 64;
// Of one thread's part of the DRAM buffer: about a tenth of a second to fill.
constexpr std::uint64_t fill_slice = std::uint64_t{64} << 20;

// Whether a trial walks through the shared DRAM buffer.
bool in_dram(const PlannedTrial& trial) {
  return (trial.section == Section::memory || trial.section == Section::sweep) &&
         trial.set.level == Level::dram;
}

// Bytes from the first to behind the last one that a thread touches.
std::uint64_t extent(const Kernel& kernel, const ThreadData& data) {
  if (kernel.role == Role::sweep)
    return data.pitch + static_cast<std::uint64_t>(kernel.block_bytes());
  return static_cast<std::uint64_t>(kernel.arrays - 1) * data.pitch + data.bytes;
}

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
    throw usage_error(
        std::string(kernel.name),
        std::to_string(bytes) + " bytes per thread are less than one trip of the kernel",
        "use at least " + std::to_string(arrays * block + padding + behind) + " bytes");
  const std::uint64_t pitch = kernel.role == Role::sweep ? (array + 63) / 64 * 64 : array + skew;
  return {data, array, pitch};
}

struct Bench::Buffers {
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  PageBuffer dram;                                         // shared by all DRAM trials
  std::map<std::pair<Level, int>, PageBuffer> per_thread;  // caches, by level and thread
  std::vector<std::unique_ptr<void, Free>> states;         // of compute and clock kernels
  std::vector<PageBuffer> chains;                          // of the latency ladder
  std::vector<std::unique_ptr<void*>> positions;           // in the chains
  std::set<std::pair<Level, int>> filled;                  // of per_thread
  bool dram_filled = false;
};

Bench::Bench(const std::vector<PlannedTrial>& plan, const MeasureOptions& options,
             const Topology& topology, std::function<void()> filling)
    : plan_(plan),
      options_(options),
      team_([&] {
        int most = 1;
        for (const PlannedTrial& trial : plan) most = std::max(most, trial.threads);
        return std::vector(topology.cpus.begin(), topology.cpus.begin() + most);
      }()),
      buffers_(std::make_unique<Buffers>()),
      prepared_(plan.size(), false),
      apart_(plan.size(), false),
      filling_(std::move(filling)) {
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
  for (const PlannedTrial& trial : plan)
    jobs_.push_back(trial.missing.empty() && trial.kernel ? make_job(trial) : Job{});
}

Bench::~Bench() = default;

// Fills the buffers that a trial reads, where no trial before it did. Threads fill what they use.
void Bench::fill(const PlannedTrial& trial) {
  if (in_dram(trial)) return fill_dram();
  std::set<std::pair<Level, int>> empty;
  for (int thread = 0; thread < trial.threads; ++thread)
    if (buffers_->per_thread.contains({trial.set.level, thread}) &&
        buffers_->filled.insert({trial.set.level, thread}).second)
      empty.insert({trial.set.level, thread});
  if (empty.empty()) return;
  team_.run(trial.threads, [&](int thread) {
    if (!empty.contains({trial.set.level, thread})) return;
    const PageBuffer& buffer = buffers_->per_thread.at({trial.set.level, thread});
    fill_random(buffer.data(), buffer.size(), static_cast<std::uint64_t>(thread) + 1);
  });
}

// In slices, between which the caller can show that something happens.
void Bench::fill_dram() {
  if (buffers_->dram_filled) return;
  buffers_->dram_filled = true;
  const auto threads = static_cast<std::uint64_t>(team_.size());
  const std::uint64_t bytes = buffers_->dram.size();
  const std::uint64_t part = bytes / threads / page * page;
  const std::uint64_t longest = std::max(part, bytes - part * (threads - 1));
  for (std::uint64_t offset = 0; offset < longest; offset += fill_slice) {
    team_.run(team_.size(), [&](int thread) {
      const std::uint64_t first = part * static_cast<std::uint64_t>(thread);
      const std::uint64_t last = thread + 1 == team_.size() ? bytes : first + part;
      if (first + offset >= last) return;
      fill_random(buffers_->dram.data() + first + offset,
                  std::min(fill_slice, last - first - offset),
                  (offset / fill_slice) * threads + static_cast<std::uint64_t>(thread) + 1);
    });
    if (filling_) filling_();
  }
}

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
            make_pointer_chain(chain.data(), trial.set.bytes_per_thread, line, 1)));
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
  if (in_dram(trial))
    return trial.set.bytes_per_thread / page * page * static_cast<std::uint64_t>(trial.threads);
  std::uint64_t bytes = 0;
  for (const ThreadData& data : jobs_[index].threads)
    bytes += data.bytes * static_cast<std::uint64_t>(trial.kernel->arrays);
  return bytes;
}

void Bench::prepare(std::size_t index) {
  if (prepared_[index]) return;
  prepared_[index] = true;
  const PlannedTrial& trial = plan_[index];
  Job& job = jobs_[index];
  if (trial.section == Section::memory || trial.section == Section::sweep) fill(trial);
  if (trial.section == Section::latency && trial.set.level != Level::dram) {
    // One way around the chain brings it into its cache.
    const std::uint64_t trips = trial.set.bytes_per_thread / line / 16;
    trial.kernel->body(std::max<std::uint64_t>(trips, 1), job.threads.front().data, 0, 0);
  }
  if (in_dram(trial))
    prepare_dram(index);
  else
    calibrate(team_, job, options_.window_s);
}

std::uint64_t Bench::part_bytes(std::size_t index) const {
  return plan_[index].set.bytes_per_thread / page * page;
}

// What a thread can pass in one window without leaving its part.
std::uint64_t Bench::longest_stretch(std::size_t index, bool apart) const {
  return part_bytes(index) - (apart ? large_page_bytes : 0);
}

void Bench::use_pattern(std::size_t index, const WritePattern& pattern, std::uint64_t bytes) {
  Job& job = jobs_[index];
  job.kernel = pattern.kernel;
  apart_[index] = pattern.apart;
  const std::uint64_t stretch =
      std::min(bytes, longest_stretch(index, pattern.apart)) / page * page;
  for (ThreadData& thread : job.threads)
    thread = lay_out(*pattern.kernel, static_cast<std::byte*>(thread.data), stretch);
}

std::vector<const std::byte*> Bench::starts(std::size_t index) const {
  std::vector<const std::byte*> starts;
  for (const ThreadData& thread : jobs_[index].threads)
    starts.push_back(static_cast<const std::byte*>(thread.data));
  return starts;
}

// Short windows of all patterns in turn, so that what disturbs one disturbs its neighbours too.
void Bench::choose_pattern(std::size_t index) {
  Job& job = jobs_[index];
  const std::vector<WritePattern> patterns =
      write_patterns(*plan_[index].kernel, static_cast<int>(job.threads.size()), part_bytes(index));
  if (patterns.size() == 1) return;
  std::vector<std::vector<double>> rates(patterns.size());
  for (int round = 0; round < pattern_rounds; ++round)
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      use_pattern(index, patterns[i], pattern_bytes);
      walk_on(index);
      const Window window = run_window(team_, job);
      rates[i].push_back(job.bytes() / window.seconds);
    }
  use_pattern(index, patterns[fastest_pattern(rates)], pattern_bytes);
}

// Cuts a thread's part of the buffer down to what a window passes in its time.
void Bench::prepare_dram(std::size_t index) {
  Job& job = jobs_[index];
  job.lead = 0;
  job.repeats = 1;
  const double whole_pass_s = run_window(team_, job).seconds;
  choose_pattern(index);
  const double share = std::min(1.0, dram_window_s / whole_pass_s);
  const auto stretch =
      static_cast<std::uint64_t>(share * static_cast<double>(plan_[index].set.bytes_per_thread));
  const std::uint64_t smallest = std::uint64_t{4} << 20;
  use_pattern(index, pattern(index), std::max(stretch, smallest));
}

// Moves all threads of a DRAM trial to the next stretch of their parts.
void Bench::walk_on(std::size_t index) {
  Job& job = jobs_[index];
  const std::uint64_t part = part_bytes(index);
  const std::uint64_t stretch = extent(*job.kernel, job.threads.front());
  const std::uint64_t longest = longest_stretch(index, apart_[index]);
  const std::uint64_t room = longest > stretch ? longest - stretch : 0;
  const std::uint64_t offset = room == 0 ? 0 : dram_position_ % room / page * page;
  const int threads = static_cast<int>(job.threads.size());
  for (int thread = 0; thread < threads; ++thread) {
    const auto number = static_cast<std::size_t>(thread);
    const std::uint64_t apart = apart_[index] ? apart_bytes(thread, threads, part) : 0;
    job.threads[number].data = buffers_->dram.data() + part * number + offset + apart;
  }
  dram_position_ += stretch;
}

Reading Bench::run_job(std::size_t index) {
  prepare(index);
  Job& job = jobs_[index];
  if (in_dram(plan_[index])) {
    // An untimed stretch first: it drives out what other kernels left modified in the caches,
    // which would otherwise be written back in this kernel's time.
    walk_on(index);
    run_window(team_, job);
    walk_on(index);
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
  const PlannedTrial& trial = plan_[index];
  job.probe = nullptr;
  if (trial.section == Section::memory || trial.section == Section::sweep) fill(trial);
  if (repeats > 0) {
    job.repeats = repeats;
  } else if (!prepared_[index]) {
    calibrate(team_, job, options_.window_s);
  }
  prepared_[index] = true;
  job.lead = 0;
  const Window window = run_window(team_, job);
  // The latency kernel has no arrays: its trips are counted by the loads of its descriptor.
  return {window.seconds, job.repeats, job.flop(), job.bytes()};
}

Reading Bench::run_fork_join(int threads) {
  constexpr int jobs = 2000;
  const std::function<void(int)> nothing = [](int) {};
  const double start = steady_seconds();
  for (int i = 0; i < jobs; ++i) team_.run(threads, nothing);
  return {jobs / (steady_seconds() - start), 0};
}

}  // namespace ridgeline::cpu
