// One launch: its arguments, its work, and its time by the device's own stamps; blocks never share
// a line of DRAM. Tuning: every kernel has many ways to be launched, and none is the fastest
// everywhere. All are tried briefly, likely ones first; the best three are measured again on the
// whole set, and what is published is measured anew.
#include "kernels/cuda/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include "base/random.h"
#include "base/statistics.h"
#include "base/units.h"
#include "kernels/cuda/arithmetic.h"
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

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
constexpr std::uint64_t least_array = 256 * mebibyte;   // in DRAM
constexpr std::uint64_t least_scouted = 64 * mebibyte;  // of a set in DRAM, while shapes are tried
constexpr std::uint64_t scouted_l2 = 16;                // likewise, in sizes of L2
constexpr std::uint64_t least_elements = 16 * mebibyte;
constexpr std::uint64_t whole_copy = 64 * mebibyte;  // between host and device
constexpr double trial_window_s = 1e-3;              // while tuning
constexpr double scouting_share = 0.6;               // of tuning; the rest confirms
// Others on the GPU can only slow a launch down: the best of several counts.
constexpr std::size_t scouting_rounds = 2, confirmed_shapes = 3, confirmed_near_shapes = 8;
constexpr int confirming_rounds = 3, near_tries = 3;
// Governors look at the load every 10 to 20 ms and raise the clocks in steps: a rate that has not
// grown for three of these times has settled. (tegra30-devfreq: ACTMON_SAMPLING_PERIOD 12 ms)
constexpr double settled_s = 0.03, settling_s = 0.3, grown = 1.01;
constexpr double lead_in_s = 0.1;           // at most, before a reading
constexpr double led_in = 0.99;             // of the highest rate of a lead-in so far
constexpr std::uint32_t lead_in_part = 4;   // of the set
constexpr double long_window_s = 5e-3;      // a launch costs some microseconds …
constexpr double longest_launch_s = 50e-6;  // … and never this; the work of a kernel may
constexpr double longest_s = 0.5;  // of one launch: drivers with a display end them after two
constexpr const char* close_others = "close other programs that use the GPU";

std::uint64_t dram_set(const DeviceFacts& facts) {
  const std::uint64_t by_l2 = (dram_l2 * facts.l2_bytes + mebibyte - 1) / mebibyte * mebibyte;
  return std::max(by_l2, least_array);
}

std::uint64_t set_bytes(const Kernel& kernel, const DeviceFacts& facts, std::uint64_t elements) {
  // Points of the sweep that arithmetic limits are slow: their set is as small as it may be.
  if (kernel.role == Role::sweep) return std::min(dram_set(facts), elements);
  switch (kernel.level) {
    case Level::dram:
      return elements;
    case Level::l2:
      return std::min(facts.l2_bytes / 2, elements);
    default:
      return 32 * 1024;  // L1 and shared memory: what a block of 128 threads covers
  }
}

}  // namespace

bool Setup::dram() const {
  return kernel->role == Role::sweep ||
         (kernel->role == Role::memory && kernel->level == Level::dram);
}

bool Setup::walks() const { return dram() && kernel->direction != Direction::random; }

bool Setup::passes() const {
  return walks() || (kernel->role == Role::memory && kernel->level == Level::l2);
}

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

double Setup::work() const {
  if (kernel->role == Role::compute) return flop();
  if (kernel->role == Role::latency) return double(kernel->loads) * trips();
  return bytes();
}

std::uint64_t Setup::least_bytes() const {
  if (kernel->arrays == 0) return 0;
  return tile_bytes(*this) * (walks() ? grid.blocks : 1) * std::uint64_t(kernel->arrays);
}

