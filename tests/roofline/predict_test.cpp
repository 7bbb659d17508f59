// The terms of a prediction: those that take time or energy, and only those.
#include "roofline/model/predict.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/roofline/modelled.h"

namespace ridgeline::testing {
namespace {

TEST(PredictedTerms, AreThoseThatTakeTimeOrEnergy) {
  constexpr std::string_view board = "jetson-agx-orin-64gb";
  const NetworkLoad load = load_of("resnet18", Runtime::torch_eager, 8);
  Conditions conditions;
  conditions.point = point_of(board, "30W");
  conditions.runtime = load.runtime;
  const Prediction prediction =
      predict(model_of(board), load, conditions, {.draws = 0, .rows = RowDetail::values});
  ASSERT_FALSE(prediction.demands.empty());
  std::set<std::string> names;
  for (const PredictedDemand& row : prediction.demands)
    for (const Term& term : row.terms) {
      EXPECT_TRUE(term.time_s > 0 || term.energy_j.value_or(0) > 0) << row.demand << term.name;
      names.insert(term.name);
    }
  for (const char* name : {"compute", "memory", "host", "constant power"})
    EXPECT_TRUE(names.contains(name)) << name;
}

// Rows are named as their kernels, and the energy of a row is that of its terms.
TEST(PredictedTerms, OfARowAddUpToItsEnergy) {
  constexpr std::string_view board = "jetson-agx-orin-64gb";
  const NetworkLoad load = load_of("resnet18", Runtime::torch_eager, 8);
  Conditions conditions;
  conditions.point = point_of(board, "30W");
  conditions.runtime = load.runtime;
  const Prediction prediction =
      predict(model_of(board), load, conditions, {.draws = 0, .rows = RowDetail::values});
  ASSERT_EQ(prediction.demands.size(), load.kernels.size());
  for (std::size_t i = 0; i < load.kernels.size(); ++i) {
    const PredictedDemand& row = prediction.demands[i];
    EXPECT_EQ(row.demand, load.kernels[i].name);
    double energy_j = 0;
    for (const Term& term : row.terms) energy_j += term.energy_j.value_or(0);
    EXPECT_NEAR(energy_j, row.energy_j->value, 1e-9 + 1e-6 * energy_j) << row.demand;
    if (row.time_s.value > 0) {
      EXPECT_NEAR(row.power_w->value, row.energy_j->value / row.time_s.value, 1e-9) << row.demand;
    }
  }
  EXPECT_EQ(prediction.device, board);
  EXPECT_EQ(prediction.point, conditions.point);
  EXPECT_EQ(prediction.runtime, Runtime::torch_eager);
}

// A prediction names the clock that a cap leaves, not the one that was asked for.
TEST(Prediction, HasTheClockThatTheCapLeaves) {
  constexpr std::string_view card = "a100-40gb-pcie";
  MachineModel model = model_of(card);
  const NetworkLoad load = load_of("resnet101", Runtime::torch_eager, 128);
  Conditions conditions;
  conditions.point = point_of(card, "gpu=1410MHz");
  conditions.point.cap_w.reset();
  conditions.runtime = load.runtime;
  const auto clock_under = [&](double cap_w) {
    set_parameter(model, {"power_cap_w", cap_w, Source::datasheet});
    return *predict(model, load, conditions, {.draws = 0, .rows = RowDetail::none}).point.gpu_hz;
  };
  EXPECT_EQ(clock_under(1000), 1410e6);
  EXPECT_LT(clock_under(150), 1300e6);
  EXPECT_GT(clock_under(150), clock_under(120));
}

}  // namespace
}  // namespace ridgeline::testing
