// The modes among which a plan chooses, on catalog devices and written by hand.
#include "planner/candidates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "devices/catalog/catalog.h"
#include "devices/modes/mode_grid.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;

CandidateModes candidates_of(std::string_view device, const CandidateOptions& options) {
  const catalog::Device entry = catalog::load(device);
  const catalog::Configuration& configuration = catalog::configuration(entry);
  return candidate_modes(entry, configuration, default_mode(entry, configuration), options);
}

OperatingPoint hand_point(double gpu_hz, double memory_hz, double cpu_hz, int cores, int units) {
  OperatingPoint point;
  point.gpu_hz = gpu_hz;
  point.memory_hz = memory_hz;
  point.cpu_hz = {cpu_hz};
  point.cpu_cores = cores;
  point.gpu_units = units;
  return point;
}

double top_cpu_hz(const OperatingPoint& point) {
  return *std::max_element(point.cpu_hz.begin(), point.cpu_hz.end());
}

// The Orin Nano has 6 cores, whose clock in its stock modes is 1728 MHz at most.
TEST(CandidateModes, ReservesBeyondTheDeviceAreRefused) {
  try {
    candidates_of("jetson-orin-nano-8gb", {.least_cores = 7});
    FAIL() << "there are 6 cores";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::infeasible);
    EXPECT_EQ(error.where(), "--reserve-cores");
    EXPECT_THAT(error.cause(), HasSubstr("6 cores and one for the network are more than the 6 of"));
    EXPECT_EQ(error.fix(), "reserve at most 5");
  }
  try {
    candidates_of("jetson-orin-nano-8gb", {.least_cpu_hz = 2e9});
    FAIL() << "no clock of 2 GHz";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::infeasible);
    EXPECT_EQ(error.where(), "--reserve-cpu");
    EXPECT_THAT(error.fix(), HasSubstr("1728 MHz"));
  }
}

TEST(CandidateModes, LeaveWhatIsReserved) {
  const CandidateModes modes =
      candidates_of("jetson-orin-nano-8gb", {.least_cores = 3, .least_cpu_hz = 1.2e9});
  std::set<int> cores;
  double least_hz = 1e12;
  for (std::size_t i = 0; i < modes.modes.size(); ++i) {
    if (!modes.is_eligible(i)) continue;
    const OperatingPoint& point = modes.modes[i].point;
    cores.insert(*point.cpu_cores);
    least_hz = std::min(least_hz, top_cpu_hz(point));
  }
  EXPECT_EQ(*cores.begin(), 3);
  EXPECT_EQ(*cores.rbegin(), 6);
  EXPECT_GE(least_hz, 1.2e9);
  EXPECT_LT(least_hz, 1.3e9);  // the next step is not far
}

TEST(CandidateModes, StockModesAlone) {
  const CandidateModes all = candidates_of("jetson-orin-nano-8gb", {});
  const CandidateModes stock = candidates_of("jetson-orin-nano-8gb", {.stock_only = true});
  const auto is_stock = [](const CandidateMode& mode) { return mode.stock; };
  const auto listed = std::count_if(all.modes.begin(), all.modes.end(), is_stock);
  EXPECT_EQ(listed, 3);  // 15W, 25W, MAXN_SUPER
  EXPECT_GT(all.modes.size(), 1000u);
  std::ptrdiff_t eligible = 0;
  for (std::size_t i = 0; i < stock.modes.size(); ++i) {
    eligible += stock.is_eligible(i);
    EXPECT_EQ(stock.is_eligible(i), stock.modes[i].stock);
  }
  EXPECT_EQ(eligible, listed);
  // Neither list has a vector twice.
  std::set<std::string> vectors;
  for (const CandidateMode& mode : all.modes) {
    EXPECT_TRUE(vectors.insert(request_text(mode.point)).second) << request_text(mode.point);
    EXPECT_EQ(mode.id.has_value(), mode.stock);
  }
}

