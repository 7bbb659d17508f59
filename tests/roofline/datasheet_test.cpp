// Datasheet ceilings: the peaks printed in device tables and the bandwidths of the STREAM fit.
// Pictures and the command are tested in tests/cli/roofline_test.cpp.
#include "roofline/ceilings/datasheet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/json.h"
#include "devices/catalog/model.h"
#include "devices/modes/mode_space.h"
#include "tests/base/error_line.h"
#include "tests/support/schema_validator.h"

namespace ridgeline::testing {
namespace {

struct Paper {
  catalog::Device device;
  MachineModel model;
  OperatingPoint point;

  Ceilings ceilings() const { return datasheet_ceilings(model, point); }
};

Paper paper(const std::string& name, const std::string& mode, const std::string& jetpack = "") {
  Paper result{catalog::load(name), {}, {}};
  result.model = catalog::machine_model(result.device);
  const catalog::Configuration& configuration = catalog::configuration(result.device, jetpack);
  result.point = mode.empty()
                     ? default_mode(result.device, configuration).point
                     : resolve(result.device, configuration, parse_mode_request(mode)).point;
  return result;
}

double peak_of(const Ceilings& ceilings, Unit unit, DType dtype, bool sparse = false,
               Processor processor = Processor::gpu) {
  for (const Peak& peak : ceilings.peaks)
    if (peak.processor == processor && peak.unit == unit && peak.dtype == dtype &&
        peak.sparse == sparse)
      return peak.flops_per_s;
  return 0;
}

double bandwidth_of(const Ceilings& ceilings, Source source) {
  for (const Bandwidth& bandwidth : ceilings.bandwidths)
    if (bandwidth.processor == Processor::gpu && bandwidth.source == source)
      return bandwidth.bytes_per_s;
  return 0;
}

TEST(Datasheet, AgxOrinAtMaxn) {
  const Ceilings ceilings = paper("agx-orin", "MAXN").ceilings();
  EXPECT_NEAR(peak_of(ceilings, Unit::vector, DType::fp32), 5.33e12, 0.01e12);
  EXPECT_NEAR(peak_of(ceilings, Unit::matrix, DType::tf32), 21.3e12, 0.05e12);
  EXPECT_NEAR(peak_of(ceilings, Unit::matrix, DType::fp16), 42.6e12, 0.05e12);
  EXPECT_NEAR(peak_of(ceilings, Unit::matrix, DType::int8, true), 170.5e12, 0.1e12);
  EXPECT_NEAR(peak_of(ceilings, Unit::vector, DType::fp32, false, Processor::cpu), 422.7e9, 0.1e9);
  EXPECT_NEAR(bandwidth_of(ceilings, Source::datasheet), 204.7e9, 0.1e9);
  EXPECT_EQ(schema_violations(to_json(ceilings), "ceilings.schema.json"),
            std::vector<std::string>{});
  EXPECT_EQ(ceilings_from_json(JsonCursor(to_json(ceilings), "")), ceilings);
}

// Half of the SMs at less than half the clock.
TEST(Datasheet, PeaksFollowUnitsAndClock) {
  const Ceilings maxn = paper("agx-orin", "MAXN").ceilings();
  const Ceilings mode = paper("agx-orin", "30W").ceilings();
  for (std::size_t i = 0; i < maxn.peaks.size(); ++i) {
    if (maxn.peaks[i].processor != Processor::gpu) continue;
    EXPECT_NEAR(mode.peaks[i].flops_per_s / maxn.peaks[i].flops_per_s, 8.0 * 612 / (16 * 1300.5),
                1e-9);
  }
}

// The best STREAM kernel of twelve modes, and the fitted value (GB/s).
TEST(Datasheet, UsableBandwidthIsLimitedByTheGpuClock) {
  struct Row {
    const char* device;
    const char* mode;
    const char* jetpack;
    double usable, measured;
  };
  for (const Row& row :
       {Row{"agx-orin", "15W", "", 85.3, 81.2}, Row{"agx-orin", "30W", "", 127.9, 128.0},
        Row{"agx-orin", "50W", "", 170.5, 170.8}, Row{"agx-orin", "MAXN", "", 190.5, 189.5},
        Row{"orin-nx", "10W", "5", 63.5, 60.3}, Row{"orin-nx", "15W", "5", 64.3, 65.0},
        Row{"orin-nx", "25W", "5", 42.8, 43.8}, Row{"orin-nx", "MAXN", "5", 95.2, 92.6},
        Row{"orin-nano", "7W", "5", 42.8, 39.7}, Row{"orin-nano", "15W", "", 63.5, 63.4},
        Row{"orin-nano", "25W", "", 95.2, 95.5}, Row{"orin-nano", "MAXN_SUPER", "", 95.2, 95.3}}) {
    const Paper on_paper = paper(row.device, row.mode, row.jetpack);
    const auto usable = usable_bandwidth(on_paper.model, on_paper.point);
    ASSERT_TRUE(usable);
    EXPECT_NEAR(usable->value / 1e9, row.usable, 0.1) << row.device << " " << row.mode;
    EXPECT_EQ(usable->source, Source::fitted);
    EXPECT_LT(usable->low, usable->value);
    EXPECT_LT(usable->low, row.measured * 1e9) << row.device << " " << row.mode;
    EXPECT_GT(usable->high * 1.02, row.measured * 1e9) << row.device << " " << row.mode;
    EXPECT_DOUBLE_EQ(bandwidth_of(on_paper.ceilings(), Source::fitted), usable->value);
  }
}

TEST(Datasheet, CardsHaveNoFittedBandwidth) {
  const Paper card = paper("h100", "");
  EXPECT_EQ(usable_bandwidth(card.model, card.point), std::nullopt);
  EXPECT_NEAR(bandwidth_of(card.ceilings(), Source::datasheet), 3.352e12, 0.002e12);
}

// NVIDIA prints H100's tensor figures at 1830 MHz and the others at 1980.
TEST(Datasheet, AUnitMayBeCountedAtALowerClock) {
  const Ceilings top = paper("h100", "").ceilings();
  EXPECT_NEAR(peak_of(top, Unit::matrix, DType::fp16), 989.4e12, 0.1e12);
  EXPECT_NEAR(peak_of(top, Unit::vector, DType::fp32), 66.9e12, 0.05e12);
  const Ceilings slow = paper("h100", "gpu=990MHz").ceilings();
  EXPECT_NEAR(peak_of(slow, Unit::matrix, DType::fp16), 132 * 4096 * 990e6, 1);
}

TEST(Datasheet, WhatIsUnknownIsAbsent) {
  const Paper thor = paper("thor", "90W");  // no source gives the number of active SMs
  EXPECT_EQ(thor.point.gpu_units, std::nullopt);
  for (const Peak& peak : thor.ceilings().peaks) EXPECT_NE(peak.processor, Processor::gpu);
  EXPECT_NEAR(bandwidth_of(thor.ceilings(), Source::datasheet), 273e9, 1e9);
  const Ceilings nothing = datasheet_ceilings({"empty", {}, {}}, {});
  EXPECT_TRUE(nothing.peaks.empty());
  EXPECT_TRUE(nothing.bandwidths.empty());
  EXPECT_EQ(error_line([] {
              datasheet_roofline({"empty", {}, {}}, {}, "Empty", {});
            }),
            "empty: no source states its rates or clocks (see 'ridgeline devices empty "
            "--missing')");
}

// A point counts cores, not clusters, so TX2's two kinds of cores cannot be separated.
TEST(Datasheet, UnlikeClustersHaveNoPeak) {
  for (const Peak& peak : paper("tx2", "MAXQ").ceilings().peaks)
    EXPECT_NE(peak.processor, Processor::cpu);
}

TEST(Datasheet, DlaPeaks) {
  const Paper agx = paper("agx-orin", "MAXN");
  const auto peaks = datasheet_dla_peaks(agx.model, 1.6e9);
  ASSERT_EQ(peaks.size(), 2U);
  EXPECT_NEAR(peaks[1].flops_per_s, 105e12, 0.5e12);
  EXPECT_TRUE(peaks[1].sparse);
  EXPECT_TRUE(datasheet_dla_peaks(paper("t4", "").model, 1e9).empty());
}

TEST(Datasheet, RooflineHasDenseRoofsOfTheGpu) {
  const Paper agx = paper("agx-orin", "30W");
  const Roofline roofline = datasheet_roofline(agx.model, agx.point, agx.device.name, {});
  EXPECT_TRUE(is_datasheet(roofline));
  for (const Roof& roof : roofline.roofs) {
    EXPECT_EQ(roof.processor, Processor::gpu);
    EXPECT_FALSE(roof.sparse);
  }
  ASSERT_EQ(roofline.slopes.size(), 2U);
  EXPECT_EQ(roofline.slopes[0].name, "DRAM peak");
  EXPECT_EQ(roofline.slopes[0].bytes_per_s.source, Source::datasheet);
  EXPECT_EQ(roofline.slopes[1].name, "DRAM usable");
  EXPECT_EQ(roofline.slopes[1].bytes_per_s.source, Source::fitted);
  EXPECT_EQ(roofline.main_slope, 1U);
  EXPECT_EQ(roofline.roofs[*roofline.main_roof].name, "FP32 CUDA cores");
  RooflineOptions options;
  options.all = true;
  const Roofline all = datasheet_roofline(agx.model, agx.point, agx.device.name, options);
  EXPECT_TRUE(std::any_of(all.roofs.begin(), all.roofs.end(), [](const Roof& roof) {
    return roof.name == "GPU INT8 tensor cores sparse";
  }));
  EXPECT_TRUE(std::any_of(all.roofs.begin(), all.roofs.end(),
                          [](const Roof& roof) { return roof.name == "CPU FP32 vector"; }));
}

TEST(Datasheet, OptionsOfTheRoofline) {
  const Paper agx = paper("agx-orin", "30W");
  RooflineOptions options;
  options.dtype = DType::int4;
  const auto draw = [&] { datasheet_roofline(agx.model, agx.point, agx.device.name, options); };
  EXPECT_EQ(error_line(draw),
            "--dtype: the catalog entry has no roof for int4 (it has fp64, fp32, tf32, fp16, bf16, "
            "int8)");
  options.dtype.reset();
  options.threads = 4;
  EXPECT_EQ(error_line(draw),
            "--threads: datasheet ceilings are those of the whole processor (leave it out)");
  options.threads.reset();
  options.points = {{"gemm", 1e9, 1e6, {}}};
  const Roofline roofline = datasheet_roofline(agx.model, agx.point, agx.device.name, options);
  ASSERT_EQ(roofline.points.size(), 1U);
  EXPECT_NEAR(roofline.points[0].attainable_flops_per_s->value, 1.2534e12, 1e9);
}

TEST(Datasheet, EveryDeviceInEveryModeHasARoofline) {
  for (const catalog::IndexRow& row : catalog::index()) {
    const catalog::Device device = catalog::load(row.id);
    if (device.kind == catalog::Kind::cpu) continue;
    const MachineModel model = catalog::machine_model(device);
    for (const catalog::Configuration& configuration : device.configurations) {
      auto modes = stock_modes(device, configuration);
      modes.push_back(default_mode(device, configuration));
      for (const DeviceMode& mode : modes) {
        const Roofline roofline = datasheet_roofline(model, mode.point, device.name, {});
        EXPECT_EQ(schema_violations(to_json(roofline), "roofline.schema.json"),
                  std::vector<std::string>{})
            << row.id;
      }
    }
  }
}

// The smaller of two independent normal limits. Far apart, it is the lower one: 5 and 95 %
// lie 1.645 sigma from it. Equal, the smaller of two is below x with 1 - (1 - P)^2: 5 % at 1.955
// sigma below, 95 % at 0.760 sigma above.
TEST(Datasheet, TheIntervalOfTheUsableBandwidthIsThatOfTheSmallerLimit) {
  const auto usable = [](double per_clock) {
    ParameterCollector model("made-up");
    model.add({"memory_bus_bytes", 32, Source::datasheet});
    model.add({"memory_transfers_per_clock", 2, Source::datasheet});
    model.add({"gpu_dram_efficiency", 0.8, Source::fitted}, 0.8 * 0.05);
    model.add({"gpu_dram_bytes_per_clock", per_clock, Source::assumed}, per_clock * 0.05);
    OperatingPoint point;
    point.memory_hz = 2e9;  // 128 GB/s, of which 102.4 are usable
    point.gpu_hz = 1e9;
    return *usable_bandwidth(model.take(), point);
  };
  const Estimate by_memory = usable(1000), by_clock = usable(50), equal = usable(102.4);
  EXPECT_NEAR(by_memory.value / 1e9, 102.4, 1e-9);
  EXPECT_NEAR(by_memory.low / 102.4e9, 1 - 1.645 * 0.05, 1e-3);
  EXPECT_NEAR(by_memory.high / 102.4e9, 1 + 1.645 * 0.05, 1e-3);
  EXPECT_NEAR(by_clock.value / 1e9, 50, 1e-9);
  EXPECT_NEAR(by_clock.low / 50e9, 1 - 1.645 * 0.05, 1e-3);
  EXPECT_NEAR(by_clock.high / 50e9, 1 + 1.645 * 0.05, 1e-3);
  EXPECT_NEAR(equal.low / 102.4e9, 1 - 1.955 * 0.05, 1e-3);
  EXPECT_NEAR(equal.high / 102.4e9, 1 + 0.760 * 0.05, 1e-3);
  EXPECT_EQ(equal.source, Source::assumed);  // the weaker of the two
}

}  // namespace
}  // namespace ridgeline::testing