Arguments Setup::arguments() const {
  Arguments arguments{};
  arguments.trips = trips();
  arguments.passes = passes() ? repeats : 1;
  arguments.scale = kernel->direction == Direction::update ? -2.0f : 3.0f;
  arguments.window = 1;
  if (kernel->arrays == 0) return arguments;
  const std::uint64_t tile = tile_bytes(*this);
  arguments.pitch = array_bytes(*this);
  arguments.window = std::max(array_bytes(*this), tile);
  if (!passes()) return arguments;
  arguments.block_step = contiguous ? tile * trips() : tile;
  arguments.trip_step = contiguous ? tile : tile * grid.blocks;
  // Of a small set, blocks share tiles: loads bypass L1, and L2 answers each of them.
  if (!walks()) arguments.window = std::max(array_bytes(*this) / tile, std::uint64_t{1}) * tile;
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

namespace {

// How good a launch was. Clocks move while shapes are tried: what the multiprocessors' clock drives
// is compared per cycle.
double merit_of(const Setup& setup, const Timed& timed) {
  const bool per_cycle = !setup.dram() && timed.clock_hz > 0;
  return setup.work() / timed.seconds / (per_cycle ? timed.clock_hz : 1);
}

}  // namespace

std::string Tuning::note() const {
  if (tried < shapes)
    return fmt::format("tuning was cut short: {} of {} launch shapes tried", tried, shapes);
  return confirmed ? "" : "tuning was cut short: the best launch shape is not confirmed";
}

Bench::Bench(Gpu& gpu, const std::vector<PlannedTrial>& plan, const MeasureOptions& options,
             const SamplerWorld& world, double tuning_s)
    : gpu_(gpu),
      plan_(plan),
      options_(options),
      world_(world),
      registers_(plan.size()),
      chains_(plan.size()),
      setups_(plan.size()),
      tunings_(plan.size()),
      lead_in_rates_(plan.size()),
      failures_(plan.size()) {
  allocate();
  std::vector<std::size_t> kernels;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (!plan[i].missing.empty() || !failures_[i].empty()) continue;
    if (plan[i].role == Role::latency) choose_chain(i);
    if (plan[i].role == Role::compute || plan[i].role == Role::memory ||
        plan[i].role == Role::sweep)
      kernels.push_back(i);
  }
  const double start_s = world.now_s();
  share_out(kernels, start_s + scouting_share * tuning_s,
            [&](std::size_t index, double until_s) { scout(index, until_s); });
  // The rounds of one kernel lie far apart: what disturbs one of them does not disturb all.
  for (int round = 0; round < confirming_rounds; ++round) {
    const double left_s = start_s + tuning_s - world.now_s();
    share_out(kernels, world.now_s() + left_s / (confirming_rounds - round),
              [&](std::size_t index, double until_s) { confirm(index, until_s); });
  }
  share_out(kernels, start_s + tuning_s, [&](std::size_t index, double) { choose(index); });
}