TEST(CandidateModes, TheDefaultIsTheModeThatTheDeviceBootsInto) {
  const CandidateModes modes = candidates_of("jetson-orin-nano-8gb", {});
  ASSERT_TRUE(modes.default_mode);
  EXPECT_EQ(modes.modes[*modes.default_mode].point.label, "25W");
  EXPECT_TRUE(modes.modes[*modes.default_mode].stock);
  // A card has no stock modes; the mode that it boots into is listed, and may be chosen.
  const CandidateModes card = candidates_of("a100-40gb-pcie", {});
  ASSERT_TRUE(card.default_mode);
  EXPECT_FALSE(card.modes[*card.default_mode].stock);
  EXPECT_TRUE(card.is_eligible(*card.default_mode));
}

// A clock that is tuned takes its steps; the others stay as in one of the stock modes.
TEST(CandidateModes, KnobsThatAreNotTunedStayAsInAStockMode) {
  const CandidateModes stock = candidates_of("jetson-orin-nano-8gb", {.stock_only = true});
  struct Others {
    double memory_hz, cpu_hz;
    int cores, units;
    bool operator<(const Others& other) const {
      return std::tie(memory_hz, cpu_hz, cores, units) <
             std::tie(other.memory_hz, other.cpu_hz, other.cores, other.units);
    }
  };
  const auto others = [](const OperatingPoint& point) {
    return Others{*point.memory_hz, top_cpu_hz(point), *point.cpu_cores, *point.gpu_units};
  };
  std::set<Others> known;
  for (const CandidateMode& mode : stock.modes) known.insert(others(mode.point));
  CandidateOptions options;
  options.tuned = {true, false, false, false};
  const CandidateModes modes = candidates_of("jetson-orin-nano-8gb", options);
  std::set<double> gpu_hz;
  for (const CandidateMode& mode : modes.modes) {
    EXPECT_TRUE(known.contains(others(mode.point))) << request_text(mode.point);
    gpu_hz.insert(*mode.point.gpu_hz);
  }
  EXPECT_EQ(gpu_hz.size(), 8u);  // 306 to 1020 MHz in steps of 102
  // A condition on a knob tunes it too.
  options.filter = parse_mode_filter("emc>=2GHz");
  std::set<double> memory_hz;
  const CandidateModes filtered_modes = candidates_of("jetson-orin-nano-8gb", options);
  for (std::size_t i = 0; i < filtered_modes.modes.size(); ++i)
    if (filtered_modes.is_eligible(i)) memory_hz.insert(*filtered_modes.modes[i].point.memory_hz);
  EXPECT_EQ(memory_hz, (std::set<double>{2133e6, 3199e6}));
}

TEST(CandidateModes, CoresAndTheirClockAreTunedTogether) {
  CandidateOptions options;
  options.tuned = {false, false, true, false};
  const CandidateModes modes = candidates_of("jetson-orin-nano-8gb", options);
  std::set<int> cores;
  std::set<double> cpu_hz, gpu_hz;
  for (const CandidateMode& mode : modes.modes) {
    cores.insert(*mode.point.cpu_cores);
    cpu_hz.insert(top_cpu_hz(mode.point));
    gpu_hz.insert(*mode.point.gpu_hz);
    // One clock for each cluster that is online: four cores, then the other two.
    EXPECT_EQ(mode.point.cpu_hz.size(), *mode.point.cpu_cores > 4 ? 2u : 1u)
        << request_text(mode.point);
  }
  EXPECT_EQ(cores, (std::set<int>{1, 2, 3, 4, 5, 6}));
  EXPECT_GE(cpu_hz.size(), 22u);  // 115.2 to 1728 MHz in steps of 76.8
  EXPECT_LE(gpu_hz.size(), 3u);   // of the stock modes
}

