// One launch: its arguments, its work, and its time by the device's own stamps; blocks never share
// a line of DRAM. Tuning: every kernel has many ways to be launched, and none is the fastest
// everywhere. All are tried briefly, the fastest is kept, and what is published is measured anew.
#include "kernels/cuda/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/random.h"
#include "base/statistics.h"
#include "base/units.h"
#include "kernels/cuda/reference.h"

namespace ridgeline::cuda {
namespace {

std::uint64_t warps_of(Grid grid) { return std::uint64_t{grid.blocks} * (grid.threads / 32); }

// Bytes of each array that one block covers in one trip.
std::uint64_t tile_bytes(const Setup& setup) {
  return setup.kernel->warp_bytes() * (setup.grid.threads / 32);
}

std::uint64_t array_bytes(const Setup& setup) {
  return setup.set_bytes / std::uint64_t(std::max(setup.kernel->arrays, 1)) / 512 * 512;
}

bool walks(const Kernel& kernel) {  // through DRAM, place by place
  return kernel.role == Role::sweep ||
         (kernel.role == Role::memory && kernel.level == Level::dram &&
          kernel.direction != Direction::random);
}

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
constexpr std::uint64_t least_array = 256 * mebibyte;  // in DRAM
constexpr std::uint64_t least_elements = 16 * mebibyte;
constexpr std::uint64_t whole_copy = 64 * mebibyte;  // between host and device
constexpr double trial_window_s = 1e-3;              // while tuning
constexpr double longest_s = 0.5;  // of one launch: drivers with a display end them after two
constexpr const char* close_others = "close other programs that use the GPU";

std::uint64_t set_bytes(const Kernel& kernel, const DeviceFacts& facts, std::uint64_t elements) {
  switch (kernel.role == Role::sweep ? Level::dram : kernel.level) {
    case Level::dram:
      return elements;
    case Level::l2:
      return std::min(facts.l2_bytes / 2, elements);
    default:
      return 32 * 1024;  // L1 and shared memory: what a block of 128 threads covers
  }
}

}  // namespace

bool Setup::passes() const { return walks(*kernel); }

std::uint32_t Setup::trips() const {
  if (!passes()) return repeats;
  const std::uint64_t all = array_bytes(*this) / (tile_bytes(*this) * grid.blocks);
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(all, 1, 0x7fffffff));
}

double Setup::flop() const {
  return kernel->flop_per_trip() * static_cast<double>(warps_of(grid)) * trips() *
         (passes() ? repeats : 1);
}

double Setup::bytes() const {
  return kernel->bytes_per_trip() * static_cast<double>(warps_of(grid)) * trips() *
         (passes() ? repeats : 1);
}

std::uint64_t Setup::least_bytes() const {
  if (kernel->arrays == 0) return 0;
  return tile_bytes(*this) * (passes() ? grid.blocks : 1) * std::uint64_t(kernel->arrays);
}

Arguments Setup::arguments() const {
  Arguments arguments{};
  arguments.trips = trips();
  arguments.passes = passes() ? repeats : 1;
  arguments.scale = kernel->direction == Direction::update ? -2.0f : 3.0f;
  arguments.window = 1;
  if (kernel->role == Role::compute || kernel->role == Role::launch) return arguments;
  const std::uint64_t tile = tile_bytes(*this);
  arguments.pitch = array_bytes(*this);
  arguments.window = std::max(array_bytes(*this), tile);
  if (passes()) {
    arguments.block_step = contiguous ? tile * trips() : tile;
    arguments.trip_step = contiguous ? tile : tile * grid.blocks;
  } else if (kernel->level == Level::l2) {
    // Blocks re-read their tile; together they cover the set.
    arguments.window = std::max(array_bytes(*this) / tile, std::uint64_t{1}) * tile;
    arguments.block_step = tile;
  }
  return arguments;
}

std::uint64_t stamp_bytes(Grid grid) {
  return grid.blocks * sizeof(Stamp) + std::uint64_t{grid.blocks} * grid.threads * 4;
}

Timed run_once(Gpu& gpu, const Setup& setup, const DeviceBuffer& data, const DeviceBuffer& stamps,
               const std::function<void()>& meanwhile) {
  Arguments arguments = setup.arguments();
  arguments.data = data.data();
  arguments.stamps = static_cast<Stamp*>(stamps.data());
  gpu.record_begin();
  gpu.launch(*setup.kernel, setup.grid, arguments);
  gpu.record_end();
  if (meanwhile) meanwhile();
  Timed timed{gpu.elapsed_s(), 0};
  std::vector<Stamp> read(setup.grid.blocks);
  gpu.download(read.data(), stamps.data(), read.size() * sizeof(Stamp));
  std::vector<double> clocks;
  // The nanosecond clock may move in steps of a microsecond.
  constexpr std::uint64_t least_ns = 200'000;
  for (const Stamp& stamp : read)
    if (stamp.end_ns > stamp.begin_ns + least_ns && stamp.end_cycles > stamp.begin_cycles)
      clocks.push_back(static_cast<double>(stamp.end_cycles - stamp.begin_cycles) /
                       (1e-9 * static_cast<double>(stamp.end_ns - stamp.begin_ns)));
  if (!clocks.empty()) timed.clock_hz = median(clocks);
  return timed;
}

