// Launches of some tens of milliseconds, one behind the other; the sensor is read while they run.
// Their lengths differ at random, so that no period of the sensor's own falls in step with them.
#include "kernels/cuda/long_run.h"

#include <algorithm>

#include "base/random.h"

namespace ridgeline::cuda {
namespace {

constexpr double burst_s = 0.04, shortest = 0.7, longest = 1.3;

}  // namespace

PowerMeter::Burst long_run(Bench& bench, std::size_t index) {
  const std::uint32_t tuned = bench.setup(index).repeats;
  const double once_s = bench.run(index, tuned, {}).seconds;
  const double repeats = tuned * burst_s / std::max(once_s, 1e-6);
  return [&bench, index, repeats, random = Random{5}](const std::function<void()>& look) mutable {
    const double length = shortest + (longest - shortest) * random.unit();
    Setup setup = bench.setup(index);
    setup.repeats = static_cast<std::uint32_t>(std::clamp(length * repeats, 1.0, 1e9));
    bench.run(index, setup.repeats, look);
    return setup.bytes();
  };
}

}  // namespace ridgeline::cuda
