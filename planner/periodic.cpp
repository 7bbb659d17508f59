// The queue has Kingman's mean wait, as Krämer and Langenbach-Belz correct it for arrivals that are
// more regular than Poisson's, and an exponential tail.
#include "planner/periodic.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ridgeline {
namespace {

// Quantile of the standard normal distribution by Acklam's rational approximations, one for the
// centre and one for the tails: relative error below 1.2e-9, far below that of the queue's formula.
double normal_quantile(double p) {
  constexpr double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                          1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
  constexpr double b[] = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
                          6.680131188771972e+01, -1.328068155288572e+01};
  constexpr double c[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                          -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
  constexpr double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                          3.754408661907416e+00};
  constexpr double tail = 0.02425;
  if (p > 1 - tail) return -normal_quantile(1 - p);
  if (p < tail) {
    const double q = std::sqrt(-2 * std::log(p));
    return (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
           ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
  }
  const double q = p - 0.5, r = q * q;
  return (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
         (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
}

// Quantile of the sum of `count` exponential gaps of mean one: Wilson and Hilferty's cube.
double gaps_quantile(double count, double p) {
  if (count <= 0) return 0;
  if (count == 1) return -std::log1p(-p);
  const double ninth = 1 / (9 * count);
  const double root = 1 - ninth + normal_quantile(p) * std::sqrt(ninth);
  return count * root * root * root;
}

}  // namespace

DutyCycle duty_cycle(const BatchCost& cost, double period_s) {
  DutyCycle cycle;
  cycle.period_s = period_s;
  cycle.duty = cost.time_s / period_s;
  cycle.energy_j = cost.power_w * cost.time_s + cost.idle_w * std::max(0.0, period_s - cost.time_s);
  cycle.mean_power_w = cycle.energy_j / std::max(period_s, cost.time_s);
  return cycle;
}

double latency_at_rate(double time_s, std::int64_t batch, const Arrivals& arrivals,
                       std::optional<double> quantile) {
  const double samples = static_cast<double>(batch);
  const double gap_s = 1 / arrivals.per_s;
  const double load = time_s / (samples * gap_s);
  if (load > 1 || (arrivals.at_random && load >= 1)) return std::numeric_limits<double>::infinity();
  const double gather_s = (samples - 1) * gap_s;  // of the first sample, on average
  if (!arrivals.at_random) return (quantile ? gather_s : gather_s / 2) + time_s;
  // Batches arrive with a squared coefficient of variation of 1/batch; all take the same time.
  const double variation = 1 / samples;
  const double regular = 1 - variation;
  const double correction =
      load > 0 ? std::exp(-2 * (1 - load) * regular * regular / (3 * load * variation)) : 0;
  const double wait_s = load / (1 - load) * time_s * variation / 2 * correction;
  if (!quantile) return gather_s / 2 + wait_s + time_s;
  // A batch waits with probability `load`, then exponentially long.
  const double late = 1 - *quantile;
  const double wait_at_s = load > late ? wait_s / load * std::log(load / late) : 0;
  const double gather_at_s = gap_s * gaps_quantile(samples - 1, *quantile);
  const double beyond_mean_s =
      std::hypot(std::max(0.0, gather_at_s - gather_s), std::max(0.0, wait_at_s - wait_s));
  return gather_s + wait_s + beyond_mean_s + time_s;
}

}  // namespace ridgeline
