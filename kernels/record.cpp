// Rows, warnings and progress as every backend needs them.
// What a number means is decided in verdict.cpp.
#include "kernels/record.h"

#include <algorithm>
#include <ctime>

namespace ridgeline {

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[sizeof "2000-01-01T00:00:00Z"];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

std::optional<Estimate> inverse(const std::optional<Estimate>& rate) {
  if (!rate) return std::nullopt;
  return Estimate{1 / rate->value, 1 / rate->high, 1 / rate->low, rate->source};
}

std::optional<Estimate> scaled(const std::optional<Estimate>& rate, double factor) {
  if (!rate || factor == 0) return std::nullopt;
  return Estimate{rate->value * factor, rate->low * factor, rate->high * factor, rate->source};
}

void add_sampling(MeasuringConditions& conditions, const Sampling& sampling) {
  conditions.complete = conditions.complete && sampling.complete;
  conditions.disturbed = conditions.disturbed || sampling.disturbed;
  conditions.rejected_rounds += sampling.rejected_rounds;
  conditions.steal_fraction = std::max(conditions.steal_fraction, sampling.load.steal_fraction);
  conditions.other_fraction = std::max(conditions.other_fraction, sampling.load.other_fraction);
}

void RowCounts::add(const Verdict& verdict) {
  ++rows.judged;
  rows.noisy += verdict.noisy;
  rows.drifted += verdict.drifted;
  rows.throttled += verdict.status == Status::throttled;
  rows.unsteady += verdict.unsteady;
}

void RowCounts::warn(MeasuringConditions& conditions) const {
  conditions.rows.judged += rows.judged;
  conditions.rows.noisy += rows.noisy;
  conditions.rows.drifted += rows.drifted;
  conditions.rows.throttled += rows.throttled;
  conditions.rows.unsteady += rows.unsteady;
  const auto say = [&](int count, const std::string& what, const std::string& fix) {
    if (count > 0)
      conditions.warnings.push_back(
          {std::to_string(count) + (count == 1 ? " row " : " rows ") + what, fix});
  };
  say(rows.noisy, "known to no better than 2 %", "measure longer: --budget 300s");
  say(rows.drifted, "moved by more than 5 % during the run", "wait for the machine to settle");
  say(rows.throttled, "ran at a falling clock", "check cooling and power limits");
}

SamplerWorld part_of_run(const SamplerWorld& world, double start_s, double total_s) {
  SamplerWorld part = world;
  part.progress = [=](double, double) {
    const double elapsed = world.now_s() - start_s;
    world.progress(std::min(1.0, elapsed / total_s), std::max(0.0, total_s - elapsed));
  };
  return part;
}

}  // namespace ridgeline
