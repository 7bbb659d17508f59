// Two clocks: the host's, which advances by launches and waits, and the stream's, in which kernels
// run one after the other. Memory is real but only reserved; large buffers stay unwritten.
#include "tests/kernels/cuda/test_gpu.h"

#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/cuda/reference.h"

namespace ridgeline::testing {

using cuda::Arguments;
using cuda::GpuError;
using cuda::Grid;
using cuda::Kernel;
using cuda::Role;

namespace {

// Elements of large buffers come 4 MiB at a time and are never read.
constexpr std::uint64_t large = std::uint64_t{64} << 20, unread = std::uint64_t{4} << 20;
constexpr std::uint64_t line_bytes = 128, page_bytes = std::uint64_t{2} << 20;
constexpr double step_s = 2e-4;  // of clocks that move

double warps_of(Grid grid) { return double(grid.blocks) * (grid.threads / 32); }

// Which bandwidth of DRAM an access pattern gets.
Direction direction_of(const KernelProgram& program) {
  if (program.reach == Reach::sectors) return Direction::random;
  int loading = 0, storing = 0;
  bool both = false;
  for (const ArrayAccesses& array : program.arrays) {
    loading += array.loads > 0;
    storing += array.stores > 0;
    both = both || (array.loads > 0 && array.stores > 0);
  }
  if (both) return Direction::update;
  if (storing == 0) return Direction::read;
  if (loading == 0) return Direction::write;
  return loading == 1 ? Direction::copy : Direction::triad;
}

// What too many warps leave of a rate.
double uncrowded(double warps, int best, int most, double loss) {
  if (warps <= best || most <= best) return 1;
  return 1 - loss * (warps - best) / (most - best);
}

double moved(double share, const Governor& governor, bool up, double seconds) {
  const double whole_s = up ? governor.rise_s : governor.fall_s;
  if (whole_s <= 0) return up ? 1 : (governor.fall_s > 0 ? governor.lowest : share);
  const double change = (1 - governor.lowest) * seconds / whole_s;
  return std::clamp(share + (up ? change : -change), governor.lowest, 1.0);
}

// One trip of a warp on CUDA cores: constants first, then the chains, lane by lane.
template <class Word, class Step>
void take_trip(void* registers, int constants, const KernelProgram& program, Step&& step) {
  auto* const words = static_cast<Word*>(registers);
  for (int chain = 0; chain < program.chains; ++chain)
    for (int lane = 0; lane < 32; ++lane) {
      Word& x = words[32 * (constants + chain) + lane];
      for (int i = 0; i < program.instructions / program.chains; ++i)
        x = step(x, words[lane], words[32 * (constants - 1) + lane]);
    }
}

std::uint32_t dot_of_bytes(std::uint32_t x, std::uint32_t b) {
  std::uint32_t sum = 0;
  for (int shift = 0; shift < 32; shift += 8)
    sum += static_cast<std::uint32_t>(int{static_cast<std::int8_t>(x >> shift)} *
                                      int{static_cast<std::int8_t>(b >> shift)});
  return sum;
}

// The arithmetic that the host's own instructions have; false for the rest.
bool take_plain_trip(void* registers, const KernelProgram& program) {
  if (program.pipe == "fma_fp64")
    take_trip<double>(registers, 1, program,
                      [](double x, double c, double) { return std::fma(x, x, c); });
  else if (program.pipe == "fma_fp32")
    take_trip<float>(registers, 1, program,
                     [](float x, float c, float) { return std::fma(x, x, c); });
  else if (program.pipe == "mad_int32")
    take_trip<std::uint32_t>(
        registers, 2, program,
        [](std::uint32_t x, std::uint32_t a, std::uint32_t c) { return x * a + c; });
  else if (program.pipe == "dp4a_int8")
    take_trip<std::uint32_t>(
        registers, 1, program,
        [](std::uint32_t x, std::uint32_t b, std::uint32_t) { return x + dot_of_bytes(x, b); });
  else
    return false;
  return true;
}

}  // namespace

TestGpuSettings test_orin() {
  TestGpuSettings settings(agx_orin());
  settings.facts.name = "Test Orin";
  settings.facts.memory_bytes_per_s.reset();
  settings.facts.free_bytes = std::uint64_t{8} << 30;
  settings.clock_hz = 1.3e9;
  settings.set_dram(180e9);
  settings.pinned_share = settings.managed_share = 1;
  settings.l2_bytes_per_cycle = 460;
  settings.near_bytes_per_cycle = 120;
  settings.launch_s = 5e-6;
  settings.start_s = 2e-6;
  settings.node_s = 1e-6;
  settings.idle_w = 9;
  settings.constant_w = 14;
  settings.memory_governor = {};
  return settings;
}

TestGpu::TestGpu(TestGpuSettings settings) : settings_(std::move(settings)) {
  settings_.facts.memory_bytes = settings_.facts.free_bytes;
  random_.state = settings_.noise_seed;
  gpu_share_ = settings_.gpu_governor.lowest;
  memory_share_ = settings_.memory_governor.lowest;
  celsius_ = settings_.heat.ambient_c;
}

TestGpu::~TestGpu() {
  for (const auto& [memory, buffer] : buffers_) munmap(const_cast<void*>(memory), buffer.bytes);
}

SamplerWorld TestGpu::world() {
  return {[this] { return host_s_; }, [] { return OtherLoad{}; }, [] { return false; },
          [](double, double) {}};
}

GpuState TestGpu::state() const {
  GpuState state;
  state.temperature_c = celsius_;
  state.clock_hz = clock_hz(host_s_);
  state.load = launches_ > 0 ? 1 : 0;
  return state;
}

cuda::CodeSupport TestGpu::support(const Kernel&) const {
  return {settings_.missing_code, settings_.from_ptx};
}

int TestGpu::resident_blocks(const Kernel& kernel, std::uint32_t threads) const {
  return resident(program_of(kernel.name), threads);
}

int TestGpu::resident(const KernelProgram& program, std::uint32_t threads) const {
  if (int(threads) > program.most_threads) return 0;
  int blocks = std::min(settings_.facts.threads_per_multiprocessor / int(threads),
                        settings_.blocks_per_multiprocessor);
  blocks = std::min(blocks, settings_.registers / (program.registers * int(threads)));
  constexpr std::uint64_t reserved = 1024;  // by the system, in each block's shared memory
  if (program.shared_bytes > 0)
    blocks = std::min(blocks, int(settings_.shared_bytes / (program.shared_bytes + reserved)));
  return blocks;
}

void* TestGpu::allocate(std::uint64_t bytes, cuda::MemoryKind kind) {
  check_lost();
  if (allocated_ + bytes > settings_.facts.memory_bytes)
    throw GpuError(GpuError::Kind::out_of_memory, "GPU memory", "out of memory");
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  allocated_ += bytes;
  buffers_[memory] = {bytes, kind};
  return memory;
}

void TestGpu::release(void* memory, cuda::MemoryKind) noexcept {
  const auto found = buffers_.find(memory);
  if (found == buffers_.end()) return;
  allocated_ -= found->second.bytes;
  munmap(memory, found->second.bytes);
  chains_.erase(memory);
  buffers_.erase(found);
}

const TestGpu::Buffer* TestGpu::buffer_at(const void* address) const {
  auto found = buffers_.upper_bound(address);
  if (found == buffers_.begin()) return nullptr;
  --found;
  const auto* const end = static_cast<const std::byte*>(found->first) + found->second.bytes;
  return address < end ? &found->second : nullptr;
}

void TestGpu::upload(void* device, const void* host, std::uint64_t bytes) {
  check_lost();
  host_s_ += double(bytes) / settings_.to_device_bytes_per_s;
  if (buffer_at(device)->bytes < large || bytes < unread) std::memcpy(device, host, bytes);
}

void TestGpu::download(void* host, const void* device, std::uint64_t bytes) {
  synchronize();
  host_s_ += double(bytes) / settings_.to_host_bytes_per_s;
  if (buffer_at(device)->bytes < large || bytes < unread) std::memcpy(host, device, bytes);
}

double TestGpu::copy_seconds(std::span<const cuda::Copy> copies, int repeats) {
  synchronize();
  double bytes = 0;
  bool pageable = false, to_host = false;
  for (const cuda::Copy& copy : copies) {
    const Buffer *to = buffer_at(copy.to), *from = buffer_at(copy.from);
    pageable = pageable || !to || !from;
    to_host = !to || to->kind == cuda::MemoryKind::pinned;
    bytes += double(copy.bytes) * repeats;
  }
  const double speed = copies.size() > 1 ? settings_.both_bytes_per_s
                       : to_host         ? settings_.to_host_bytes_per_s
                                         : settings_.to_device_bytes_per_s;
  const double noisy = 1 + settings_.noise * (2 * random_.unit() - 1);
  const double seconds =
      settings_.start_s + noisy * bytes / (speed * (pageable ? settings_.pageable_share : 1));
  host_s_ += settings_.launch_s + seconds;
  device_s_ = host_s_;
  return seconds;
}

const Footprint& TestGpu::footprint(const std::string& name, Grid grid,
                                    const Arguments& arguments) {
  const WalkKey key{name,
                    grid.blocks,
                    grid.threads,
                    arguments.pitch,
                    arguments.block_step,
                    arguments.window,
                    arguments.trip_step,
                    arguments.trip_step == 0 ? 1 : arguments.trips};
  const auto found = walks_.find(key);
  if (found != walks_.end()) return found->second;
  return walks_[key] = footprint_of(program_of(name), grid, arguments);
}

// Of one multiprocessor, on average.
double TestGpu::warps_at_once(const KernelProgram& program, Grid grid) const {
  double blocks = std::min(double(grid.blocks) / settings_.facts.multiprocessors,
                           double(std::max(resident(program, grid.threads), 1)));
  constexpr double columns = 512;  // of tensor memory
  if (program.tensor_columns > 0) blocks = std::min(blocks, columns / program.tensor_columns);
  return blocks * (grid.threads / 32);
}

// A launch that touches so much takes the lines of other chains out of L2; one that walks through
// all of a chain's memory brings them there.
void TestGpu::evict_chains(const void* data, std::uint64_t bytes, bool walks) {
  for (auto& [base, chain] : chains_) {
    const std::uint64_t whole = buffer_at(base)->bytes;
    if (base == data) {
      if (!walks || bytes < whole || whole > settings_.facts.l2_bytes) continue;
      chain.lines = chain.seen.size();
      chain.seen.assign(chain.seen.size(), true);
      chain.closed = true;
    } else if (chain.lines > 0 && bytes + whole > settings_.facts.l2_bytes) {
      chain.seen.assign(chain.seen.size(), false);
      chain.lines = 0;
      chain.closed = false;
      chain.start = nullptr;
    }
  }
}

// Follows the pointers through memory, load by load, until the chain has come round; from then on
// every lap is like the last. Caches replace what was used longest ago, so that a chain which does
// not fit finds nothing; a launch begins with an empty L1.
TestGpu::Cost TestGpu::follow(const KernelProgram& program, const Arguments& arguments) {
  Cost cost;
  cost.in_turn = true;
  const std::uint64_t loads = std::uint64_t{arguments.trips} * std::uint64_t(program.accesses());
  const Buffer& buffer = *buffer_at(arguments.data);
  auto* const base = static_cast<std::byte*>(arguments.data);
  Followed& chain = chains_[arguments.data];
  auto** const kept = static_cast<std::byte**>(arguments.data) + 1;
  if (chain.seen.empty()) {
    chain.seen.resize(buffer.bytes / line_bytes);
    chain.pages.resize(buffer.bytes / page_bytes + 1);
  }
  if (!chain.start) chain.start = *kept;
  const std::uint64_t known = chain.lines;
  std::uint64_t again = 0, taken = 0;  // loads of lines that it has touched before
  for (; taken < loads && !(chain.closed && loads - taken > 4096); ++taken) {
    std::byte* const at = *kept;
    if (at < base || at + 8 > base + buffer.bytes) {
      gone_ = true;
      why_gone_ = "an illegal memory access was encountered";
      return cost;
    }
    const auto offset = std::uint64_t(at - base);
    if (chain.seen[offset / line_bytes]) {
      ++again;
    } else {
      chain.seen[offset / line_bytes] = true;
      ++chain.lines;
      if (!chain.pages[offset / page_bytes]) ++chain.touched_pages;
      chain.pages[offset / page_bytes] = true;
    }
    std::memcpy(kept, at, sizeof(void*));
    chain.closed = chain.closed || *kept == chain.start;
  }
  again += loads - taken;
  const std::uint64_t bytes = chain.lines * line_bytes;
  evict_chains(arguments.data, bytes, false);
  const bool in_l2 = bytes <= settings_.facts.l2_bytes;
  const bool in_l1 = program.reach == Reach::chain && bytes <= settings_.facts.l1_bytes;
  const double first = double(chain.lines - known);
  const double cold = std::min(double(loads), double(chain.lines)) - first;  // of L1, this launch
  const double near = in_l1 ? std::max(0.0, double(again) - std::max(cold, 0.0)) : 0;
  const double l2 = in_l2 ? double(again) - near : 0;
  const double dram = double(loads) - near - l2;
  cost.cycles = near * settings_.near_latency_cycles + l2 * settings_.l2_latency_cycles;
  cost.wait_s = dram * settings_.dram_latency_s;
  if (chain.touched_pages * page_bytes > settings_.tlb_bytes)
    cost.wait_s += double(loads) * settings_.tlb_miss_s;
  cost.bytes = 32.0 * double(loads);
  return cost;
}

TestGpu::Cost TestGpu::cost_of(const Kernel& kernel, Grid grid, const Arguments& arguments) {
  Cost cost;
  const std::string name(kernel.name);
  const KernelProgram& program = program_of(name);
  if (program.pipe.empty() && program.reach == Reach::none) return cost;
  if (program.reach == Reach::chain || program.reach == Reach::far_chain)
    return follow(program, arguments);
  Touched& seen = touched_[name];
  seen.grid = grid;
  const int multiprocessors = settings_.facts.multiprocessors;
  const double used = std::min<double>(multiprocessors, grid.blocks);
  const double warps = warps_at_once(program, grid);
  const double busy_warps = warps * multiprocessors / used;  // where there are blocks
  const double trips =
      warps_of(grid) * arguments.trips * std::max<std::uint32_t>(arguments.passes, 1);
  const int most_warps = settings_.facts.threads_per_multiprocessor / 32;

  // Blocks that do not fill their last wave leave multiprocessors idle.
  const double waves = warps_of(grid) / (busy_warps * used);
  const double idle = std::ceil(waves - 1e-9) / waves;

  double issue =
      trips * (program.instructions + program.accesses() + program.near_accesses + program.other) /
      (settings_.issue_per_cycle * used);
  if (busy_warps < settings_.issue_per_cycle) issue *= settings_.issue_per_cycle / busy_warps;
  cost.cycles = issue;
  if (!program.pipe.empty()) {
    const Pipe& pipe = settings_.pipes.at(program.pipe);
    const double peak = pipe.flop_per_cycle / program.flop_each;  // instructions per cycle
    const double chained = busy_warps * program.chains / pipe.latency_cycles;
    const double crowd = uncrowded(warps, settings_.arithmetic_best_warps, most_warps,
                                   settings_.arithmetic_crowd_loss);
    cost.flop = trips * program.flop();
    cost.cycles = std::max(cost.cycles,
                           trips * program.instructions / (std::min(peak, chained) * crowd * used));
  }
  cost.cycles = std::max(
      cost.cycles, trips * 512 * program.near_accesses / (settings_.near_bytes_per_cycle * used));
  cost.cycles *= idle;
  if (program.reach == Reach::none) return cost;

  const double asked = cost.bytes = trips * program.bytes();
  const double flight = busy_warps * used * program.in_flight * 512;
  const Footprint& walk = seen.footprint = footprint(name, grid, arguments);
  if (program.reach == Reach::shared) {
    cost.cycles = std::max(cost.cycles, asked / (settings_.near_bytes_per_cycle * used));
    return cost;
  }
  const Buffer* const buffer = buffer_at(arguments.data);
  const auto* const end = static_cast<const std::byte*>(arguments.data) + walk.end;
  if (!buffer || buffer_at(end - 1) != buffer) {
    gone_ = true;
    why_gone_ = "an illegal memory access was encountered";
    return cost;
  }
  evict_chains(arguments.data, walk.end, true);
  const auto distinct = static_cast<double>(walk.distinct_bytes);
  const auto held = [&](std::uint64_t cache) { return std::min(1.0, double(cache) / distinct); };
  double in_l1 = 0;
  if (program.reach == Reach::l1) in_l1 = held(settings_.facts.l1_bytes);

  // What the last launch left in L2 serves this one, if it walks through the same data. Lines that
  // are not replaced at random but kept serve a part of any set: the share that L2 holds of it.
  const double kept = held(settings_.facts.l2_bytes);
  const bool warm = cached_kernel_ == name && cached_ == arguments.data;
  cached_kernel_ = name;
  cached_ = arguments.data;
  const double passes = program.reach == Reach::sectors || arguments.trip_step == 0
                            ? std::max<double>(double(arguments.passes) * arguments.trips, 1)
                            : std::max<double>(arguments.passes, 1);
  const double missed_passes = passes * (1 - kept) + (warm ? 0 : kept);
  const double in_dram = (1 - in_l1) * walk.spread * std::min(1.0, missed_passes / passes);
  const double in_l2 = 1 - in_l1 - in_dram;
  seen.in_l2 = in_l2;

  cost.cycles = std::max(cost.cycles, asked / (settings_.near_bytes_per_cycle * used));
  cost.cycles = std::max(cost.cycles, (1 - in_l1) * asked / settings_.l2_bytes_per_cycle);
  cost.cycles = std::max(cost.cycles, asked / flight *
                                          (in_l1 * settings_.near_latency_cycles +
                                           in_l2 * settings_.l2_latency_cycles));
  const double share = buffer->kind == cuda::MemoryKind::device   ? 1
                       : buffer->kind == cuda::MemoryKind::pinned ? settings_.pinned_share
                                                                  : settings_.managed_share;
  const double way = arguments.block_step > arguments.trip_step ? settings_.contiguous_share
                                                                : settings_.interleaved_share;
  const double crowd =
      uncrowded(warps, settings_.dram_best_warps, most_warps, settings_.dram_crowd_loss);
  const double walking = program.reach == Reach::streaming ? way * crowd : 1;
  cost.dram_s =
      in_dram * asked / (settings_.dram_bytes_per_s.at(direction_of(program)) * share * walking);
  cost.wait_s = in_dram * asked * settings_.dram_latency_s / flight;
  return cost;
}

double TestGpu::Cost::seconds(double clock_hz, double memory_share) const {
  if (in_turn) return cycles / clock_hz + wait_s;
  return std::max({cycles / clock_hz, dram_s / memory_share, wait_s});
}

double TestGpu::clock_hz(double now_s) const {
  if (settings_.clock_at) return settings_.clock_at(now_s);
  return settings_.clock_hz * gpu_share_ * (hot_ ? settings_.heat.throttled_share : 1);
}

double TestGpu::power_of(const Cost& cost, double seconds) const {
  return settings_.constant_w +
         (settings_.joule_per_flop * cost.flop + settings_.joule_per_byte * cost.bytes) / seconds;
}

void TestGpu::pass_time(double seconds, bool busy, bool uses_memory, double power_w) {
  if (seconds <= 0) return;
  state_s_ += seconds;
  gpu_share_ = moved(gpu_share_, settings_.gpu_governor, busy, seconds);
  memory_share_ = moved(memory_share_, settings_.memory_governor, uses_memory, seconds);
  const Heat& heat = settings_.heat;
  if (heat.kelvin_per_w <= 0) return;
  const double steady = heat.ambient_c + heat.kelvin_per_w * power_w;
  celsius_ = steady + (celsius_ - steady) * std::exp(-seconds / heat.time_constant_s);
  hot_ = celsius_ > (hot_ ? heat.recovered_c : heat.limit_c);
}

// In steps while a clock or the load of others moves, else at once.
TestGpu::Ran TestGpu::run(const Cost& cost, double begin_s) {
  pass_time(begin_s - state_s_, false, false, settings_.idle_w);
  state_s_ = begin_s;
  const double full_s = cost.seconds(settings_.clock_hz, 1);
  const bool uses_memory = std::max(cost.dram_s, cost.wait_s) > 0.3 * full_s;
  const Neighbour& neighbour = settings_.neighbour;
  const bool steady = gpu_share_ == 1 && (memory_share_ == 1 || cost.dram_s == 0) &&
                      settings_.heat.kelvin_per_w <= 0 && neighbour.share == 0;
  if (steady && (uses_memory || cost.dram_s == 0 || settings_.memory_governor.fall_s <= 0)) {
    const double clock = clock_hz(begin_s);
    const double seconds = cost.seconds(clock, memory_share_);
    pass_time(seconds, true, uses_memory, power_of(cost, seconds));
    return {seconds, seconds * clock};
  }
  Ran ran;
  for (double done = 0; done < 1;) {
    const double clock = clock_hz(state_s_);
    const bool shared = std::fmod(state_s_, neighbour.period_s) < neighbour.busy_s;
    const double own = shared ? 1 - neighbour.share : 1;
    const double whole_s = cost.seconds(clock, memory_share_) / own;
    const double dt = std::min(step_s, (1 - done) * whole_s);
    done = dt < step_s ? 1 : done + dt / whole_s;
    ran.seconds += dt;
    ran.cycles += dt * clock;
    pass_time(dt, true, uses_memory, power_of(cost, whole_s));
  }
  return ran;
}

// Short runs are computed, since the host checks their results. Halves and matrix products are left
// to the host's own reference, which cuda_arithmetic_test.cpp checks.
void TestGpu::compute(const Kernel& kernel, const Arguments& arguments) const {
  const std::string& wrong = settings_.wrong_kernel;
  if (kernel.role != Role::compute || arguments.trips > 1) return;
  if (!wrong.empty() && kernel.name.starts_with(wrong)) return;
  if (take_plain_trip(arguments.data, program_of(kernel.name))) return;
  const auto bytes = std::size_t(32 * kernel.registers() * kernel.register_bytes);
  cuda::run_reference(kernel, arguments.trips, {static_cast<std::byte*>(arguments.data), bytes});
}

void TestGpu::check_lost() const {
  if (gone_) throw GpuError(GpuError::Kind::lost, "GPU kernel", why_gone_);
  if (settings_.lost_after_s > 0 && host_s_ > settings_.lost_after_s)
    throw GpuError(GpuError::Kind::lost, "GPU", "unspecified launch failure");
}

void TestGpu::launch(const Kernel& kernel, Grid grid, const Arguments& arguments) {
  check_lost();
  if (++launches_ == settings_.fail_launch)
    throw GpuError(GpuError::Kind::launch, std::string(kernel.name), "too many resources");
  host_s_ += settings_.launch_s;
  const double begin = std::max(device_s_, host_s_) + settings_.start_s;
  device_s_ = begin;
  if (kernel.role == Role::launch) {
    if (settings_.on_launch) settings_.on_launch(kernel, grid, arguments, 0);
    return;
  }
  most_tensor_columns_ = std::max(
      most_tensor_columns_, program_of(kernel.name).tensor_columns *
                                int((grid.blocks + unsigned(settings_.facts.multiprocessors) - 1) /
                                    unsigned(settings_.facts.multiprocessors)));
  Cost cost = cost_of(kernel, grid, arguments);
  double slower = 1 + settings_.noise * (2 * random_.unit() - 1);
  if (const auto slow = settings_.slow_kernels.find(std::string(kernel.name));
      slow != settings_.slow_kernels.end())
    slower *= slow->second;
  cost.cycles *= slower;
  cost.dram_s *= slower;
  cost.wait_s *= slower;
  const Ran ran = run(cost, begin);
  if (settings_.facts.watchdog && ran.seconds > 2) {
    gone_ = true;
    why_gone_ = "the launch timed out and was terminated";
  }
  compute(kernel, arguments);
  device_s_ = begin + ran.seconds;
  if (settings_.on_launch) settings_.on_launch(kernel, grid, arguments, ran.seconds);
  if (ran.seconds > 0)
    drawn_.push_back({begin, device_s_,
                      power_of(cost, ran.seconds) + settings_.ripple_w * (2 * random_.unit() - 1),
                      cost.bytes / ran.seconds});
  if (!arguments.stamps) return;
  for (std::uint32_t block = 0; block < grid.blocks; ++block)
    arguments.stamps[block] = {std::uint64_t(1e9),
                               std::uint64_t(1e9 + ran.cycles),
                               std::uint64_t(begin * 1e9),
                               std::uint64_t((begin + ran.seconds) * 1e9),
                               block % std::uint32_t(settings_.facts.multiprocessors),
                               0};
}

void TestGpu::record_begin() { begin_s_ = std::max(device_s_, host_s_ + settings_.launch_s); }
void TestGpu::record_end() { end_s_ = device_s_; }
double TestGpu::elapsed_s() {
  synchronize();
  return end_s_ - begin_s_;
}
void TestGpu::synchronize() {
  check_lost();
  host_s_ = std::max(host_s_, device_s_);
}

void TestGpu::capture(const Kernel&, Grid, const Arguments&, int nodes) { nodes_ = nodes; }
void TestGpu::replay() {
  check_lost();
  host_s_ += settings_.launch_s;
  device_s_ = std::max(device_s_, host_s_) + nodes_ * settings_.node_s;
}

}  // namespace ridgeline::testing