// Each kernel gets the time that is left divided by the kernels that are left.
void Bench::share_out(const std::vector<std::size_t>& kernels, double end_s,
                      const std::function<void(std::size_t, double)>& step) {
  for (std::size_t k = 0; k < kernels.size() && !lost_ && !world_.interrupted(); ++k) {
    current_ = kernels[k];
    if (!failures_[current_].empty()) continue;
    const double now_s = world_.now_s();
    const double left_s = std::max(end_s - now_s, 0.0);
    const double until_s = now_s + left_s / static_cast<double>(kernels.size() - k);
    guard(current_, [&] { step(current_, until_s); });
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

// In each kind of memory, three arrays, together at least 160 times the L2 cache; less, with a
// warning, if memory is short.
void Bench::allocate() {
  const DeviceFacts& facts = gpu_.facts();
  const Grid largest{static_cast<std::uint32_t>(facts.multiprocessors) * 32,
                     static_cast<std::uint32_t>(facts.threads_per_multiprocessor) / 32};
  stamps_ = DeviceBuffer(gpu_, stamp_bytes(largest));
  std::set<MemoryKind> kinds;
  for (const PlannedTrial& trial : plan_)
    if (trial.missing.empty() && (trial.role == Role::memory || trial.role == Role::sweep))
      kinds.insert(trial.memory);
  const std::uint64_t wanted = std::max(dram_set(facts), 3 * least_array);
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
    const std::uint64_t enough = std::max(enough_dram_l2 * facts.l2_bytes, 3 * least_array);
    if (elements.bytes() > 0 && elements.bytes() < enough)
      warnings_.push_back(
          {fmt::format("{}memory is short: buffers of {} instead of {}",
                       kind == MemoryKind::device ? "GPU " : fmt::format("{} ", to_string(kind)),
                       format_bytes(static_cast<double>(elements.bytes())),
                       format_bytes(static_cast<double>(wanted))),
           close_others});
  }
  prepare_transfers();
  prepare_chains();
}

void Bench::prepare_chains() {
  for (std::size_t i = 0; i < plan_.size(); ++i) {
    if (plan_[i].role != Role::latency || !plan_[i].missing.empty()) continue;
    guard(i, [&] {
      chains_[i] = DeviceBuffer(gpu_, plan_[i].chain.bytes());
      fill_chain(gpu_, chains_[i], plan_[i].chain);
    });
  }
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
  if (setup.kernel->role == Role::latency) return chains_[current_];
  return setup.kernel->role == Role::compute
             ? registers_[current_]
             : elements_[static_cast<std::size_t>(plan_[current_].memory)];
}

// Likely shapes first, so that a search that is cut short has seen them. Enough threads to hide
// latencies and few enough to leave each its registers and DRAM its open pages: half to two thirds
// of a multiprocessor's, with eight chains. The others follow by their distance from that.
std::vector<Setup> Bench::setups_to_try(const PlannedTrial& trial) const {
  const DeviceFacts& facts = gpu_.facts();
  std::vector<Setup> setups;
  for (const Kernel* kernel : trial.candidates) {
    const bool near = kernel->role == Role::memory &&
                      (kernel->level == Level::l1 || kernel->level == Level::shared);
    for (const std::uint32_t threads : {128u, 256u, 512u}) {
      if (near && threads != 128) continue;
      int resident = gpu_.resident_blocks(*kernel, threads);
      // Others would only wait for tensor memory.
      if (kernel->tensor_columns > 0)
        resident = std::min(resident, tensor_memory_columns / kernel->tensor_columns);
      for (const int per_multiprocessor : std::set{1, 2, 4, 8, std::max(resident, 1)}) {
        if (per_multiprocessor > resident) continue;
        Setup setup;
        setup.kernel = kernel;
        setup.grid = {static_cast<std::uint32_t>(facts.multiprocessors * per_multiprocessor),
                      threads};
        if (kernel->role != Role::compute)
          setup.set_bytes = set_bytes(*kernel, facts, data_of(setup).bytes());
        if (setup.set_bytes < setup.least_bytes()) continue;
        setups.push_back(setup);
        if (!setup.walks()) continue;
        setup.contiguous = true;
        setups.push_back(setup);
      }
    }
  }
  constexpr double likely_threads = 768, likely_chains = 8;  // of a multiprocessor, of a thread
  const auto distance = [&](const Setup& setup) {
    const double threads =
        static_cast<double>(setup.grid.blocks) * setup.grid.threads / facts.multiprocessors;
    const double chains = setup.kernel->role == Role::compute ? setup.kernel->chains : 0;
    return std::pair(chains > 0 ? std::abs(std::log2(chains / likely_chains)) : 0,
                     std::abs(std::log2(threads / likely_threads)));
  };
  std::ranges::stable_sort(setups, {}, distance);
  return setups;
}

void Bench::reserve_registers(std::size_t index, const std::vector<Setup>& setups) {
  std::uint64_t threads = 0;
  for (const Setup& setup : setups)
    threads = std::max(threads, std::uint64_t{setup.grid.blocks} * setup.grid.threads);
  int bytes = 0;  // of a thread
  for (const Kernel* kernel : plan_[index].candidates)
    bytes = std::max(bytes, kernel->registers() * kernel->register_bytes);
  registers_[index] = DeviceBuffer(gpu_, threads * static_cast<std::uint64_t>(bytes));
  tunings_[index].threads = threads;
}

// Before another kernel of the trial is timed: its registers, and a first launch, which loads its
// code.
void Bench::prepare(const Setup& setup) {
  Tuning& tuning = tunings_[current_];
  if (tuning.prepared == setup.kernel) return;
  tuning.prepared = setup.kernel;
  if (setup.kernel->role == Role::compute) {
    Setup largest = setup;
    largest.grid = {static_cast<std::uint32_t>(tuning.threads / 32), 32};
    fill_registers(gpu_, largest, data_of(setup));
  }
  Setup first = setup;
  first.repeats = 1;
  if (first.walks()) first.set_bytes = first.least_bytes();
  run_once(gpu_, first, data_of(first), stamps_);
}

// Runs a kernel until the memory clock has followed: its rate no longer grows.
void Bench::settle(const Setup& setup, double until_s) {
  if (!setup.dram()) return;
  const double start_s = world_.now_s();
  double best = 0, grew_s = start_s;
  for (;;) {
    const double rate = merit_of(setup, run_once(gpu_, setup, data_of(setup), stamps_));
    const double now_s = world_.now_s();
    if (rate > grown * best) {
      best = rate;
      grew_s = now_s;
    }
    if (now_s - grew_s >= settled_s || now_s - start_s >= settling_s || now_s > until_s) return;
    if (world_.interrupted()) return;
  }
}

// Tries all shapes twice with a brief launch each, of DRAM on a part of the set: enough to tell
// good ones from bad ones. The best few remain.
void Bench::scout(std::size_t index, double until_s) {
  const auto setups = setups_to_try(plan_[index]);
  if (setups.empty())
    throw GpuError(GpuError::Kind::launch, plan_[index].name(),
                   "no block of it fits on a multiprocessor");
  if (plan_[index].role == Role::compute) reserve_registers(index, setups);
  Tuning& tuning = tunings_[index];
  tuning.shapes = setups.size();
  std::vector<Tuning::Shape> all;
  const std::uint64_t part = std::max(scouted_l2 * gpu_.facts().l2_bytes, least_scouted);
  for (std::size_t i = 0; i < scouting_rounds * setups.size(); ++i) {
    if (world_.interrupted() || (i > 0 && world_.now_s() > until_s)) break;
    const std::size_t shape = i % setups.size();
    Setup setup = setups[shape];
    if (setup.walks()) {
      setup.set_bytes = std::min(setup.set_bytes, std::max(part, setup.least_bytes()));
      setup.repeats = 1;
    }
    prepare(setup);
    if (i == 0) settle(setup, until_s);
    const Timed timed = calibrate(setup, trial_window_s);
    const double merit = merit_of(setup, timed);
    if (shape == i)
      all.push_back({setups[shape], merit});
    else
      all[shape].merit = std::max(all[shape].merit, merit);
  }
  tuning.tried = all.size();
  std::ranges::stable_sort(all, std::ranges::greater{}, &Tuning::Shape::merit);
  // On the chip many shapes are within the noise of a brief launch, and a launch is short; a quick
  // run has no time for all of them. Most points of the sweep are limited by what is on the chip.
  const bool near = !options_.quick && !all.empty() &&
                    (!all.front().setup.dram() || plan_[index].role == Role::sweep);
  all.resize(std::min(all.size(), near ? confirmed_near_shapes : confirmed_shapes));
  tuning.best = std::move(all);
}

// Measures the best shapes again as their row will be: on the whole set, for a whole window.
void Bench::confirm(std::size_t index, double until_s) {
  Tuning& tuning = tunings_[index];
  const bool first = !tuning.confirmed;
  // What is beyond the best few leaves half of the time to the kernels that follow.
  const double enough_s = (world_.now_s() + until_s) / 2;
  std::vector<Tuning::Shape> best = tuning.best;
  for (std::size_t k = 0; k < best.size(); ++k) {
    if (world_.interrupted() || world_.now_s() > (k < confirmed_shapes ? until_s : enough_s)) {
      if (k < std::min(best.size(), confirmed_shapes)) return;
      if (first) best.resize(k);  // the likeliest of them are confirmed
      break;
    }
    Tuning::Shape& shape = best[k];
    Setup& setup = shape.setup;
    prepare(setup);
    if (first) {
      setup.repeats = setup.walks() ? 1 : 2;
      if (gpu_.facts().watchdog) cut(setup);
    }
    if (k == 0) settle(setup, until_s);
    const Timed timed = first ? calibrate(setup, options_.window_s)
                              : run_once(gpu_, setup, data_of(setup), stamps_);
    const double merit = merit_of(setup, timed);
    shape.merit = first ? merit : std::max(shape.merit, merit);
    // Shapes on the chip are close to each other, and a launch is short: it has a few more tries.
    for (int i = 0; i < near_tries && !setup.dram(); ++i)
      shape.merit =
          std::max(shape.merit, merit_of(setup, run_once(gpu_, setup, data_of(setup), stamps_)));
  }
  tuning.best = std::move(best);
  tuning.confirmed = true;
}

void Bench::choose(std::size_t index) {
  const auto& best = tunings_[index].best;
  if (best.empty()) return;
  // Of arithmetic, the fewest threads that reach the best rate within its noise: more of them only
  // get in each other's way, by more than a brief launch shows.
  constexpr double as_good = 0.998;
  const auto threads = [](const Tuning::Shape& shape) {
    return std::uint64_t{shape.setup.grid.blocks} * shape.setup.grid.threads;
  };
  auto chosen = std::ranges::max_element(best, {}, &Tuning::Shape::merit);
  const double least = as_good * chosen->merit;
  const Kernel& kernel = *chosen->setup.kernel;
  if (kernel.role == Role::compute || (kernel.role == Role::sweep && kernel.fma_per_element > 0))
    for (auto shape = best.begin(); shape != best.end(); ++shape)
      if (shape->merit >= least && threads(*shape) < threads(*chosen)) chosen = shape;
  Setup& winner = setups_[index] = chosen->setup;
  prepare(winner);
  if (winner.kernel->role == Role::compute) {
    const std::string wrong = wrong_result(gpu_, winner, data_of(winner), stamps_);
    if (!wrong.empty())
      throw GpuError(GpuError::Kind::launch, std::string(winner.kernel->name), wrong);
  }
  winner.repeats = 2;
  calibrate(winner, options_.window_s);
}

// One warp, which waits for each load: there is nothing to search for.
void Bench::choose_chain(std::size_t index) {
  current_ = index;
  Setup& setup = setups_[index];
  setup.kernel = &plan_[index].kernel();
  setup.grid = {1, 32};
  setup.set_bytes = plan_[index].chain.bytes();
  tunings_[index].shapes = tunings_[index].tried = 1;
  tunings_[index].confirmed = true;
  guard(index, [&] {
    prepare(setup);
    const std::string wrong = wrong_position(setup);
    if (!wrong.empty())
      throw GpuError(GpuError::Kind::launch, std::string(setup.kernel->name), wrong);
    calibrate(setup, trial_window_s);  // a thousand loads and more
    // A launch begins with an empty L1: its first lap is not to count.
    constexpr std::uint64_t laps = 8;
    const auto loads = static_cast<std::uint64_t>(setup.kernel->loads);
    if (setup.set_bytes <= gpu_.facts().l1_bytes)
      setup.repeats =
          std::max(setup.repeats,
                   static_cast<std::uint32_t>(laps * plan_[index].chain.lines / loads + 1) / 2 * 2);
  });
}

// Whether one trip takes the chain as far as it has loads.
std::string Bench::wrong_position(const Setup& setup) {
  const Chain& chain = plan_[current_].chain;
  Setup once = setup;
  once.repeats = 1;
  std::uint64_t line = chain_position(gpu_, data_of(setup)) / chain.stride;
  run_once(gpu_, once, data_of(setup), stamps_);
  for (int i = 0; i < setup.kernel->loads; ++i) line = chain.next(line);
  return chain_position(gpu_, data_of(setup)) == chain.place(line)
             ? ""
             : "its chain ends at another line than the host's";
}

// Repeats for a window of about this length, from those that the setup has: even if they were, so
// that their half is whole. The last launch is at least that long.
Timed Bench::calibrate(Setup& setup, double window_s) {
  if (gpu_.facts().watchdog) cut(setup);
  for (;;) {
    const Timed timed = run_once(gpu_, setup, data_of(setup), stamps_);
    launch_s_ = std::min(launch_s_, timed.seconds);
    if (timed.seconds >= window_s || timed.seconds >= longest_s) return timed;
    // At most eightfold: the first readings are mostly launch cost.
    const double factor = std::clamp(1.1 * window_s / std::max(timed.seconds, 1e-7), 1.5, 8.0);
    const double repeats = factor * setup.repeats;
    if (repeats > 1e9) return timed;
    setup.repeats = (static_cast<std::uint32_t>(repeats) + 1) / 2 * 2;
  }
}

// Two passes are the least that is timed: where they would take too long, the set is cut.
void Bench::cut(Setup& setup) {
  if (!setup.walks()) return;
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

// A Jetson's memory clock falls while kernels need no memory, and rises with delay. A reading from
// DRAM would begin at the lower clock, and its two launches would differ in it: the same kernel
// runs until its rate is back, or for lead_in_s if that rate is gone for good.
void Bench::lead_in(const Setup& setup) {
  if (setup.kernel->role == Role::latency) return touch_chain(setup);
  if (!setup.dram()) return;
  Setup part = setup;
  if (setup.walks()) {
    part.repeats = 1;
    part.set_bytes = std::max(setup.set_bytes / lead_in_part, setup.least_bytes());
  } else {
    part.repeats = std::max<std::uint32_t>(setup.repeats / lead_in_part, 1);
  }
  double& best = lead_in_rates_[current_];
  const double start_s = world_.now_s();
  for (;;) {
    const double rate = merit_of(part, run_once(gpu_, part, data_of(part), stamps_));
    const bool late = world_.now_s() - start_s >= lead_in_s;
    const bool back = rate >= led_in * best;
    best = late ? rate : std::max(best, rate);
    if (back || late) return;
  }
}

// What ran in between has taken the chain's lines out of L2, and a window is too short to fetch all
// of a long one: it is read once, as far as L2 holds it. A short chain fetches itself.
void Bench::touch_chain(const Setup& setup) {
  const Chain& chain = plan_[current_].chain;
  if (chain.lines * Chain::line_bytes > gpu_.facts().l2_bytes) return;
  Setup touching = setup;
  constexpr std::uint64_t short_chain = 1024;  // lines
  if (chain.lines <= short_chain) {
    const auto loads = static_cast<std::uint64_t>(setup.kernel->loads);
    touching.repeats = static_cast<std::uint32_t>((chain.lines + loads - 1) / loads);
  } else {
    touching.kernel = find_kernel("read_l2");
    touching.grid.threads = 128;
    // A power of two, so that the trips of all blocks cover the chain to its end.
    const auto multiprocessors = static_cast<std::uint64_t>(gpu_.facts().multiprocessors);
    touching.grid.blocks = static_cast<std::uint32_t>(
        std::min(std::bit_floor(multiprocessors), setup.set_bytes / tile_bytes(touching)));
    touching.repeats = 1;
  }
  run_once(gpu_, touching, data_of(setup), stamps_);
}

// The whole and a part of it: what a launch costs is in both, and not in their difference, where
// their noise adds up, the less the shorter the part is. In long windows both together have a third
// of that noise, which is worth more than what is unknown of a launch once the shortest is taken
// off.
Reading Bench::read(const Setup& setup) {
  lead_in(setup);
  const Timed whole = run_once(gpu_, setup, data_of(setup), stamps_);
  const bool is_long = whole.seconds >= long_window_s;
  Setup some = setup;
  some.repeats = std::max(1u, setup.repeats / (is_long ? 2 : 8));
  const Timed part = run_once(gpu_, some, data_of(some), stamps_);
  if (whole.seconds <= part.seconds) return {setup.work() / whole.seconds, whole.clock_hz};
  if (!is_long)
    return {(setup.work() - some.work()) / (whole.seconds - part.seconds), whole.clock_hz};
  const double launch_s = launch_s_ < longest_launch_s ? launch_s_ : 0;
  return {(setup.work() + some.work()) / (whole.seconds + part.seconds - 2 * launch_s),
          whole.clock_hz};
}

Timed Bench::run(std::size_t index, std::uint32_t repeats, const std::function<void()>& meanwhile) {
  Setup setup = setups_[index];
  setup.repeats = repeats;
  return run(index, setup, meanwhile);
}

Timed Bench::run(std::size_t index, const Setup& setup, const std::function<void()>& meanwhile) {
  current_ = index;
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
