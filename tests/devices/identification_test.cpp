// Made-up systems and their identification: boards of the catalog, a Jetson that it lacks, a PC.
// Each tree holds a serial number, which must not appear anywhere.
#include "devices/machine/identification.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "devices/catalog/model.h"
#include "devices/modes/mode_space.h"
#include "tests/support/fake_system.h"
#include "tests/support/schema_validator.h"

namespace ridgeline::testing {
namespace {

using namespace std::string_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const char* const serial = "1422919082257";

void write_tree(FakeSystem& system, const std::string& model, const std::string& compatible) {
  system.write("proc/device-tree/model", model + '\0');
  system.write("proc/device-tree/compatible", compatible);
  system.write("proc/device-tree/serial-number", serial + "\0"s);
}

TEST(Identification, OrinNanoWithSuperFirmware) {
  FakeSystem system;
  write_tree(system, "NVIDIA Jetson Orin Nano Engineering Reference Developer Kit Super",
             "nvidia,p3768-0000+p3767-0005-super\0nvidia,p3767-0005\0nvidia,tegra234\0"s);
  system.write("etc/nv_tegra_release", "# R36 (release), REVISION: 4.3, GCID: 38968081, BOARD:\n");
  const Identity identity = identify(system.root());
  EXPECT_EQ(identity.catalog_id, "jetson-orin-nano-8gb");
  EXPECT_EQ(identity.board, "NVIDIA Jetson Orin Nano Engineering Reference Developer Kit Super");
  EXPECT_EQ(identity.chip, "T234");
  EXPECT_EQ(identity.l4t, "36.4.3");
  EXPECT_EQ(identity.jetpack, "6.2");
  EXPECT_TRUE(identity.super_firmware);
  EXPECT_THAT(identity.compatible, ElementsAre("nvidia", "p3768-0000", "p3767-0005", "tegra234"));
  const catalog::Device device = this_device(identity, system.root());
  EXPECT_EQ(device, catalog::load("jetson-orin-nano-8gb"));
  EXPECT_EQ(present_configuration(identity, device).id, "super");
}

// The newer release with the old firmware has the old clocks.
TEST(Identification, FirmwareTellsTheConfigurationNotTheRelease) {
  FakeSystem system;
  write_tree(system, "Carrier of another maker",
             "vendor,carrier\0nvidia,p3509-0000+p3767-0000\0nvidia,tegra234\0"s);
  system.write("etc/nv_tegra_release", "# R36 (release), REVISION: 4.4\n");
  const Identity identity = identify(system.root());
  EXPECT_EQ(identity.catalog_id, "jetson-orin-nx-16gb");
  EXPECT_FALSE(identity.super_firmware);
  EXPECT_EQ(present_configuration(identity, catalog::load(identity.catalog_id)).id, "jetpack-5");
}

TEST(Identification, BoardsOfTheCatalog) {
  const std::vector<std::pair<std::string, std::string>> boards = {
      {"nvidia,p3737-0000+p3701-0000\0nvidia,p3701-0000\0nvidia,tegra234\0"s,
       "jetson-agx-orin-64gb"},
      {"nvidia,p3737-0000+p3701-0005\0nvidia,tegra234\0"s, "jetson-agx-orin-64gb"},
      {"nvidia,p3737-0000+p3701-0004\0nvidia,tegra234\0"s, "jetson-agx-orin-32gb"},
      {"nvidia,p3768-0000+p3767-0001\0nvidia,tegra234\0"s, "jetson-orin-nx-8gb"},
      {"nvidia,p3768-0000+p3767-0004\0nvidia,tegra234\0"s, "jetson-orin-nano-4gb"},
      {"nvidia,jetson-xavier\0nvidia,p2972-0000\0nvidia,tegra194\0"s, "jetson-agx-xavier"},
      {"nvidia,p3509-0000+p3668-0001\0nvidia,tegra194\0"s, "jetson-xavier-nx"},
      {"nvidia,p2771-0000\0nvidia,tegra186\0"s, "jetson-tx2"},
      {"nvidia,p3509-0000+p3636-0001\0nvidia,tegra186\0"s, "jetson-tx2-nx"},
      {"nvidia,p3450-0000\0nvidia,jetson-nano\0nvidia,tegra210\0"s, "jetson-nano"},
      {"nvidia,p4071-0000+p3834-0008\0nvidia,p3834-0008\0nvidia,tegra264\0"s,
       "jetson-agx-thor-t5000"},
      {"nvidia,p3701-9999\0nvidia,tegra234\0"s, ""},
      {"raspberrypi,4-model-b\0brcm,bcm2711\0"s, ""}};
  for (const auto& [compatible, id] : boards) {
    FakeSystem system;
    write_tree(system, "board", compatible);
    EXPECT_EQ(identify(system.root()).catalog_id, id) << compatible;
  }
}

TEST(Identification, ReleasesOfJetsonLinux) {
  EXPECT_EQ(jetpack_of("32.7.3"), "4");
  EXPECT_EQ(jetpack_of("34.1.1"), "5.0");
  EXPECT_EQ(jetpack_of("35.1.0"), "5.0");
  EXPECT_EQ(jetpack_of("35.4.1"), "5.1");
  EXPECT_EQ(jetpack_of("36.3.0"), "6.0");
  EXPECT_EQ(jetpack_of("36.4.0"), "6.1");
  EXPECT_EQ(jetpack_of("36.4.4"), "6.2");
  EXPECT_EQ(jetpack_of("38.2.1"), "7");
  EXPECT_EQ(jetpack_of("28.2"), "");
  EXPECT_EQ(jetpack_of("garbage"), "");
  EXPECT_EQ(jetpack_of(""), "");
}

// A module missing from the catalog: its own clocks and modes, the rates of its chip.
TEST(Identification, UnknownJetsonIsUsable) {
  FakeSystem system;
  write_tree(system, "NVIDIA Jetson AGX Orin Industrial",
             "nvidia,p3737-0000+p3701-0008\0nvidia,p3701-0008\0nvidia,tegra234\0"s);
  for (const char* policy : {"policy0", "policy4"}) {
    const std::string folder = "sys/devices/system/cpu/cpufreq/"s + policy + "/";
    system.write(folder + "related_cpus", policy == "policy0"s ? "0 1 2 3\n" : "4 5 6 7\n");
    system.write(folder + "scaling_available_frequencies", "729600 1036800 2035200 \n");
    system.write(folder + "scaling_max_freq", "2035200\n");
  }
  system.write("sys/class/devfreq/17000000.gpu/available_frequencies",
               "306000000 612000000 1185750000\n");
  system.write("proc/meminfo", "MemTotal:       64000000 kB\n");
  system.write("etc/nvpmodel.conf",
               "< PARAM TYPE=FILE NAME=CPU_ONLINE >\n"
               "CORE_0 /sys/devices/system/cpu/cpu0/online\n"
               "CORE_1 /sys/devices/system/cpu/cpu1/online\n"
               "< PARAM TYPE=FILE NAME=TPC_POWER_GATING >\nTPC_PG_MASK /sys/x/tpc_pg_mask\n"
               "< PARAM TYPE=CLOCK NAME=GPU >\nMAX_FREQ "
               "/sys/devices/platform/17000000.gpu/devfreq_dev/max_freq\n"
               "< POWER_MODEL ID=1 NAME=MODE_20W >\nCPU_ONLINE CORE_0 1\nCPU_ONLINE CORE_1 1\n"
               "TPC_POWER_GATING TPC_PG_MASK 240\nGPU MAX_FREQ 612000000\n"
               "< PM_CONFIG DEFAULT=1 >\n");
  const Identity identity = identify(system.root());
  EXPECT_EQ(identity.catalog_id, "");
  const catalog::Device device = this_device(identity, system.root());
  EXPECT_EQ(device.id, "this-machine");
  EXPECT_EQ(device.name, "NVIDIA Jetson AGX Orin Industrial");
  EXPECT_EQ(device.kind, catalog::Kind::jetson);
  ASSERT_TRUE(device.gpu);
  EXPECT_EQ(device.gpu->compute_capability, "8.7");
  EXPECT_FALSE(device.gpu->multiprocessors);
  ASSERT_EQ(device.cpu.size(), 2U);
  EXPECT_EQ(device.cpu[1].cores->value, 4);
  const catalog::Configuration& configuration = present_configuration(identity, device);
  EXPECT_EQ(configuration.gpu.ceiling_hz->value, 1185750000);
  ASSERT_EQ(configuration.cpu.size(), 2U);
  EXPECT_EQ(configuration.cpu[0].steps.size(), 3U);
  ASSERT_EQ(configuration.modes.size(), 1U);
  const DeviceMode mode = default_mode(device, configuration);
  EXPECT_EQ(mode.point.label, "20W");
  EXPECT_EQ(mode.point.gpu_units, 8);
  EXPECT_EQ(mode.point.gpu_hz, 612e6);
  EXPECT_EQ(device.memory->bytes->value, 64000000.0 * 1024);
  const Json json = to_json(device);
  EXPECT_EQ(schema_violations(json, "device.schema.json"), std::vector<std::string>{});
  EXPECT_EQ(catalog::device_from_json(JsonCursor(json, "")), device);
  EXPECT_NO_THROW(catalog::machine_model(device));
  EXPECT_THAT(json.dump(), Not(HasSubstr(serial)));
}

TEST(Identification, BareTreesAreEnough) {
  FakeSystem system;
  write_tree(system, "", "nvidia,tegra999\0"s);
  const Identity identity = identify(system.root());
  EXPECT_EQ(identity.chip, "T999");
  const catalog::Device device = this_device(identity, system.root());
  EXPECT_FALSE(device.gpu);
  EXPECT_EQ(schema_violations(to_json(device), "device.schema.json"), std::vector<std::string>{});
}

TEST(Identification, ProcessorWithItsGuide) {
  FakeSystem system;
  system.write("sys/class/dmi/id/sys_vendor", "Example Inc.\n");
  system.write("sys/class/dmi/id/product_name", "Server 1\n");
  system.write("sys/class/dmi/id/product_serial", serial);
  system.write("proc/cpuinfo",
               "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\nmodel name\t: Example "
               "CPU\nflags\t\t: fpu fma avx2 avx512f avx512_vnni avx512_fp16 amx_bf16 amx_int8\n");
  const Identity identity = identify(system.root());
  EXPECT_EQ(identity.board, "Example Inc. Server 1");
  EXPECT_EQ(identity.catalog_id, "");
  const catalog::Device device = this_device(identity, system.root());
  EXPECT_EQ(device.kind, catalog::Kind::cpu);
  EXPECT_EQ(device.name, "Example CPU");
  ASSERT_EQ(device.cpu.size(), 1U);
  EXPECT_EQ(device.cpu[0].core, "Golden Cove");
  const MachineModel model = catalog::machine_model(device);
  EXPECT_EQ(mean_of(model, "cpu0_vector_fp32_fp32_flop_per_core_clock"), 64);
  EXPECT_EQ(mean_of(model, "cpu0_vector_fp64_fp64_flop_per_core_clock"), 32);
  EXPECT_EQ(mean_of(model, "cpu0_vector_fp16_fp16_flop_per_core_clock"), 128);
  EXPECT_EQ(mean_of(model, "cpu0_vector_int8_int32_op_per_core_clock"), 256);
  EXPECT_EQ(mean_of(model, "cpu0_matrix_bf16_fp32_flop_per_core_clock"), 1024);
  EXPECT_EQ(mean_of(model, "cpu0_matrix_int8_int32_op_per_core_clock"), 2048);
  EXPECT_EQ(schema_violations(to_json(device), "device.schema.json"), std::vector<std::string>{});
  EXPECT_THAT(to_json(device).dump(), Not(HasSubstr(serial)));
}

// A generic name is this machine if the architecture matches, and an empty entry otherwise.
TEST(Identification, GenericNamesAreFilledHere) {
  FakeSystem system;
  system.write("proc/cpuinfo", "model name\t: Example CPU\n");
  int filled = 0;
  for (const char* name : {"x86-64", "aarch64"})
    filled += named_device(name, "--on", system.root()).cpu.empty() ? 0 : 1;
  EXPECT_EQ(filled, 1);
  EXPECT_EQ(named_device("t4", "--on", system.root()), catalog::load("t4"));
}

TEST(Identification, NothingAtAll) {
  FakeSystem system;
  const Identity identity = identify(system.root());
  EXPECT_EQ(identity, Identity{});
  EXPECT_NO_THROW(this_device(identity, system.root()));
}

TEST(Identification, DamagedNvpmodelFileDoesNotStopIt) {
  FakeSystem system;
  write_tree(system, "board", "nvidia,tegra234\0"s);
  system.write("etc/nvpmodel.conf", "< POWER_MODEL ID=x NAME= >\n\xff\xfe garbage\n");
  const catalog::Device device = this_device(identify(system.root()), system.root());
  EXPECT_TRUE(device.configurations.front().modes.empty());
}

}  // namespace
}  // namespace ridgeline::testing
