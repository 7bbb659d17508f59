// One bad measurement must not bend a fit: robust residuals, and the limits beyond which a row is
// refused. The rows are the model's own predictions, moved by a known factor.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "roofline/model/coefficients.h"
#include "roofline/model/draws.h"
#include "roofline/model/fit.h"
#include "roofline/model/step.h"
#include "tests/roofline/modelled.h"

namespace ridgeline::testing {
namespace {

constexpr std::string_view board = "jetson-agx-orin-64gb";
constexpr const char* some_modes[] = {"15W",        "30W",        "50W",        "MAXN",
                                      "gpu=612MHz", "gpu=816MHz", "gpu=1020MHz"};

class FitOutliers : public ::testing::Test {
 protected:
  Observation believed(const char* mode, const char* network = "one") const {
    Observation run;
    run.network = network;
    run.conditions.point = point_of(board, mode);
    run.conditions.runtime = load.runtime;
    const Step step = StepModel(load, coefficients(prior, load.runtime)).at(run.conditions, false);
    run.time_s = step.time_s;
    run.power_w = step.power_w;
    return run;
  }

  FitResult fitted(const std::vector<Observation>& runs) const {
    return fit(prior, runs, std::vector<const NetworkLoad*>(runs.size(), &load));
  }

  // What a fit says of a run, over what the prior says.
  double moved(const MachineModel& model, const Observation& run) const {
    const MachineModel own = for_network(model, run);
    const Step step = StepModel(load, coefficients(own, load.runtime)).at(run.conditions, false);
    return step.time_s / run.time_s;
  }
  double power_moved(const MachineModel& model, const Observation& run) const {
    const MachineModel own = for_network(model, run);
    const Step step = StepModel(load, coefficients(own, load.runtime)).at(run.conditions, false);
    return *step.power_w / *run.power_w;
  }

  MachineModel prior = model_of(board);
  NetworkLoad load = load_of("resnet50", Runtime::torch_eager, 16);
};

// Seven rows agree and one took 2.5 times as long: squared residuals would move all by 10 %.
TEST_F(FitOutliers, OneSlowRowOfEightHardlyMovesTheFit) {
  std::vector<Observation> runs;
  for (const char* mode : some_modes) runs.push_back(believed(mode));
  runs.push_back(believed("gpu=918MHz"));
  runs.back().time_s *= 2.5;
  const FitResult result = fitted(runs);
  EXPECT_TRUE(result.refused.empty());
  for (const char* mode : {"30W", "gpu=714MHz"})
    EXPECT_NEAR(moved(result.model, believed(mode)), 1, 0.05) << mode;
  // All of them slow, though, is the network or the machine.
  runs.pop_back();
  for (Observation& run : runs) run.time_s *= 1.4;
  EXPECT_GT(moved(fitted(runs).model, believed("30W")), 1.25);
}

// Beyond 1.5 sigmas a residual pulls with the same force however far off it is.
TEST_F(FitOutliers, AnOutlierTwiceAsFarOffPullsNoHarder) {
  const auto fit_with = [&](double factor) {
    std::vector<Observation> runs;
    for (const char* mode : some_modes) runs.push_back(believed(mode));
    runs.push_back(believed("gpu=918MHz"));
    runs.back().time_s *= factor;
    return moved(fitted(runs).model, believed("30W"));
  };
  const double near = fit_with(1.6), far = fit_with(2.5);
  EXPECT_GT(near, 1.001);
  EXPECT_NEAR(far / near, 1, 0.001);
}

TEST_F(FitOutliers, OnePowerOfEightHardlyMovesTheFit) {
  std::vector<Observation> runs;
  for (const char* mode : some_modes) runs.push_back(believed(mode));
  runs.push_back(believed("gpu=918MHz"));
  *runs.back().power_w *= 1.6;
  const FitResult result = fitted(runs);
  EXPECT_TRUE(result.refused.empty());
  EXPECT_NEAR(power_moved(result.model, believed("30W")), 1, 0.03);
}

// Six sigmas of the prior's own spread, of time and of power, to either side.
TEST_F(FitOutliers, RowsBeyondSixSigmasAreRefused) {
  const Coefficients means = coefficients(prior, load.runtime);
  const double time_spread = std::hypot(std::max(means.time_error, 0.2), FitOptions{}.time_noise);
  const double power_spread = std::max(means.power_error, 0.15);
  for (const double sigmas : {-6.3, -5.7, 5.7, 6.3}) {
    Observation slow = believed("30W"), hungry = believed("30W");
    slow.time_s *= std::exp(sigmas * time_spread);
    *hungry.power_w *= std::exp(sigmas * power_spread);
    const bool refused = std::abs(sigmas) > 6;
    EXPECT_EQ(fitted({slow}).refused.size(), refused ? 1u : 0u) << sigmas;
    EXPECT_EQ(fitted({hungry}).refused.size(), refused ? 1u : 0u) << sigmas;
    if (refused) {
      EXPECT_NE(fitted({slow}).refused.at(0).find("its time is "), std::string::npos);
      EXPECT_NE(fitted({hungry}).refused.at(0).find("its power is "), std::string::npos);
    }
  }
  Observation none = believed("30W");
  none.time_s = 0;
  EXPECT_EQ(fitted({none}).refused.size(), 1u);
  // A refused row teaches nothing, and its neighbours still do.
  Observation wrong = believed("MAXN");
  wrong.time_s *= 1e3;
  Observation right = believed("30W");
  right.time_s *= 1.3;
  EXPECT_EQ(fitted({wrong, right}).model.parameters, fitted({right}).model.parameters);
}

// Each network's rows move its own scales, whatever their order, and the powers beside them.
TEST_F(FitOutliers, ScalesGoToTheirNetworks) {
  std::vector<Observation> runs;
  for (const char* mode : {"30W", "MAXN", "50W"})
    for (const char* name : {"even", "slow", "fast"}) {
      runs.push_back(believed(mode, name));
      runs.back().time_s *= *name == 's' ? 1.4 : *name == 'f' ? 1 / 1.4 : 1;
      if (*name == 'e') runs.back().power_w.reset();
    }
  const MachineModel model = fitted(runs).model;
  ASSERT_EQ(model.networks.size(), 3u);
  const double even = moved(model, believed("gpu=918MHz", "even"));
  EXPECT_NEAR(even, 1, 0.06);
  EXPECT_NEAR(moved(model, believed("gpu=918MHz", "slow")), 1.4, 0.12);
  EXPECT_NEAR(moved(model, believed("gpu=918MHz", "fast")), 1 / 1.4, 0.08);
}

// What a network's own scale is known to is less than the prior's spread, and more than nothing.
TEST_F(FitOutliers, MoreRowsMakeAScaleSurer) {
  const auto sigma = [&](std::size_t rows) {
    std::vector<Observation> runs;
    for (std::size_t i = 0; i < rows; ++i) runs.push_back(believed(some_modes[i]));
    const MachineModel own = for_network(fitted(runs).model, runs.front());
    return sigma_of(own, find_parameter(own, "torch_eager_kernel_time_scale").value());
  };
  const double one = sigma(1), seven = sigma(7);
  EXPECT_LT(seven, 0.9 * one);
  EXPECT_GT(seven, 0.005);
}

}  // namespace
}  // namespace ridgeline::testing
