// Validation against a made-up truth: time = a/f + b, power = board + c·f. The test sets the
// predictor's a, b and c, so every error is known in advance.
#include "validation/validation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "base/error.h"
#include "base/json.h"
#include "base/text_table.h"
#include "report/validation.h"
#include "tests/support/schema_validator.h"
#include "validation/board_offset.h"

namespace ridgeline {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr double board_w = 6;
// Stand-in: a parameter of the model that is a factor on time here.
constexpr const char* time_factor = "cpu_dram_efficiency";

double true_time(const Observation& row) {
  const double work = row.network == "large" ? 4e9 : 1e9;
  return static_cast<double>(row.batch) * work / *row.conditions.point.gpu_hz + 0.1;
}

Observation run(std::string model, double gpu_hz, std::int64_t batch = 1) {
  static int line = 1;
  Observation row;
  row.line = ++line;
  row.source = "lab";
  row.device = "board";
  row.network = std::move(model);
  row.dtype = DType::fp16;
  row.batch = batch;
  row.conditions.point.label = std::to_string(static_cast<int>(gpu_hz / 1e6));
  row.conditions.point.gpu_hz = gpu_hz;
  row.conditions.power_kind = PowerKind::module;
  row.time_s = true_time(row);
  row.power_w = board_w + 1e-8 * gpu_hz;
  return row;
}

MachineModel prior_model() {
  MachineModel model;
  model.device = "board";
  model.parameters = {{time_factor, 1.2, Source::assumed, {}},
                      {"board_offset_w", 1, Source::assumed, {}}};
  model.covariance = {0.04, 0, 0, 1};
  return model;
}

// Correct except for one factor on time, which a fit finds from any row.
Predictor made_up() {
  Predictor predictor;
  predictor.prior = [](const Observation& row) {
    if (row.device == "unknown") throw Error("unknown", "no prior for this device");
    return prior_model();
  };
  predictor.forecast = [](const MachineModel& model, const Observation& row, Detail detail) {
    const double factor = mean_of(model, time_factor);
    const double half = detail == Detail::value ? 0 : 0.25;
    const auto around = [&](double value) {
      return Estimate{value, value * (1 - half), value * (1 + half), Source::predicted};
    };
    const double power_w = mean_of(model, "board_offset_w") + 1e-8 * *row.conditions.point.gpu_hz;
    Forecast forecast;
    forecast.time_s = around(factor * true_time(row));
    forecast.power_w = around(power_w);
    forecast.energy_j = around(power_w * forecast.time_s.value);
    forecast.bound = BoundBy::compute;
    return forecast;
  };
  predictor.fit = [](const MachineModel& prior, Observations rows) {
    double factor = 0;
    for (const Observation* row : rows)
      factor += row->time_s / true_time(*row) / static_cast<double>(rows.size());
    FitResult result;
    result.model = prior;
    result.model.parameters[0].mean = factor;
    return result;
  };
  predictor.least_time_s = [](const MachineModel&, const Observation& row) {
    return 0.5 * true_time(row);
  };
  predictor.is_shared = [](const Parameter& parameter) { return parameter.name == time_factor; };
  return predictor;
}

std::vector<Observation> sweep(const std::string& model) {
  return {run(model, 500e6), run(model, 700e6), run(model, 900e6), run(model, 1100e6)};
}

std::vector<Observation> both_nets() {
  std::vector<Observation> rows = sweep("small");
  for (const Observation& row : sweep("large")) rows.push_back(row);
  return rows;
}

MeasurementTable table_of(std::vector<Observation> rows) { return {"t.csv", std::move(rows), {}}; }

TEST(Validate, WithoutProbesTheErrorIsThatOfThePrior) {
  const Validation result = validate(table_of(both_nets()), made_up(), {});
  EXPECT_EQ(result.total.rows, 8);
  EXPECT_EQ(result.total.groups, 2);
  EXPECT_THAT(result.probes, IsEmpty());
  EXPECT_NEAR(*result.total.time_mape, 0.2, 1e-9);
  EXPECT_NEAR(*result.total.time_bias, 0.2, 1e-9);
  EXPECT_NEAR(*result.total.time_half_width, 0.25, 1e-9);
  EXPECT_EQ(result.total.time_coverage, 1);
  EXPECT_EQ(result.total.kendall_tau, 1);
  EXPECT_THAT(result.skipped, IsEmpty());
}

TEST(Validate, RowsThatAreScoredDoNotTeachTheBoardOffset) {
  const std::vector<Observation> rows = both_nets();
  const Validation result = validate(table_of(rows), made_up(), {});
  EXPECT_THAT(result.board_offsets, IsEmpty());
  double expected = 0;
  for (const Observation& row : rows)
    expected += (board_w - 1) / *row.power_w / static_cast<double>(rows.size());
  EXPECT_NEAR(*result.total.power_mape, expected, 1e-9);  // the prior has an offset of 1 W
  EXPECT_NEAR(*result.total.power_bias, -expected, 1e-9);
}

TEST(Validate, ACardsOwnSensorNeedsNoOffset) {
  std::vector<Observation> rows = both_nets();
  for (Observation& row : rows) row.conditions.power_kind = PowerKind::board;
  const Validation result = validate(table_of(rows), made_up(), {});
  EXPECT_THAT(result.board_offsets, IsEmpty());
  EXPECT_GT(*result.total.power_mape, 0.2);
}

TEST(Validate, TwoProbesRemoveTheErrorOnModesThatWereNotProbed) {
  const Validation result = validate(table_of(both_nets()), made_up(), {.probes = 2});
  EXPECT_EQ(result.total.rows, 4);
  EXPECT_THAT(result.probes, SizeIs(4));
  EXPECT_NEAR(*result.total.time_mape, 0, 1e-9);
  for (const ScoredRow& row : result.rows) EXPECT_THAT(row.mode, AnyOf("700", "900"));
  ASSERT_THAT(result.board_offsets, SizeIs(1));
  EXPECT_NEAR(result.board_offsets[0].power_w, board_w, 1e-9);
  EXPECT_EQ(result.board_offsets[0].probes, 4);
  EXPECT_NEAR(*result.total.power_mape, 0, 1e-9);
}

TEST(Validate, GroupsThatAreTooSmallAreSkipped) {
  std::vector<Observation> rows = sweep("small");
  rows.push_back(run("large", 500e6));
  const Validation result = validate(table_of(rows), made_up(), {.probes = 2});
  EXPECT_EQ(result.total.rows, 2);
  ASSERT_THAT(result.skipped, SizeIs(1));
  EXPECT_EQ(result.skipped[0].line, rows.back().line);
  EXPECT_THAT(result.skipped[0].reason, HasSubstr("one mode and 1 batch"));
}

TEST(Validate, CrossValidationFitsTheOtherNets) {
  std::map<std::string, int> fitted;
  Predictor predictor = made_up();
  predictor.fit = [&, fit = predictor.fit](const MachineModel& prior, Observations rows) {
    EXPECT_DOUBLE_EQ(prior.covariance[0], 4);  // ten times wider
    for (const Observation* row : rows) {
      ++fitted[row->network];
      EXPECT_NEAR(*row->power_w, board_w + 1e-8 * *row->conditions.point.gpu_hz, 1e-9);
    }
    return fit(prior, rows);
  };
  const Validation result = validate(table_of(both_nets()), predictor, {.cross_validate = "model"});
  EXPECT_EQ(result.total.rows, 8);
  EXPECT_NEAR(*result.total.time_mape, 0, 1e-9);
  // Each net is fitted once without the other and once together with it, to see what each adds.
  EXPECT_EQ(fitted, (std::map<std::string, int>{{"large", 8}, {"small", 8}}));
  EXPECT_THAT(result.notes, ElementsAre(HasSubstr("2 times, each without the net")));
  EXPECT_THAT(result.board_offsets, IsEmpty());
}

TEST(Validate, RefitsLeaveAloneWhatNoRowDependsOn) {
  Predictor predictor = made_up();
  predictor.prior = [](const Observation&) {
    MachineModel model = prior_model();
    model.parameters.push_back({"idle_w", 3, Source::assumed, {}});
    model.covariance = {0.04, 0, 0, 0, 1, 0, 0, 0, 0.09};
    return model;
  };
  predictor.fit = [fit = predictor.fit](const MachineModel& prior, Observations rows) {
    EXPECT_EQ(prior.covariance[8], 0);
    return fit(prior, rows);
  };
  std::vector<double> kept;
  predictor.forecast = [&kept, forecast = predictor.forecast](
                           const MachineModel& model, const Observation& row, Detail detail) {
    if (detail == Detail::interval) kept.push_back(model.covariance[8]);
    return forecast(model, row, detail);
  };
  validate(table_of(both_nets()), predictor, {.cross_validate = "model"});
  EXPECT_THAT(kept, ::testing::AllOf(SizeIs(8), ::testing::Each(0.09)));
}

TEST(Validate, CrossValidationNeedsAnotherNet) {
  const Validation result =
      validate(table_of(sweep("small")), made_up(), {.cross_validate = "model"});
  EXPECT_EQ(result.total.rows, 0);
  ASSERT_THAT(result.skipped, SizeIs(4));
  EXPECT_THAT(result.skipped[0].reason, HasSubstr("no other net"));
}

TEST(Validate, CrossValidationOverDevicesCarriesSharedParameters) {
  std::vector<Observation> rows = both_nets();
  for (Observation row : both_nets()) {
    row.device = "other";
    rows.push_back(row);
  }
  const Validation result = validate(table_of(rows), made_up(), {.cross_validate = "device"});
  EXPECT_EQ(result.total.rows, 16);
  EXPECT_NEAR(*result.total.time_mape, 0, 1e-9);
}

TEST(Validate, RowsThatContradictTheRoofAreSkipped) {
  std::vector<Observation> rows = both_nets();
  rows[1].time_s *= 0.3;
  const Validation result = validate(table_of(rows), made_up(), {});
  EXPECT_EQ(result.total.rows, 7);
  ASSERT_THAT(result.skipped, SizeIs(1));
  EXPECT_EQ(result.skipped[0].line, rows[1].line);
  EXPECT_THAT(result.skipped[0].reason, HasSubstr("contradiction"));
  EXPECT_THAT(result.skipped[0].reason, HasSubstr("another device than board?"));
}

TEST(Validate, CardsThatDrawMoreThanTheirCapAreOtherDevices) {
  Predictor predictor = made_up();
  predictor.prior = [](const Observation&) {
    MachineModel model = prior_model();
    set_parameter(model, {"power_cap_w", 14, Source::datasheet});
    return model;
  };
  std::vector<Observation> rows = both_nets();  // 11 to 17 W
  const auto skipped = [&] { return validate(table_of(rows), predictor, {}).skipped; };
  EXPECT_THAT(skipped(), IsEmpty());  // the budget of a module is not a cap
  for (Observation& row : rows) row.conditions.power_kind = PowerKind::board;
  ASSERT_THAT(skipped(), SizeIs(2));
  EXPECT_THAT(skipped()[0].reason, HasSubstr("17.0 W is above the power cap (14.0 W)"));
  EXPECT_THAT(skipped()[0].reason, HasSubstr("another device than board?"));
}

TEST(Validate, OneRowInAnotherUnitIsSkippedAndMostOfThemAreAnError) {
  std::vector<Observation> rows = both_nets();
  rows[1].time_s /= 1000;
  rows[2].time_s *= 1000;
  *rows[3].power_w *= 1000;
  const Validation result = validate(table_of(rows), made_up(), {});
  ASSERT_THAT(result.skipped, SizeIs(3));
  EXPECT_THAT(result.skipped[0].reason, HasSubstr("time_ms looks like seconds"));
  EXPECT_THAT(result.skipped[1].reason, HasSubstr("time_ms looks like microseconds"));
  EXPECT_THAT(result.skipped[2].reason, HasSubstr("power_w looks like milliwatts"));
  for (Observation& row : rows) row.time_s = true_time(row) / 1000;
  try {
    validate(table_of(rows), made_up(), {});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), "t.csv:" + std::to_string(rows[0].line));
    EXPECT_THAT(error.what(), HasSubstr("looks like seconds"));
    EXPECT_THAT(error.what(), HasSubstr("8 of 8 rows"));
  }
}