void fill_registers(Gpu& gpu, const Setup& setup, const DeviceBuffer& data) {
  // Different warps cannot be merged: a few of them, again and again, are enough.
  const std::uint64_t warps = warps_of(setup.grid);
  const std::uint64_t made = std::min<std::uint64_t>(warps, 32);
  const auto registers = start_registers(*setup.kernel, made, 1);
  const std::uint64_t each = registers.size() / made;
  for (std::uint64_t warp = 0; warp < warps; warp += made)
    gpu.upload(static_cast<std::byte*>(data.data()) + warp * each, registers.data(),
               std::min(made, warps - warp) * each);
}

void fill_elements(Gpu& gpu, const DeviceBuffer& data) {
  // In [−1.5, −1.25): random in the fraction, and what keeps the sweep's orbits bounded.
  constexpr std::uint64_t chunk = std::uint64_t{4} << 20;
  std::vector<std::uint32_t> elements(std::min(chunk, data.bytes()) / 4);
  Random random{1};
  for (std::uint32_t& element : elements)
    element = 0xbfa00000u + static_cast<std::uint32_t>(random.next() & 0x1fffff);
  const std::uint64_t bytes = elements.size() * 4;
  for (std::uint64_t at = 0; at + 4 <= data.bytes(); at += bytes)
    gpu.upload(static_cast<std::byte*>(data.data()) + at, elements.data(),
               std::min(bytes, data.bytes() - at));
}

std::string wrong_result(Gpu& gpu, Setup setup, const DeviceBuffer& data,
                         const DeviceBuffer& stamps) {
  setup.repeats = 1;
  fill_registers(gpu, setup, data);
  run_once(gpu, setup, data, stamps);
  auto expected = start_registers(*setup.kernel, 1, 1);
  std::vector<std::byte> found(expected.size());
  gpu.download(found.data(), data.data(), found.size());
  run_reference(*setup.kernel, setup.repeats, expected);
  return found == expected ? "" : "its result differs from the host's";
}

Bench::Bench(Gpu& gpu, const std::vector<PlannedTrial>& plan, const MeasureOptions& options,
             const SamplerWorld& world, double tuning_s)
    : gpu_(gpu),
      plan_(plan),
      options_(options),
      world_(world),
      registers_(plan.size()),
      setups_(plan.size()),
      failures_(plan.size()) {
  allocate();
  const double start = world.now_s();
  for (std::size_t i = 0; i < plan.size() && !lost_ && !world.interrupted(); ++i) {
    if (!plan[i].missing.empty() || !failures_[i].empty()) continue;
    if (plan[i].role == Role::launch || plan[i].role == Role::transfer) continue;
    const double until =
        start + tuning_s * static_cast<double>(i + 1) / static_cast<double>(plan.size());
    current_ = i;
    guard(i, [&] { tune(i, until); });
  }
}

void Bench::guard(std::size_t index, const std::function<void()>& action) {
  try {
    action();
  } catch (const GpuError& error) {
    failures_[index] = error.what();
    lost_ = lost_ || error.kind() == GpuError::Kind::lost;
  }
}

// The largest buffer that there is memory for, up to what is wanted; an empty one where it is none.
DeviceBuffer Bench::allocate_elements(std::uint64_t wanted, MemoryKind kind) {
  for (std::uint64_t bytes = wanted; bytes >= least_elements;
       bytes = bytes / 2 / mebibyte * mebibyte) {
    try {
      DeviceBuffer buffer(gpu_, bytes, kind);
      fill_elements(gpu_, buffer);
      return buffer;
    } catch (const GpuError& error) {
      if (error.kind() != GpuError::Kind::out_of_memory) throw;
    }
  }
  return {};
}

