// From ceilings to the energy roofline: the roofs, their numbers, missing inputs, JSON and CSV. The
// formulas are tested in energy_terms_test.cpp.
#include "roofline/ceilings/energy_roofline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/json.h"
#include "roofline/ceilings/measured_energy.h"
#include "tests/base/error_line.h"
#include "tests/roofline/made_up_board.h"
#include "tests/roofline/made_up_mode.h"
#include "tests/support/schema_validator.h"

namespace ridgeline::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(EnergyRoofline, FastestDenseRoofOfEachTypeWithEnergy) {
  const EnergyRoofline roofline = made_up_energy("MAXN", 16, 1.3e9);
  std::vector<std::string> names;
  for (const EnergyRoof& roof : roofline.roofs) names.push_back(roof.name);
  EXPECT_THAT(names, ElementsAre("INT8 tensor cores", "FP16 tensor cores", "BF16 tensor cores",
                                 "FP32 CUDA cores"));
  EXPECT_EQ(roofline.roofs[roofline.main].dtype, DType::fp32);
  EXPECT_EQ(roofline.processor, Processor::gpu);
  // The usable bandwidth, not the peak of the bus.
  EXPECT_DOUBLE_EQ(roofline.bytes_per_s.value, 190e9);
  EXPECT_EQ(roofline.bytes_per_s.source, Source::fitted);
  EXPECT_EQ(roofline.idle_power_w->source, Source::measured);
}

TEST(EnergyRoofline, NumbersFollowFromTheTerms) {
  const EnergyRoofline roofline = made_up_energy("MAXN", 16, 1.3e9, {}, DType::fp16);
  const EnergyRoof& roof = roofline.roofs[roofline.main];
  EXPECT_EQ(roof.name, "FP16 tensor cores");
  EXPECT_DOUBLE_EQ(roof.terms.flops_per_s, 16 * 2048 * 1.3e9);
  EXPECT_DOUBLE_EQ(roof.terms.joule_per_flop, 1e-12);
  EXPECT_DOUBLE_EQ(roof.terms.constant_power_w, 5 + 16 * 1.3);
  EXPECT_DOUBLE_EQ(roof.time_balance.value, time_balance(roof.terms));
  EXPECT_DOUBLE_EQ(roof.energy_balance->value, 60);
  EXPECT_DOUBLE_EQ(roof.peak_power_w.value, peak_power_w(roof.terms));
  EXPECT_FALSE(roof.capped);
}

// A number has the weakest source of its inputs, and its interval comes from the draws.
TEST(EnergyRoofline, SourcesAndIntervals) {
  const EnergyRoofline roofline = made_up_energy("MAXN", 16, 1.3e9);
  const EnergyRoof& roof = roofline.roofs[roofline.main];
  EXPECT_EQ(roof.flops_per_s.source, Source::datasheet);
  EXPECT_EQ(roof.time_balance.source, Source::fitted);
  EXPECT_EQ(roof.energy_balance->source, Source::assumed);
  EXPECT_EQ(roof.peak_power_w.source, Source::assumed);
  EXPECT_DOUBLE_EQ(roof.flops_per_s.low, roof.flops_per_s.high);
  // Energies are drawn evenly from 0.8 to 1.2 times: 5 and 95 % lie at 0.82 and 1.18.
  EXPECT_NEAR(roof.joule_per_flop.low, 0.82 * 5e-12, 1e-15);
  EXPECT_NEAR(roof.joule_per_flop.high, 1.18 * 5e-12, 1e-15);
  // Both energies scale alike, so their ratio is known better than either.
  EXPECT_NEAR(roof.energy_balance->low, roof.energy_balance->high, 1e-9);
  EXPECT_LT(roof.peak_power_w.low, roof.peak_power_w.value);
  EXPECT_LT(roof.peak_power_w.value, roof.peak_power_w.high);
}

TEST(EnergyRoofline, CapLowersTheRoof) {
  const EnergyRoof free = made_up_energy("MAXN", 16, 1.3e9).roofs.back();
  const EnergyRoof capped = made_up_energy("MAXN", 16, 1.3e9, 40).roofs.back();
  EXPECT_GT(free.peak_power_w.value, 40);
  EXPECT_DOUBLE_EQ(capped.peak_power_w.value, 40);
  ASSERT_TRUE(capped.capped);
  EXPECT_LT(capped.limit_flop_per_joule.value, free.limit_flop_per_joule.value);
  EXPECT_EQ(error_line([] { made_up_energy("MAXN", 16, 1.3e9, 20); }),
            "MAXN: the cap of 20.0 W is not above the 25.8 W that any kernel takes (assumed) "
            "(choose a higher cap)");
}

