// Stock modes and requests as clock vectors, the grid of all modes, filters.
// Modes from public files are compared if RIDGELINE_DATA has their table.
#include "devices/modes/mode_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <numeric>

#include "base/json.h"
#include "devices/modes/clock_table.h"
#include "devices/modes/mode_filter.h"
#include "tests/base/error_line.h"

namespace ridgeline::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Space {
  catalog::Device device;
  const catalog::Configuration& configuration;
  explicit Space(const std::string& name, const char* jetpack = "")
      : device(catalog::load(name)), configuration(catalog::configuration(device, jetpack)) {}
  Space(const Space&) = delete;

  std::vector<DeviceMode> stock() const { return stock_modes(device, configuration); }
  ModeGrid grid() const { return full_grid(device, configuration); }
  DeviceMode mode(const std::string& text) const {
    return resolve(device, configuration, parse_mode_request(text, "--mode"));
  }
  std::string error(const std::string& text) const {
    return error_line([&] { mode(text); });
  }
  ModeGrid filter(const std::string& text) const {
    return filtered(device, grid(), parse_mode_filter(text));
  }
};

OperatingPoint point(const char* label, int units, double gpu_mhz, double memory_mhz,
                     std::vector<double> cpu_mhz, int cores) {
  for (double& clock : cpu_mhz) clock *= 1e6;
  return {label, units, gpu_mhz * 1e6, memory_mhz * 1e6, cpu_mhz, cores, {}};
}

TEST(ModeSpace, StockModesOfAgxOrin) {
  const Space orin("jetson-agx-orin-64gb");
  const auto modes = orin.stock();
  ASSERT_EQ(modes.size(), 4U);
  EXPECT_EQ(modes[0].point, point("MAXN", 16, 1300.5, 3199, {2201.6, 2201.6, 2201.6}, 12));
  EXPECT_EQ(modes[1].point, point("15W", 6, 408, 2133, {1113.6}, 4));
  EXPECT_EQ(modes[2].point, point("30W", 8, 612, 3199, {1728, 1728}, 8));
  EXPECT_EQ(modes[3].point, point("50W", 16, 816, 3199, {1497.6, 1497.6, 1497.6}, 12));
  for (const DeviceMode& mode : modes) EXPECT_THAT(mode.notes, IsEmpty());
}

TEST(ModeSpace, TheBudgetOfAStockModeIsNoCap) {
  const Space orin("jetson-agx-orin-64gb");
  EXPECT_EQ(orin.mode("30W").budget_w, 30);
  EXPECT_EQ(orin.mode("30W").point.cap_w, std::nullopt);
  EXPECT_EQ(stated_power_w(orin.mode("30W")), 30);
  EXPECT_EQ(stated_power_w(orin.mode("MAXN")), std::nullopt);
  EXPECT_EQ(stated_power_w(Space("t4").mode("cap=60W")), 60);
}

TEST(ModeSpace, WhichCapsBind) {
  const Space orin("jetson-agx-orin-64gb");
  const auto modes = orin.stock();
  EXPECT_EQ(modes[0].gpu_limit, ClockLimit::bpmp);
  EXPECT_EQ(modes[0].memory_limit, ClockLimit::bpmp);
  EXPECT_EQ(modes[2].gpu_limit, ClockLimit::nvpmodel);
  EXPECT_EQ(modes[2].memory_limit, ClockLimit::bpmp);
  EXPECT_EQ(modes[1].memory_limit, ClockLimit::nvpmodel);
  EXPECT_EQ(modes[1].cpu_limit, ClockLimit::nvpmodel);
}