TEST(Validate, WhatCannotBePredictedIsSkipped) {
  std::vector<Observation> rows = both_nets();
  rows[0].device = "unknown";
  const Validation result = validate(table_of(rows), made_up(), {});
  EXPECT_EQ(result.total.rows, 7);
  ASSERT_THAT(result.skipped, SizeIs(1));
  EXPECT_EQ(result.skipped[0].reason, "unknown: no prior for this device");
}

TEST(Validate, EmptyTablesHaveNoNumbers) {
  const Validation result = validate(table_of({}), made_up(), {.probes = 2});
  EXPECT_EQ(result.total, Score{});
  EXPECT_THAT(validation_text(result, 80), HasSubstr("No row could be scored."));
  EXPECT_THAT(testing::schema_violations(to_json(result), "validation.schema.json"), IsEmpty());
}

TEST(Validate, JsonIsAsDocumentedAndTextFits) {
  std::vector<Observation> rows = both_nets();
  for (Observation row : sweep("small")) {
    row.source = "somebody-else-with-a-long-name-who-measured-the-same-runs-again";
    row.time_s *= 1.05;
    rows.push_back(row);
  }
  rows[2].time_s *= 0.3;
  for (const int probes : {0, 2}) {
    Validation result = validate(table_of(rows), made_up(), {.probes = probes});
    result.filter = {"device=board"};
    const Json json = to_json(result);
    EXPECT_THAT(testing::schema_violations(json, "validation.schema.json"), IsEmpty());
    EXPECT_EQ(json["rows"], result.total.rows);
    EXPECT_EQ(json["by"]["net"]["small"]["rows"].get<int>() +
                  json["by"]["net"]["large"]["rows"].get<int>(),
              result.total.rows);
    EXPECT_EQ(json["replicates"]["sets"], 3);
    std::istringstream lines(validation_text(result, 80));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 80) << line;
    const std::string csv = validation_csv(result);
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), result.total.rows + 1);
  }
}

TEST(Validate, TheSameTableGivesTheSameBytes) {
  const auto bytes = [](const std::vector<Observation>& rows) {
    return dump_json(to_json(validate(table_of(rows), made_up(), {.probes = 1})));
  };
  const std::vector<Observation> rows = both_nets();
  EXPECT_EQ(bytes(rows), bytes(rows));
}

TEST(BoardOffset, IsTheMedianAboveThePrediction) {
  std::vector<Observation> rows = sweep("small");
  *rows[0].power_w += 50;  // an outlier
  std::vector<const Observation*> all;
  for (const Observation& row : rows) all.push_back(&row);
  const EstimatedOffset offset = estimate_board_offset(prior_model(), all, made_up());
  EXPECT_NEAR(offset.power_w, board_w, 1e-9);
  EXPECT_EQ(offset.rows, 4);
  for (Observation& row : rows) *row.power_w -= 2 * board_w;
  EXPECT_NEAR(estimate_board_offset(prior_model(), all, made_up()).power_w, -board_w, 1e-9);
}

}  // namespace
}  // namespace ridgeline