std::string without(void (*take)(Ceilings&)) {
  Ceilings ceilings = made_up_board("MAXN", 16, 1.3e9);
  take(ceilings);
  return error_line([&] { energy_roofline_of(ceilings, {}, {}); });
}

TEST(EnergyRoofline, NamesWhatIsMissing) {
  EXPECT_EQ(without([](Ceilings& c) { c.flop_energies.clear(); }),
            "made-up: no energy roofline, since nothing is known of its energy per FLOP (leave out "
            "--energy)");
  EXPECT_THAT(without([](Ceilings& c) { c.byte_energies.clear(); }),
              HasSubstr("of its energy per byte ("));
  EXPECT_THAT(without([](Ceilings& c) { c.busy_power.reset(); }),
              HasSubstr("of its power while a kernel runs ("));
  EXPECT_THAT(without([](Ceilings& c) { c.bandwidths.clear(); }),
              HasSubstr("of its DRAM bandwidth ("));
  EXPECT_THAT(without([](Ceilings& c) {
                c = Ceilings{};
                c.device = "nothing";
              }),
              HasSubstr("nothing: no energy roofline, since nothing is known of its compute peaks, "
                        "DRAM bandwidth, energy per FLOP, energy per byte, power while"));
  EXPECT_EQ(error_line([] { made_up_energy("MAXN", 16, 1.3e9, {}, DType::fp64); }),
            "--dtype: no roof of fp64 has a known energy (known: int8, fp16, bf16, fp32)");
}

TEST(EnergyRoofline, CurveHasItsCorners) {
  const EnergyRoof roof = made_up_energy("MAXN", 16, 1.3e9, 40).roofs.back();
  const auto curve = energy_curve(roof.terms, 1, 1000);
  EXPECT_DOUBLE_EQ(curve.front().flop_per_byte, 1);
  EXPECT_DOUBLE_EQ(curve.back().flop_per_byte, 1000);
  EXPECT_TRUE(std::is_sorted(curve.begin(), curve.end(), [](const auto& a, const auto& b) {
    return a.flop_per_byte < b.flop_per_byte;
  }));
  const auto holds = [&](double intensity) {
    return std::any_of(curve.begin(), curve.end(),
                       [&](const EnergySample& s) { return s.flop_per_byte == intensity; });
  };
  EXPECT_TRUE(holds(roof.time_balance.value));
  EXPECT_TRUE(holds(roof.capped->low));
}

TEST(EnergyRoofline, JsonFitsItsSchema) {
  for (const EnergyRoofline& roofline : made_up_energies())
    EXPECT_THAT(schema_violations(to_json(roofline), "energy_roofline.schema.json"), IsEmpty());
  const Json capped = to_json(made_up_energy("MAXN", 16, 1.3e9, 30));
  EXPECT_THAT(schema_violations(capped, "energy_roofline.schema.json"), IsEmpty());
  EXPECT_TRUE(capped["roofs"].back()["capped"]["high"].is_null());
}

TEST(EnergyRoofline, CsvHasEveryNumberOnce) {
  const std::string csv = to_csv(made_up_energy("MAXN", 16, 1.3e9));
  std::istringstream lines(csv);
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "roof,quantity,unit,flop_per_byte,value,low,high,source");
  int rows = 0, shared = 0;
  while (std::getline(lines, line)) {
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), 7) << line;
    ++rows;
    shared += line.starts_with(",") ? 1 : 0;
  }
  EXPECT_EQ(shared, 4);
  EXPECT_THAT(csv, HasSubstr("FP32 CUDA cores,energy_balance,FLOP/byte,,12,"));
  EXPECT_GT(rows, 4 * 8 + 4 * 3 * 30);
}

// A profile whose sweep has power readings.
ProfileMode sweep_with_power(const EnergyTerms& truth) {
  ProfileMode mode = made_up_mode();
  mode.compute = {compute_row(DType::fp32, Unit::vector, "avx512f", truth.flops_per_s)};
  mode.memory = {memory_row(Level::dram, Direction::read, truth.bytes_per_s),
                 memory_row(Level::dram, Direction::copy, 1.1 * truth.bytes_per_s)};
  mode.idle_power_w = around(30);
  for (int fma = 1; fma <= 256; fma *= 2) {
    const double intensity = fma / 2.0;
    SweepRow row = sweep_row(fma, intensity, 1 / time_per_flop_s(truth, intensity));
    row.power_w = around(power_w(truth, intensity));
    mode.sweep.push_back(row);
  }
  return mode;
}

