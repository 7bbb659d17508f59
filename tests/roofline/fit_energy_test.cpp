// The fit against a known truth: exact rows recover it, rows read by a made-up power sensor (noise,
// lag, coarse steps) recover it within 5 %, and rows that cannot separate the terms are rejected.
#include "roofline/model/fit_energy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/random.h"
#include "roofline/ceilings/energy_terms.h"
#include "tests/base/error_line.h"
#include "tests/roofline/made_up_energy.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;

// A kernel of this intensity that runs for `time_s` on the machine.
EnergyRow true_row(const EnergyTerms& truth, double flop_per_byte, double time_s = 1) {
  const double flop = time_s / time_per_flop_s(truth, flop_per_byte);
  return {flop, flop / flop_per_byte, time_s, power_w(truth, flop_per_byte) * time_s};
}

// Like the CPU's own sweep: doubling steps across the ridge, without pure loads.
std::vector<double> sweep_of(const EnergyTerms& truth) {
  std::vector<double> intensities;
  for (double step = 1.0 / 32; step <= 32; step *= 2)
    intensities.push_back(step * time_balance(truth));
  return intensities;
}

std::vector<EnergyRow> true_sweep(const EnergyTerms& truth) {
  std::vector<EnergyRow> rows;
  for (const double intensity : sweep_of(truth)) rows.push_back(true_row(truth, intensity));
  return rows;
}

struct Sensor {
  double noise = 0.05;     // relative, one sigma, of each reading
  double lag_s = 0.5;      // first-order
  double step_w = 0.4;     //
  double period_s = 0.1;   // between readings
  double lead_in_s = 2.5;  // of each kernel, before its energy counts
};

// The kernels of a sweep run one after the other, in an order that depends on the seed, each for
// `time_s`; the sensor samples all the time.
std::vector<EnergyRow> sensed_sweep(const EnergyTerms& truth, const Sensor& sensor, int repeats,
                                    double time_s, std::uint64_t seed) {
  Random random{seed};
  const auto normal = [&random] {
    return std::sqrt(-2 * std::log(1 - random.unit())) *
           std::cos(2 * std::numbers::pi * random.unit());
  };
  std::vector<double> order;
  for (int i = 0; i < repeats; ++i)
    for (const double intensity : sweep_of(truth)) order.push_back(intensity);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  std::vector<EnergyRow> rows;
  double seen_w = truth.constant_power_w;
  for (const double intensity : order) {
    const double real_w = power_w(truth, intensity);
    double sum = 0;
    int count = 0;
    for (double at = 0; at < sensor.lead_in_s + time_s; at += sensor.period_s) {
      seen_w += (real_w - seen_w) * (1 - std::exp(-sensor.period_s / sensor.lag_s));
      const double reading = seen_w * (1 + sensor.noise * normal());
      if (at < sensor.lead_in_s) continue;
      sum += std::round(reading / sensor.step_w) * sensor.step_w;
      ++count;
    }
    EnergyRow row = true_row(truth, intensity, time_s);
    row.energy_j = sum / count * time_s;
    rows.push_back(row);
  }
  return rows;
}

// The largest relative error of the three.
double error_of(const EnergyFit& fit, const EnergyTerms& truth) {
  return std::max({std::abs(fit.joule_per_flop.value / truth.joule_per_flop - 1),
                   std::abs(fit.joule_per_byte.value / truth.joule_per_byte - 1),
                   std::abs(fit.constant_power_w.value / truth.constant_power_w - 1)});
}

// Orders of magnitude of a board, a card, a server CPU and a phone; made up.
const std::vector<EnergyTerms>& true_machines() {
  static const std::vector<EnergyTerms> table{{5e12, 190e9, 5e-12, 60e-12, 20, {}},
                                              {19e12, 1.5e12, 8e-12, 60e-12, 90, {}},
                                              {2e12, 200e9, 40e-12, 400e-12, 60, {}},
                                              {500e9, 30e9, 6e-12, 90e-12, 2.5, {}}};
  return table;
}

TEST(FitEnergy, ExactRowsGiveTheTruth) {
  for (const EnergyTerms& truth : true_machines()) {
    const EnergyFit fit = fit_energy(true_sweep(truth));
    EXPECT_LT(error_of(fit, truth), 1e-9);
    EXPECT_LT(fit.relative_residual, 1e-12);
    EXPECT_EQ(fit.rows, 11U);
    EXPECT_EQ(fit.joule_per_flop.source, Source::fitted);
    EXPECT_LT(fit.joule_per_byte.low, fit.joule_per_byte.value);
    EXPECT_DOUBLE_EQ(fit.covariance[1], fit.covariance[3]);
  }
}

