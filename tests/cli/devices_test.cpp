// `ridgeline devices` and `ridgeline roofline DEVICE` end to end: text, formats and exit codes.
// Numbers are tested next to the code that computes them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/text_file.h"
#include "base/text_table.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"
#include "tests/support/schema_validator.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

int widest_line(const std::string& text) {
  std::istringstream lines(text);
  int widest = 0;
  for (std::string line; std::getline(lines, line);)
    if (line.find("://") == std::string::npos) widest = std::max(widest, display_width(line));
  return widest;
}

void expect_usage_error(const std::vector<std::string>& arguments, const std::string& line) {
  const ProcessResult result = run_ridgeline(arguments);
  EXPECT_EQ(result.err, "ridgeline: " + line + "\n");
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.exit_code, 2);
}

TEST(DevicesCommand, ListsThisMachineAndTheCatalog) {
  const ProcessResult result = run_ridgeline({"devices"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(first_line(result.out), "This machine");
  EXPECT_THAT(result.out, HasSubstr("\njetson-agx-orin-64gb "));
  EXPECT_THAT(result.out, HasSubstr(" 85.2 TOP/s"));
  EXPECT_LE(widest_line(result.out), 80);
  const ProcessResult wide = run_ridgeline({"devices"}, {.environment = {{"COLUMNS", "120"}}});
  EXPECT_THAT(wide.out, HasSubstr("GPU clock"));
}

TEST(DevicesCommand, ShowsADeviceWithItsSources) {
  const ProcessResult result = run_ridgeline({"devices", "jetson-agx-orin-64gb"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(first_line(result.out), "NVIDIA Jetson AGX Orin 64GB (jetson-agx-orin-64gb)");
  for (const char* part :
       {"16 SMs [", "5.33 TFLOP/s", "VDD_GPU_SOC", "306.00 MHz … 1.3005 GHz", "11 steps", "30W *",
        "Sources\n", "(vendor)", "(assumed)", "gpu_dram_bytes_per_clock", "105 TOP/s"})
    EXPECT_THAT(result.out, HasSubstr(part));
  EXPECT_LE(widest_line(result.out), 80);
}

TEST(DevicesCommand, FitsNarrowTerminals) {
  const ProcessResult result =
      run_ridgeline({"devices", "orin-nano"}, {.environment = {{"COLUMNS", "44"}}});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_LE(widest_line(result.out), 44);
}

TEST(DevicesCommand, SaysWhatIsMissing) {
  const ProcessResult result = run_ridgeline({"devices", "a100-40gb-pcie", "--missing"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("lockable memory clocks"));
  EXPECT_THAT(result.out, Not(HasSubstr("Sources")));
}

TEST(DevicesCommand, JsonValidates) {
  const ProcessResult list = run_ridgeline({"devices", "--json"});
  EXPECT_THAT(schema_violations(parse_json(list.out, "out"), "devices.schema.json"), IsEmpty());
  for (const char* name : {"jetson-agx-orin-64gb", "jetson-agx-thor-t4000", "a100",
                           "generic-x86-64", "generic-aarch64"}) {
    const ProcessResult device = run_ridgeline({"devices", name, "--json"});
    const Json json = parse_json(device.out, "out");
    EXPECT_THAT(schema_violations(json, "device.schema.json"), IsEmpty()) << name;
    for (const char* member : {"ceilings", "checks", "missing"})
      EXPECT_TRUE(json.contains(member)) << name << " " << member;
  }
}

TEST(DevicesCommand, ListAsCsv) {
  const ProcessResult result = run_ridgeline({"devices", "--csv"});
  EXPECT_EQ(first_line(result.out),
            "id,name,aliases,kind,gpu_units,gpu_hz,fp32_flops_per_s,fp16_matrix_flops_per_s,"
            "int8_matrix_ops_per_s,dram_bytes_per_s,stock_modes");
  EXPECT_THAT(result.out, HasSubstr("\njetson-tx2,NVIDIA Jetson TX2,tx2,jetson,2,1300500000,"));
}

TEST(DevicesCommand, WrongUsage) {
  expect_usage_error({"devices", "a100-40gb-pice"},
                     "devices: the catalog has no device \"a100-40gb-pice\" (did you mean "
                     "a100-40gb-pcie?)");
  expect_usage_error({"devices", ""},
                     "devices: the catalog has no device \"\" (see 'ridgeline devices')");
  expect_usage_error({"devices", "--missing"},
                     "--missing: needs a device (write for example 'ridgeline devices "
                     "a100-40gb-pcie --missing')");
  expect_usage_error({"devices", "t4", "--csv"},
                     "--csv: only the list has a table (use --json for one device)");
  expect_usage_error(
      {"devices", "\x01\xff"},
      "devices: the catalog has no device \"\\u0001\xEF\xBF\xBD\" (see 'ridgeline devices')");
}

TEST(DatasheetRoofline, OfAModeIsMarked) {
  TemporaryDirectory folder;
  const std::string file = folder.file("roof.svg");
  const ProcessResult result =
      run_ridgeline({"roofline", "jetson-agx-orin-64gb", "--mode", "30W", "--svg", file},
                    {.environment = {{"LC_ALL", "C.UTF-8"}}});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("8 SM"));
  EXPECT_THAT(result.out, HasSubstr("datasheet"));
  EXPECT_THAT(result.out, HasSubstr("fitted"));
  const std::string picture = read_text_file(file);
  EXPECT_THAT(picture, HasSubstr("Datasheet roofline of NVIDIA Jetson AGX Orin 64GB"));
  EXPECT_THAT(picture, HasSubstr("DRAM peak 205 GB/s (datasheet)"));
  EXPECT_THAT(picture, HasSubstr("(fitted)"));
  EXPECT_THAT(picture, Not(HasSubstr("thread")));
}

TEST(DatasheetRoofline, AllModesAreSmallMultiples) {
  const ProcessResult svg = run_ridgeline({"roofline", "agx-orin", "--modes", "all", "--svg", "-"});
  EXPECT_EQ(svg.exit_code, 0) << svg.err;
  for (const char* label : {">MAXN<", ">15W<", ">30W<", ">50W<"})
    EXPECT_THAT(svg.out, HasSubstr(label));
  EXPECT_EQ(svg.out, run_ridgeline({"roofline", "agx-orin", "--modes", "all", "--svg", "-"}).out);
  const ProcessResult text = run_ridgeline({"roofline", "agx-orin", "--modes", "all"});
  EXPECT_THAT(text.out, HasSubstr("\n30W     8 "));
  EXPECT_LE(widest_line(text.out), 80);
  const ProcessResult json =
      run_ridgeline({"roofline", "agx-orin", "--modes", "15W,30W", "--json"});
  const Json document = parse_json(json.out, "out");
  EXPECT_THAT(schema_violations(document, "rooflines.schema.json"), IsEmpty());
  EXPECT_EQ(document["rooflines"].size(), 2U);
  const ProcessResult csv = run_ridgeline({"roofline", "agx-orin", "--modes", "all", "--csv"});
  EXPECT_EQ(csv.out.rfind("mode,kind,name,", 0), 0U);
  EXPECT_THAT(csv.out, HasSubstr("\n50W,roof,"));
}

TEST(DatasheetRoofline, ModesAreVectorsToo) {
  const ProcessResult result =
      run_ridgeline({"roofline", "agx-orin", "--mode", "gpu=612MHz,emc=2133MHz,sm=8", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const Json json = parse_json(result.out, "out");
  EXPECT_THAT(schema_violations(json, "roofline.schema.json"), IsEmpty());
  EXPECT_EQ(json["mode"]["gpu_units"], 8);
  EXPECT_EQ(json["mode"]["memory_hz"], 2133e6);
}

TEST(DatasheetRoofline, ReleaseSelectsTheOlderModes) {
  const ProcessResult result = run_ridgeline({"roofline", "orin-nano", "--jetpack", "5", "--json"});
  EXPECT_EQ(parse_json(result.out, "out")["mode"]["gpu_hz"], 624.75e6);
}

TEST(DatasheetRoofline, WrongUsage) {
  expect_usage_error({"roofline", "jetson-agx-orn"},
                     "roofline: the catalog has no device \"jetson-agx-orn\" (did you mean "
                     "jetson-agx-orin?)");
  expect_usage_error({"roofline", "agx-orin", "--mode", "30W", "--modes", "all"},
                     "--modes: cannot be combined with --mode (choose one)");
  expect_usage_error({"roofline", "agx-orin", "--modes", ""},
                     "--modes: is empty (write all, or labels such as 15W,30W)");
  expect_usage_error({"roofline", "agx-orin", "--mode", "35W"},
                     "--mode: jetson-agx-orin-64gb has no mode \"35W\" (did you mean 15W? it has "
                     "MAXN, 15W, 30W, 50W)");
  expect_usage_error({"roofline", "agx-orin", "--jetpack", "3"},
                     "--jetpack: jetson-agx-orin-64gb has no configuration for JetPack \"3\" "
                     "(known are 6, 5.1, 5.0)");
  const std::string example = source_file("tests/data/profiles/example_cpu.json");
  expect_usage_error({"roofline", example, "--jetpack", "5"},
                     "--jetpack: a profile has the modes that were measured (give the name of a "
                     "device)");
}

TEST(DatasheetRoofline, OfAProfileWithSeveralModes) {
  const std::string example = source_file("tests/data/profiles/example_cpu.json");
  const ProcessResult result = run_ridgeline({"roofline", example, "--modes", "all", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(schema_violations(parse_json(result.out, "out"), "rooflines.schema.json"), IsEmpty());
}

}  // namespace
}  // namespace ridgeline::testing
