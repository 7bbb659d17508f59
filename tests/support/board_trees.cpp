// One row per board; what differs between generations is where the same things are.
#include "tests/support/board_trees.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace ridgeline::testing {
namespace {

std::vector<int> orin_cpu(int top_khz) {
  std::vector<int> table;
  for (int khz = 115200; khz < top_khz; khz += 76800) table.push_back(khz);
  table.push_back(top_khz);
  return table;
}

std::vector<long> steps(long from_hz, long to_hz, long step_hz, std::vector<long> more = {}) {
  std::vector<long> table;
  for (long hz = from_hz; hz <= to_hz; hz += step_hz) table.push_back(hz);
  table.insert(table.end(), more.begin(), more.end());
  return table;
}

const std::vector<long> orin_emc{204000000, 665600000, 2133000000, 3199000000};
const std::vector<long> xavier_nx_gpu{114750000, 204000000, 306000000,  408000000,  510000000,
                                      599250000, 701250000, 752250000,  803250000,  854250000,
                                      905250000, 956250000, 1007250000, 1058250000, 1109250000};
const std::vector<long> tx2_gpu{114750000,  216750000,  318750000, 420750000, 522750000,
                                624750000,  726750000,  854250000, 930750000, 1032750000,
                                1122000000, 1236750000, 1300500000};

std::vector<std::vector<int>> clusters(int count, int cores) {
  std::vector<std::vector<int>> policies;
  for (int cluster = 0; cluster < count; ++cluster) {
    policies.emplace_back();
    for (int core = 0; core < cores; ++core) policies.back().push_back(cluster * cores + core);
  }
  return policies;
}

BoardTree agx_orin(const std::string& name, const std::string& release, const std::string& gpu) {
  BoardTree tree;
  tree.name = name;
  tree.compatible = "nvidia,p3737-0000+p3701-0005|nvidia,p3701-0005|nvidia,tegra234|";
  tree.release = release;
  tree.policies = clusters(3, 4);
  tree.cpu_khz = orin_cpu(2201600);
  tree.cpu_min_khz = 729600;
  tree.cpu_max_khz = 2201600;
  tree.gpu_folder = gpu;
  tree.gpu_hz = steps(306000000, 1224000000, 102000000, {1300500000});
  tree.gpu_max_hz = 1300500000;
  tree.mask_folder = "sys/devices/platform/gpu.0/";
  tree.tpc_mask = 0;
  tree.emc = EmcKnob::bpmp;
  tree.emc_hz = orin_emc;
  tree.emc_cap = release.starts_with("R35") ? "sys/kernel/nvpmodel_emc_cap/emc_iso_cap"
                                            : "sys/kernel/nvpmodel_clk_cap/emc";
  tree.emc_cap_hz = 0;
  tree.layout = RailLayout::hwmon_two;
  tree.rails = {{"VDD_GPU_SOC", 19900, 180},
                {"VDD_CPU_CV", 19900, 40},
                {"VIN_SYS_5V0", 5000, 800},
                {"VDDQ_VDD2_1V8AO", 5000, 100}};
  tree.modes = {{0, "MAXN"}, {1, "MODE_15W"}, {2, "MODE_30W"}, {3, "MODE_50W"}};
  tree.mode = 0;
  return tree;
}

BoardTree orin_nano() {
  BoardTree tree = agx_orin("orin_nano_super_jp6", "R36 (release), REVISION: 4.3",
                            "sys/class/devfreq/17000000.gpu/");
  tree.compatible = "nvidia,p3768-0000+p3767-0005-super|nvidia,p3767-0005|nvidia,tegra234|";
  tree.policies = {{0, 1, 2, 3}, {4, 5}};
  tree.cpu_khz = orin_cpu(1728000);
  tree.cpu_max_khz = 1344000;
  tree.gpu_hz = steps(306000000, 1020000000, 102000000);
  tree.gpu_max_hz = 918000000;
  tree.tpc_mask = 240;
  tree.emc_cap_hz = 3199000000;
  tree.layout = RailLayout::hwmon;
  tree.rails = {{"VDD_IN", 4968, 904}, {"VDD_CPU_GPU_CV", 4968, 104}, {"VDD_SOC", 4968, 288}};
  tree.modes = {{0, "15W"}, {1, "25W"}, {2, "MAXN_SUPER"}};
  tree.mode = 1;
  return tree;
}

BoardTree xavier_nx(const std::string& name, const std::string& release, bool is_old) {
  BoardTree tree;
  tree.name = name;
  tree.compatible = "nvidia,p3449-0000+p3668-0000|nvidia,p3668-0000|nvidia,tegra194|";
  tree.release = release;
  tree.policies = clusters(3, 2);
  tree.cpu_khz = orin_cpu(1907200);
  tree.cpu_min_khz = 1190400;
  tree.cpu_max_khz = 1420800;
  tree.gpu_folder = "sys/class/devfreq/17000000.gv11b/";
  tree.gpu_hz = xavier_nx_gpu;
  tree.gpu_max_hz = 1109250000;
  tree.mask_folder = is_old ? "sys/devices/gpu.0/" : "sys/devices/platform/gpu.0/";
  tree.tpc_mask = 1;
  tree.emc = EmcKnob::bpmp;
  tree.emc_hz = {204000000, 665600000, 1331200000, 1600000000, 1866000000};
  tree.emc_cap = "sys/kernel/nvpmodel_emc_cap/emc_iso_cap";
  tree.emc_cap_hz = 1600000000;
  tree.layout = is_old ? RailLayout::iio : RailLayout::hwmon;
  tree.rails = {{"VDD_IN", 5000, 900}, {"VDD_CPU_GPU_CV", 5000, 120}, {"VDD_SOC", 5000, 250}};
  tree.modes = {{0, "MODE_15W_2CORE"}, {2, "MODE_15W_6CORE"}, {5, "MODE_10W_DESKTOP"}};
  tree.mode = 2;
  return tree;
}

BoardTree tx2() {
  BoardTree tree;
  tree.name = "tx2_jp4";
  tree.compatible = "nvidia,p2597-0000+p3310-1000|nvidia,quill|nvidia,tegra186|";
  tree.release = "R32 (release), REVISION: 7.1";
  tree.policies = {{0, 3, 4, 5}, {1, 2}};
  for (int khz = 345600; khz <= 2035200; khz += 153600) tree.cpu_khz.push_back(khz);
  tree.cpu_min_khz = 345600;
  tree.cpu_max_khz = 2035200;
  tree.gpu_folder = "sys/class/devfreq/17000000.gp10b/";
  tree.gpu_hz = tx2_gpu;
  tree.gpu_max_hz = 1300500000;
  tree.emc = EmcKnob::bpmp;
  tree.emc_hz = {204000000, 665600000, 1331200000, 1600000000, 1866000000};
  tree.emc_cap = "sys/kernel/nvpmodel_emc_cap/emc_iso_cap";
  tree.layout = RailLayout::iio;
  tree.rails = {{"VDD_IN", 19000, 210}, {"VDD_SYS_GPU", 19000, 30}, {"VDD_SYS_SOC", 19000, 60}};
  tree.modes = {{0, "MAXN"}, {1, "MAXQ"}, {2, "MAXP_CORE_ALL"}, {3, "MAXP_CORE_ARM"}};
  tree.mode = 0;
  return tree;
}

BoardTree nano() {
  BoardTree tree;
  tree.name = "nano_jp4";
  tree.compatible = "nvidia,p3449-0000-b00+p3448-0000-b00|nvidia,jetson-nano|nvidia,tegra210|";
  tree.release = "R32 (release), REVISION: 7.1";
  tree.policies = {{0, 1, 2, 3}};
  tree.cpu_khz = {102000, 204000,  307200,  403200,  518400,  614400,  710400, 825600,
                  921600, 1036800, 1132800, 1224000, 1326000, 1428000, 1479000};
  tree.cpu_min_khz = 102000;
  tree.cpu_max_khz = 1479000;
  tree.gpu_folder = "sys/devices/gpu.0/devfreq/57000000.gpu/";
  tree.gpu_hz = steps(76800000, 921600000, 76800000);
  tree.gpu_max_hz = 921600000;
  tree.emc = EmcKnob::override_clock;
  tree.emc_hz = {204000000, 408000000, 665600000, 1065600000, 1600000000};
  tree.emc_cap = "sys/kernel/nvpmodel_emc_cap/emc_iso_cap";
  tree.layout = RailLayout::iio;
  tree.rails = {{"POM_5V_IN", 5000, 400}, {"POM_5V_GPU", 5000, 30}, {"POM_5V_CPU", 5000, 120}};
  tree.modes = {{0, "MAXN"}, {1, "5W"}};
  tree.mode = 0;
  return tree;
}

BoardTree thor() {
  BoardTree tree;
  tree.name = "agx_thor_jp7";
  tree.compatible = "nvidia,p4071-0000+p3834-0008|nvidia,p3834-0008|nvidia,tegra264|";
  tree.release = "R38 (release), REVISION: 2.0";
  tree.policies = clusters(7, 2);
  tree.cpu_khz = {972000, 1998000, 2601000};
  tree.cpu_min_khz = 972000;
  tree.cpu_max_khz = 2601000;
  tree.gpu_folder = "sys/class/devfreq/gpu-gpc-0/";
  tree.gpu_hz = {306000000, 810000000, 1386000000, 1530000000, 1575000000};
  tree.gpu_max_hz = 1575000000;
  tree.emc = EmcKnob::bwmgr;
  tree.emc_hz = {665600000, 2133000000, 3200000000, 4266000000};
  tree.emc_cap = "sys/kernel/nvpmodel_clk_cap/emc";
  tree.emc_cap_hz = 4266000000;
  tree.layout = RailLayout::thor;
  tree.rails = {{"VDD_GPU", 19600, 180},
                {"VDD_CPU_SOC_MSS", 19600, 500},
                {"VIN_SYS_5V0", 5000, 900},
                {"VIN", 20000, 1800}};
  tree.modes = {{0, "MAXN"}, {1, "120W"}, {2, "90W"}, {3, "70W"}};
  tree.mode = 0;
  return tree;
}

std::string joined_numbers(const auto& values) {
  std::ostringstream text;
  for (std::size_t i = 0; i < values.size(); ++i) text << (i == 0 ? "" : " ") << values[i];
  return text.str() + "\n";
}

std::string line(long value) { return std::to_string(value) + "\n"; }

void write_clocks(FakeSystem& system, const BoardTree& tree) {
  const std::string cpu = "sys/devices/system/cpu/";
  int count = 0;
  for (const auto& policy : tree.policies) count += static_cast<int>(policy.size());
  for (std::size_t i = 0; i < tree.policies.size(); ++i) {
    const std::string folder =
        cpu + "cpufreq/policy" + std::to_string(tree.policies[i].front()) + "/";
    system.write(folder + "scaling_min_freq", line(tree.cpu_min_khz));
    system.write(folder + "scaling_max_freq", line(tree.cpu_max_khz));
    system.write(folder + "scaling_cur_freq", line(tree.cpu_max_khz));
    system.write(folder + "scaling_available_frequencies", joined_numbers(tree.cpu_khz));
    system.write(folder + "scaling_governor", "schedutil\n");
    system.write(folder + "related_cpus", joined_numbers(tree.policies[i]));
  }
  for (int number = 0; number < count; ++number)
    system.write(cpu + "cpu" + std::to_string(number) + "/online",
                 number >= count - tree.cpus_off ? "0\n" : "1\n");
  system.write(cpu + "online", "0-" + line(count - 1 - tree.cpus_off));
  system.write(cpu + "cpu0/cpufreq/scaling_governor", "schedutil\n");
  const auto devfreq = [&](const std::string& folder, const std::vector<long>& table, long max) {
    system.write(folder + "min_freq", line(table.front()));
    system.write(folder + "max_freq", line(max));
    system.write(folder + "cur_freq", line(table.front()));
    system.write(folder + "available_frequencies", joined_numbers(table));
    system.write(folder + "governor", "nvhost_podgov\n");
  };
  devfreq(tree.gpu_folder, tree.gpu_hz, tree.gpu_max_hz);
  if (!tree.mask_folder.empty())
    system.write(tree.mask_folder + "tpc_pg_mask", line(tree.tpc_mask));
  if (!tree.emc_cap.empty()) system.write(tree.emc_cap, line(tree.emc_cap_hz));
  if (tree.emc == EmcKnob::bpmp) {
    const std::string emc = "sys/kernel/debug/bpmp/debug/clk/emc/";
    system.write(emc + "rate", line(tree.emc_hz.back()));
    system.write(emc + "min_rate", line(tree.emc_hz.front()));
    system.write(emc + "max_rate", line(tree.emc_hz.back()));
    system.write(emc + "mrq_rate_locked", "0\n");
    system.write(emc + "state", "1\n");
  } else if (tree.emc == EmcKnob::bwmgr) {
    devfreq("sys/class/devfreq/bwmgr/", tree.emc_hz, tree.emc_hz.back());
  } else if (tree.emc == EmcKnob::override_clock) {
    const std::string emc = "sys/kernel/debug/clk/override.emc/";
    system.write(emc + "clk_rate", line(tree.emc_hz.back()));
    system.write(emc + "clk_update_rate", line(tree.emc_hz.back()));
    system.write(emc + "clk_state", "0\n");
    system.write("sys/kernel/debug/tegra_bwmgr/emc_min_rate", line(tree.emc_hz.front()));
    system.write("sys/kernel/debug/tegra_bwmgr/emc_max_rate", line(tree.emc_hz.back()));
  }
}

void write_ina3221(FakeSystem& system, const std::string& folder,
                   const std::vector<TreeRail>& rails, int microohm) {
  system.write(folder + "name", "ina3221\n");
  system.write(folder + "update_interval", "430\n");
  for (std::size_t i = 0; i < rails.size(); ++i) {
    const std::string channel = std::to_string(i + 1);
    system.write(folder + "in" + channel + "_label", rails[i].label + "\n");
    system.write(folder + "in" + channel + "_input", line(long(rails[i].millivolt)));
    system.write(folder + "curr" + channel + "_input", line(long(rails[i].milliampere)));
    system.write(folder + "shunt" + channel + "_resistor", line(microohm));
  }
}

void write_rails(FakeSystem& system, const BoardTree& tree) {
  const std::string hwmon = "sys/class/hwmon/";
  std::vector<TreeRail> rails = tree.rails;
  switch (tree.layout) {
    case RailLayout::none:
      return;
    case RailLayout::hwmon:
      return write_ina3221(system, hwmon + "hwmon1/", rails, 5000);
    case RailLayout::hwmon_two: {
      const TreeRail part = rails.back();
      rails.pop_back();
      write_ina3221(system, hwmon + "hwmon3/", rails, 2000);
      // Channels 1 and 3 are not connected.
      return write_ina3221(system, hwmon + "hwmon2/", {{"NC", 0, 0}, part, {"NC", 0, 0}}, 2000);
    }
    case RailLayout::thor: {
      const TreeRail input = rails.back();
      rails.pop_back();
      write_ina3221(system, hwmon + "hwmon4/", rails, 2000);
      system.write(hwmon + "hwmon5/name", "ina238\n");
      system.write(hwmon + "hwmon5/label", input.label + "\n");
      return system.write(hwmon + "hwmon5/power1_input",
                          line(long(input.millivolt * input.milliampere)));
    }
    case RailLayout::iio: {
      const std::string folder = "sys/bus/i2c/drivers/ina3221x/6-0040/iio:device0/";
      for (std::size_t i = 0; i < rails.size(); ++i) {
        const std::string channel = std::to_string(i);
        system.write(folder + "rail_name_" + channel, rails[i].label + "\n");
        system.write(folder + "in_power" + channel + "_input",
                     line(long(rails[i].millivolt * rails[i].milliampere * 1e-3)));
      }
      return;
    }
  }
}

void write_nvpmodel(FakeSystem& system, const BoardTree& tree) {
  if (tree.mode < 0) return;
  std::string text;
  for (const auto& [id, name] : tree.modes)
    text += "< POWER_MODEL ID=" + std::to_string(id) + " NAME=" + name + " >\n";
  system.write("etc/nvpmodel.conf", text);
  char status[16];
  std::snprintf(status, sizeof status, "pmode:%04d\n", tree.mode);
  system.write("var/lib/nvpmodel/status", status);
}

}  // namespace