TEST(CandidateModes, ThatNeedAReboot) {
  const CandidateModes any = candidates_of("jetson-agx-orin-64gb", {});
  const CandidateModes live = candidates_of("jetson-agx-orin-64gb", {.reach = Reach::live});
  std::size_t reboots = 0, eligible = 0;
  for (std::size_t i = 0; i < any.modes.size(); ++i) {
    reboots += any.modes[i].reach == Reach::reboot;
    EXPECT_TRUE(any.is_eligible(i));
  }
  for (std::size_t i = 0; i < live.modes.size(); ++i) {
    EXPECT_EQ(live.is_eligible(i), live.modes[i].reach == Reach::live);
    eligible += live.is_eligible(i);
  }
  EXPECT_GT(reboots, 0u);
  EXPECT_GT(eligible, 0u);
  // The mode of the machine itself is always in reach.
  EXPECT_EQ(any.modes[*any.default_mode].reach, Reach::live);
}

TEST(CandidateModes, IfNoneIsLeftItSaysWhatToRelax) {
  CandidateOptions options;
  options.stock_only = true;
  options.filter = parse_mode_filter("gpu<=400MHz");
  try {
    candidates_of("jetson-orin-nano-8gb", options);
    FAIL() << "no stock mode has a GPU clock of 400 MHz";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::infeasible);
    EXPECT_EQ(error.cause(), "no stock mode is left to choose from");
    EXPECT_THAT(error.fix(), HasSubstr("--stock-only"));
  }
}

TEST(CandidateModes, AreEnteredByACommandWhereThereIsOne) {
  const CandidateModes jetson = candidates_of("jetson-orin-nano-8gb", {});
  for (const CandidateMode& mode : jetson.modes) {
    if (mode.point.label == "15W") {
      EXPECT_EQ(enter_command(jetson, mode), "sudo nvpmodel -m 0 && sudo jetson_clocks");
    }
    if (!mode.stock) {
      EXPECT_EQ(enter_command(jetson, mode), "");
    }
  }
  CandidateModes card = single_mode(hand_point(1410e6, 1215e6, 3e9, 8, 108));
  EXPECT_EQ(enter_command(card, card.modes[0]), "");  // a measured machine
  card.kind = catalog::Kind::gpu;
  EXPECT_EQ(enter_command(card, card.modes[0]), "sudo nvidia-smi -lgc 1410");
  card.modes[0].point.label = "as found";
  EXPECT_EQ(enter_command(card, card.modes[0]), "");
}

TEST(CandidateModes, OfAMachineWithOneMode) {
  const CandidateModes one = single_mode(hand_point(1e9, 2e9, 1e9, 4, 8));
  ASSERT_EQ(one.modes.size(), 1u);
  EXPECT_EQ(one.default_mode, 0u);
  EXPECT_TRUE(one.is_eligible(0));
  EXPECT_FALSE(one.modes[0].stock);
  EXPECT_FALSE(one.kind);
}

// GPU before memory before CPU before cores before SMs, whatever the knobs after it.
TEST(CandidateModes, OrderOfClocks) {
  const OperatingPoint base = hand_point(1e9, 2e9, 1e9, 4, 8);
  const std::vector<OperatingPoint> rising = {
      hand_point(0.9e9, 3e9, 2e9, 6, 10), hand_point(1e9, 1e9, 2e9, 6, 10),
      hand_point(1e9, 2e9, 0.9e9, 6, 10), hand_point(1e9, 2e9, 1e9, 3, 10),
      hand_point(1e9, 2e9, 1e9, 4, 7),    base};
  for (std::size_t i = 0; i < rising.size(); ++i)
    for (std::size_t j = 0; j < rising.size(); ++j)
      EXPECT_EQ(has_lower_clocks(rising[i], rising[j]), i < j) << i << j;
  // The fastest cluster counts.
  OperatingPoint two = base;
  two.cpu_hz = {0.5e9, 1.1e9};
  EXPECT_TRUE(has_lower_clocks(base, two));
}

