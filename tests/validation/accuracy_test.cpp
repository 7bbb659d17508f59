// The errors that docs/accuracy.md promises, on measurements of real boards
// (tests/support/measured_tables.h).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/json.h"
#include "tests/support/measured_tables.h"
#include "tests/support/process.h"

namespace ridgeline::testing {
namespace {

constexpr const char* agx_orin = "orin_agx_nets.csv";
constexpr const char* jetsons = "mlperf_jetson.csv";
constexpr const char* gpus = "nvidia_gpus_dvfs.csv";
constexpr const char* cards = "timm_gpus.csv";
constexpr const char* orin_nano = "orin_nano_yolov8n.csv";

class Accuracy : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* table : {agx_orin, jetsons, gpus, cards, orin_nano})
      if (measured_table(table).empty())
        GTEST_SKIP() << "RIDGELINE_DATA is not set, or has no " << table;
  }

  static Json scored(const std::string& table, std::vector<std::string> options) {
    options.insert(options.begin(), {"validate", measured_table(table), "--json"});
    const ProcessResult result = run_ridgeline(options);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return Json::parse(result.out);
  }
};

TEST_F(Accuracy, AgxOrinOneNodeAtATimeWithNetworksLeftOut) {
  const Json json =
      scored(agx_orin, {"--where", "runtime=torch-eager-hooks", "--cross-validate", "model"});
  EXPECT_LE(json["time_mape"].get<double>(), 0.12);
  EXPECT_GE(json["kendall_tau"].get<double>(), 0.9);
  EXPECT_GE(json["coverage"].get<double>(), 0.85);
  EXPECT_LE(json["interval_half_width"].get<double>(), 0.30);
  // The only network with attention: little is known about it, so its interval is wide.
  const Json& vit = json["by"]["net"]["vit_b_32"];
  EXPECT_LE(vit["time_mape"].get<double>(), 0.25);
  EXPECT_GE(vit["coverage"].get<double>(), 0.8);
}

TEST_F(Accuracy, AgxOrinOneNodeAtATimeWithTwoProbes) {
  const Json json = scored(agx_orin, {"--where", "runtime=torch-eager-hooks", "--probes", "2"});
  EXPECT_LE(json["time_mape"].get<double>(), 0.12);
  EXPECT_LE(json["by"]["batch"]["16"]["time_mape"].get<double>(), 0.09);
  EXPECT_LE(json["by"]["batch"]["64"]["time_mape"].get<double>(), 0.095);
}

// RTX 3090 and 4090: 21 networks and images, eager, compiled, and a training step.
TEST_F(Accuracy, ConsumerCardsWithNetworksLeftOut) {
  const Json inference = scored(cards, {"--where", "task=inference", "--cross-validate", "model"});
  EXPECT_LE(inference["time_mape"].get<double>(), 0.08);
  EXPECT_NEAR(inference["bias"].get<double>(), 0, 0.04);
  EXPECT_GE(inference["coverage"].get<double>(), 0.85);
  const Json training = scored(cards, {"--where", "task=training", "--cross-validate", "model"});
  EXPECT_LE(training["time_mape"].get<double>(), 0.12);
  EXPECT_NEAR(training["bias"].get<double>(), 0, 0.1);
  EXPECT_GE(training["coverage"].get<double>(), 0.8);
}

TEST_F(Accuracy, AgxOrinEager) {
  const Json none = scored(agx_orin, {"--where", "source=pagoda"});
  EXPECT_LE(none["time_mape"].get<double>(), 0.20);
  EXPECT_LE(none["power_mape"].get<double>(), 0.20);
  const Json two = scored(agx_orin, {"--where", "source=pagoda", "--probes", "2"});
  EXPECT_LE(two["time_mape"].get<double>(), 0.10);
  EXPECT_LE(two["power_mape"].get<double>(), 0.08);
}

TEST_F(Accuracy, A100OverClocks) {
  const Json two = scored(gpus, {"--where", "source=energaizer-dvfs", "--probes", "2"});
  EXPECT_LE(two["time_mape"].get<double>(), 0.05);
  EXPECT_LE(two["energy_mape"].get<double>(), 0.06);
  EXPECT_LE(two["energy_regret_mean"].get<double>(), 0.02);
  EXPECT_LE(two["energy_regret_max"].get<double>(), 0.15);
  const Json none = scored(gpus, {"--where", "device=a100-40gb-pcie", "--cross-validate", "model"});
  EXPECT_LE(none["time_mape"].get<double>(), 0.25);
  EXPECT_LE(none["power_mape"].get<double>(), 0.15);
  EXPECT_LE(none["energy_regret_mean"].get<double>(), 0.05);
}

TEST_F(Accuracy, A10WithNothingFittedOnIt) {
  const Json json = scored(gpus, {"--where", "device=a10-24gb"});
  EXPECT_LE(json["time_mape"].get<double>(), 0.25);
  EXPECT_LE(json["power_mape"].get<double>(), 0.20);
}

TEST_F(Accuracy, TensorRtOnJetsonsWithNetworksLeftOut) {
  const Json json = scored(jetsons, {"--cross-validate", "model"});
  EXPECT_LE(json["time_mape"].get<double>(), 0.25);
  EXPECT_LE(json["power_mape"].get<double>(), 0.15);
}

// A small network in three types; no row of this board was fitted.
TEST_F(Accuracy, SmallNetworkByTensorRtOnOrinNano) {
  const Json json = scored(orin_nano, {});
  EXPECT_LE(json["time_mape"].get<double>(), 0.20);
  EXPECT_LE(json["by"]["runtime"]["tensorrt"]["time_mape"].get<double>(), 0.15);
  EXPECT_GE(json["by"]["runtime"]["tensorrt"]["coverage"].get<double>(), 0.9);
}

}  // namespace
}  // namespace ridgeline::testing