const std::vector<BoardTree>& board_trees() {
  static const std::vector<BoardTree> trees{
      agx_orin("agx_orin_jp5", "R35 (release), REVISION: 4.1", "sys/class/devfreq/17000000.ga10b/"),
      agx_orin("agx_orin_jp6", "R36 (release), REVISION: 4.3", "sys/class/devfreq/17000000.gpu/"),
      agx_orin("agx_orin_jp7", "R38 (release), REVISION: 2.0", "sys/class/devfreq/17000000.gpu/"),
      orin_nano(),
      xavier_nx("xavier_nx_jp4", "R32 (release), REVISION: 7.1", true),
      xavier_nx("xavier_nx_jp5", "R35 (release), REVISION: 4.1", false),
      tx2(),
      nano(),
      thor(),
  };
  return trees;
}

const BoardTree& board_tree(const std::string& name) {
  for (const BoardTree& tree : board_trees())
    if (tree.name == name) return tree;
  throw std::runtime_error("no tree of that name: " + name);
}

void make_board(FakeSystem& system, const BoardTree& tree) {
  std::string compatible = tree.compatible;
  for (char& c : compatible)
    if (c == '|') c = '\0';
  system.write("proc/device-tree/compatible", compatible);
  system.write("etc/nv_tegra_release", "# " + tree.release + "\n");
  system.write("proc/sys/kernel/random/boot_id", "11111111-2222-3333-4444-555555555555\n");
  write_clocks(system, tree);
  write_rails(system, tree);
  write_nvpmodel(system, tree);
}