TEST(EnergyRoofline, OfAProfileWithPower) {
  const EnergyTerms truth{200e9, 20e9, 60e-12, 700e-12, 35, {}};
  const ProfileMode mode = sweep_with_power(truth);
  const MeasuredEnergy energy = measured_energy(mode, made_up_machine(), {});
  EXPECT_EQ(energy.fit.rows, 9U);
  const EnergyRoofline roofline =
      energy_roofline_of(energy.ceilings, energy.draws, {"Made-up CPU", "made-up.json", {}});
  const EnergyRoof& roof = roofline.roofs[roofline.main];
  EXPECT_NEAR(roof.joule_per_flop.value, 60e-12, 1e-15);
  EXPECT_NEAR(roofline.joule_per_byte.value, 700e-12, 1e-14);
  EXPECT_NEAR(roofline.constant_power_w.value, 35, 1e-6);
  EXPECT_DOUBLE_EQ(roofline.bytes_per_s.value, 20e9);
  EXPECT_EQ(roofline.bytes_per_s.source, Source::measured);
  EXPECT_EQ(roof.joule_per_flop.source, Source::fitted);
  EXPECT_LT(roof.joule_per_flop.low, 60e-12);
  EXPECT_GT(roof.joule_per_flop.high, 60e-12);
  EXPECT_DOUBLE_EQ(roofline.idle_power_w->value, 30);
  EXPECT_THAT(schema_violations(to_json(roofline), "energy_roofline.schema.json"), IsEmpty());
}

// Three modes of one memory clock and one of another; readings of the last of the three hide what
// its traffic draws.
std::vector<ProfileMode> modes_of_a_sweep(double byte_j) {
  std::vector<ProfileMode> modes;
  for (int i = 0; i < 4; ++i) {
    const EnergyTerms truth{200e9 * (i + 1), 20e9, 60e-12, i == 3 ? 3 * byte_j : byte_j, 35, {}};
    ProfileMode mode = sweep_with_power(truth);
    for (SweepRow& row : mode.sweep) {
      row.processor = Processor::gpu;
      if (i != 2) continue;
      const double shift_w = row.flop_per_byte < 8 ? 3 : -3;
      row.power_w = Estimate{row.power_w->value + shift_w, row.power_w->low - 6,
                             row.power_w->high + 6, Source::measured};
    }
    mode.mode.label = std::to_string(i);
    mode.mode.gpu_hz = 1e8 * (i + 1);
    mode.mode.memory_hz = i == 3 ? 2.133e9 : 204e6;
    mode.energy = fitted_energy(mode, "a sensor");
    modes.push_back(mode);
  }
  return modes;
}

TEST(EnergyRoofline, ModesOfOneMemoryClockShareTheEnergyPerByte) {
  constexpr double byte_j = 400e-12;
  std::vector<ProfileMode> modes = modes_of_a_sweep(byte_j);
  const std::vector<ProfileMode> before = modes;
  EXPECT_GT(std::abs(modes[2].energy.front().joule_per_byte->value / byte_j - 1), 0.2);
  share_byte_energies(modes);
  EXPECT_EQ(modes[0], before[0]) << "its own readings tell";
  EXPECT_EQ(modes[3], before[3]);
  const EnergyFitRow& shared = modes[2].energy.front();
  EXPECT_NEAR(shared.joule_per_byte->value / byte_j, 1, 0.1);
  EXPECT_NEAR(shared.constant_power_w->value, 35, 3);
  EXPECT_THAT(shared.note, HasSubstr("same memory clock"));
  EXPECT_EQ(shared.sensor, "a sensor");
  const std::vector<ProfileMode> once = modes;
  share_byte_energies(modes);  // a sweep that goes on does it again
  EXPECT_EQ(modes, once);
  std::vector<ProfileMode> single{before[2]};
  share_byte_energies(single);
  EXPECT_EQ(single.front(), before[2]) << "nothing to share with";
}