// Three arrays of four times the L2 cache, in each kind of memory; less, with a warning, if memory
// is short.
void Bench::allocate() {
  const DeviceFacts& facts = gpu_.facts();
  const Grid largest{static_cast<std::uint32_t>(facts.multiprocessors) * 32,
                     static_cast<std::uint32_t>(facts.threads_per_multiprocessor) / 32};
  stamps_ = DeviceBuffer(gpu_, stamp_bytes(largest));
  std::set<MemoryKind> kinds;
  for (const PlannedTrial& trial : plan_)
    if (trial.missing.empty() && (trial.role == Role::memory || trial.role == Role::sweep))
      kinds.insert(trial.memory);
  const std::uint64_t wanted = 3 * std::max(4 * facts.l2_bytes, least_array);
  for (const MemoryKind kind : kinds) {
    const std::uint64_t share = facts.free_bytes / 2 / kinds.size() / mebibyte * mebibyte;
    DeviceBuffer& elements = elements_[static_cast<std::size_t>(kind)];
    elements = allocate_elements(std::min(wanted, share), kind);
    const std::string free = format_bytes(static_cast<double>(facts.free_bytes));
    if (elements.bytes() == 0 && kind == MemoryKind::device)
      throw Error("GPU memory", "no memory for the buffers: " + free + " are free", close_others);
    for (std::size_t i = 0; i < plan_.size() && elements.bytes() == 0; ++i)
      if (plan_[i].role == Role::memory && plan_[i].memory == kind)
        failures_[i] = fmt::format("no {} memory for the buffers", to_string(kind));
    if (elements.bytes() > 0 && elements.bytes() < wanted)
      warnings_.push_back(
          {fmt::format("{}memory is short: buffers of {} instead of {}",
                       kind == MemoryKind::device ? "GPU " : fmt::format("{} ", to_string(kind)),
                       format_bytes(static_cast<double>(elements.bytes())),
                       format_bytes(static_cast<double>(wanted))),
           close_others});
  }
  prepare_transfers();
}

void Bench::prepare_transfers() {
  const auto copies = [](const PlannedTrial& trial) {
    return trial.role == Role::transfer && trial.missing.empty();
  };
  if (std::ranges::none_of(plan_, copies)) return;
  std::string reason = "no memory for the buffers";
  for (std::uint64_t bytes = whole_copy; !transfers_ && bytes >= mebibyte; bytes /= 2) {
    try {
      transfers_ = std::make_unique<TransferBench>(gpu_, bytes);
    } catch (const GpuError& error) {
      if (error.kind() == GpuError::Kind::out_of_memory) continue;
      lost_ = lost_ || error.kind() == GpuError::Kind::lost;
      reason = error.what();
      break;
    }
  }
  if (transfers_ && transfers_->bytes() < whole_copy)
    warnings_.push_back({fmt::format("memory is short: copies of {} instead of {}",
                                     format_bytes(static_cast<double>(transfers_->bytes())),
                                     format_bytes(static_cast<double>(whole_copy))),
                         close_others});
  for (std::size_t i = 0; i < plan_.size() && !transfers_; ++i)
    if (copies(plan_[i])) failures_[i] = reason;
}

const DeviceBuffer& Bench::data_of(const Setup& setup) const {
  return setup.kernel->role == Role::compute
             ? registers_[current_]
             : elements_[static_cast<std::size_t>(plan_[current_].memory)];
}

std::vector<Setup> Bench::setups_to_try(const PlannedTrial& trial) const {
  const DeviceFacts& facts = gpu_.facts();
  std::vector<Setup> setups;
  for (const Kernel* kernel : trial.candidates) {
    const bool near = kernel->role == Role::memory &&
                      (kernel->level == Level::l1 || kernel->level == Level::shared);
    for (const std::uint32_t threads : {128u, 256u, 512u}) {
      if (near && threads != 128) continue;
      const int resident = gpu_.resident_blocks(*kernel, threads);
      for (const int per_multiprocessor : {1, 2, 4, 8}) {
        if (per_multiprocessor > resident) continue;
        Setup setup;
        setup.kernel = kernel;
        setup.grid = {static_cast<std::uint32_t>(facts.multiprocessors * per_multiprocessor),
                      threads};
        if (kernel->role != Role::compute)
          setup.set_bytes = set_bytes(*kernel, facts, data_of(setup).bytes());
        if (setup.set_bytes < setup.least_bytes()) continue;
        setups.push_back(setup);
        if (!setup.passes()) continue;
        setup.contiguous = true;
        setups.push_back(setup);
      }
    }
  }
  return setups;
}

