// One part after the other: each has a sampler of its own, since reading and decoding disturb one
// another.
#include "kernels/input/measure.h"

#include "devices/machine/this_machine.h"
#include "kernels/record.h"

namespace ridgeline::input {

void measure(const MeasureOptions& options, const Topology& topology, const SamplerWorld& world,
             ProfileMode& mode) {
  if (!options.storage && !options.decode) return;
  MeasuringConditions& conditions = mode.conditions;
  if (!conditions.complete) return;
  const double start = world.now_s();
  if (conditions.started.empty()) {
    conditions.started = utc_now();
    conditions.governor = cpu_governor();
  }
  RowCounts counts;
  if (options.decode) measure_decode(*options.decode, topology, world, mode, counts);
  if (options.storage && conditions.complete)
    measure_storage(*options.storage, world, mode, counts);
  conditions.duration_s += world.now_s() - start;
  counts.warn(conditions);
}

}  // namespace ridgeline::input
