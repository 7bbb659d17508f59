// Identification of machines: made-up trees, and the real machine.
#include "devices/machine/this_machine.h"

#include <gtest/gtest.h>

#include "devices/machine/topology.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline {
namespace {

using testing::TemporaryDirectory;

TEST(ThisMachine, ReadsAnX86Server) {
  TemporaryDirectory root;
  root.write("proc/cpuinfo",
             "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\n"
             "model name\t: Example Xeon\nflags\t\t: fpu hypervisor avx2\n\n"
             "processor\t: 1\nmodel name\t: other\n");
  root.write("etc/os-release", "NAME=x\nPRETTY_NAME=\"Example OS 1\"\n");
  root.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "schedutil\n");
  const SystemRoot system{root.path() + "/"};
  const Machine machine = identify_machine(system);
  EXPECT_EQ(machine.name, "Example Xeon");
  EXPECT_EQ(machine.microarchitecture, "Golden Cove");
  EXPECT_EQ(machine.os, "Example OS 1");
  EXPECT_EQ(machine.hypervisor, "virtual machine");
  EXPECT_EQ(cpu_governor(system), "schedutil");
}

TEST(ThisMachine, ReadsAJetson) {
  TemporaryDirectory root;
  root.write("proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd42\n");
  root.write("proc/device-tree/model", std::string("NVIDIA Jetson AGX Orin\0", 23));
  const Machine machine = identify_machine({root.path() + "/"});
  EXPECT_EQ(machine.name, "NVIDIA Jetson AGX Orin");
  EXPECT_EQ(machine.microarchitecture, "Cortex-A78AE");
  EXPECT_EQ(machine.hypervisor, "");
}

TEST(ThisMachine, AnEmptyTreeIsAnUnknownCpu) {
  TemporaryDirectory root;
  const SystemRoot system{root.path() + "/"};
  const Machine machine = identify_machine(system);
  EXPECT_EQ(machine.name, "unknown CPU");
  EXPECT_EQ(machine.microarchitecture, "");
  EXPECT_EQ(identify_microarchitecture(system), nullptr);
  EXPECT_EQ(cpu_governor(system), "");
  EXPECT_EQ(available_memory_bytes(system), 0u);
}

TEST(ThisMachine, TheKernelSaysHowMuchMemoryThereIs) {
  TemporaryDirectory root;
  const SystemRoot system{root.path() + "/"};
  EXPECT_EQ(total_memory_bytes(system), 0u);
  EXPECT_EQ(identify_machine(system).memory_bytes, read_topology().memory_bytes);
  root.write("proc/meminfo", "MemTotal:       24641536 kB\nMemFree: 7 kB\n");
  EXPECT_EQ(total_memory_bytes(system), 24641536ull * 1024);
  EXPECT_EQ(identify_machine(system).memory_bytes, 24641536ull * 1024);
}

TEST(ThisMachine, AContainerLimitCapsTheAvailableMemory) {
  TemporaryDirectory root;
  const SystemRoot system{root.path() + "/"};
  root.write("proc/meminfo", "MemTotal: 9000 kB\nMemAvailable:    8000 kB\n");
  EXPECT_EQ(available_memory_bytes(system), 8000u * 1024);
  root.write("sys/fs/cgroup/memory.max", "max\n");
  root.write("sys/fs/cgroup/memory.current", "1000\n");
  EXPECT_EQ(available_memory_bytes(system), 8000u * 1024);
  root.write("sys/fs/cgroup/memory.max", "5000\n");
  EXPECT_EQ(available_memory_bytes(system), 4000u);
  root.write("sys/fs/cgroup/memory.stat", "anon 10\ninactive_file 600\n");
  EXPECT_EQ(available_memory_bytes(system), 4600u);
  root.write("sys/fs/cgroup/memory.max", "300\n");
  EXPECT_EQ(available_memory_bytes(system), 0u);
  root.write("proc/self/cgroup", "0::/box\n");
  EXPECT_EQ(available_memory_bytes(system), 8000u * 1024);
  root.write("sys/fs/cgroup/box/memory.max", "7000\n");
  EXPECT_EQ(available_memory_bytes(system), 7000u);
}

TEST(ThisMachine, ReadsTheCpuQuotaOfAContainer) {
  TemporaryDirectory root;
  const SystemRoot system{root.path() + "/"};
  EXPECT_EQ(cpu_quota(system), std::nullopt);
  root.write("sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_EQ(cpu_quota(system), std::nullopt);
  root.write("sys/fs/cgroup/cpu.max", "150000 100000\n");
  EXPECT_EQ(cpu_quota(system), 1.5);
}

TEST(Microarchitecture, UnknownCpusHaveNoRow) {
  EXPECT_EQ(find_microarchitecture({"GenuineIntel", 6, 9999}), nullptr);
  EXPECT_EQ(find_microarchitecture({"", 0, 0}), nullptr);
  ASSERT_NE(find_microarchitecture({"AuthenticAMD", 25, 33}), nullptr);
  EXPECT_EQ(find_microarchitecture({"AuthenticAMD", 25, 33})->name, "Zen 3");
  EXPECT_EQ(find_microarchitecture({"AuthenticAMD", 25, 97})->name, "Zen 4");
  EXPECT_EQ(find_microarchitecture({"AuthenticAMD", 26, 2})->name, "Zen 5");
  EXPECT_EQ(find_microarchitecture({"AuthenticAMD", 26, 36}), nullptr);  // two kinds of cores
}

TEST(Topology, KnowsThisMachine) {
  const Topology topology = read_topology();
  EXPECT_GE(topology.cores, 1);
  EXPECT_GE(static_cast<int>(topology.cpus.size()), topology.cores);
  EXPECT_GT(topology.memory_bytes, 0u);
}

}  // namespace
}  // namespace ridgeline