TEST(ModeSpace, ReachIsRebootForAnotherMaskOrClusterLayout) {
  const Space orin("jetson-agx-orin-64gb");
  const auto modes = orin.stock();
  EXPECT_EQ(modes[2].reach, Reach::live);  // the default
  for (const int other : {0, 1, 3}) EXPECT_EQ(modes[other].reach, Reach::reboot) << other;
  EXPECT_EQ(reach_between(orin.device, modes[0], modes[3]), Reach::live);
  const DeviceMode fewer = orin.mode("cores=8,sm=16");  // one cluster fewer
  EXPECT_EQ(reach_between(orin.device, modes[0], fewer), Reach::reboot);
  EXPECT_EQ(reach_between(orin.device, modes[0], orin.mode("cores=9,sm=16")), Reach::live);
  // A request is held against the default mode.
  EXPECT_EQ(orin.mode("sm=16").reach, Reach::reboot);
  EXPECT_EQ(orin.mode(modes[2].point.label).reach, Reach::live);

  const Space nano("jetson-orin-nano-8gb");  // users report: only 7W needs a reboot
  for (const DeviceMode& mode : nano.stock())
    EXPECT_EQ(mode.reach, mode.tpc_pg_mask == 240U ? Reach::live : Reach::reboot);
  const Space xavier("jetson-agx-xavier");  // users report: only 10W needs a reboot
  for (const DeviceMode& mode : xavier.stock())
    EXPECT_EQ(mode.reach, mode.point.label == "10W" ? Reach::reboot : Reach::live)
        << mode.point.label;
}

TEST(ModeSpace, SuperModesAreTheDefaultAndJetPack5TheOlder) {
  const auto labels = [](const Space& space) {
    std::vector<std::string> words;
    for (const DeviceMode& mode : space.stock()) words.push_back(mode.point.label);
    return words;
  };
  const Space now("jetson-orin-nano-8gb");
  const Space before("jetson-orin-nano-8gb", "5");
  EXPECT_THAT(labels(now), ::testing::Contains("MAXN_SUPER"));
  EXPECT_THAT(labels(before), ElementsAre("15W", "7W"));
  EXPECT_EQ(before.mode("15W").point.gpu_hz, 624.75e6);
  EXPECT_EQ(before.mode("15W").point.memory_hz, 2133e6);
  EXPECT_EQ(now.mode("MAXN_SUPER").point.gpu_hz, 1020e6);
}

TEST(ModeSpace, CapsBetweenTwoStepsStayAsWritten) {
  const Space xavier("jetson-agx-xavier");
  const DeviceMode mode = xavier.mode("10W");
  EXPECT_EQ(mode.point.gpu_hz, 520e6);
  EXPECT_EQ(mode.point.gpu_units, 4);
  EXPECT_THAT(mode.between_steps,
              ::testing::Contains(
                  "gpu: 520 MHz lies between the steps 420.75 MHz and 522.75 MHz, the board "
                  "rounds it"));
}

TEST(ModeSpace, Tx2SwitchesItsDenverCoresOffFirst) {
  const Space tx2("jetson-tx2");
  EXPECT_EQ(tx2.mode("MAXQ").point.cpu_cores, 4);
  EXPECT_EQ(tx2.mode("MAXQ").point.cpu_hz.size(), 1U);
  EXPECT_EQ(tx2.mode("cores=4").cores, tx2.mode("MAXQ").cores);
  EXPECT_EQ(tx2.mode("cores=5").cores, (std::vector<int>{1, 4}));
}

