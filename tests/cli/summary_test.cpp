// The summary as text and JSON, from a made-up machine and from the real binary.
// Detection on a system is tested in abilities_test.cpp.
#include "report/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "tests/support/process.h"
#include "tests/support/schema_validator.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::testing {
namespace {

using Kind = Ability::Kind;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

MachineSummary laptop() {
  MachineSummary summary;
  summary.machine.name = "Example CPU 9000";
  summary.machine.architecture = "x86_64";
  summary.machine.microarchitecture = "Example Cove";
  summary.machine.cores = 4;
  summary.machine.hardware_threads = 8;
  summary.machine.memory_bytes = 16ULL << 30;
  summary.machine.caches = {{Level::l1, 48 << 10, 4, 1, 64}, {Level::l3, 12 << 20, 1, 4, 64}};
  summary.machine.os = "Example OS 1";
  summary.machine.kernel = "6.1.0";
  summary.device.id = "generic-x86-64";
  summary.device.configuration = "this-machine";
  summary.mode.label = "as found";
  summary.mode.cpu_cores = 8;
  summary.mode.cpu_hz = {4.7e9};
  summary.governor = "powersave";
  summary.abilities = {{Kind::set, "CPU clock", false, "only root may set it", "use sudo"},
                       {Kind::read, "CPU power", true, "RAPL, 1 package", ""},
                       {Kind::run, "avx2_fma", true, "", ""},
                       {Kind::run, "sse4", true, "", ""},
                       {Kind::run, "amx_bf16", false, "this CPU does not have it", ""},
                       {Kind::run, "amx_int8", false, "this CPU does not have it", ""}};
  return summary;
}

TEST(Summary, ReadsAsWritten) {
  EXPECT_EQ(summary_text(laptop(), 80, false),
            R"(Example CPU 9000 (Example Cove)
  cores    4 cores, 8 hardware threads
  caches   L1 48 KiB × 4, L3 12 MiB
  memory   16 GiB
  system   Example OS 1, kernel 6.1.0, x86_64
  device   generic-x86-64, filled from this machine
  mode     as found, 8 CPUs online, CPU up to 4.70 GHz, governor powersave
  profile  none yet

Can be set here
  no   CPU clock: only root may set it
       → use sudo

Can be read here
  yes  CPU power: RAPL, 1 package

Can run here
  yes  avx2_fma, sse4
  no   amx_bf16, amx_int8: this CPU does not have it

Next: ridgeline measure --quick
      measures this machine in about a minute
)");
}

TEST(Summary, NamesTheDeviceOfTheCatalogAndItsRelease) {
  MachineSummary summary = laptop();
  summary.device.identity.catalog_id = "jetson-orin-nano-8gb";
  summary.device.identity.l4t = "36.4.3";
  summary.device.identity.jetpack = "6.2";
  summary.device.configuration = "super";
  EXPECT_THAT(
      summary_text(summary, 100, false),
      HasSubstr("  device   jetson-orin-nano-8gb, configuration super, Jetson Linux 36.4.3, "
                "JetPack 6.2\n"));
  EXPECT_EQ(to_json(summary)["device"]["catalog_id"], "jetson-orin-nano-8gb");
  summary.device.identity.catalog_id.clear();
  summary.device.identity.chip = "T999";
  EXPECT_THAT(summary_text(summary, 100, false), HasSubstr("  device   not in the catalog: a "));
}

TEST(Summary, ColourOnlyRepeatsWords) {
  std::string painted = summary_text(laptop(), 80, true);
  EXPECT_THAT(painted, HasSubstr("\x1b[33mno\x1b[0m"));
  for (std::size_t at = 0; (at = painted.find('\x1b')) != std::string::npos;)
    painted.erase(at, painted.find('m', at) - at + 1);
  EXPECT_EQ(painted, summary_text(laptop(), 80, false));
}

TEST(Summary, NextCommandFollowsTheProfile) {
  MachineSummary summary = laptop();
  EXPECT_EQ(next_command(summary).line, "ridgeline measure --quick");
  summary.profile = StoredProfile{"p.json", "2025-01-02T03:04:05Z", true, ""};
  EXPECT_EQ(next_command(summary).line, "ridgeline roofline");
  EXPECT_THAT(summary_text(summary, 80, false),
              HasSubstr("  profile  p.json, measured 2025-01-02T03:04:05Z\n"));
  summary.profile->gpu = "Orin";
  EXPECT_THAT(summary_text(summary, 80, false),
              HasSubstr("  profile  p.json, measured 2025-01-02T03:04:05Z on Orin\n"));
  summary.profile->gpu.clear();
  summary.profile->disturbed = true;
  EXPECT_EQ(next_command(summary).line, "ridgeline measure --quick");
  EXPECT_THAT(summary_text(summary, 80, false), HasSubstr("on a disturbed machine"));
  summary.profile->disturbed = false;
  summary.profile->complete = false;
  EXPECT_EQ(next_command(summary).line, "ridgeline measure");
  EXPECT_THAT(summary_text(summary, 80, false), HasSubstr("T03:04:05Z, incomplete\n"));
  summary.profile->fault = "p.json: not JSON";
  EXPECT_THAT(summary_text(summary, 80, false), HasSubstr("unreadable: p.json: not JSON\n"));
}

TEST(Summary, JsonHoldsWhatTheTextShows) {
  const Json json = to_json(laptop());
  EXPECT_EQ(json["schema"], "ridgeline.summary/1");
  EXPECT_EQ(json["machine"]["cores"], 4);
  EXPECT_EQ(json["mode"]["cpu_hz"][0], 4.7e9);
  EXPECT_EQ(json["abilities"].size(), 6U);
  EXPECT_EQ(json["abilities"][0]["fix"], "use sudo");
  EXPECT_TRUE(json["profile"].is_null());
  EXPECT_EQ(json["next"]["command"], "ridgeline measure --quick");
}

TEST(Summary, KeepsItsSchema) {
  MachineSummary summary = laptop();
  EXPECT_THAT(schema_violations(to_json(summary), "summary.schema.json"), IsEmpty());
  summary.profile = StoredProfile{"p.json", "2025-01-02T03:04:05Z", true, ""};
  EXPECT_THAT(schema_violations(to_json(summary), "summary.schema.json"), IsEmpty());
  const Json printed = parse_json(run_ridgeline({"--json"}).out, "summary");
  EXPECT_THAT(schema_violations(printed, "summary.schema.json"), IsEmpty());
}

TEST(Summary, InstructionSetsThatDoNotRunSayWhy) {
  const Json printed = parse_json(run_ridgeline({"--json"}).out, "summary");
  int sets = 0;
  for (const Json& ability : printed["abilities"]) {
    if (ability["kind"] != "run") continue;
    ++sets;
    EXPECT_NE(ability["available"].get<bool>(), !ability["detail"].get<std::string>().empty())
        << ability["name"];
  }
  EXPECT_GT(sets, 2);
}

TEST(Summary, IsWhatTheBareProgramPrints) {
  const ProcessResult bare = run_ridgeline({});
  EXPECT_EQ(bare.exit_code, 0);
  EXPECT_EQ(bare.err, "");
  EXPECT_THAT(bare.out, HasSubstr("\nCan run here\n"));
  EXPECT_THAT(bare.out, HasSubstr("\nNext: ridgeline measure --quick\n"));
  EXPECT_THAT(bare.out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(run_ridgeline({"summary"}).out, HasSubstr("\nNext: ridgeline measure --quick\n"));
  EXPECT_THAT(run_ridgeline({"--color", "always"}).out, HasSubstr("\x1b["));
}

TEST(Summary, SurvivesADamagedProfile) {
  const TemporaryDirectory data;
  data.write("ridgeline/profiles/2025-01-02T03-04-05Z.json", "{\"schema\": ");
  const ProcessSettings settings{.environment = {{"XDG_DATA_HOME", data.path()}}};
  const ProcessResult result = run_ridgeline({}, settings);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(result.out, HasSubstr("\n  profile  unreadable:"));
  EXPECT_THAT(result.out, HasSubstr("\nNext: ridgeline measure\n"));
  const Json json = parse_json(run_ridgeline({"--json"}, settings).out, "summary");
  EXPECT_THAT(schema_violations(json, "summary.schema.json"), IsEmpty());
}

TEST(Summary, SurvivesWithoutAHome) {
  const ProcessSettings settings{.environment = {{"XDG_DATA_HOME", ""}, {"HOME", ""}}};
  EXPECT_EQ(run_ridgeline({}, settings).exit_code, 0);
}

TEST(Summary, ReadsInTwentyColumns) {
  const ProcessResult result = run_ridgeline({}, {.environment = {{"COLUMNS", "20"}}});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("Can run here"));
}

}  // namespace
}  // namespace ridgeline::testing
