// The summary as text and JSON, from a made-up machine and from the real binary.
// Detection on a system is tested in abilities_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "report/summary.h"
#include "tests/support/process.h"
#include "tests/support/schema_validator.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::testing {
namespace {

using Kind = Ability::Kind;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Glance laptop() {
  Glance glance;
  glance.machine.name = "Example CPU 9000";
  glance.machine.architecture = "x86_64";
  glance.machine.microarchitecture = "Example Cove";
  glance.machine.cores = 4;
  glance.machine.hardware_threads = 8;
  glance.machine.memory_bytes = 16ULL << 30;
  glance.machine.caches = {{Level::l1, 48 << 10, 4, 1, 64}, {Level::l3, 12 << 20, 1, 4, 64}};
  glance.machine.os = "Example OS 1";
  glance.machine.kernel = "6.1.0";
  glance.device.id = "generic-x86-64";
  glance.device.configuration = "this-machine";
  glance.mode.label = "as found";
  glance.mode.cpu_cores = 8;
  glance.mode.cpu_hz = {4.7e9};
  glance.governor = "powersave";
  glance.abilities = {{Kind::set, "CPU clock", false, "only root may set it", "use sudo"},
                      {Kind::read, "CPU power", true, "RAPL, 1 package", ""},
                      {Kind::run, "avx2_fma", true, "", ""},
                      {Kind::run, "sse4", true, "", ""},
                      {Kind::run, "amx_bf16", false, "this CPU does not have it", ""},
                      {Kind::run, "amx_int8", false, "this CPU does not have it", ""}};
  return glance;
}

TEST(Glance, ReadsAsWritten) {
  EXPECT_EQ(glance_text(laptop(), 80, false),
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

TEST(Glance, NamesTheDeviceOfTheCatalogAndItsRelease) {
  Glance glance = laptop();
  glance.device.identity.catalog_id = "jetson-orin-nano-8gb";
  glance.device.identity.l4t = "36.4.3";
  glance.device.identity.jetpack = "6.2";
  glance.device.configuration = "super";
  EXPECT_THAT(
      glance_text(glance, 100, false),
      HasSubstr("  device   jetson-orin-nano-8gb, configuration super, Jetson Linux 36.4.3, "
                "JetPack 6.2\n"));
  EXPECT_EQ(to_json(glance)["device"]["catalog_id"], "jetson-orin-nano-8gb");
  glance.device.identity.catalog_id.clear();
  glance.device.identity.chip = "T999";
  EXPECT_THAT(glance_text(glance, 100, false), HasSubstr("  device   not in the catalog: a "));
}

TEST(Glance, ColourOnlyRepeatsWords) {
  std::string painted = glance_text(laptop(), 80, true);
  EXPECT_THAT(painted, HasSubstr("\x1b[33mno\x1b[0m"));
  for (std::size_t at = 0; (at = painted.find('\x1b')) != std::string::npos;)
    painted.erase(at, painted.find('m', at) - at + 1);
  EXPECT_EQ(painted, glance_text(laptop(), 80, false));
}

TEST(Glance, NextCommandFollowsTheProfile) {
  Glance glance = laptop();
  EXPECT_EQ(next_command(glance).line, "ridgeline measure --quick");
  glance.profile = StoredProfile{"p.json", "2025-01-02T03:04:05Z", true, ""};
  EXPECT_EQ(next_command(glance).line, "ridgeline roofline");
  EXPECT_THAT(glance_text(glance, 80, false),
              HasSubstr("  profile  p.json, measured 2025-01-02T03:04:05Z\n"));
  glance.profile->gpu = "Orin";
  EXPECT_THAT(glance_text(glance, 80, false),
              HasSubstr("  profile  p.json, measured 2025-01-02T03:04:05Z on Orin\n"));
  glance.profile->gpu.clear();
  glance.profile->disturbed = true;
  EXPECT_EQ(next_command(glance).line, "ridgeline measure --quick");
  EXPECT_THAT(glance_text(glance, 80, false), HasSubstr("on a disturbed machine"));
  glance.profile->disturbed = false;
  glance.profile->complete = false;
  EXPECT_EQ(next_command(glance).line, "ridgeline measure");
  EXPECT_THAT(glance_text(glance, 80, false), HasSubstr("T03:04:05Z, incomplete\n"));
  glance.profile->fault = "p.json: not JSON";
  EXPECT_THAT(glance_text(glance, 80, false), HasSubstr("unreadable: p.json: not JSON\n"));
}

TEST(Glance, JsonHoldsWhatTheTextShows) {
  const Json json = to_json(laptop());
  EXPECT_EQ(json["schema"], "ridgeline.glance/1");
  EXPECT_EQ(json["machine"]["cores"], 4);
  EXPECT_EQ(json["mode"]["cpu_hz"][0], 4.7e9);
  EXPECT_EQ(json["abilities"].size(), 6U);
  EXPECT_EQ(json["abilities"][0]["fix"], "use sudo");
  EXPECT_TRUE(json["profile"].is_null());
  EXPECT_EQ(json["next"]["command"], "ridgeline measure --quick");
}

TEST(Glance, KeepsItsSchema) {
  Glance glance = laptop();
  EXPECT_THAT(schema_violations(to_json(glance), "glance.schema.json"), IsEmpty());
  glance.profile = StoredProfile{"p.json", "2025-01-02T03:04:05Z", true, ""};
  EXPECT_THAT(schema_violations(to_json(glance), "glance.schema.json"), IsEmpty());
  const Json printed = parse_json(run_ridgeline({"--json"}).out, "glance");
  EXPECT_THAT(schema_violations(printed, "glance.schema.json"), IsEmpty());
}

TEST(Glance, InstructionSetsThatDoNotRunSayWhy) {
  const Json printed = parse_json(run_ridgeline({"--json"}).out, "glance");
  int sets = 0;
  for (const Json& ability : printed["abilities"]) {
    if (ability["kind"] != "run") continue;
    ++sets;
    EXPECT_NE(ability["available"].get<bool>(), !ability["detail"].get<std::string>().empty())
        << ability["name"];
  }
  EXPECT_GT(sets, 2);
}

TEST(Glance, IsWhatTheBareProgramPrints) {
  const ProcessResult bare = run_ridgeline({});
  EXPECT_EQ(bare.exit_code, 0);
  EXPECT_EQ(bare.err, "");
  EXPECT_THAT(bare.out, HasSubstr("\nCan run here\n"));
  EXPECT_THAT(bare.out, HasSubstr("\nNext: ridgeline measure --quick\n"));
  EXPECT_THAT(bare.out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(run_ridgeline({"glance"}).out, HasSubstr("\nNext: ridgeline measure --quick\n"));
  EXPECT_THAT(run_ridgeline({"--color", "always"}).out, HasSubstr("\x1b["));
}

TEST(Glance, SurvivesADamagedProfile) {
  const TemporaryDirectory data;
  data.write("ridgeline/profiles/2025-01-02T03-04-05Z.json", "{\"schema\": ");
  const ProcessSettings settings{.environment = {{"XDG_DATA_HOME", data.path()}}};
  const ProcessResult result = run_ridgeline({}, settings);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(result.out, HasSubstr("\n  profile  unreadable:"));
  EXPECT_THAT(result.out, HasSubstr("\nNext: ridgeline measure\n"));
  const Json json = parse_json(run_ridgeline({"--json"}, settings).out, "glance");
  EXPECT_THAT(schema_violations(json, "glance.schema.json"), IsEmpty());
}

TEST(Glance, SurvivesWithoutAHome) {
  const ProcessSettings settings{.environment = {{"XDG_DATA_HOME", ""}, {"HOME", ""}}};
  EXPECT_EQ(run_ridgeline({}, settings).exit_code, 0);
}

TEST(Glance, ReadsInTwentyColumns) {
  const ProcessResult result = run_ridgeline({}, {.environment = {{"COLUMNS", "20"}}});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("Can run here"));
}

}  // namespace
}  // namespace ridgeline::testing