void Bench::tune(std::size_t index, double until_s) {
  const auto setups = setups_to_try(plan_[index]);
  if (setups.empty())
    throw GpuError(GpuError::Kind::launch, plan_[index].name(),
                   "no block of it fits on a multiprocessor");
  std::uint64_t threads = 0;  // of the largest grid
  for (const Setup& setup : setups)
    threads = std::max(threads, std::uint64_t{setup.grid.blocks} * setup.grid.threads);
  if (plan_[index].role == Role::compute) {
    int bytes = 0;  // of a thread
    for (const Kernel* kernel : plan_[index].candidates)
      bytes = std::max(bytes, kernel->registers() * kernel->register_bytes);
    registers_[index] = DeviceBuffer(gpu_, threads * static_cast<std::uint64_t>(bytes));
  }
  const Kernel* filled = nullptr;
  double best = 0;
  for (Setup setup : setups) {
    if (best > 0 && world_.now_s() > until_s) break;
    if (world_.interrupted()) break;
    if (setup.kernel != filled && setup.kernel->role == Role::compute) {
      Setup largest = setup;
      largest.grid = {static_cast<std::uint32_t>(threads / 32), 32};
      fill_registers(gpu_, largest, data_of(setup));
    }
    filled = setup.kernel;
    calibrate(setup, trial_window_s);
    const double rate = read(setup).rate;
    if (rate <= best) continue;
    best = rate;
    setups_[index] = setup;
  }
  Setup& winner = setups_[index];
  if (!winner.kernel) return;  // interrupted
  if (winner.kernel->role == Role::compute) {
    const std::string wrong = wrong_result(gpu_, winner, data_of(winner), stamps_);
    if (!wrong.empty())
      throw GpuError(GpuError::Kind::launch, std::string(winner.kernel->name), wrong);
  }
  calibrate(winner, options_.window_s);
}

// Repeats for a window of about this length: even, so that its half is whole.
void Bench::calibrate(Setup& setup, double window_s) {
  if (gpu_.facts().watchdog) cut(setup);
  setup.repeats = 2;
  for (;;) {
    const double seconds = run_once(gpu_, setup, data_of(setup), stamps_).seconds;
    if (seconds >= window_s || seconds >= longest_s) return;
    // At most eightfold: the first readings are mostly launch cost.
    const double factor = std::clamp(1.1 * window_s / std::max(seconds, 1e-7), 1.5, 8.0);
    const double repeats = factor * setup.repeats;
    if (repeats > 1e9) return;
    setup.repeats = (static_cast<std::uint32_t>(repeats) + 1) / 2 * 2;
  }
}

// Two passes are the least that is timed: where they would take too long, the set is cut.
void Bench::cut(Setup& setup) {
  if (!setup.passes()) return;
  Setup part = setup;
  part.set_bytes = std::max(setup.set_bytes / 16, setup.least_bytes());
  part.repeats = 1;
  double seconds = longest_s;  // the first launch may have to load the code
  for (int i = 0; i < 2; ++i)
    seconds = std::min(seconds, run_once(gpu_, part, data_of(part), stamps_).seconds);
  const double share = static_cast<double>(setup.set_bytes) / static_cast<double>(part.set_bytes);
  const double factor = longest_s / std::max(2 * seconds * share, 1e-9);
  if (factor >= 1) return;
  setup.set_bytes =
      std::max(static_cast<std::uint64_t>(factor * static_cast<double>(setup.set_bytes)) /
                   mebibyte * mebibyte,
               part.set_bytes);
  if (cut_) return;
  cut_ = true;
  warnings_.push_back(
      {fmt::format("the driver ends kernels after two seconds: {} was measured with "
                   "a smaller set, as rows say",
                   setup.kernel->name),
       "stop the desktop on this GPU"});
}

// The whole and half of it: what a launch costs is in both, and not in their difference.
Reading Bench::read(const Setup& setup) {
  Setup half = setup;
  half.repeats = setup.repeats / 2;
  const auto work = [](const Setup& of) {
    return of.kernel->role == Role::compute ? of.flop() : of.bytes();
  };
  const Timed part = run_once(gpu_, half, data_of(half), stamps_);
  const Timed whole = run_once(gpu_, setup, data_of(setup), stamps_);
  if (whole.seconds <= part.seconds) return {work(setup) / whole.seconds, whole.clock_hz};
  return {(work(setup) - work(half)) / (whole.seconds - part.seconds), whole.clock_hz};
}

Timed Bench::run(std::size_t index, std::uint32_t repeats, const std::function<void()>& meanwhile) {
  current_ = index;
  Setup setup = setups_[index];
  setup.repeats = repeats;
  return run_once(gpu_, setup, data_of(setup), stamps_, meanwhile);
}

std::vector<Trial> Bench::trials() {
  std::vector<Trial> trials;
  for (std::size_t i = 0; i < plan_.size(); ++i) {
    Trial trial{plan_[i].name(), {}};
    if (plan_[i].role == Role::transfer && plan_[i].missing.empty() && transfers_)
      trial.run = [this, i] {
        Reading reading;
        if (failures_[i].empty() && !lost_)
          guard(i, [&] { reading = transfers_->read(plan_[i].transfer); });
        return reading;
      };
    if (setups_[i].kernel && failures_[i].empty())
      trial.run = [this, i] {
        Reading reading;
        current_ = i;
        if (failures_[i].empty() && !lost_) guard(i, [&] { reading = read(setups_[i]); });
        return reading;
      };
    trials.push_back(std::move(trial));
  }
  return trials;
}

}  // namespace ridgeline::cuda