// Traffic that takes a percent of the power is lost in the steps of a sensor; what is known of it
// from elsewhere then decides, and the other two are found as before.
TEST(FitEnergy, WhatIsKnownOfTrafficCounts) {
  const EnergyTerms truth{2e12, 6e9, 5e-12, 40e-12, 12, {}};
  const std::vector<EnergyRow> rows = sensed_sweep(truth, {}, 1, 3, 5);
  const EnergyFit alone = fit_energy(rows);
  const double byte_j = truth.joule_per_byte;
  EXPECT_GT(alone.joule_per_byte.high - alone.joule_per_byte.low, byte_j);
  FitEnergyOptions options;
  options.joule_per_byte = Estimate{byte_j, 0.9 * byte_j, 1.1 * byte_j, Source::fitted};
  const EnergyFit fit = fit_energy(rows, options);
  EXPECT_LT(error_of(fit, truth), 0.05);
  EXPECT_LT(fit.joule_per_byte.high - fit.joule_per_byte.low, 0.25 * byte_j);
  EXPECT_EQ(fit.rows, rows.size());
  // Rows that tell it well outweigh what is known badly.
  const EnergyTerms& board = true_machines().front();
  const double board_j = board.joule_per_byte;
  options.joule_per_byte = Estimate{2 * board_j, 0, 4 * board_j, Source::fitted};
  EXPECT_LT(fit_energy(true_sweep(board), options).joule_per_byte.value, 1.1 * board_j);
}

TEST(FitEnergy, NoisySensorWithinFivePercent) {
  double worst = 0;
  for (const EnergyTerms& truth : true_machines())
    for (const double noise : {0.02, 0.05})
      for (std::uint64_t seed = 1; seed <= 25; ++seed) {
        Sensor sensor;
        sensor.noise = noise;
        if (peak_power_w(truth) < 10) sensor.step_w = 0.04;  // a phone's sensor is finer
        const auto rows = sensed_sweep(truth, sensor, 3, 10, seed);
        const EnergyFit fit = fit_energy(rows, {"sensor", noise / 10, sensor.step_w / 10});
        worst = std::max(worst, error_of(fit, truth));
      }
  RecordProperty("worst_error", std::to_string(worst));
  EXPECT_LT(worst, 0.05);
}

// Without a lead-in each kernel is charged for part of the one before it. In random order that is
// noise, as long as the window is much longer than the lag.
TEST(FitEnergy, LagWithoutLeadIn) {
  Sensor sensor;
  sensor.noise = 0.02;
  sensor.lead_in_s = 0;
  double worst = 0;
  for (std::uint64_t seed = 1; seed <= 25; ++seed)
    worst =
        std::max(worst, error_of(fit_energy(sensed_sweep(true_machines()[0], sensor, 5, 40, seed)),
                                 true_machines()[0]));
  RecordProperty("worst_error", std::to_string(worst));
  EXPECT_LT(worst, 0.05);
}

TEST(FitEnergy, IntervalsHoldTheTruth) {
  const EnergyTerms& truth = true_machines()[0];
  int inside = 0, all = 0;
  const auto count = [&](const Estimate& estimate, double value) {
    inside += estimate.low <= value && value <= estimate.high ? 1 : 0;
    ++all;
  };
  Random random{7};
  for (int run = 0; run < 300; ++run) {
    auto rows = true_sweep(truth);
    for (EnergyRow& row : rows) {
      double sum = -6;  // twelve uniform numbers are nearly normal
      for (int i = 0; i < 12; ++i) sum += random.unit();
      row.energy_j *= 1 + 0.03 * sum;
    }
    const EnergyFit fit = fit_energy(rows, {"rows", 0.03, 0});
    count(fit.joule_per_flop, truth.joule_per_flop);
    count(fit.joule_per_byte, truth.joule_per_byte);
    count(fit.constant_power_w, truth.constant_power_w);
  }
  EXPECT_GT(inside, all * 85 / 100);
  EXPECT_LT(inside, all * 98 / 100);
}

// Rows that scatter more than the sensor's own noise widen the intervals.
TEST(FitEnergy, ScatterWidensTheIntervals) {
  auto rows = true_sweep(true_machines()[0]);
  const EnergyFit quiet = fit_energy(rows, {"rows", 0.01, 0});
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].energy_j *= i % 2 == 0 ? 1.05 : 0.95;
  const EnergyFit loud = fit_energy(rows, {"rows", 0.01, 0});
  EXPECT_GT(loud.covariance[0], 10 * quiet.covariance[0]);
  EXPECT_NEAR(loud.relative_residual, 0.05, 0.02);
}

