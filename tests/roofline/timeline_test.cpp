// The spans of a step: those of its rows, and what the host does before and after them.
#include "roofline/explain/timeline.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "roofline/model/coefficients.h"
#include "roofline/model/step.h"
#include "tests/roofline/modelled.h"

namespace ridgeline::testing {
namespace {

TEST(Timeline, HasTheSpansOfTheStep) {
  constexpr std::string_view board = "jetson-agx-orin-64gb";
  for (const Runtime runtime : {Runtime::tensorrt, Runtime::torch_eager}) {
    const NetworkLoad load = load_of("resnet18", runtime);
    const MachineModel model = model_of(board);
    Conditions conditions;
    conditions.point = point_of(board, "30W");
    conditions.runtime = runtime;
    const Step step = StepModel(load, coefficients(model, runtime)).at(conditions);
    const Timeline timeline = predicted_timeline(model, load, conditions);
    EXPECT_EQ(timeline.time_s, step.time_s);
    EXPECT_EQ(timeline.waiting_s, step.jitter_s);
    EXPECT_EQ(timeline.tail.time_s, step.tail_s);
    EXPECT_NEAR(timeline.tail.end_s() + timeline.waiting_s, timeline.time_s, 1e-12);
    EXPECT_EQ(timeline.setup.begin_s, 0);
    EXPECT_EQ(timeline.setup.end_s(), step.rows.front().host_begin_s);
    ASSERT_EQ(timeline.kernels.size(), load.kernels.size());
    double last = 0;
    for (std::size_t i = 0; i < timeline.kernels.size(); ++i) {
      const TimelineKernel& kernel = timeline.kernels[i];
      EXPECT_EQ(kernel.name, load.kernels[i].name);
      EXPECT_EQ(kernel.host.begin_s, step.rows[i].host_begin_s);
      EXPECT_EQ(kernel.host.time_s, step.rows[i].host_s);
      if (load.kernels[i].kind == KernelKind::none) {
        EXPECT_EQ(kernel.device.time_s, 0) << kernel.name;
        continue;
      }
      EXPECT_GT(kernel.device.time_s, 0) << kernel.name;
      EXPECT_EQ(kernel.device.begin_s, step.rows[i].kernel_begin_s);
      last = std::max(last, kernel.device.end_s());
    }
    EXPECT_LE(last, timeline.time_s + 1e-12);
  }
}

}  // namespace
}  // namespace ridgeline::testing
