// One launch: what its kernel is told, what work that is, and how long it took by the device's own
// marks. Places are laid out so that blocks never share a line of DRAM.
#include <algorithm>
#include <bit>

#include "base/random.h"
#include "base/statistics.h"
#include "kernels/cuda/bench.h"
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

}  // namespace ridgeline::cuda