// Rows whose best fit would have a negative energy per byte: held at zero, with an upper end.
TEST(FitEnergy, NothingBelowZero) {
  EnergyTerms truth = true_machines()[0];
  truth.joule_per_byte = 0;
  auto rows = true_sweep(truth);
  for (EnergyRow& row : rows) row.energy_j -= 5e-12 * row.bytes;
  const EnergyFit fit = fit_energy(rows);
  EXPECT_EQ(fit.joule_per_byte.value, 0);
  EXPECT_EQ(fit.joule_per_byte.low, 0);
  EXPECT_GT(fit.joule_per_byte.high, 0);
  EXPECT_NEAR(fit.constant_power_w.value, truth.constant_power_w, 1.5);
}

std::string refusal(const std::vector<EnergyRow>& rows) {
  return error_line([&] { fit_energy(rows, {"sweep.csv", 0.03, 0}); });
}

TEST(FitEnergy, RefusesRowsThatCannotTell) {
  const EnergyTerms& truth = true_machines()[0];
  const double ridge = time_balance(truth);
  const auto rows = [&](std::vector<double> intensities) {
    std::vector<EnergyRow> made;
    for (const double intensity : intensities) made.push_back(true_row(truth, intensity));
    return made;
  };
  EXPECT_EQ(refusal({}),
            "sweep.csv: 3 coefficients need at least 3 rows with energy, there are none (measure a "
            "sweep of intensities)");
  EXPECT_THAT(refusal(rows({1, 100})), HasSubstr("there are two"));
  EXPECT_EQ(
      refusal(rows({2, 2, 2, 2})),
      "sweep.csv: all rows have about 2.00 FLOP/byte: energy per FLOP and energy per byte cannot "
      "be told apart (measure a sweep of intensities)");
  EXPECT_EQ(refusal(rows({ridge / 16, ridge / 8, ridge / 4, ridge / 2})),
            "sweep.csv: all rows move bytes at one rate, bound by memory: energy per byte and "
            "constant power cannot be told apart (add rows that are bound by arithmetic)");
  EXPECT_EQ(refusal(rows({ridge * 16, ridge * 8, ridge * 4, ridge * 2})),
            "sweep.csv: all rows compute at one rate, bound by arithmetic: energy per FLOP and "
            "constant power cannot be told apart (add rows that are bound by memory)");
  EXPECT_THAT(refusal(rows({ridge / 8, ridge / 8, ridge * 8, ridge * 8})),
              HasSubstr("4 rows differ too little to tell energy per FLOP, energy per byte and"));
  auto without_flop = rows({1, 2, 4, 100, 200});
  for (EnergyRow& row : without_flop) row.flop = 0;
  EXPECT_THAT(refusal(without_flop), HasSubstr("no row does arithmetic"));
  auto without_bytes = rows({1, 2, 4, 100, 200});
  for (EnergyRow& row : without_bytes) row.bytes = 0;
  EXPECT_THAT(refusal(without_bytes), HasSubstr("no row moves bytes"));
  // Rates that vary by one per cent are not a sweep.
  auto wavering = rows({ridge / 16, ridge / 8, ridge / 4, ridge / 2});
  for (std::size_t i = 0; i < wavering.size(); ++i) wavering[i].time_s *= i % 2 == 0 ? 1.01 : 0.99;
  EXPECT_THAT(refusal(wavering), HasSubstr("bound by memory"));
}

TEST(FitEnergy, RefusesImpossibleRows) {
  auto rows = true_sweep(true_machines()[0]);
  rows[2].energy_j = 0;
  EXPECT_EQ(refusal(rows), "sweep.csv: row 3: energy is not a positive number");
  rows[1].time_s = std::nan("");
  EXPECT_EQ(refusal(rows), "sweep.csv: row 2: time is not a positive number");
  rows[0].flop = -1;
  EXPECT_EQ(refusal(rows), "sweep.csv: row 1: FLOP is not a number from 0 on");
}

// Machines where each of the three terms takes at least a tenth of the power somewhere.
rc::Gen<EnergyTerms> balanced_terms() {
  return rc::gen::exec([] {
    EnergyTerms terms;
    terms.flops_per_s = *log_uniform(1e10, 1e15);
    terms.bytes_per_s = *log_uniform(1e9, 1e13);
    terms.constant_power_w = *log_uniform(0.5, 300);
    terms.joule_per_flop = *log_uniform(0.2, 5) * terms.constant_power_w / terms.flops_per_s;
    terms.joule_per_byte = *log_uniform(0.2, 5) * terms.constant_power_w / terms.bytes_per_s;
    return terms;
  });
}