void make_empty(FakeSystem& system) { system.write("etc/hostname", "container\n"); }

void make_pc_rapl(FakeSystem& system) {
  system.write("proc/sys/kernel/random/boot_id", "11111111-2222-3333-4444-555555555555\n");
  for (const char* package : {"intel-rapl:0", "intel-rapl:2"}) {
    const std::string folder = std::string("sys/class/powercap/") + package + "/";
    system.write(folder + "name", "package\n");
    system.write(folder + "energy_uj", "262143000000\n");
    system.write(folder + "max_energy_range_uj", "262143328850\n");
  }
  const std::string cpu = "sys/devices/system/cpu/";
  for (int number = 0; number < 4; ++number) {
    const std::string own = std::to_string(number);
    if (number > 0)
      system.write(cpu + "cpu" + own + "/online", "1\n");
    else
      system.write(cpu + "cpu0/topology/core_id", "0\n");
    const std::string folder = cpu + "cpufreq/policy" + own + "/";
    system.write(folder + "scaling_min_freq", "800000\n");
    system.write(folder + "scaling_max_freq", "3600000\n");
    system.write(folder + "scaling_cur_freq", "2400000\n");
    system.write(folder + "scaling_available_frequencies", "3600000 2400000 1600000 800000\n");
    system.write(folder + "scaling_governor", "schedutil\n");
    system.write(folder + "related_cpus", own + "\n");
  }
  system.write(cpu + "online", "0-3\n");
}

void make_pc_card(FakeSystem& system) {
  make_pc_rapl(system);
  system.write("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64\n");
}

std::map<std::string, std::string> tree_content(const FakeSystem& system) {
  std::map<std::string, std::string> content;
  const std::filesystem::path root = system.root().path;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    const std::string path = std::filesystem::relative(entry.path(), root).string();
    if (!entry.is_regular_file() || path.starts_with("var/lib/ridgeline")) continue;
    std::ifstream file(entry.path());
    std::ostringstream text;
    text << file.rdbuf();
    content[path] = text.str();
  }
  return content;
}

}  // namespace ridgeline::testing
