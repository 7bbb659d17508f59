// Strides, paddings, windows and permutations that follow from shapes.
#include "execution/inferred_parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ridgeline {
namespace {

TEST(InferredParameters, WindowsAreThoseOfKnownLayers) {
  EXPECT_EQ(window_axis(224, 7, 112, 7), (WindowAxis{2, 3, 3}));  // ResNet's first
  EXPECT_EQ(window_axis(56, 3, 56, 3), (WindowAxis{1, 1, 1}));
  EXPECT_EQ(window_axis(56, 1, 28, 1), (WindowAxis{2, 0, 0}));
  EXPECT_EQ(window_axis(224, 4, 56, 4), (WindowAxis{4, 0, 0}));  // patches
  EXPECT_EQ(window_axis(10, 2, 10, 2), (WindowAxis{1, 0, 1}));   // padded on one side
  EXPECT_EQ(window_axis(4, 3, 400, 3), std::nullopt);
}

// What is inferred must give the output's size, whatever it was made of.
TEST(InferredParameters, EveryInferredWindowGivesTheOutputSize) {
  for (std::int64_t in = 5; in < 40; ++in)
    for (std::int64_t kernel = 1; kernel <= 5; ++kernel)
      for (std::int64_t stride = 1; stride <= 3; ++stride)
        for (std::int64_t padding = 0; padding < kernel; ++padding) {
          const std::int64_t out = (in + 2 * padding - kernel) / stride + 1;
          const auto found = window_axis(in, kernel, out, kernel);
          ASSERT_TRUE(found) << in << ' ' << kernel << ' ' << stride << ' ' << padding;
          EXPECT_EQ((in + found->before + found->after - kernel) / found->stride + 1, out);
        }
}

TEST(InferredParameters, TransposedWindowsGiveTheOutputSize) {
  EXPECT_EQ(transposed_axis(28, 2, 56), (WindowAxis{2, 0, 0}));
  const auto wide = transposed_axis(14, 4, 28);
  ASSERT_TRUE(wide);
  EXPECT_EQ((14 - 1) * wide->stride + 4 - wide->before - wide->after, 28);
}

TEST(InferredParameters, PoolWindowsAreSquareIfPossible) {
  const auto pool = pool_window({112, 112}, {56, 56}, 9);
  ASSERT_TRUE(pool);
  EXPECT_EQ(pool->kernel, (Shape{3, 3}));
  EXPECT_EQ(pool->axes[0], (WindowAxis{2, 1, 1}));
  EXPECT_FALSE(pool_window({4, 4}, {400, 400}, 4));
}

TEST(InferredParameters, HeadsAreSplitAndJoined) {
  const auto split = rearrangement({2, 128, 768}, {2, 12, 128, 64});
  ASSERT_TRUE(split);
  EXPECT_EQ(split->split, (Shape{2, 128, 12, 64}));
  EXPECT_THAT(split->order, ::testing::ElementsAre(0, 2, 1, 3));
  const auto joined = rearrangement({2, 12, 128, 64}, {2, 128, 768});
  ASSERT_TRUE(joined);
  EXPECT_THAT(joined->order, ::testing::ElementsAre(0, 2, 1, 3));
  EXPECT_FALSE(rearrangement({2, 3}, {7}));
}

TEST(InferredParameters, ReducedAxesWithAndWithoutOnes) {
  EXPECT_EQ(reduced_axes({2, 3, 4}, {2, 3, 1}), (std::vector<std::int64_t>{2}));
  EXPECT_EQ(reduced_axes({2, 3, 4}, {2, 4}), (std::vector<std::int64_t>{1}));
  EXPECT_EQ(reduced_axes({2, 3}, {5}), std::nullopt);
}

}  // namespace
}  // namespace ridgeline
