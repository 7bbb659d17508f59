// Writes the trees and changes permissions.
// Drops the effective user, not the real one, so that it can be restored.
#include "tests/support/fake_system.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

namespace ridgeline::testing {

void FakeSystem::protect(const std::string& path) {
  chmod(folder_.path().c_str(), 0755);
  chmod(folder_.file(path).c_str(), geteuid() == 0 ? 0600 : 0);
}

void make_laptop(FakeSystem& system) {
  const std::string clock = "sys/devices/system/cpu/cpu0/cpufreq/";
  system.write("sys/devices/system/cpu/online", "0-3,6\n");
  system.write(clock + "scaling_governor", "powersave\n");
  system.write(clock + "cpuinfo_min_freq", "400000\n");
  system.write(clock + "cpuinfo_max_freq", "4700000\n");
  system.write(clock + "scaling_max_freq", "4700000\n");
  system.write("sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq", "4700000\n");
  system.write("sys/devices/system/cpu/cpufreq/policy10/scaling_max_freq", "1000000\n");
  system.write("sys/devices/system/cpu/cpufreq/policy4/scaling_max_freq", "3500000\n");
  const std::string package = "sys/class/powercap/intel-rapl:0/";
  system.write(package + "energy_uj", "123456\n");
  system.write(package + "constraint_0_power_limit_uw", "28000000\n");
  system.write("sys/class/powercap/intel-rapl:0:0/energy_uj", "1\n");
  system.write("proc/sys/kernel/perf_event_paranoid", "4\n");
  system.write("sys/bus/event_source/devices/cpu/type", "4\n");
}

void make_jetson(FakeSystem& system) {
  const std::string clock = "sys/devices/system/cpu/cpu0/cpufreq/";
  system.write("sys/devices/system/cpu/online", "0-5\n");
  system.write(clock + "scaling_governor", "schedutil\n");
  system.write(clock + "cpuinfo_min_freq", "115200\n");
  system.write(clock + "cpuinfo_max_freq", "1510400\n");
  system.write(clock + "scaling_max_freq", "1510400\n");
  system.write("sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq", "1510400\n");
  system.write("sys/class/devfreq/15340000.vic/max_freq", "435200000\n");
  system.write("sys/class/devfreq/17000000.ga10b/max_freq", "624750000\n");
  system.write("sys/class/hwmon/hwmon1/name", "ina3221\n");
  system.write("sys/class/hwmon/hwmon1/in1_label", "VDD_IN\n");
  system.write("sys/class/hwmon/hwmon1/in2_label", "VDD_CPU_GPU_CV\n");
  system.write("sys/class/hwmon/hwmon1/in3_label", "NC\n");
  for (const char* channel : {"1", "2"}) {
    system.write(std::string("sys/class/hwmon/hwmon1/in") + channel + "_input", "5016\n");
    system.write(std::string("sys/class/hwmon/hwmon1/curr") + channel + "_input", "800\n");
  }
  system.write("sys/class/hwmon/hwmon0/name", "tmp451\n");
  system.write("proc/device-tree/compatible",
               std::string("nvidia,p3768-0000+p3767-0005\0nvidia,tegra234\0", 46));
  system.write("etc/nv_tegra_release", "# R36 (release), REVISION: 4.3\n");
  system.write("usr/sbin/nvpmodel", "");
  system.write("var/lib/nvpmodel/status", "pmode:0000\n");
  system.write("etc/nvpmodel.conf",
               "< POWER_MODEL ID=0 NAME=15W >\nCPU_ONLINE CORE_0 1\n"
               "< POWER_MODEL ID=1 NAME=7W >\n");
  system.write("proc/sys/kernel/perf_event_paranoid", "2\n");
  system.write("sys/bus/event_source/devices/armv8_cortex_a78/type", "8\n");
}

// The real user changes too, so that a child is an ordinary process of that user: the kernel guards
// one whose users differ, and LeakSanitizer could not look into it. The saved user leads back.
OrdinaryUser::OrdinaryUser() : before_(geteuid()) {
  constexpr uid_t nobody = 65534;
  if (before_ == 0 && setresuid(nobody, nobody, 0) != 0)
    throw std::runtime_error("cannot drop rights");
}

OrdinaryUser::~OrdinaryUser() {
  if (before_ == 0 && setresuid(0, 0, 0) != 0) std::abort();
}

}  // namespace ridgeline::testing
