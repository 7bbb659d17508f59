// Order statistics on sorted copies.
// The bootstrap draws nothing: its limit is exact, cheaper, and the same on every platform.
#include "base/statistics.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"

namespace ridgeline {
namespace {

std::vector<double> sorted(std::span<const double> samples) {
  if (samples.empty()) throw Error("statistics", "no samples");
  for (const double sample : samples)
    if (!std::isfinite(sample)) throw Error("statistics", "a sample is not finite");
  std::vector<double> copy(samples.begin(), samples.end());
  std::sort(copy.begin(), copy.end());
  return copy;
}

double median_of_sorted(const std::vector<double>& samples) {
  const std::size_t middle = samples.size() / 2;
  if (samples.size() % 2 == 1) return samples[middle];
  // Halving first cannot overflow.
  return samples[middle - 1] / 2 + samples[middle] / 2;
}

double quantile_of_sorted(const std::vector<double>& samples, double q) {
  return samples[static_cast<std::size_t>(q * static_cast<double>(samples.size() - 1) + 0.5)];
}

// P(X ≥ k) for X ~ Binomial(n, p), 0 < p < 1. Terms are relative to the largest, from which the
// recurrence walks outwards: no logarithms of factorials, no underflow.
double binomial_at_least(std::size_t n, double p, std::size_t k) {
  const auto mode = std::min(n, static_cast<std::size_t>(static_cast<double>(n + 1) * p));
  const double odds = p / (1 - p);
  double total = 1;
  double tail = mode >= k ? 1 : 0;
  double term = 1;
  for (std::size_t j = mode; j < n && term > 1e-20; ++j) {
    term *= odds * static_cast<double>(n - j) / static_cast<double>(j + 1);
    total += term;
    if (j + 1 >= k) tail += term;
  }
  term = 1;
  for (std::size_t j = mode; j > 0 && term > 1e-20; --j) {
    term *= static_cast<double>(j) / (odds * static_cast<double>(n - j + 1));
    total += term;
    if (j - 1 >= k) tail += term;
  }
  return tail / total;
}

// Index of the q-quantile of the rank-th smallest value (from 1) of a resample of n: that value is
// at most the i-th sample (from 0) when at least `rank` of the n draws are among the first i + 1.
std::size_t resampled_order_quantile(std::size_t n, std::size_t rank, double q) {
  std::size_t low = 0, high = n - 1;
  while (low < high) {
    const std::size_t i = low + (high - low) / 2;
    const double share = static_cast<double>(i + 1) / static_cast<double>(n);
    if (binomial_at_least(n, share, rank) >= q)
      high = i;
    else
      low = i + 1;
  }
  return low;
}

}  // namespace

double median(std::span<const double> samples) { return median_of_sorted(sorted(samples)); }

double median_absolute_deviation(std::span<const double> samples) {
  const double centre = median(samples);
  std::vector<double> deviations(samples.begin(), samples.end());
  for (double& deviation : deviations) deviation = std::abs(deviation - centre);
  return median(deviations);
}

double quantile(std::span<const double> samples, double q) {
  const std::vector<double> values = sorted(samples);
  if (!(q >= 0 && q <= 1)) throw Error("statistics", "a quantile outside 0 … 1");
  return quantile_of_sorted(values, q);
}

double relative_standard_error(std::span<const double> samples) {
  const std::vector<double> values = sorted(samples);
  const auto n = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values) mean += value / n;
  if (values.front() == values.back()) return 0;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (n - 1) / n) / std::abs(mean);
}

SampleInterval bootstrap_median_interval(std::span<const double> samples, double level) {
  if (!(level > 0 && level < 1)) throw Error("statistics", "an interval level outside 0 … 1");
  const std::vector<double> values = sorted(samples);
  const std::size_t n = values.size();
  // Rounded outwards: to the lower and upper of the two middle ranks of an even number, and by one
  // sample on either side. The plain percentiles of 31 samples would cover 85 %, not 90 %.
  const double tail = (1 - level) / 2;
  const std::size_t low = resampled_order_quantile(n, (n + 1) / 2, tail);
  const std::size_t high = resampled_order_quantile(n, n / 2 + 1, 1 - tail);
  return {values[low == 0 ? 0 : low - 1], values[std::min(high + 1, n - 1)]};
}

Estimate median_estimate(std::span<const double> samples, Source source) {
  const SampleInterval interval = bootstrap_median_interval(samples);
  return {median(samples), interval.low, interval.high, source};
}

Estimate interval_of_draws(double value, std::span<const double> draws, Source source) {
  if (draws.empty()) return exact(value, source);
  const std::vector<double> values = sorted(draws);
  return {value, std::min(value, quantile_of_sorted(values, 0.05)),
          std::max(value, quantile_of_sorted(values, 0.95)), source};
}

FittedLine theil_sen(std::span<const double> x, std::span<const double> y) {
  if (x.size() != y.size()) throw Error("statistics", "x and y differ in length");
  std::vector<double> slopes;
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = i + 1; j < x.size(); ++j)
      if (x[i] != x[j]) slopes.push_back((y[j] - y[i]) / (x[j] - x[i]));
  if (slopes.empty()) throw Error("statistics", "a line needs two different x");
  FittedLine line;
  line.slope = median(slopes);
  std::vector<double> offsets;
  for (std::size_t i = 0; i < x.size(); ++i) offsets.push_back(y[i] - line.slope * x[i]);
  line.intercept = median(offsets);
  return line;
}

}  // namespace ridgeline