TEST(CandidateModes, NearOnesHaveClocksWithin15PercentAndCoresWithin2) {
  const OperatingPoint base = hand_point(1e9, 2e9, 1e9, 4, 8);
  EXPECT_TRUE(is_near(base, base));
  EXPECT_TRUE(is_near(base, hand_point(1.14e9, 2.28e9, 1.14e9, 6, 8)));
  EXPECT_TRUE(is_near(hand_point(1.14e9, 2.28e9, 1.14e9, 2, 8), base));
  EXPECT_FALSE(is_near(base, hand_point(1.16e9, 2e9, 1e9, 4, 8)));
  EXPECT_FALSE(is_near(hand_point(1.16e9, 2e9, 1e9, 4, 8), base));
  EXPECT_FALSE(is_near(base, hand_point(1e9, 2.32e9, 1e9, 4, 8)));
  EXPECT_FALSE(is_near(base, hand_point(1e9, 2e9, 1.16e9, 4, 8)));
  EXPECT_FALSE(is_near(base, hand_point(1e9, 2e9, 1e9, 7, 8)));
  EXPECT_FALSE(is_near(base, hand_point(1e9, 2e9, 1e9, 4, 7)));
}

// By the ratios of all knobs together; equal SMs come before all clocks.
TEST(CandidateModes, TheNearestStockMode) {
  CandidateModes modes;
  const auto add = [&](const OperatingPoint& point, bool stock) {
    modes.modes.push_back({point, Reach::live, stock, true, {}});
  };
  const OperatingPoint wanted = hand_point(1e9, 2e9, 1e9, 4, 8);
  EXPECT_FALSE(nearest_stock(modes, wanted));
  add(wanted, false);  // not a stock mode
  EXPECT_FALSE(nearest_stock(modes, wanted));
  add(hand_point(0.1e9, 0.2e9, 0.1e9, 1, 8), true);
  EXPECT_EQ(nearest_stock(modes, wanted), 1u);
  add(hand_point(1e9, 2e9, 1e9, 4, 6), true);
  EXPECT_EQ(nearest_stock(modes, wanted), 1u);
  add(hand_point(2e9, 2e9, 1e9, 4, 8), true);
  EXPECT_EQ(nearest_stock(modes, wanted), 3u);
  add(hand_point(2e9, 2.2e9, 1e9, 4, 8), true);  // further by its memory clock
  EXPECT_EQ(nearest_stock(modes, wanted), 3u);
  add(hand_point(1.2e9, 2.2e9, 1.2e9, 5, 8), true);  // 1.2 x 1.1 x 1.2 x 1.25 = 1.98
  EXPECT_EQ(nearest_stock(modes, wanted), 5u);
}

// SMs are switched by a reboot: a mode with the SMs and the clusters that are on now needs none,
// whichever stock mode its clocks are from.
TEST(CandidateModes, OnlyOtherSmsOrClustersNeedAReboot) {
  for (const char* device : {"jetson-orin-nx-16gb", "jetson-orin-nx-8gb", "jetson-agx-orin-64gb"}) {
    CandidateOptions options;
    options.tuned = {false, false, false, true};
    const CandidateModes modes = candidates_of(device, options);
    const OperatingPoint now = modes.modes[*modes.default_mode].point;
    std::size_t same = 0, other = 0;
    for (const CandidateMode& mode : modes.modes) {
      if (mode.point.gpu_units != now.gpu_units) {
        EXPECT_EQ(mode.reach, Reach::reboot) << device << " " << request_text(mode.point);
        ++other;
      } else if (mode.point.cpu_hz.size() == now.cpu_hz.size()) {
        EXPECT_EQ(mode.reach, Reach::live) << device << " " << request_text(mode.point);
        ++same;
      }
    }
    EXPECT_GT(same, 0u) << device;
    EXPECT_GT(other, 0u) << device;
  }
}

}  // namespace
}  // namespace ridgeline::testing
