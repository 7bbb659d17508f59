// Converts rates to operations per core and clock, as in the catalog, so that the same formulas
// apply to both.
#include "roofline/model/profile_model.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/error.h"
#include "base/parameters.h"

namespace ridgeline {
namespace {

bool counts(Status status) { return status == Status::ok || status == Status::throttled; }

// One sigma of a 90 % interval.
double sigma_of(const Estimate& estimate) {
  constexpr double sigmas_between = 2 * 1.6449;
  return (estimate.high - estimate.low) / sigmas_between;
}

int most_threads(const ProfileMode& mode) {
  int most = 0;
  for (const ComputeRow& row : mode.compute)
    if (row.processor == Processor::cpu && counts(row.status)) most = std::max(most, row.threads);
  return most;
}

// The clock under the predicted load: that of the vector unit, else any.
double clock_of(const ProfileMode& mode, int threads) {
  double hz = 0;
  for (const ComputeRow& row : mode.compute) {
    if (row.threads != threads || !row.clock_hz || !counts(row.status)) continue;
    if (hz == 0 || (row.unit == Unit::vector && row.dtype == DType::fp32)) hz = row.clock_hz->value;
  }
  return hz > 0 || mode.mode.cpu_hz.empty() ? hz : mode.mode.cpu_hz.front();
}

void add_rates(ParameterCollector& model, const ProfileMode& mode, int threads, double hz) {
  std::map<std::tuple<Unit, DType, DType>, const ComputeRow*> fastest;
  for (const ComputeRow& row : mode.compute) {
    if (row.processor != Processor::cpu || row.threads != threads) continue;
    if (!counts(row.status) || !row.flops_per_s) continue;
    const ComputeRow*& slot = fastest[{row.unit, row.dtype, row.accumulate}];
    if (!slot || row.flops_per_s->value > slot->flops_per_s->value) slot = &row;
  }
  for (const auto& [key, row] : fastest) {
    const double per_clock = 1 / (threads * hz);
    model.add({rate_parameter({"cpu0", row->unit, row->dtype, row->accumulate, false}),
               row->flops_per_s->value * per_clock, Source::measured},
              sigma_of(*row->flops_per_s) * per_clock);
  }
}

void add_memory(ParameterCollector& model, const ProfileMode& mode, int threads) {
  const MemoryRow* fastest = nullptr;
  for (const MemoryRow& row : mode.memory) {
    if (row.processor != Processor::cpu || row.threads != threads || row.level != Level::dram)
      continue;
    if (!counts(row.status) || !row.bytes_per_s) continue;
    if (!fastest || row.bytes_per_s->value > fastest->bytes_per_s->value) fastest = &row;
  }
  if (fastest)
    model.add({"cpu_dram_bytes_per_s", fastest->bytes_per_s->value, Source::measured},
              sigma_of(*fastest->bytes_per_s));
}

// Counts the cache instances that `threads` cores use.
void add_caches(ParameterCollector& model, const Machine& machine, int threads) {
  for (const Cache& cache : machine.caches) {
    if (cache.level != Level::l2 && cache.level != Level::l3) continue;
    const int shared_by = std::max(1, cache.cores_per_instance);
    const int instances =
        std::clamp((threads + shared_by - 1) / shared_by, 1, std::max(1, cache.instances));
    model.add({cache.level == Level::l2 ? "cpu_l2_bytes" : "cpu_l3_bytes",
               static_cast<double>(cache.bytes) * instances, Source::measured});
  }
}

}  // namespace

ProfiledMachine profiled_machine(const Profile& profile, const ProfileMode& mode, int threads) {
  if (threads == 0) threads = most_threads(mode);
  if (threads == 0)
    throw Error(profile.machine.name, "the profile has no compute rate of the CPU",
                "measure again without --only");
  const double hz = clock_of(mode, threads);
  if (!(hz > 0))
    throw Error(profile.machine.name, "the profile has no CPU clock with its rates",
                "measure again without --only");
  ProfiledMachine result;
  ParameterCollector model(profile.machine.name);
  model.add({"cpu0_cores", static_cast<double>(threads), Source::measured});
  model.add({"cpu_measured_hz", hz, Source::measured});
  add_rates(model, mode, threads, hz);
  add_memory(model, mode, threads);
  add_caches(model, profile.machine, threads);
  if (profile.machine.memory_bytes > 0)
    model.add({"memory_visible_bytes", static_cast<double>(profile.machine.memory_bytes),
               Source::measured});
  if (mode.idle_power_w)
    model.add({"idle_w", mode.idle_power_w->value, Source::measured}, sigma_of(*mode.idle_power_w));
  result.model = model.take();
  result.point = mode.mode;
  result.point.cpu_hz = {hz};
  result.point.cpu_cores = threads;
  return result;
}

}  // namespace ridgeline
