// `ridgeline roofline --energy` end to end: one mode and several, every format, and the message if
// energy is unknown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/profile.h"
#include "roofline/ceilings/energy_terms.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"
#include "tests/support/schema_validator.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

const std::string example = source_file("tests/data/profiles/example_cpu.json");

ProcessResult energy(std::vector<std::string> arguments, const ProcessSettings& settings = {}) {
  arguments.insert(arguments.begin(), "roofline");
  arguments.emplace_back("--energy");
  return run_ridgeline(arguments, settings);
}

TEST(EnergyCommand, OneModeInEveryFormat) {
  const std::vector<std::string> mode{"jetson-agx-orin-64gb", "--mode", "30W"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), mode.begin(), mode.end());
    return energy(more);
  };
  const ProcessResult text =
      energy({mode[0], mode[1], mode[2]}, {.environment = {{"LC_ALL", "C"}}});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  for (const char* part :
       {"Performance [", "Efficiency [", "Power [W]", "time balance", "energy balance",
        "half efficiency", "peak power", "race to halt: ", "cap of 60.0 W"})
    EXPECT_THAT(text.out, HasSubstr(part));
  for (const char c : text.out) ASSERT_GE(c, 0);

  const ProcessResult json = with({"--json"});
  const Json document = parse_json(json.out, "out");
  EXPECT_THAT(schema_violations(document, "energy_roofline.schema.json"), IsEmpty());
  EXPECT_EQ(document["main"], "FP32 CUDA cores");
  EXPECT_EQ(document["mode"]["label"], "30W");
  EXPECT_LT(document["constant_power_w"]["low"], document["constant_power_w"]["high"]);

  EXPECT_THAT(with({"--csv"}).out, StartsWith("roof,quantity,unit,flop_per_byte,value,"));
  const ProcessResult svg = with({"--svg", "-"});
  EXPECT_THAT(svg.out, HasSubstr("</svg>\n"));
  EXPECT_EQ(svg.out, with({"--svg", "-"}).out);
}

TEST(EnergyCommand, SeveralModes) {
  const ProcessResult text = energy({"agx-orin", "--modes", "all"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  for (const char* mode : {"MAXN", "15W", "30W", "50W"}) EXPECT_THAT(text.out, HasSubstr(mode));
  EXPECT_THAT(text.out, HasSubstr("Sources: peak"));
  const ProcessResult json = energy({"agx-orin", "--modes", "15W,30W", "--json"});
  const Json document = parse_json(json.out, "out");
  EXPECT_THAT(schema_violations(document, "energy_rooflines.schema.json"), IsEmpty());
  EXPECT_EQ(document["rooflines"].size(), 2U);
  EXPECT_THAT(energy({"agx-orin", "--modes", "15W,30W", "--csv"}).out,
              StartsWith("mode,roof,quantity,"));
  EXPECT_THAT(energy({"agx-orin", "--modes", "all", "--svg", "-"}).out,
              HasSubstr("30W: efficiency [FLOP/J]"));
}

TEST(EnergyCommand, SaysWhatIsMissing) {
  const ProcessResult profile = energy({example});
  EXPECT_EQ(profile.exit_code, 4);
  EXPECT_EQ(
      profile.err,
      "ridgeline: example_cpu.json: no energy roofline, since no sweep row has power (measure "
      "where a power sensor can be read, or leave out --energy)\n");
  EXPECT_THAT(profile.out, IsEmpty());
  const ProcessResult device = energy({"generic-x86-64"});
  EXPECT_EQ(device.exit_code, 4) << device.out;
  EXPECT_THAT(device.err, HasSubstr("no energy roofline, since nothing is known of its "));
  EXPECT_THAT(device.out, IsEmpty());
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"agx-orin", "--all"},
                                             {"agx-orin", "--point", "gemm=2e9:48MB"},
                                             {"agx-orin", "--threads", "2"},
                                             {"agx-orin", "--dtype", "fp64"}})
    EXPECT_EQ(energy(arguments).exit_code, 2) << arguments[1];
}

// From a sweep with power, the cost of a FLOP, a byte and a second is recovered.
TEST(EnergyCommand, OfAProfileWithPower) {
  Profile profile = load_profile(example);
  ProfileMode& mode = profile.modes.front();
  const EnergyTerms truth{760e9, 35e9, 40e-12, 500e-12, 30, {}};
  for (SweepRow& row : mode.sweep) {
    const double flops_per_s = row.flops_per_s ? row.flops_per_s->value : 0;
    const double watts = truth.constant_power_w + truth.joule_per_flop * flops_per_s +
                         truth.joule_per_byte * row.bytes_per_s->value;
    row.power_w = Estimate{watts, watts * 0.99, watts * 1.01, Source::measured};
  }
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/with_power.json";
  save_profile(profile, path);
  const ProcessResult result = energy({path, "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json document = parse_json(result.out, "out");
  EXPECT_THAT(schema_violations(document, "energy_roofline.schema.json"), IsEmpty());
  EXPECT_EQ(document["profile"], "with_power.json");
  EXPECT_NEAR(document["constant_power_w"]["value"].get<double>(), 30, 0.01);
  EXPECT_NEAR(document["joule_per_byte"]["value"].get<double>(), 500e-12, 1e-13);
  EXPECT_NEAR(document["roofs"][0]["joule_per_flop"]["value"].get<double>(), 40e-12, 1e-14);
  EXPECT_EQ(document["disturbed"], "");

  mode.conditions.verdict = RunVerdict{RunState::disturbed, "other processes took 38 % of the CPU",
                                       "close them and measure again"};
  save_profile(profile, path);
  const std::string stamp = "measured on a disturbed machine: other processes took 38 % of the CPU";
  EXPECT_THAT(energy({path}).out, StartsWith(stamp));
  EXPECT_THAT(energy({path, "--svg", "-"}).out, HasSubstr("of a disturbed machine</text>"));
  EXPECT_THAT(energy({path, "--json"}).out, HasSubstr("\"disturbed\": \"other processes took"));
}

}  // namespace
}  // namespace ridgeline::testing