TEST(EnergyRoofline, ProfilesWithoutPowerHaveNone) {
  RooflineOptions options;
  options.profile = "made-up.json";
  EXPECT_EQ(error_line([&] { measured_energy(simple_mode(), made_up_machine(), options); }),
            "made-up.json: no energy roofline, since no sweep row has power (measure where a power "
            "sensor can be read, or leave out --energy)");
  ProfileMode mode = sweep_with_power({200e9, 20e9, 60e-12, 700e-12, 35, {}});
  options.dtype = DType::fp64;
  EXPECT_THAT(error_line([&] { measured_energy(mode, made_up_machine(), options); }),
              HasSubstr("no sweep row of fp64 has power"));
  options.dtype.reset();
  mode.sweep.resize(2);
  EXPECT_THAT(error_line([&] { measured_energy(mode, made_up_machine(), options); }),
              HasSubstr("made-up.json: 3 coefficients need at least 3 rows"));
  mode = sweep_with_power({200e9, 20e9, 60e-12, 700e-12, 35, {}});
  mode.memory.clear();
  EXPECT_THAT(error_line([&] { measured_energy(mode, made_up_machine(), options); }),
              HasSubstr("it has no DRAM read row"));
}

// What the datasheet expects, of the same unit and type as the measured main roof.
TEST(EnergyRoofline, NumbersOfAnotherRooflineBesideIt) {
  const EnergyRoofline measured = made_up_energy("30W", 8, 612e6, {}, DType::fp16);
  EnergyRoofline expected = made_up_energy("MAXN", 16, 1.3e9);  // its main roof is another
  const auto beside = expected_beside(measured, expected);
  ASSERT_TRUE(beside);
  EXPECT_DOUBLE_EQ(beside->flops_per_s, 16 * 2048 * 1.3e9);
  EXPECT_DOUBLE_EQ(beside->bytes_per_s, 190e9);
  EXPECT_DOUBLE_EQ(beside->joule_per_flop, 1e-12);
  EXPECT_DOUBLE_EQ(beside->joule_per_byte, 60e-12);
  EXPECT_DOUBLE_EQ(beside->constant_power_w, 5 + 16 * 1.3);
  ASSERT_TRUE(beside->idle_power_w);
  EXPECT_DOUBLE_EQ(*beside->idle_power_w, 5);
  expected.idle_power_w.reset();
  EXPECT_FALSE(expected_beside(measured, expected)->idle_power_w);
  std::erase_if(expected.roofs, [](const EnergyRoof& roof) { return roof.dtype == DType::fp16; });
  EXPECT_FALSE(expected_beside(measured, expected));
}

// Balance points from 10 to 200: whole decades with four times as much room on either side, 2.5 and
// 800.
TEST(EnergyRoofline, ThePictureShowsWholeDecadesAroundTheBalancePoints) {
  EnergyRoofline roofline = made_up_energy("MAXN", 16, 1.3e9);
  roofline.roofs.resize(2);
  roofline.main = 0;
  const auto set = [&](std::size_t roof, double time, double half, double energy) {
    roofline.roofs[roof].time_balance.value = time;
    roofline.roofs[roof].half_efficiency_balance.value = half;
    roofline.roofs[roof].energy_balance->value = energy;
  };
  set(0, 10, 20, 200);
  set(1, 30, 40, 1e6);  // the energy balance of another roof is not shown
  const auto shown = [&] { return intensity_range(std::span(&roofline, 1)); };
  EXPECT_DOUBLE_EQ(shown().low, 1);
  EXPECT_DOUBLE_EQ(shown().high, 1000);
  set(0, 10, 3, 600);
  EXPECT_DOUBLE_EQ(shown().low, 0.1);
  EXPECT_DOUBLE_EQ(shown().high, 10000);
  set(0, 10, 0, 200);  // one that does not exist is left out
  EXPECT_DOUBLE_EQ(shown().low, 1);
}

// Energies of a sweep are those of its processor, type and kernel.
TEST(EnergyRoofline, AFittedSweepSaysWhatItIsOf) {
  const EnergyTerms truth{200e9, 20e9, 60e-12, 700e-12, 35, {}};
  ProfileMode mode = sweep_with_power(truth);
  for (SweepRow& row : mode.sweep) {
    row.dtype = DType::fp16;
    row.processor = Processor::gpu;
  }
  const auto rows = fitted_energy(mode, "a sensor");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].dtype, DType::fp16);
  EXPECT_EQ(rows[0].processor, Processor::gpu);
  EXPECT_EQ(rows[0].kernel, "sweep");
  EXPECT_EQ(rows[0].sensor, "a sensor");
  EXPECT_NEAR(rows[0].joule_per_flop->value / 60e-12, 1, 1e-3);
}

}  // namespace
}  // namespace ridgeline::testing
