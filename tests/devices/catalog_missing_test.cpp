// Gaps in the catalog: values that no source states are listed; those present or impossible are
// not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "devices/catalog/missing.h"

namespace ridgeline::testing {
namespace {

using catalog::Gap;
using ::testing::Contains;
using ::testing::IsSupersetOf;
using ::testing::Not;

TEST(CatalogMissing, ListsWhatNobodyStates) {
  EXPECT_THAT(catalog::missing(catalog::load("a100-40gb-pcie")),
              IsSupersetOf({Gap{"boost", "lockable memory clocks"},
                            Gap{"power", "temperatures of throttling and shutdown"}}));
  EXPECT_THAT(catalog::missing(catalog::load("jetson-agx-thor-t5000")),
              IsSupersetOf({Gap{"gpu", "rate of int8 matrix"},
                            Gap{"jetpack-7: mode 90W", "multiprocessors that its mask leaves on"},
                            Gap{"jetpack-7", "GPU clocks beside the 3 that are known"}}));
  EXPECT_THAT(catalog::missing(catalog::load("jetson-agx-thor-t4000")),
              IsSupersetOf({Gap{"jetpack-7", "stock modes"}, Gap{"power", "rails and sensors"}}));
}

// Without tensor cores, their rates are not a gap.
TEST(CatalogMissing, WhatTheHardwareLacksIsNoGap) {
  const auto gaps = catalog::missing(catalog::load("jetson-nano"));
  EXPECT_THAT(gaps, Not(Contains(Gap{"gpu", "rate of fp16 matrix"})));
  EXPECT_THAT(gaps, Not(Contains(Gap{"gpu", "rate of bf16 vector"})));
  EXPECT_THAT(catalog::missing(catalog::load("jetson-tx2")),
              Contains(Gap{"gpu", "rate of int8 vector"}));
  EXPECT_THAT(catalog::missing(catalog::load("t4")),
              Not(Contains(Gap{"gpu", "rate of tf32 matrix"})));
}

TEST(CatalogMissing, AnEmptyEntryMissesEverything) {
  catalog::Device device;
  device.kind = catalog::Kind::jetson;
  device.configurations.resize(1);
  const auto gaps = catalog::missing(device);
  EXPECT_THAT(
      gaps, IsSupersetOf({Gap{"gpu", "everything about the GPU"}, Gap{"cpu", "cores and clusters"},
                          Gap{"memory", "everything about the memory"}, Gap{"power", "idle power"},
                          Gap{"power", "power cap"}}));
}

}  // namespace
}  // namespace ridgeline::testing
