// Samples that arrive at a rate: duty cycle and idle energy of one period, and how long a sample
// waits for its batch and in the queue. docs/planning.md states the formulas.
#pragma once

#include <cstdint>
#include <optional>

#include "planner/goal.h"
#include "planner/service.h"

namespace ridgeline {

// One period, in which one batch arrives: the device runs it, then idles in the same mode.
struct DutyCycle {
  double period_s = 0;
  double duty = 0;  // busy share; above 1 work piles up
  double energy_j = 0;
  double mean_power_w = 0;
};

DutyCycle duty_cycle(const BatchCost& cost, double period_s);

// From a sample's arrival to the end of its batch. The mean is over all samples, a quantile over
// the first samples of the batches, which wait longest. Random arrivals are Poisson: the batches
// queue by Kingman's formula with the correction of Krämer and Langenbach-Belz, exact for batch 1;
// the quantile errs on the safe side. Infinite if work piles up.
double latency_at_rate(double time_s, std::int64_t batch, const Arrivals& arrivals,
                       std::optional<double> quantile);

}  // namespace ridgeline
