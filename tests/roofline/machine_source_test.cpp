// What --on, --mode, --host-cpu and the offset of a carrier board make of a machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "roofline/model/familiarity.h"
#include "roofline/model/machine.h"
#include "tests/base/error_line.h"
#include "tests/support/paths.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;

MachineRequest request_of(const std::string& on, const std::string& mode = "") {
  return {.on = on, .mode = mode, .jetpack = "", .threads = {}};
}

TEST(MachineSources, ADeviceIsInTheModeThatIsAskedForOrItsDefault) {
  const MachineSource source = machine_source(request_of("jetson-orin-nano-8gb"));
  EXPECT_EQ(source.name, "NVIDIA Jetson Orin Nano 8GB");
  ASSERT_TRUE(source.known && source.mode);
  EXPECT_EQ(source.known->device.id, "jetson-orin-nano-8gb");
  EXPECT_EQ(source.point.label, "25W");
  EXPECT_TRUE(has_gpu(source.model));
  EXPECT_EQ(machine_source(request_of("jetson-orin-nano-8gb", "15W")).point.gpu_hz, 612e6);
}

// A profile has its own clocks, and the same priors for software as a device.
TEST(MachineSources, AProfileIsAMachineWithPriors) {
  const std::string path = source_file("tests/data/profiles/example_cpu.json");
  const MachineSource source = machine_source(request_of(path));
  EXPECT_FALSE(source.known || source.mode);
  EXPECT_FALSE(has_gpu(source.model));
  EXPECT_TRUE(find_parameter(source.model, "cpu0_cores"));
  EXPECT_EQ(mean_of(source.model, "cpu0_cores"), source.point.cpu_cores);
  bool has_prior = false;
  for (const Parameter& parameter : source.model.parameters)
    has_prior = has_prior || parameter.name.starts_with("torch_");
  EXPECT_TRUE(has_prior);
  MachineRequest one = request_of(path);
  one.threads = 1;
  EXPECT_EQ(machine_source(one).point.cpu_cores, 1);
  one.threads = 0;
  EXPECT_THAT(error_line([&] { machine_source(one); }), HasSubstr("0 is not a number of threads"));
}

TEST(MachineSources, TheHostOfACardIsSetIfItIsGiven) {
  MachineRequest card = request_of("a100-40gb-pcie");
  const MachineSource usual = machine_source(card);
  card.host_cpu = "2";
  const MachineSource given = machine_source(card);
  EXPECT_DOUBLE_EQ(mean_of(given.model, "host_hz"), 2 * mean_of(usual.model, "host_hz"));
  const std::string host = unfamiliar_parameter(Subject::host);
  EXPECT_LT(sigma_of(given.model, *find_parameter(given.model, host)),
            sigma_of(usual.model, *find_parameter(usual.model, host)));
}

TEST(MachineSources, TheCarrierBoardAddsItsPower) {
  MachineRequest board = request_of("jetson-orin-nano-8gb");
  board.board_offset_w = 3.5;
  EXPECT_EQ(mean_of(machine_source(board).model, "board_offset_w"), 3.5);
}

TEST(MachineSources, WhatDoesNotFitIsRefused) {
  MachineRequest threads = request_of("jetson-orin-nano-8gb");
  threads.threads = 4;
  EXPECT_THAT(error_line([&] { machine_source(threads); }), HasSubstr("--threads: only the rows"));
  EXPECT_THAT(error_line([&] { machine_source(request_of(source_file("CMakePresets.json"))); }),
              HasSubstr("CMakePresets.json"));
}

}  // namespace
}  // namespace ridgeline::testing
