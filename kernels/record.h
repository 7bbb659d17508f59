// From sampled series to the words of a profile: what all backends write down in the same way.
// No hardware, no clock of its own but the date.
#pragma once

#include <optional>
#include <string>

#include "base/profile.h"
#include "kernels/sampler.h"
#include "kernels/verdict.h"

namespace ridgeline {

std::string utc_now();  // ISO 8601

// Seconds per event from events per second: the interval turns over.
std::optional<Estimate> inverse(const std::optional<Estimate>& rate);
std::optional<Estimate> scaled(const std::optional<Estimate>& rate, double factor);

// Adds what a part of a run saw; the worst part speaks for the run.
void add_sampling(MeasuringConditions& conditions, const Sampling& sampling);

// How many rows something is wrong with; the rows' own notes say what.
struct RowCounts {
  RowTally rows;

  void add(const Verdict& verdict);
  // Adds the counts to the conditions, with a warning for each kind.
  void warn(MeasuringConditions& conditions) const;
};

// A part of a run that began at `start_s` and takes `total_s` shows its progress within the run.
SamplerWorld part_of_run(const SamplerWorld& world, double start_s, double total_s);

}  // namespace ridgeline
