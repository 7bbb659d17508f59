// What calibration on one or two networks teaches about others, on measured boards: five rows of
// one network must not make the predictions of other networks worse, those of two only a little,
// and neither their intervals too narrow.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/support/measured_tables.h"
#include "validation/calibration.h"
#include "validation/groups.h"
#include "validation/measurement_table.h"
#include "validation/predictor.h"
#include "validation/probes.h"

namespace ridgeline::testing {
namespace {

struct TransferScore {
  double error = 0, covered = 0, power_error = 0;
  int rows = 0, powers = 0;

  void add(const Forecast& forecast, const Observation& row) {
    error += std::abs(forecast.time_s.value / row.time_s - 1);
    covered += forecast.time_s.low <= row.time_s && row.time_s <= forecast.time_s.high ? 1 : 0;
    ++rows;
    if (!row.power_w || !forecast.power_w) return;
    power_error += std::abs(forecast.power_w->value / *row.power_w - 1);
    ++powers;
  }
  double power_mape() const { return powers > 0 ? power_error / powers : 0; }
  double mape() const { return error / rows; }
  double coverage() const { return covered / rows; }
};

std::ostream& operator<<(std::ostream& out, const TransferScore& score) {
  return out << 100 * score.mape() << " % (" << 100 * score.coverage() << " % covered), power "
             << 100 * score.power_mape() << " %";
}

// A fit passes on at least 1 % of what the rows moved. Intervals are made of 200 draws, and a
// fitted model uses other random numbers than its prior.
constexpr double error_noise = 0.0005;
constexpr double coverage_noise = 0.01;

class MeasuredNetworks : public ::testing::Test {
 protected:
  using Key = std::pair<std::string, Runtime>;  // a network and what ran it

  void SetUp() override {
    const std::string path = measured_table("orin_agx_nets.csv");
    if (path.empty()) GTEST_SKIP() << "RIDGELINE_DATA is not set, or has no orin_agx_nets.csv";
    table = read_measurement_table(path);
    predictor = model_predictor(table.devices);
    prior = predictor.prior(table.rows.front());
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      const Observation& row = table.rows[i];
      before.push_back(predictor.forecast(prior, row, Detail::interval));
      networks[{row.network, row.conditions.runtime}].push_back(i);
    }
  }

  MeasurementTable table;
  Predictor predictor;
  MachineModel prior;
  std::vector<Forecast> before;
  std::map<Key, Indices> networks;
};

TEST_F(MeasuredNetworks, FiveRowsOfOneDoNotBendOthers) {
  double own_error_before = 0, own_error_after = 0;  // sums over the networks
  for (const auto& [name, own] : networks) {
    std::vector<Observation> rows;
    std::set<std::size_t> probed;
    for (const std::size_t i : evenly_spaced(5, own.size())) {
      probed.insert(own[i]);
      rows.push_back(table.rows[own[i]]);
    }
    const MachineModel fitted = calibrate(prior, rows, predictor).model;
    TransferScore others_before, others_after, own_before, own_after;
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      const Observation& row = table.rows[i];
      const bool is_own = row.network == name.first && row.conditions.runtime == name.second;
      if (is_own ? own.size() > 5 && probed.contains(i) : row.network == name.first) continue;
      const Forecast after = predictor.forecast(fitted, row, Detail::interval);
      (is_own ? own_before : others_before).add(before[i], row);
      (is_own ? own_after : others_after).add(after, row);
    }
    std::cout << name.first << " by " << to_string(name.second) << ": others " << others_before
              << " before, " << others_after << " after; its own " << own_before << " before, "
              << own_after << " after\n";
    EXPECT_LE(others_after.mape(), others_before.mape() + error_noise) << name.first;
    EXPECT_GE(others_after.coverage(), others_before.coverage() - coverage_noise) << name.first;
    EXPECT_LE(others_after.power_mape(), others_before.power_mape() + error_noise) << name.first;
    // With free clocks the same run differs by 10 % and up to 50 %, so five of them cannot promise
    // to help; with locked clocks they do.
    if (table.rows[own.front()].conditions.locked) {
      EXPECT_LT(own_after.mape(), own_before.mape()) << name.first;
    }
    own_error_before += own_before.mape();
    own_error_after += own_after.mape();
  }
  EXPECT_LT(own_error_after, own_error_before);
}

// With two networks in the fit, what both have in common moves the parameters of the machine, which
// one network hardly does. Each network with the one that is `distance` places after it.
//
// The times of others are not always as good as before: of 54 pairs, 23 made them worse, by 0.3
// percentage points on average over all pairs and by 1.9 at worst (2026-11-19). The bars hold what
// is. Intervals cover 0.7 points less at worst and 1.5 more on average; power is 2.2 points better
// on average.
TEST_F(MeasuredNetworks, FiveRowsOfEachOfTwoBendOthersLittle) {
  constexpr std::size_t distance = 2;
  constexpr double worst_error = 0.02, mean_error = 0.005;  // above that before
  const std::vector<std::pair<Key, Indices>> all(networks.begin(), networks.end());
  double sum_before = 0, sum_after = 0;
  int pairs = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& [first, rows_of_first] = all[i];
    const auto& [second, rows_of_second] = all[(i + distance) % all.size()];
    if (first.first == second.first) continue;
    std::vector<Observation> rows;
    for (const Indices* own : {&rows_of_first, &rows_of_second})
      for (const std::size_t place : evenly_spaced(5, own->size()))
        rows.push_back(table.rows[(*own)[place]]);
    const MachineModel fitted = calibrate(prior, rows, predictor).model;
    TransferScore others_before, others_after;
    for (std::size_t k = 0; k < table.rows.size(); ++k) {
      const Observation& row = table.rows[k];
      if (row.network == first.first || row.network == second.first) continue;
      others_before.add(before[k], row);
      others_after.add(predictor.forecast(fitted, row, Detail::interval), row);
    }
    const std::string names = first.first + " by " + std::string(to_string(first.second)) +
                              " and " + second.first + " by " +
                              std::string(to_string(second.second));
    std::cout << names << ": others " << others_before << " before, " << others_after << " after\n";
    EXPECT_LE(others_after.mape(), others_before.mape() + worst_error) << names;
    EXPECT_GE(others_after.coverage(), others_before.coverage() - coverage_noise) << names;
    EXPECT_LE(others_after.power_mape(), others_before.power_mape() + mean_error) << names;
    sum_before += others_before.mape();
    sum_after += others_after.mape();
    ++pairs;
  }
  ASSERT_GT(pairs, 0);
  EXPECT_LE(sum_after / pairs, sum_before / pairs + mean_error);
}

}  // namespace
}  // namespace ridgeline::testing