RC_GTEST_PROP(FitEnergyProperty, RecoversAnyMachine, ()) {
  const EnergyTerms truth = *balanced_terms();
  RC_ASSERT(error_of(fit_energy(true_sweep(truth)), truth) < 1e-6);
}

RC_GTEST_PROP(FitEnergyProperty, NeverNegativeWhateverTheReadings, ()) {
  auto rows = true_sweep(*balanced_terms());
  for (EnergyRow& row : rows) row.energy_j *= *log_uniform(0.1, 10);
  const EnergyFit fit = fit_energy(rows);
  for (const Estimate& estimate : {fit.joule_per_flop, fit.joule_per_byte, fit.constant_power_w}) {
    RC_ASSERT(estimate.low >= 0 && estimate.low <= estimate.value);
    RC_ASSERT(estimate.value <= estimate.high && std::isfinite(estimate.high));
  }
}

// Row order and window length do not matter; energy in other units scales the result.
RC_GTEST_PROP(FitEnergyProperty, Invariances, ()) {
  auto rows = true_sweep(*balanced_terms());
  for (EnergyRow& row : rows) row.energy_j *= *log_uniform(0.95, 1.05);
  const EnergyFit fit = fit_energy(rows);
  const double factor = *log_uniform(0.01, 100);
  auto scaled = rows;
  std::reverse(scaled.begin(), scaled.end());
  for (EnergyRow& row : scaled)
    row = {row.flop * 3, row.bytes * 3, row.time_s * 3, row.energy_j * 3 * factor};
  const EnergyFit other = fit_energy(scaled);
  RC_ASSERT(nearly_equal(other.joule_per_flop.value, factor * fit.joule_per_flop.value, 1e-6));
  RC_ASSERT(nearly_equal(other.joule_per_byte.value, factor * fit.joule_per_byte.value, 1e-6));
  RC_ASSERT(nearly_equal(other.constant_power_w.value, factor * fit.constant_power_w.value, 1e-6));
}

// A coefficient is known while one sigma of its energy is below half of all energy. Sigmas grow
// with the noise of the sensor.
TEST(FitEnergy, ACoefficientIsKnownUpToHalfOfAllEnergy) {
  const EnergyTerms truth{2e12, 200e9, 40e-12, 400e-12, 60, {}};
  const std::vector<EnergyRow> rows = true_sweep(truth);
  FitEnergyOptions options;
  options.relative_noise = 0.01;
  const EnergyFit fit = fit_energy(rows, options);
  double flop = 0, bytes = 0, time_s = 0, energy_j = 0;
  for (const EnergyRow& row : rows) {
    flop += row.flop;
    bytes += row.bytes;
    time_s += row.time_s;
    energy_j += row.energy_j;
  }
  const double share =
      std::max({std::sqrt(fit.covariance[0]) * flop, std::sqrt(fit.covariance[4]) * bytes,
                std::sqrt(fit.covariance[8]) * time_s}) /
      energy_j;
  options.relative_noise = 0.01 * 0.48 / share;
  EXPECT_NO_THROW(fit_energy(rows, options));
  options.relative_noise = 0.01 * 0.52 / share;
  EXPECT_NE(error_line([&] { fit_energy(rows, options); }), "no error");
}

// Twice the rows halve the variance; rows without scatter widen nothing, even where three rows
// leave no freedom to see it.
TEST(FitEnergy, ThreeRowsKnowAsMuchAsTheirNoise) {
  const EnergyTerms truth{2e12, 200e9, 40e-12, 400e-12, 60, {}};
  const std::vector<EnergyRow> three = {true_row(truth, 0.1), true_row(truth, 10),
                                        true_row(truth, 1000)};
  std::vector<EnergyRow> six = three;
  six.insert(six.end(), three.begin(), three.end());
  const EnergyFit once = fit_energy(three), twice = fit_energy(six);
  const auto half = [](const Estimate& estimate) { return estimate.high - estimate.value; };
  EXPECT_NEAR(half(once.joule_per_flop) / half(twice.joule_per_flop), std::sqrt(2), 1e-6);
  EXPECT_NEAR(half(once.joule_per_byte) / half(twice.joule_per_byte), std::sqrt(2), 1e-6);
  EXPECT_NEAR(half(once.constant_power_w) / half(twice.constant_power_w), std::sqrt(2), 1e-6);
}

}  // namespace
}  // namespace ridgeline::testing
