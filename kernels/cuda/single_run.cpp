// Sizes are checked, buffers filled, and the launches made.
// A stream's set must hold one trip of all blocks: less would walk out of it.
#include "kernels/cuda/single_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/limits.h"
#include "kernels/cuda/chain.h"

namespace ridgeline::cuda {
namespace {

constexpr double window_s = 3e-3;

void check(const Kernel& kernel, const Setup& setup) {
  const Grid grid = setup.grid;
  const std::uint32_t together = 32u * static_cast<std::uint32_t>(kernel.warps_together);
  if (grid.threads % together != 0 || grid.threads > 1024)
    throw usage_error(fmt::format("--block-threads {}", grid.threads),
                      fmt::format("must be a multiple of {}, at most 1024", together));
  if (std::uint64_t{grid.blocks} * grid.threads > std::uint64_t{max_units})
    throw usage_error(fmt::format("--blocks {}", grid.blocks),
                      fmt::format("more than {} threads", max_units));
  if (kernel.arrays == 0) return;
  const bool near = kernel.level == Level::l1 || kernel.level == Level::shared;
  const std::uint64_t blocks = setup.walks() ? grid.blocks : 1;
  const std::uint64_t least = setup.least_bytes();
  if (near && grid.threads > 128)
    throw usage_error(fmt::format("--block-threads {}", grid.threads),
                      "a block of this kernel reads 32 KiB with 128 threads, and no more");
  if (setup.set_bytes < least)
    throw usage_error(
        fmt::format("--bytes {}", setup.set_bytes),
        fmt::format("less than one trip of {} block{}", blocks, blocks == 1 ? "" : "s"),
        fmt::format("use at least {} bytes", least));
}

}  // namespace

SingleRun run_alone(Gpu& gpu, const Kernel& kernel, const SingleRunSizes& sizes) {
  SingleRun run;
  Setup& setup = run.setup;
  setup.kernel = &kernel;
  setup.grid.blocks =
      sizes.blocks > 0 ? sizes.blocks : static_cast<std::uint32_t>(gpu.facts().multiprocessors);
  setup.grid.threads = sizes.block_threads > 0 ? sizes.block_threads : 128;
  if (kernel.arrays > 0) setup.set_bytes = sizes.bytes > 0 ? sizes.bytes : std::uint64_t{64} << 20;
  if (kernel.role == Role::latency)
    setup.set_bytes = std::bit_floor(std::clamp<std::uint64_t>(
        sizes.bytes > 0 ? sizes.bytes : std::uint64_t{64} << 20, 2 * Chain::line_bytes, max_bytes));
  setup.repeats = std::max(sizes.iterations, 1u);
  check(kernel, setup);

  const std::uint64_t bytes =
      kernel.role == Role::compute
          ? std::uint64_t{setup.grid.blocks} * setup.grid.threads *
                static_cast<std::uint64_t>(kernel.registers() * kernel.register_bytes)
          : std::max<std::uint64_t>(setup.set_bytes, 512);
  const DeviceBuffer data(gpu, bytes), stamps(gpu, stamp_bytes(setup.grid));
  if (kernel.role == Role::compute)
    fill_registers(gpu, setup, data);
  else if (kernel.role == Role::latency)
    fill_chain(gpu, data, {setup.set_bytes / Chain::line_bytes});
  else
    fill_elements(gpu, data);

  if (sizes.iterations == 0 && kernel.role != Role::launch)
    while (setup.repeats < (1u << 30) && run_once(gpu, setup, data, stamps).seconds < window_s)
      setup.repeats *= 2;
  for (std::uint64_t i = 0; i < sizes.samples; ++i)
    run.samples.push_back(run_once(gpu, setup, data, stamps));
  return run;
}

}  // namespace ridgeline::cuda