// Every row of the table of public configuration files, except files with users' own modes.
TEST(ModeSpace, EveryStockModeOfPublicFilesIsReproduced) {
  const char* folder = std::getenv("RIDGELINE_DATA");
  const std::string path = std::string(folder ? folder : "") + "/jetson_modes.json";
  if (!folder || !std::filesystem::exists(path))
    GTEST_SKIP() << "RIDGELINE_DATA is not set, or has no jetson_modes.json";
  const std::map<std::string, std::string> devices = {{"agx_orin", "jetson-agx-orin-64gb"},
                                                      {"agx_orin_32gb", "jetson-agx-orin-32gb"},
                                                      {"agx_xavier", "jetson-agx-xavier"},
                                                      {"nano", "jetson-nano"},
                                                      {"orin_nano_4gb", "jetson-orin-nano-4gb"},
                                                      {"orin_nano_8gb", "jetson-orin-nano-8gb"},
                                                      {"orin_nx_16gb", "jetson-orin-nx-16gb"},
                                                      {"orin_nx_8gb", "jetson-orin-nx-8gb"},
                                                      {"tx2", "jetson-tx2"},
                                                      {"tx2_nx", "jetson-tx2-nx"},
                                                      {"xavier_nx", "jetson-xavier-nx"}};
  int compared = 0;
  const Json table = read_json_file(path);
  for (const auto& [file, content] : table.at("files").items()) {
    if (file.find("custom") != std::string::npos || file.find("added") != std::string::npos)
      continue;
    const catalog::Device device = catalog::load(devices.at(file.substr(0, file.find('/'))));
    const bool is_super = file.find("_super") != std::string::npos;
    const auto configuration =
        std::find_if(device.configurations.begin(), device.configurations.end(),
                     [&](const catalog::Configuration& one) {
                       return one.conf_stem.ends_with("_super") == is_super;
                     });
    ASSERT_NE(configuration, device.configurations.end()) << file;
    EXPECT_EQ(configuration->default_mode, content.at("default").get<int>()) << file;
    const std::vector<DeviceMode> modes = stock_modes(device, *configuration);
    for (const Json& row : content.at("modes")) {
      const std::string name = row.at("name");
      const std::string what = file + " " + name;
      const auto raw = std::find_if(
          configuration->modes.begin(), configuration->modes.end(),
          [&](const catalog::StockMode& mode) { return mode.id == row.at("id").get<int>(); });
      ASSERT_NE(raw, configuration->modes.end()) << what;
      const DeviceMode& mode = modes[static_cast<std::size_t>(raw - configuration->modes.begin())];
      EXPECT_EQ(raw->name, name) << what;
      EXPECT_EQ(mode.point.cpu_cores, row.at("cpus_online").get<int>()) << what;
      for (std::size_t cluster = 0; cluster < raw->cores.size(); ++cluster)
        if (raw->cores[cluster] > 0) {
          const double khz = row.at("cpu_max_khz").at(0).get<double>();
          EXPECT_EQ(raw->cpu_max_hz.at(cluster), khz < 0 ? khz : khz * 1e3) << what;
        }
      EXPECT_EQ(raw->gpu_max_hz, row.at("gpu_max_hz").get<double>()) << what;
      EXPECT_EQ(raw->gpu_min_hz, row.at("gpu_min_hz").get<double>()) << what;
      EXPECT_EQ(raw->memory_max_hz, row.at("emc_max_hz").get<double>()) << what;
      const auto mask = [&](const char* key) {
        return row.at(key).is_null() ? std::optional<std::uint32_t>{}
                                     : row.at(key).get<std::uint32_t>();
      };
      EXPECT_EQ(raw->tpc_pg_mask, mask("tpc_pg_mask")) << what;
      EXPECT_EQ(raw->fbp_pg_mask, mask("fbp_pg_mask")) << what;
      const auto dla = std::find_if(
          raw->engines.begin(), raw->engines.end(), [](const catalog::EngineClock& engine) {
            return engine.name == "dla0_core" || engine.name == "dla_core";
          });
      EXPECT_EQ(dla == raw->engines.end(), row.at("dla_core_max_hz").is_null()) << what;
      if (dla != raw->engines.end() && !row.at("dla_core_max_hz").is_null()) {
        EXPECT_EQ(dla->hz, row.at("dla_core_max_hz").get<double>()) << what;
      }
      // Caps become clocks as written; an unclamped clock is not compared here.
      EXPECT_TRUE(*raw->gpu_max_hz <= 0 || mode.point.gpu_hz == raw->gpu_max_hz) << what;
      EXPECT_TRUE(*raw->memory_max_hz <= 0 || mode.point.memory_hz == raw->memory_max_hz) << what;
      EXPECT_TRUE(mode.point.gpu_units.has_value()) << what;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 73);
}

// Ceilings of unclamped modes, and SMs, from public outputs.
TEST(ModeSpace, UnclampedModesReachTheirCeilings) {
  struct Row {
    const char* device;
    const char* jetpack;
    const char* mode;
    int units;
    double cpu_mhz, gpu_mhz, memory_mhz;
  };
  for (const Row& row : {Row{"jetson-agx-orin-64gb", "", "MAXN", 16, 2201.6, 1300.5, 3199},
                         Row{"jetson-orin-nx-16gb", "5", "MAXN", 8, 1984, 918, 3199},
                         Row{"jetson-orin-nx-16gb", "", "MAXN_SUPER", 8, 1984, 1173, 3199},
                         Row{"jetson-orin-nano-8gb", "5", "15W", 8, 1510.4, 624.75, 2133},
                         Row{"jetson-orin-nano-8gb", "", "MAXN_SUPER", 8, 1728, 1020, 3199},
                         Row{"jetson-agx-xavier", "", "MAXN", 8, 2265.6, 1377, 2133},
                         Row{"jetson-tx2", "", "MAXN", 2, 2035.2, 1300.5, 1866},
                         Row{"jetson-nano", "", "MAXN", 1, 1479, 921.6, 1600}}) {
    const Space space(row.device, row.jetpack);
    const OperatingPoint reached = space.mode(row.mode).point;
    EXPECT_EQ(reached.gpu_units, row.units) << row.device;
    EXPECT_EQ(reached.gpu_hz, row.gpu_mhz * 1e6) << row.device;
    EXPECT_EQ(reached.memory_hz, row.memory_mhz * 1e6) << row.device;
    EXPECT_EQ(reached.cpu_hz.front(), row.cpu_mhz * 1e6) << row.device;
  }
}

TEST(ModeSpace, RequestsByLabelNumberOrCaps) {
  const Space orin("jetson-agx-orin-64gb");
  EXPECT_EQ(orin.mode("30W").id, 2);
  EXPECT_EQ(orin.mode("MODE_30W").id, 2);
  EXPECT_EQ(orin.mode("maxn").id, 0);
  EXPECT_EQ(orin.mode("3").point.label, "50W");
  const DeviceMode custom = orin.mode("gpu=612MHz,emc=2133MHz,cpu=1113.6MHz,cores=4,sm=8");
  EXPECT_EQ(custom.point,
            point("gpu=612MHz,emc=2133MHz,cpu=1113.6MHz,cores=4,sm=8", 8, 612, 2133, {1113.6}, 4));
  EXPECT_EQ(custom.tpc_pg_mask, 240U);
  EXPECT_THAT(custom.notes, IsEmpty());
  const DeviceMode rest = orin.mode("gpu=408MHz");  // the rest at its ceiling
  EXPECT_EQ(rest.point.gpu_units, 16);
  EXPECT_EQ(rest.point.cpu_cores, 12);
  EXPECT_EQ(rest.point.memory_hz, 3199e6);
}

TEST(ModeSpace, RequestsAreRoundedToTheNearestStepWithANote) {
  const Space orin("jetson-agx-orin-64gb");
  const DeviceMode mode = orin.mode("gpu=600MHz,cpu=1.2GHz,emc=2GHz");
  EXPECT_EQ(mode.point.gpu_hz, 612e6);
  EXPECT_EQ(mode.point.cpu_hz.front(), 1190.4e6);
  EXPECT_EQ(mode.point.memory_hz, 2133e6);
  EXPECT_THAT(mode.notes,
              ElementsAre("gpu: 600 MHz is not lockable, the nearest step is 612 MHz",
                          "emc: 2000 MHz is not lockable, the nearest step is 2133 MHz",
                          "cpu: 1200 MHz is not lockable, the nearest step is 1190.4 MHz"));
  EXPECT_THAT(orin.mode("gpu=611MHz").notes, IsEmpty());  // boards report 612 MHz like this
}

TEST(ModeSpace, AnIncompleteTableKeepsWhatIsAsked) {
  const Space thor("jetson-agx-thor-t5000");
  const DeviceMode mode = thor.mode("gpu=900MHz");
  EXPECT_EQ(mode.point.gpu_hz, 900e6);
  EXPECT_THAT(mode.notes,
              ElementsAre("gpu: 900 MHz is kept as asked, not all lockable steps are known"));
}

TEST(ModeSpace, WhatADeviceCannotDo) {
  const Space orin("jetson-agx-orin-64gb");
  EXPECT_EQ(orin.error("35W"),
            "--mode: jetson-agx-orin-64gb has no mode \"35W\" (did you mean 15W? it has MAXN, 15W, "
            "30W, 50W)");
  EXPECT_EQ(orin.error("gpu=2GHz"),
            "--mode: gpu=2000 MHz is above the highest clock of jetson-agx-orin-64gb (ask for at "
            "most 1300.5 MHz)");
  EXPECT_EQ(orin.error("gpu=100MHz"),
            "--mode: gpu=100 MHz is below the lowest clock of jetson-agx-orin-64gb (ask for at "
            "least 306 MHz)");
  EXPECT_EQ(orin.error("cores=13"), "--mode: cores=13: jetson-agx-orin-64gb has 12 cores");
  EXPECT_EQ(orin.error("sm=10"),
            "--mode: jetson-agx-orin-64gb has no mode with 10 SMs (it has 6, 8, 16)");
  EXPECT_EQ(orin.error("cap=30W"),
            "--mode: jetson-agx-orin-64gb has no power cap to set (ask for clocks, or for a stock "
            "mode by its name)");
}

TEST(ModeSpace, AGraphicsCardHasClocksAndAPowerCap) {
  const Space card("a100-40gb-pcie");
  EXPECT_THAT(card.stock(), IsEmpty());
  const DeviceMode mode = default_mode(card.device, card.configuration);
  EXPECT_EQ(mode.point.label, "default");
  EXPECT_EQ(mode.point.gpu_units, 108);
  EXPECT_EQ(mode.point.gpu_hz, 1410e6);
  EXPECT_EQ(mode.gpu_limit, std::nullopt);
  EXPECT_EQ(card.mode("cap=200W").point.cap_w, 200);
  EXPECT_EQ(card.mode("200W").point.label, "200W");
  EXPECT_THAT(card.error("cap=900W"), HasSubstr("a cap of 900 W is above the 250 W of"));
  EXPECT_THAT(card.error("30W"), HasSubstr("a cap of 30 W is below the 44.47 W that a100-40gb-"));
  EXPECT_THAT(card.error("MAXN"), HasSubstr("it has no named modes"));
}

TEST(ModeSpace, EveryDeviceOfTheCatalogHasADefaultAndAGrid) {
  for (const catalog::IndexRow& row : catalog::index()) {
    const catalog::Device device = catalog::load(row.id);
    for (const catalog::Configuration& configuration : device.configurations) {
      EXPECT_GE(full_grid(device, configuration).size(), 1U) << row.id;
      EXPECT_NE(default_mode(device, configuration).point.label, "") << row.id;
      for (const DeviceMode& mode : stock_modes(device, configuration))
        for (const double hz : mode.point.cpu_hz) EXPECT_GT(hz, 0) << row.id;
    }
  }
}

catalog::ClockDomain made_up_domain(std::optional<double> ceiling_mhz, bool complete = true) {
  catalog::ClockDomain domain;
  for (const double mhz : {300.0, 600.0, 900.0, 1200.0}) {
    catalog::ClockStep step;
    step.hz = mhz * 1e6;
    domain.steps.push_back(step);
  }
  domain.complete = complete;
  if (ceiling_mhz) {
    domain.ceiling_hz.emplace();
    domain.ceiling_hz->value = *ceiling_mhz * 1e6;
  }
  return domain;
}

TEST(ClockTable, StepsAboveTheCeilingCannotBeLocked) {
  EXPECT_THAT(lockable_clocks(made_up_domain(900)), ElementsAre(300e6, 600e6, 900e6));
  EXPECT_THAT(lockable_clocks(made_up_domain(1000)), ElementsAre(300e6, 600e6, 900e6, 1000e6));
  // Rounded alike: the table's own number counts.
  EXPECT_THAT(lockable_clocks(made_up_domain(1198)), ElementsAre(300e6, 600e6, 900e6, 1200e6));
  EXPECT_EQ(lockable_clocks(made_up_domain({})).size(), 4u);
  std::vector<std::string> notes;
  EXPECT_THAT(error_line([&] {
                lockable_clock(made_up_domain(900), 1200e6, {"board", "gpu", "--mode"}, notes);
              }),
              HasSubstr("gpu=1200 MHz is above the highest clock of board"));
  EXPECT_THAT(error_line([&] {
                lockable_clock(made_up_domain(900), 100e6, {"board", "gpu", "--mode"}, notes);
              }),
              HasSubstr("below the lowest clock"));
  EXPECT_THAT(notes, IsEmpty());
  EXPECT_EQ(lockable_clock(made_up_domain(900), 500e6, {"board", "gpu", ""}, notes), 600e6);
  EXPECT_EQ(lockable_clock(made_up_domain(900), 450e6, {"board", "gpu", ""}, notes), 300e6);
  EXPECT_EQ(notes.size(), 2u);
}

TEST(ClockTable, NeighboursAreTheStepsAround) {
  using Around = std::pair<std::optional<double>, std::optional<double>>;
  EXPECT_EQ(neighbours(made_up_domain(900), 700e6), (Around{600e6, 900e6}));
  EXPECT_EQ(neighbours(made_up_domain(900), 601e6), (Around{600e6, 600e6}));
  EXPECT_EQ(neighbours(made_up_domain(900), 1100e6), (Around{900e6, std::nullopt}));
  EXPECT_EQ(neighbours(made_up_domain(900), 100e6), (Around{std::nullopt, 300e6}));
  EXPECT_EQ(neighbours(made_up_domain({}, false), 700e6), Around{});
  EXPECT_EQ(ceiling_clock(made_up_domain({})), 1200e6);
  EXPECT_EQ(ceiling_clock(made_up_domain({}, false)), std::nullopt);
  EXPECT_EQ(ceiling_clock(made_up_domain(900)), 900e6);
}

// nvpmodel files of one module allow clocks that the firmware of another does not give.
TEST(ModeSpace, ACapAboveTheFirmwaresLimitIsThatLimit) {
  const Space orin("jetson-agx-orin-64gb");
  catalog::Configuration configuration = orin.configuration;
  configuration.gpu.ceiling_hz->value = 408e6;
  bool found = false;
  for (const DeviceMode& mode : stock_modes(orin.device, configuration)) {
    ASSERT_TRUE(mode.point.gpu_hz);
    EXPECT_LE(*mode.point.gpu_hz, 408e6 * 1.005) << mode.point.label;
    if (mode.point.label != "30W") continue;  // allows 612 MHz
    found = true;
    EXPECT_EQ(mode.gpu_limit, ClockLimit::bpmp);
    EXPECT_THAT(mode.notes, ::testing::Contains(
                                "gpu: the mode allows 612 MHz, the firmware's limit is 408 MHz"));
  }
  EXPECT_TRUE(found);
}

TEST(ModeGrid, CountsOfAgxOrin) {
  const ModeGrid now = Space("jetson-agx-orin-64gb").grid();
  ASSERT_EQ(now.masks.size(), 3U);
  EXPECT_EQ(now.masks[0].gpu_units, 16);
  EXPECT_EQ(now.masks[1].gpu_units, 8);
  EXPECT_EQ(now.masks[2].gpu_units, 6);
  for (const MaskGrid& mask : now.masks) EXPECT_EQ(mask.size(), 15312U);
  EXPECT_TRUE(now.is_complete);
  const ModeGrid before = Space("jetson-agx-orin-64gb", "5.0").grid();
  EXPECT_EQ(before.masks[0].size(), 18096U);
  EXPECT_TRUE(before.is_inferred);
  EXPECT_THAT(before.notes,
              ::testing::Contains("gpu: 6 of 13 clock steps are inferred, not published"));
}

TEST(ModeGrid, PointsAreAllDifferentAndInOrder) {
  const Space orin("jetson-agx-orin-64gb");
  const ModeGrid grid = orin.grid();
  const std::vector<OperatingPoint> points = grid_points(grid);
  ASSERT_EQ(points.size(), 3 * 15312U);
  EXPECT_EQ(points.front(), point("", 16, 306, 204, {115.2}, 1));
  EXPECT_EQ(points.back(), point("", 6, 1300.5, 3199, {2201.6, 2201.6, 2201.6}, 12));
  for (const DeviceMode& mode : orin.stock()) {
    const auto position = position_of(grid, mode);
    ASSERT_TRUE(position) << mode.point.label;
    OperatingPoint found = points[*position];
    found.label = mode.point.label;
    EXPECT_EQ(found, mode.point);
  }
  EXPECT_FALSE(position_of(grid, Space("jetson-agx-xavier").stock()[1]));
}

// Both masks take effect at a boot only.
TEST(ModeGrid, AnotherMaskNeedsAReboot) {
  const Space nano("jetson-orin-nano-8gb");
  const ModeGrid grid = nano.grid();
  const DeviceMode from = nano.stock().front();
  ASSERT_TRUE(from.tpc_pg_mask && from.fbp_pg_mask);
  MaskGrid mask = grid.masks.front();
  mask.tpc_pg_mask = from.tpc_pg_mask;
  mask.fbp_pg_mask = from.fbp_pg_mask;
  EXPECT_EQ(reach_of(nano.device, grid, from, mask, {}), Reach::live);
  mask.fbp_pg_mask = *from.fbp_pg_mask + 1;
  EXPECT_EQ(reach_of(nano.device, grid, from, mask, {}), Reach::reboot);
  mask.fbp_pg_mask = from.fbp_pg_mask;
  mask.tpc_pg_mask = *from.tpc_pg_mask + 1;
  EXPECT_EQ(reach_of(nano.device, grid, from, mask, {}), Reach::reboot);
}

TEST(ModeGrid, UnknownStepsAreToldOf) {
  const ModeGrid grid = Space("jetson-tx2").grid();
  EXPECT_FALSE(grid.is_complete);
  EXPECT_THAT(grid.notes, ::testing::Contains(HasSubstr("emc: ")));
  ASSERT_EQ(grid.masks.size(), 1U);
  EXPECT_EQ(grid.masks[0].tpc_pg_mask, std::nullopt);
  EXPECT_EQ(grid.masks[0].gpu_units, 2);
}

TEST(ModeFilter, ShortensTheAxes) {
  const Space orin("jetson-agx-orin-64gb");
  const ModeGrid chosen = orin.filter("gpu>=600MHz,emc=max");
  EXPECT_EQ(chosen.masks[0].gpu_hz.front(), 612e6);
  EXPECT_THAT(chosen.masks[0].memory_hz, ElementsAre(3199e6));
  EXPECT_EQ(chosen.size(), 3U * 12 * 29 * 8);
  EXPECT_EQ(orin.filter("sm=8").size(), 15312U);
  EXPECT_EQ(orin.filter("sm<16").size(), 2 * 15312U);
  EXPECT_EQ(orin.filter("sm=max,cores=12,cpu=max,gpu=max,emc=max").size(), 1U);
  EXPECT_EQ(orin.filter("sm=min,cores=1,cpu=min,gpu=min,emc=min").size(), 1U);
  EXPECT_EQ(orin.filter("gpu>612MHz,gpu<=816MHz").size(), 3U * 12 * 29 * 2 * 4);
}

// Pagoda's grid of 441 modes, on the clock table of that release.
TEST(ModeFilter, ListsAreAUsersOwnGrid) {
  const Space orin("jetson-agx-orin-64gb", "5.0");
  const ModeGrid chosen = orin.filter(
      "sm=16,cores=4/8/12,cpu=422.4MHz/729.6MHz/1036.8MHz/1344MHz/1651.2MHz/1958.4MHz/2201.6MHz,"
      "gpu=114.75MHz/318.75MHz/522.75MHz/726.75MHz/930.75MHz/1134.75MHz/1300.5MHz,"
      "emc=665.6MHz/2133MHz/3199MHz");
  EXPECT_EQ(chosen.size(), 441U);
}

TEST(ModeFilter, EqualityRoundsWithANote) {
  const Space orin("jetson-agx-orin-64gb");
  const ModeGrid chosen = orin.filter("gpu=600MHz");
  EXPECT_THAT(chosen.masks[0].gpu_hz, ElementsAre(612e6));
  EXPECT_THAT(chosen.notes,
              ElementsAre("gpu: 600 MHz is not lockable, the nearest step is 612 MHz"));
}

TEST(ModeFilter, AnEmptyResultSaysWhatThereIs) {
  const Space orin("jetson-agx-orin-64gb");
  const auto refused = [&](const std::string& text) {
    try {
      orin.filter(text);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::infeasible) << text;
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(refused("gpu>=2GHz"),
            "--filter: no mode has gpu>=2GHz (the clocks go from 306 MHz to 1300.5 MHz)");
  EXPECT_EQ(refused("gpu=2GHz,emc=max"),
            "--filter: no mode has gpu=2GHz,emc=max (the clocks go from 306 MHz to 1300.5 MHz)");
  EXPECT_EQ(refused("gpu>=600MHz,gpu<500MHz"),
            "--filter: no mode has gpu>=600MHz,gpu<500MHz (the clocks go from 306 MHz to 1300.5 "
            "MHz)");
  EXPECT_EQ(refused("cores>12"), "--filter: no mode has cores>12 (it has 1 to 12 cores)");
  EXPECT_EQ(refused("sm=10"), "--filter: no mode has sm=10 (its modes have 6, 8, 16 SMs)");
}

TEST(ModeFilter, WhatCannotBeRead) {
  const auto fault = [](const std::string& text) {
    return error_line([&] { parse_mode_filter(text); });
  };
  EXPECT_EQ(fault("30W"),
            "--filter: \"30W\" is not a condition (write for example 'gpu>=600MHz,emc=max'; use "
            "--mode for a mode by name)");
  EXPECT_EQ(
      fault("gpuu>600MHz"),
      "--filter: unknown knob \"gpuu\", known are gpu, emc, cpu, cores, sm, cap (did you mean "
      "gpu?)");
  EXPECT_EQ(fault("cap<=30W"),
            "--filter: \"cap<=30W\": these modes have no power cap to choose by (choose by gpu, "
            "emc, cpu, cores or sm)");
  EXPECT_EQ(fault("gpu>=1MHz/2MHz"), "--filter: \"gpu>=1MHz/2MHz\": a list of values goes with =");
  for (const char* text : {"", ",", "gpu", "gpu=", "gpu>=", "gpu>>1MHz", "=5", "gpu=1MHz,", "gpu=/",
                           "gpu=600W", "cores=1.5", "gpu=max/", "gpu=highest"})
    EXPECT_EQ(fault(text).substr(0, 10), "--filter: ") << text;
}

TEST(ModeFilter, StockModesOffTheGridAreJudgedByTheirVector) {
  const Space xavier("jetson-agx-xavier");
  const ModeGrid grid = xavier.grid();
  const OperatingPoint mode = xavier.mode("10W").point;  // 520 MHz
  EXPECT_TRUE(matches(grid, parse_mode_filter("gpu>=500MHz,sm=4,cores=2"), mode));
  EXPECT_FALSE(matches(grid, parse_mode_filter("gpu>=600MHz"), mode));
  EXPECT_FALSE(matches(grid, parse_mode_filter("emc=max"), mode));
  EXPECT_TRUE(matches(grid, parse_mode_filter("sm=min"), mode));
}

// Every mode of the grid can be requested and resolves to itself.
RC_GTEST_PROP(ModeSpaceProperties, GridModesResolveToThemselves, ()) {
  const auto& index = catalog::index();
  const catalog::Device device =
      catalog::load(index[*rc::gen::inRange<std::size_t>(0, index.size())].id);
  const catalog::Configuration& configuration = device.configurations.front();
  const ModeGrid grid = full_grid(device, configuration);
  const auto pick = [](std::size_t size) {
    return size == 0 ? 0 : *rc::gen::inRange<std::size_t>(0, size);
  };
  const std::size_t mask = pick(grid.masks.size());
  const MaskGrid& axes = grid.masks[mask];
  RC_PRE(axes.gpu_units.has_value() || !device.gpu);
  const OperatingPoint wanted =
      point_at(grid, {mask, pick(axes.cpu_cores.size()), pick(axes.cpu_hz.size()),
                      pick(axes.gpu_hz.size()), pick(axes.memory_hz.size())});
  RC_PRE(request_text(wanted) != "");
  OperatingPoint got =
      resolve(device, configuration, parse_mode_request(request_text(wanted))).point;
  got.label = wanted.label;
  RC_ASSERT(got == wanted);
}

// Any requested clock resolves to the nearest lockable one, or is an Error.
RC_GTEST_PROP(ModeSpaceProperties, RequestsEndOnLockableSteps, ()) {
  const catalog::Device device = catalog::load("jetson-agx-orin-64gb");
  const catalog::Configuration& configuration = device.configurations.front();
  ModeRequest request;
  request.gpu_hz = 1e6 * *rc::gen::inRange(1, 2000);
  try {
    const double got = *resolve(device, configuration, request).point.gpu_hz;
    const std::vector<double> steps = lockable_clocks(configuration.gpu);
    RC_ASSERT(std::find(steps.begin(), steps.end(), got) != steps.end());
    for (const double step : steps)
      RC_ASSERT(std::abs(got - *request.gpu_hz) <= std::abs(step - *request.gpu_hz));
  } catch (const Error& error) {
    RC_ASSERT(error.code() == ExitCode::usage);
    RC_ASSERT(*request.gpu_hz < 306e6 || *request.gpu_hz > 1300.5e6);
  }
}

// Half a percent is how boards round; the next step is never that near.
TEST(ClockTable, ClocksWithinHalfAPercentAreTheSame) {
  EXPECT_TRUE(same_clock(1000e6, 1004.9e6));
  EXPECT_TRUE(same_clock(1004.9e6, 1000e6));
  EXPECT_FALSE(same_clock(1000e6, 1006e6));
  EXPECT_FALSE(same_clock(1006e6, 1000e6));
}

}  // namespace
}  // namespace ridgeline::testing
