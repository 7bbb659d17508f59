// The nouns between measurement and prediction: JSON round trips, sums, and broken invariants.
#include <gtest/gtest.h>

#include "base/ceilings.h"
#include "base/demand.h"
#include "base/json.h"
#include "base/machine_model.h"
#include "base/prediction.h"
#include "base/work.h"
#include "tests/base/error_line.h"
#include "tests/base/sample_nouns.h"
#include "tests/support/schema_validator.h"

namespace ridgeline::testing {
namespace {

template <class Noun, class Read>
Noun through_text(const Noun& noun, Read read) {
  const Json json = parse_json(dump_json(to_json(noun)), "f.json");
  return read(file_cursor(json, "f.json"));
}

template <class Noun, class Read, class Edit>
std::string error_after(const Noun& noun, Read read, Edit edit) {
  Json json = to_json(noun);
  edit(json);
  return error_line([&] { read(file_cursor(json, "f.json")); });
}

TEST(Nouns, RoundTrips) {
  EXPECT_EQ(through_text(sample_model(), machine_model_from_json), sample_model());
  EXPECT_EQ(through_text(sample_ceilings(), ceilings_from_json), sample_ceilings());
  EXPECT_EQ(through_text(sample_demand(), demand_from_json), sample_demand());
  EXPECT_EQ(through_text(sample_prediction(), prediction_from_json), sample_prediction());
  EXPECT_EQ(through_text(Demand{}, demand_from_json), Demand{});
  EXPECT_EQ(through_text(Ceilings{}, ceilings_from_json), Ceilings{});
}

TEST(Work, SumsPerUnitAndDtypeInAnyOrder) {
  Work a, b;
  add_flop(a, Unit::matrix, DType::fp16, 8);
  add_flop(a, Unit::vector, DType::fp32, 1);
  add_flop(b, Unit::vector, DType::fp32, 2);
  add_flop(b, Unit::vector, DType::fp16, 4);
  a.bytes_read = 10;
  b.bytes_read = 1;
  b.weight_bytes_read = 5;
  Work ab = a, ba = b;
  ab += b;
  ba += a;
  EXPECT_EQ(ab, ba);
  ASSERT_EQ(ab.flop.size(), 3u);
  EXPECT_EQ(ab.flop[0], (FlopCount{Unit::vector, DType::fp32, 3}));
  EXPECT_EQ(ab.bytes_read, 11);
  EXPECT_EQ(ab.weight_bytes_read, 5);
  a += a;
  EXPECT_EQ(a.flop[1], (FlopCount{Unit::matrix, DType::fp16, 16}));
}

TEST(MachineModel, Lookup) {
  const MachineModel model = sample_model();
  EXPECT_EQ(mean_of(model, "cuda_graph_s"), 5e-6);
  EXPECT_EQ(find_parameter(model, "cuda_graph_s"), 1u);
  EXPECT_FALSE(find_parameter(model, "board_w"));
  EXPECT_EQ(error_line([&] { mean_of(model, "board_w"); }),
            "example: the model has no parameter \"board_w\"");
  EXPECT_EQ(error_line([&] { find_parameter(model, "bord_w"); }),
            "example: \"bord_w\" is not a parameter of a machine model; did you mean \"board_w\"?");
}

TEST(MachineModel, BrokenOnes) {
  const auto error = [](auto edit) {
    return error_after(sample_model(), machine_model_from_json, edit);
  };
  EXPECT_EQ(error([](Json& json) { json["parameters"][1]["name"] = "gpu_matmul_fp16_efficiency"; }),
            "f.json: parameters[1].name: \"gpu_matmul_fp16_efficiency\" is there twice");
  EXPECT_EQ(error([](Json& json) { json["parameters"][1]["name"] = ""; }),
            "f.json: parameters[1].name: empty");
  EXPECT_EQ(
      error([](Json& json) { json["parameters"][0]["name"] = "gpu_matmull_fp16_efficiency"; }),
      "f.json: parameters[0].name: \"gpu_matmull_fp16_efficiency\" is not a parameter of a "
      "machine model; did you mean \"gpu_matmul_fp16_efficiency\"?");
  EXPECT_EQ(error([](Json& json) { json["parameters"][0]["name"] = "memory_bytes"; }),
            "f.json: parameters[0]: memory_bytes is a fact and has no variance");
  EXPECT_EQ(error([](Json& json) { json["parameters"][0]["mean"] = -1; }),
            "f.json: parameters[0]: gpu_matmul_fp16_efficiency has a variance, so its mean must be "
            "positive");
  EXPECT_EQ(error([](Json& json) { json["covariance"].erase(1); }),
            "f.json: covariance: has 1 rows for 2 parameters");
  EXPECT_EQ(error([](Json& json) { json["covariance"][1].erase(1); }),
            "f.json: covariance[1]: has 1 numbers for 2 parameters");
  EXPECT_EQ(error([](Json& json) { json["covariance"][1][1] = -1; }),
            "f.json: covariance[1][1]: negative variance");
  EXPECT_EQ(error([](Json& json) { json["covariance"][1][0] = 0; }),
            "f.json: covariance[1][0]: the covariance is not symmetric");
  EXPECT_EQ(error([](Json& json) { json["covariance"][1][0] = json["covariance"][0][1] = 1; }),
            "f.json: covariance[1][0]: larger than the variances allow");
  EXPECT_EQ(error([](Json& json) { json["parameters"][0]["prior"]["sigma"] = -1; }),
            "f.json: parameters[0].prior.sigma: negative");
  EXPECT_EQ(error([](Json& json) { json["observations"][0]["batch"] = 0; }),
            "f.json: observations[0].batch: is not at least 1");
}

TEST(MachineModel, FactsAreSet) {
  MachineModel model = sample_model();
  set_parameter(model, {"board_w", 5, Source::assumed});
  ASSERT_EQ(model.covariance.size(), 9u);
  EXPECT_EQ(mean_of(model, "board_w"), 5);
  EXPECT_EQ(sigma_of(model, 2), 0);
  EXPECT_DOUBLE_EQ(sigma_of(model, 0), 0.1);
  EXPECT_EQ(model.covariance[1], -1e-8);
  set_parameter(model, {"cuda_graph_s", 7e-6, Source::measured});
  EXPECT_EQ(mean_of(model, "cuda_graph_s"), 7e-6);
  EXPECT_EQ(sigma_of(model, 1), 0);
  EXPECT_EQ(model.covariance[1], 0);
}

TEST(MachineModel, BeforeItsFit) {
  const MachineModel prior = before_fit(sample_model());
  EXPECT_EQ(prior.parameters[0], (Parameter{"gpu_matmul_fp16_efficiency", 0.6, Source::datasheet}));
  EXPECT_EQ(prior.parameters[1], sample_model().parameters[1]);
  EXPECT_DOUBLE_EQ(sigma_of(prior, 0), 0.2);
  EXPECT_EQ(prior.covariance[1], 0);
  EXPECT_EQ(prior.covariance[2], 0);
  EXPECT_EQ(prior.covariance[3], 1e-12);
  EXPECT_TRUE(prior.observations.empty());
  EXPECT_EQ(before_fit(prior), prior);
}

// The sample with a network that it was fitted to.
MachineModel model_with_network() {
  MachineModel model = sample_model();
  model.networks = {{"resnet50",
                     "image=224",
                     Task::inference,
                     Runtime::tensorrt,
                     {{"tensorrt_kernel_time_scale", 1.2, Source::fitted}},
                     {0.0025},
                     {{0.004, 0}}}};
  return model;
}

TEST(MachineModel, ANetworksScalesReplaceThePriorForThatNetworkAlone) {
  MachineModel model = model_with_network();
  const MachineModel own =
      for_network(model, "resnet50", "image=224", Task::inference, Runtime::tensorrt);
  ASSERT_EQ(own.parameters.size(), 3U);
  EXPECT_EQ(mean_of(own, "tensorrt_kernel_time_scale"), 1.2);
  EXPECT_DOUBLE_EQ(sigma_of(own, 2), 0.05);
  EXPECT_EQ(own.covariance[2], 0.004);
  EXPECT_EQ(own.covariance[6], 0.004);
  EXPECT_EQ(own.covariance[1], model.covariance[1]);
  for (const MachineModel& other :
       {for_network(model, "resnet18", "image=224", Task::inference, Runtime::tensorrt),
        for_network(model, "resnet50", "image=224", Task::training, Runtime::tensorrt),
        for_network(model, "resnet50", "image=160", Task::inference, Runtime::tensorrt),
        for_network(model, "resnet50", "image=224", Task::inference, Runtime::torch_eager)})
    EXPECT_EQ(other, model);
  // A parameter that is set anew is independent of the scale.
  set_parameter(model, {"gpu_matmul_fp16_efficiency", 0.7, Source::measured}, 0.1);
  EXPECT_EQ(model.networks[0].with_parameters[0][0], 0);
  EXPECT_TRUE(before_fit(model).networks.empty());
}

TEST(MachineModel, NetworksInFiles) {
  const Json json = to_json(model_with_network());
  EXPECT_EQ(machine_model_from_json(JsonCursor(json, "")), model_with_network());
  EXPECT_TRUE(schema_violations(json, "machine_model.schema.json").empty());
  EXPECT_FALSE(to_json(sample_model()).contains("networks"));  // as in older files
  const auto error = [](auto edit) {
    return error_after(model_with_network(), machine_model_from_json, edit);
  };
  EXPECT_EQ(error([](Json& file) { file["networks"][0]["scales"][0]["name"] = "board_w"; }),
            "f.json: networks[0].scales[0].name: \"board_w\" is not a scale of a network");
  EXPECT_EQ(error([](Json& file) { file["networks"][0]["covariance"] = Json::array(); }),
            "f.json: networks[0].covariance: has 0 rows for 1 parameters");
  EXPECT_EQ(error([](Json& file) { file["networks"][0]["with_parameters"][0][0] = 1; }),
            "f.json: networks[0].with_parameters[0][0]: larger than the variances allow");
  EXPECT_EQ(error([](Json& file) { file["networks"][0]["with_parameters"] = Json::array(); }),
            "f.json: networks[0].with_parameters: has 0 rows for 1 scales");
}

TEST(Ceilings, BrokenOnes) {
  const auto error = [](auto edit) {
    return error_after(sample_ceilings(), ceilings_from_json, edit);
  };
  EXPECT_EQ(error([](Json& json) { json["peaks"][0]["flops_per_s"] = 1e22; }),
            "f.json: peaks[0].flops_per_s: 1e+22 is out of range, the limit is 1e+21");
  EXPECT_EQ(error([](Json& json) { json["byte_energies"][0]["joule_per_byte"] = 50; }),
            "f.json: byte_energies[0].joule_per_byte: 50 is out of range, the limit is 1");
  EXPECT_EQ(error([](Json& json) { json["schema"] = "ridgeline.profile/1"; }),
            "f.json: schema: is \"ridgeline.profile/1\", this program reads "
            "\"ridgeline.ceilings/1\"");
}

TEST(Prediction, TotalsAreTheSums) {
  const auto error = [](auto edit) {
    return error_after(sample_prediction(), prediction_from_json, edit);
  };
  EXPECT_EQ(error([](Json& json) { json["overheads"][0]["time_s"] = 1; }),
            "f.json: time_s: is 0.006, but rows and overheads sum to 1.005");
  EXPECT_EQ(error([](Json& json) { json["overheads"][0]["energy_j"] = 1; }),
            "f.json: energy_j: is 0.06, but rows and overheads sum to 1.05");
  EXPECT_EQ(error([](Json& json) { json["demands"][0]["energy_j"] = nullptr; }),
            "f.json: energy_j: there is a total, but a row has no energy");
}

}  // namespace
}  // namespace ridgeline::testing
