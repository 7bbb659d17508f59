// How a run is measured, on an executable whose steps take as long as they are made to.
#include "execution/network_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/error.h"

namespace ridgeline {
namespace {

// Time passes only in its steps: 10 ms, of which conv takes 6 ms and fc 3 ms; recording adds 1 ms.
class SimulatedNetwork : public Executable {
 public:
  double now_s = 0;
  int steps = 0;

  void step() override {
    ++steps;
    now_s += 0.010;
  }
  RecordedStep recorded_step() override {
    now_s += 0.011;
    RecordedStep step;
    step.time_s = 0.011;
    step.calls = {{"conv", 0, StepPhase::forward, 0, 0, 0.006, 0.001},
                  {"aten::conv2d", 0, StepPhase::forward, 1, 0, 0.005, 0.005},
                  {"fc", 1, StepPhase::forward, 0, 0.006, 0.003, 0.003},
                  {"aten::sum", no_index, StepPhase::forward, 0, 0.009, 0.0005, 0.0005},
                  {"AddmmBackward0", 1, StepPhase::backward, 0, 0.0095, 0.001, 0.001},
                  {"fc.weight.update", no_index, StepPhase::update, 0, 0.0105, 0.0002, 0.0002}};
    return step;
  }
  std::vector<std::string> layer_names() const override { return {"conv", "fc"}; }
  std::vector<std::string> notes() const override { return {"simulated"}; }
  std::string library() const override { return "none"; }
};

RunWorld world_of(SimulatedNetwork& network, bool interrupted = false) {
  RunWorld world;
  world.sampler = {[&] { return network.now_s; }, [] { return OtherLoad{}; },
                   [=] { return interrupted; }, [](double, double) {}};
  world.clock_hz = [] { return 2e9; };
  world.cpu_s = [&] { return 1.5 * network.now_s; };
  return world;
}

TEST(NetworkRunning, TimesAreThoseOfStepsWithoutRecording) {
  SimulatedNetwork network;
  const NetworkRun run = run_network(network, 2, 1, world_of(network));
  EXPECT_NEAR(run.time_s.value, 0.010, 1e-9);
  EXPECT_NEAR(run.least_s, 0.010, 1e-9);
  EXPECT_EQ(run.clock_hz->value, 2e9);
  EXPECT_NEAR(run.cpu_s.value(), 0.015, 1e-9);
  EXPECT_EQ(run.threads, 2);
  EXPECT_FALSE(run.power_w);
  EXPECT_NEAR(run.recorded.time_s, 0.011, 1e-9);
  EXPECT_LE(network.now_s, 1.05);
}

TEST(NetworkRunning, TheClockIsNotProbedAfterEveryShortStep) {
  SimulatedNetwork network;
  RunWorld world = world_of(network);
  std::vector<double> probed_s;
  world.clock_hz = [&] {
    probed_s.push_back(network.now_s);
    return 2e9;
  };
  world.clock_pause_s = 0.05;
  const NetworkRun run = run_network(network, 1, 1, world);
  EXPECT_EQ(run.clock_hz->value, 2e9);
  ASSERT_GT(probed_s.size(), 2u);
  EXPECT_LT(probed_s.size() * 4, static_cast<std::size_t>(network.steps));
  for (std::size_t i = 1; i < probed_s.size(); ++i)
    EXPECT_GE(probed_s[i] - probed_s[i - 1], 0.05 - 1e-9);
}

TEST(NetworkRunning, LayersAreJoinedByPhase) {
  SimulatedNetwork network;
  const auto layers = layer_times({network.recorded_step()}, network.layer_names());
  EXPECT_THAT(layers,
              ::testing::ElementsAre(LayerTime{"conv", StepPhase::forward, 0.006},
                                     LayerTime{"fc", StepPhase::forward, 0.003},
                                     LayerTime{"fc", StepPhase::backward, 0.001},
                                     LayerTime{"fc.weight.update", StepPhase::update, 0.0002}));
}

TEST(NetworkRunning, OperatorsAreThoseOfTheLibrary) {
  SimulatedNetwork network;
  EXPECT_THAT(operator_times(network.recorded_step()),
              ::testing::ElementsAre(OperatorTime{"aten::conv2d", 1, 0.005},
                                     OperatorTime{"AddmmBackward0", 1, 0.001},
                                     OperatorTime{"aten::sum", 1, 0.0005}));
}

TEST(NetworkRunning, AnInterruptionBeforeTheFirstStepIsAnError) {
  SimulatedNetwork network;
  EXPECT_THROW(run_network(network, 1, 1, world_of(network, true)), Error);
}

}  // namespace
}  // namespace ridgeline
