// Launches of some tens of milliseconds, one after the other, so that the chip has no time to cool.
// What counts is the second half of the time: by then clocks have followed.
#include "kernels/cuda/sustain.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/statistics.h"

namespace ridgeline::cuda {
namespace {

constexpr double held_burst_s = 0.02;
constexpr double look_every_s = 0.2;

bool has_rate(Status status, const std::optional<Estimate>& rate) {
  return rate && (status == Status::ok || status == Status::throttled);
}

Sustained hold(std::size_t trial, Bench& bench, double seconds, Surroundings& surroundings,
               const SamplerWorld& world) {
  Setup setup = bench.setup(trial);
  const double once_s = bench.run(trial, setup.repeats, {}).seconds;
  setup.repeats = static_cast<std::uint32_t>(
      std::clamp(setup.repeats * held_burst_s / std::max(once_s, 1e-6), 1.0, 1e9));
  Sustained held;
  std::vector<double> times, rates, clocks, powers;
  const double start_s = world.now_s();
  double next_look_s = start_s;
  for (double now_s = start_s; now_s - start_s < seconds && !world.interrupted();) {
    const Timed timed = bench.run(trial, setup.repeats, {});
    now_s = world.now_s();
    times.push_back(now_s - start_s);
    rates.push_back(setup.work() / timed.seconds);
    clocks.push_back(timed.clock_hz);
    if (now_s < next_look_s) continue;
    next_look_s = now_s + look_every_s;
    const GpuState state = surroundings.look();
    if (state.temperature_c) {
      if (!held.first_temperature_c) held.first_temperature_c = state.temperature_c;
      held.last_temperature_c = state.temperature_c;
    }
    if (state.power_w) powers.push_back(*state.power_w);
  }
  held.seconds = times.empty() ? 0 : times.back();
  std::vector<double> late;
  for (std::size_t i = 0; i < rates.size(); ++i)
    if (times[i] >= held.seconds / 2) late.push_back(rates[i]);
  if (late.empty()) return held;
  held.rate = median_estimate(late, Source::measured);
  if (clocks.front() > 0) held.first_clock_hz = clocks.front();
  if (clocks.back() > 0) held.last_clock_hz = clocks.back();
  if (!powers.empty()) held.power_w = median(powers);
  return held;
}

}  // namespace

std::vector<SustainedRow> peaks_to_sustain(const ProfileMode& mode,
                                           const std::vector<SustainedRow>& rows) {
  std::map<std::tuple<Unit, DType>, SustainedRow> arithmetic;
  std::map<Direction, SustainedRow> dram;
  std::optional<SustainedRow> best;
  for (const SustainedRow& each : rows) {
    if (each.compute) {
      const ComputeRow& row = mode.compute[each.row];
      if (!has_rate(row.status, row.flops_per_s) || row.sparse || !row.roof) continue;
      const auto [slot, is_new] = arithmetic.try_emplace({row.unit, row.dtype}, each);
      if (!is_new && row.flops_per_s->value > mode.compute[slot->second.row].flops_per_s->value)
        slot->second = each;
      continue;
    }
    const MemoryRow& row = mode.memory[each.row];
    if (!has_rate(row.status, row.bytes_per_s) || row.level != Level::dram ||
        row.direction == Direction::random || row.allocation != "device")
      continue;
    if (row.direction == Direction::read) dram[row.direction] = each;
    if (!best || row.bytes_per_s->value > mode.memory[best->row].bytes_per_s->value) best = each;
  }
  if (best) dram[mode.memory[best->row].direction] = *best;
  std::vector<SustainedRow> peaks;
  for (const auto& [key, row] : arithmetic) peaks.push_back(row);
  for (const auto& [direction, row] : dram) peaks.push_back(row);
  std::ranges::sort(peaks, {}, &SustainedRow::trial);
  return peaks;
}

void sustain(ProfileMode& mode, const std::vector<SustainedRow>& peaks, Bench& bench,
             double seconds, Surroundings& surroundings, const SamplerWorld& world) {
  for (const SustainedRow& peak : peaks) {
    if (bench.lost() || world.interrupted()) return;
    bench.guard(peak.trial, [&] {
      const Sustained held = hold(peak.trial, bench, seconds, surroundings, world);
      if (!held.rate) return;
      if (peak.compute)
        mode.compute[peak.row].sustained = held;
      else
        mode.memory[peak.row].sustained = held;
    });
  }
}

}  // namespace ridgeline::cuda
