// Work that comes at a rate: the duty cycle of a period with its idle power, and how long a sample
// waits for its batch and for the batches before it. Formulas alone; docs/planning.md states them.
#pragma once

#include <cstdint>
#include <optional>

#include "planner/objective.h"

namespace ridgeline {

// One batch at one operating point. NaN: no power is known.
struct RunCost {
  double time_s = 0;
  double power_w = 0;  // while it runs
  double idle_w = 0;   // between two batches, in the same mode
  // What the input pipeline of training asks for.
  double host_s = 0;   // that the runtime's own core works for it
  double core_hz = 0;  // of that core
  double core_w = 0;   // that one more busy core draws
  // One step of the network that is trained beside it.
  double training_s = 0;
  double training_w = 0;
  double training_host_s = 0;
};

// One period, in which a batch arrives and is done: running, then idle in the same mode.
struct DutyCycle {
  double period_s = 0;
  double duty = 0;  // busy share; above 1 the work piles up
  double energy_j = 0;
  double mean_power_w = 0;
};

DutyCycle duty_cycle(const RunCost& cost, double period_s);

// From a sample's arrival to the end of its batch. The mean is over all samples, a quantile over
// the first samples of the batches, which wait longest. Random arrivals are Poisson: the batches
// queue by Kingman's formula with the correction of Krämer and Langenbach-Belz, exact for batch 1;
// the quantile errs on the safe side. Infinite where work piles up.
double latency_at_rate(double time_s, std::int64_t batch, const Arrivals& arrivals,
                       std::optional<double> quantile);

// What an objective looks at. Of inference: one batch, energy per sample. Of training: a mean
// epoch, and its energy. Of both at once: a training step between inference, energy per trained
// sample.
struct Service {
  double time_s = 0;        // of a batch, an epoch, or from one training step to the next
  double latency_s = 0;     // from a sample to its result; of training the epoch
  double delay_s = 0;       // that fronts and energy × delay look at
  double goal_s = 0;        // that is least where time is to be
  double sample_s = 0;      // time per sample; of both at once: per trained one
  double run_s = 0;         // of all epochs together
  double energy_j = 0;      // idle time included
  double mean_power_w = 0;  //
  double peak_power_w = 0;  // while a batch runs
};

// Of inference; planner/task.h tells the others apart.
Service service_of(const RunCost& cost, std::int64_t batch, const Objective& objective);

// The quantity that a limit bounds; `slowdown` is against the fastest mode of the same batch.
double limited(LimitKind kind, const Service& service, double slowdown);

// What is to be least.
double score_of(Goal goal, const Service& service);

}  // namespace ridgeline
