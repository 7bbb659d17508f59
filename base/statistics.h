// Robust statistics of repeated measurements: medians, quantiles, intervals, a line through points.
// Deterministic everywhere; samples must be finite and not empty, anything else is an Error.
#pragma once

#include <span>

#include "base/estimate.h"

namespace ridgeline {

struct SampleInterval {
  double low = 0;
  double high = 0;
};

struct FittedLine {
  double slope = 0;
  double intercept = 0;
};

double median(std::span<const double> samples);
double median_absolute_deviation(std::span<const double> samples);  // unscaled
// The sample nearest to rank q (n − 1), q in [0, 1]; never a number between two samples.
double quantile(std::span<const double> samples, double q);
double relative_standard_error(std::span<const double> samples);  // s / (√n · |mean|)

// Percentile bootstrap interval of the median at the limit of infinitely many resamples, rounded
// outwards to a sample so that it covers at least its level (from five samples on, at 90 %).
SampleInterval bootstrap_median_interval(std::span<const double> samples, double level = 0.90);

// Median with its 90 % interval.
Estimate median_estimate(std::span<const double> samples, Source source);

// The value at the means with the 90 % interval of its draws, which always holds the value itself;
// exact where there are no draws.
Estimate interval_of_draws(double value, std::span<const double> draws, Source source);

// Theil–Sen: the median of all pairwise slopes, robust to a third of outliers. Needs two
// different x; O(n²).
FittedLine theil_sen(std::span<const double> x, std::span<const double> y);

}  // namespace ridgeline
