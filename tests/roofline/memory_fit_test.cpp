// Needed and usable memory: the rule of the verdict, and what the catalog makes of its devices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "base/units.h"
#include "devices/catalog/catalog.h"
#include "devices/catalog/model.h"
#include "roofline/model/memory.h"
#include "roofline/model/priors.h"

namespace ridgeline {
namespace {

using ::testing::HasSubstr;

MachineModel catalog_model(std::string_view device) {
  return with_priors(catalog::machine_model(catalog::load(device)));
}

MemoryFit fit_with(double needed_bytes, const MemoryAmount& usable,
                   Runtime runtime = Runtime::ideal) {
  RunMemory network;
  network.weights = needed_bytes;
  return memory_fit(catalog_model("jetson-nano"), network, std::array{runtime}, usable);
}

TEST(MemoryFit, WithinTheUncertaintyIsTight) {
  const MemoryAmount usable{{3e9, 2e9, 4e9, Source::assumed}, "test"};
  EXPECT_EQ(fit_with(1.9e9, usable).verdict(), MemoryVerdict::fits);
  EXPECT_EQ(fit_with(2.1e9, usable).verdict(), MemoryVerdict::tight);
  EXPECT_EQ(fit_with(3.9e9, usable).verdict(), MemoryVerdict::tight);
  EXPECT_EQ(fit_with(4.1e9, usable).verdict(), MemoryVerdict::exceeds);
  EXPECT_TRUE(fit_with(2.9e9, usable).is_expected());
  EXPECT_FALSE(fit_with(3.1e9, usable).is_expected());
  // A runtime adds its own uncertainty, as a square: 0.5 GB below its value, 1 GB above.
  const MemoryAmount runtime = runtime_memory(catalog_model("jetson-nano"), Runtime::torch_eager);
  const double below = runtime.bytes.value - runtime.bytes.low;
  const double above = runtime.bytes.high - runtime.bytes.value;
  const double most = 3e9 + std::sqrt(1e18 + below * below) - runtime.bytes.value;
  const double least = 3e9 - std::sqrt(1e18 + above * above) - runtime.bytes.value;
  EXPECT_EQ(fit_with(0.99 * most, usable, Runtime::torch_eager).verdict(), MemoryVerdict::tight);
  EXPECT_EQ(fit_with(1.01 * most, usable, Runtime::torch_eager).verdict(), MemoryVerdict::exceeds);
  EXPECT_EQ(fit_with(1.01 * least, usable, Runtime::torch_eager).verdict(), MemoryVerdict::tight);
  EXPECT_EQ(fit_with(0.99 * least, usable, Runtime::torch_eager).verdict(), MemoryVerdict::fits);
  // What the user measured has no interval.
  EXPECT_EQ(fit_with(2.1e9, given_memory(2.14e9, "--free-memory 2.14GB")).verdict(),
            MemoryVerdict::fits);
  EXPECT_EQ(fit_with(2.2e9, given_memory(2.14e9, "--free-memory 2.14GB")).verdict(),
            MemoryVerdict::exceeds);
}

TEST(MemoryFit, NeedIsTheSumOfItsParts) {
  RunMemory network;
  network.weights = 1e9;
  network.caches = 2e9;
  network.activations = 4e9;
  const MachineModel model = catalog_model("jetson-agx-orin-64gb");
  const std::array runtimes{Runtime::tensorrt, Runtime::torch_eager};
  const MemoryFit fit = memory_fit(model, network, runtimes, *usable_memory(model));
  double runtime = 0;
  for (const Runtime each : runtimes) runtime += runtime_memory(model, each).bytes.value;
  EXPECT_DOUBLE_EQ(fit.runtime.bytes.value, runtime);
  // The allocator holds some more than the activations.
  EXPECT_GE(fit.needed.value, 7e9 + runtime);
  EXPECT_LE(fit.needed.value, 7.4e9 + runtime);
  EXPECT_LT(fit.needed.low, fit.needed.value);
  EXPECT_GT(fit.needed.high, fit.needed.value);
  EXPECT_THAT(parts_text(fit), HasSubstr("weights 1.00 GB, activations 4.00 GB, caches 2.00 GB"));
}

TEST(MemoryFit, EveryDeviceLeavesMostOfItsMemory) {
  int known = 0;
  for (const catalog::IndexRow& row : catalog::index()) {
    const catalog::Device device = catalog::load(row.id);
    if (!device.memory || !device.memory->bytes) continue;
    const double nominal = device.memory->bytes->value;
    const auto usable = usable_memory(catalog_model(row.id));
    ASSERT_TRUE(usable) << row.id;
    EXPECT_LT(usable->bytes.low, usable->bytes.value) << row.id;
    EXPECT_LT(usable->bytes.value, usable->bytes.high) << row.id;
    EXPECT_LT(usable->bytes.high, nominal) << row.id;
    EXPECT_GT(usable->bytes.value, 0.65 * nominal) << row.id;
    if (!device.memory->visible_bytes) continue;
    ++known;
    EXPECT_LT(usable->bytes.high, device.memory->visible_bytes->value + 1) << row.id;
    EXPECT_GT(device.memory->visible_bytes->value / nominal, 0.92) << row.id;
    EXPECT_LT(device.memory->visible_bytes->value / nominal, 0.99) << row.id;
  }
  EXPECT_GE(known, 11);
}

TEST(MemoryFit, RuntimesTakeMoreWhereTheProcessSharesTheMemory) {
  const MachineModel jetson = catalog_model("jetson-nano"), card = catalog_model("rtx-3090-24gb");
  for (const auto& [runtime, name] : TokenTable<Runtime>::rows) {
    const Estimate shared = runtime_memory(jetson, runtime).bytes;
    const Estimate own = runtime_memory(card, runtime).bytes;
    EXPECT_GE(shared.value, own.value) << name;
    EXPECT_EQ(shared.value > 0, runtime != Runtime::ideal) << name;
    EXPECT_EQ(shared.source, Source::assumed);
  }
}

TEST(MemoryFit, ARangeIsWrittenWhereThereIsOne) {
  EXPECT_EQ(memory_range_text({2e9, 1.5e9, 3e9, Source::predicted}),
            "2.00 GB (1.50 GB to 3.00 GB)");
  EXPECT_EQ(memory_range_text(exact(2e9, Source::predicted)), "2.00 GB");
}

// 1.2 to 1.8 GB belong to the system of a board; what is left is never less than nothing.
TEST(MemoryFit, TheLeastThatIsLeftIsLessThanTheMost) {
  for (const char* device : {"jetson-orin-nano-8gb", "jetson-agx-orin-64gb", "rtx-3090-24gb"}) {
    const MachineModel model = catalog_model(device);
    const Estimate usable = usable_memory(model)->bytes;
    EXPECT_GT(usable.low, 0.5 * usable.value) << device;
    EXPECT_LT(usable.high, 1.5 * usable.value) << device;
  }
  MachineModel tiny{"tiny", {}, {}};
  set_parameter(tiny, {"memory_visible_bytes", 0.1e9, Source::measured});
  EXPECT_EQ(usable_memory(tiny)->bytes.low, 0);
  EXPECT_GE(usable_memory(tiny)->bytes.value, 0);
  EXPECT_FALSE(usable_memory({"unknown", {}, {}}));
}

TEST(MemoryFit, PartsThatAreZeroAreNotNamed) {
  const MemoryAmount usable{{3e9, 2e9, 4e9, Source::assumed}, "test"};
  EXPECT_EQ(parts_text(fit_with(1e9, usable)), "weights 1.00 GB");
  EXPECT_THAT(parts_text(fit_with(1e9, usable, Runtime::tensorrt)),
              HasSubstr("weights 1.00 GB, runtime "));
  EXPECT_THAT(parts_text(fit_with(0, usable, Runtime::tensorrt)),
              ::testing::StartsWith("runtime "));
}

}  // namespace
}  // namespace ridgeline
