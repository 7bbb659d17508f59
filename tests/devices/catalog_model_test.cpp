// A catalog entry as a machine model: names, values, variances and sources of its parameters.
// The model's predictions are tested in tests/roofline.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/json.h"
#include "base/parameters.h"
#include "devices/catalog/model.h"
#include "tests/support/schema_validator.h"

namespace ridgeline::testing {
namespace {

double sigma_of(const MachineModel& model, std::string_view name) {
  const std::size_t index = find_parameter(model, name).value();
  return std::sqrt(model.covariance[index * model.parameters.size() + index]);
}

Source source_of(const MachineModel& model, std::string_view name) {
  return model.parameters[find_parameter(model, name).value()].source;
}

TEST(CatalogModel, NamesOfRatesReadBack) {
  const RateName name{"gpu", Unit::matrix, DType::fp16, DType::fp32, false};
  EXPECT_EQ(rate_parameter(name), "gpu_matrix_fp16_fp32_flop_per_sm_clock");
  EXPECT_EQ(ceiling_parameter(name), "gpu_matrix_fp16_fp32_ceiling_hz");
  for (const char* processor : {"gpu", "cpu0", "cpu11", "dla"})
    for (const Unit unit : {Unit::scalar, Unit::vector, Unit::matrix})
      for (const DType dtype : {DType::fp64, DType::int8, DType::bf16})
        for (const bool sparse : {false, true}) {
          const RateName each{processor, unit, dtype, DType::fp32, sparse};
          EXPECT_EQ(parse_rate_parameter(rate_parameter(each)), each);
        }
  for (const char* other :
       {"", "gpu_launch_cpu_clocks", "gpu_matrix_kernel_clocks", "gpu_depthwise_taps_per_sm_clock",
        "gpu_matrix_fp16_fp32_op_per_sm_clock", "gpu_matrix_fp16_fp32_flop_per_core_clock",
        "cpu_busy_joule_per_core_clock", "________", "gpu_matrix_fp16_fp32_x_flop_per_sm_clock"})
    EXPECT_EQ(parse_rate_parameter(other), std::nullopt) << other;
}

TEST(CatalogModel, HasTheFactsAndThePriorsOfAnEntry) {
  const MachineModel model = catalog::machine_model(catalog::load("jetson-agx-orin-64gb"));
  EXPECT_EQ(model.device, "jetson-agx-orin-64gb");
  EXPECT_EQ(mean_of(model, "gpu_multiprocessors"), 16);
  EXPECT_EQ(mean_of(model, "gpu_matrix_int8_int32_sparse_op_per_sm_clock"), 8192);
  EXPECT_EQ(mean_of(model, "cpu2_vector_fp32_fp32_flop_per_core_clock"), 16);
  EXPECT_EQ(mean_of(model, "memory_bus_bytes"), 32);
  EXPECT_EQ(mean_of(model, "gpu_l2_bytes"), 4 << 20);
  EXPECT_NEAR(mean_of(model, "gpu_voltage_floor_ratio"), 0.73, 1e-12);
  EXPECT_EQ(sigma_of(model, "gpu_multiprocessors"), 0);
  EXPECT_EQ(mean_of(model, "gpu_dram_bytes_per_clock"), 209);
  EXPECT_NEAR(sigma_of(model, "gpu_dram_bytes_per_clock"), 10, 1e-12);
  EXPECT_EQ(source_of(model, "gpu_dram_bytes_per_clock"), Source::fitted);
  EXPECT_EQ(source_of(model, "gpu_multiprocessors"), Source::datasheet);
  EXPECT_EQ(source_of(model, "gpu_matrix_tf32_fp32_flop_per_sm_clock"), Source::assumed);
}

TEST(CatalogModel, TakesTheKneeOfAVoltageCurve) {
  const MachineModel model = catalog::machine_model(catalog::load("a100-40gb-pcie"));
  EXPECT_EQ(mean_of(model, "gpu_voltage_knee_hz"), 1020e6);
  EXPECT_EQ(mean_of(model, "gpu_voltage_top_hz"), 1410e6);
  EXPECT_NEAR(mean_of(model, "gpu_voltage_top_v"), 0.89375, 1e-9);
  EXPECT_NEAR(mean_of(model, "gpu_voltage_floor_ratio"), 0.69375 / 0.89375, 1e-9);
  EXPECT_EQ(mean_of(model, "idle_at_210_mhz_w"), 44.47);
}

// The same document that a fit writes: unique names and a valid covariance.
TEST(CatalogModel, IsAValidModelForEveryDevice) {
  for (const catalog::IndexRow& row : catalog::index()) {
    const MachineModel model = catalog::machine_model(catalog::load(row.id));
    const Json json = to_json(model);
    EXPECT_EQ(schema_violations(json, "machine_model.schema.json"), std::vector<std::string>{})
        << row.id;
    EXPECT_EQ(machine_model_from_json(JsonCursor(json, "")), model) << row.id;
  }
}

}  // namespace
}  // namespace ridgeline::testing
