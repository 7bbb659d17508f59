// Resizing and sampling: scales and sizes of every opset, aspect ratios, grids, regions.
// Scales are multiplied in single precision, as runtimes do.
#include <gtest/gtest.h>

#include "tests/analyzer/onnx/operators/one_node.h"

namespace ridgeline::testing {
namespace {

TEST(ResizeRule, ScalesAndSizes) {
  EXPECT_EQ(OneNode("Resize", 10).input({1, 3, 8, 8}).floats({1, 1, 2, 0.5}).shapes(), "1x3x16x4");
  EXPECT_EQ(OneNode("Resize", 11).input({1, 3, 8, 8}).floats({}).floats({1, 1, 2, 2}).shapes(),
            "1x3x16x16");
  EXPECT_EQ(OneNode("Resize", 13)
                .input({1, 3, 8, 8})
                .left_out()
                .left_out()
                .integers({1, 3, 10, 5})
                .shapes(),
            "1x3x10x5");
  EXPECT_EQ(OneNode("Resize", 19)
                .input({1, 3, 10, 8})
                .left_out()
                .floats({0.7, 1.5})
                .with("axes", {2, 3})
                .shapes(),
            "1x3x7x12");
  EXPECT_NE(OneNode("Resize", 19).input({1, 3, 8, 8}).error().find("neither scales nor sizes"),
            std::string::npos);
  EXPECT_NE(OneNode("Resize", 19)
                .input({1, 8})
                .left_out()
                .floats({2})
                .error()
                .find("1 scales for 2 axes"),
            std::string::npos);
}

TEST(ResizeRule, KeepsProportions) {
  const auto node = [](const char* policy) {
    return OneNode("Resize", 19)
        .input({1, 3, 100, 200})
        .left_out()
        .left_out()
        .integers({50, 50})
        .with("axes", {2, 3})
        .with("keep_aspect_ratio_policy", policy);
  };
  EXPECT_EQ(node("stretch").shapes(), "1x3x50x50");
  EXPECT_EQ(node("not_larger").shapes(), "1x3x25x50");
  EXPECT_EQ(node("not_smaller").shapes(), "1x3x50x100");
  EXPECT_NE(node("other").error().find("'other' is none of"), std::string::npos);
  EXPECT_NE(node("in\ntwo").error().find("'in?two' is none of"), std::string::npos);
}

TEST(ResizeRule, TheOpKnowsItsAxes) {
  OneNode node = OneNode("Resize", 19).input({1, 3, 8, 8}).left_out().floats({1, 1, 2, 1});
  const auto op = node.with("mode", "linear").op<Resize>();
  EXPECT_EQ(op.kind, Interpolation::linear);
  EXPECT_EQ(op.axes, 1);
  EXPECT_EQ(op.out_elements, 3 * 16 * 8);
  EXPECT_EQ(node.work().bytes_read, 3 * 64 * 4);  // scales are not data
  OneNode shrunk = OneNode("Resize", 19).input({1, 1, 8, 9}).left_out().left_out();
  shrunk.integers({1, 1, 4, 2}).with("mode", "cubic").with("antialias", 1);
  EXPECT_EQ(shrunk.op<Resize>().samples, 2 * 5);
}

TEST(ResizeRule, Upsamples) {
  EXPECT_EQ(
      OneNode("Upsample", 7).input({1, 1, 2, 2}).with("scales", {1.0, 1.0, 2.0, 3.0}).shapes(),
      "1x1x4x6");
  EXPECT_EQ(OneNode("Upsample", 9).input({1, 1, 2, 2}).floats({1, 1, 2, 3}).shapes(), "1x1x4x6");
  EXPECT_EQ(OneNode("Upsample", 1)
                .input({1, 1, 2, 2})
                .with("height_scale", 2.0)
                .with("width_scale", 3.0)
                .shapes(),
            "1x1x4x6");
}

TEST(SamplingRule, GridsAndRegions) {
  OneNode grid = OneNode("GridSample").input({2, 3, 8, 8}).input({2, 5, 6, 2});
  EXPECT_EQ(grid.shapes(), "2x3x5x6");
  EXPECT_EQ(grid.op<Resize>().kind, Interpolation::linear);
  EXPECT_NE(OneNode("GridSample")
                .input({2, 3, 8, 8})
                .input({2, 5, 6, 3})
                .error()
                .find("the grid 2x5x6x3 does not fit the image 2x3x8x8"),
            std::string::npos);
  OneNode affine = OneNode("AffineGrid").input({2, 2, 3}).integers({2, 3, 5, 6});
  EXPECT_EQ(affine.shapes(), "2x5x6x2");
  EXPECT_EQ(affine.macs(), 2 * 30 * 2 * 3);
  OneNode align = OneNode("RoiAlign").input({1, 3, 16, 16}).input({9, 4});
  align.input({9}, ElementType::int64).with("output_height", 7).with("output_width", 7);
  align.with("sampling_ratio", 2);
  EXPECT_EQ(align.shapes(), "9x3x7x7");
  EXPECT_EQ(align.op<Resize>().samples, 4);
  OneNode crop = OneNode::contrib("CropAndResize").input({1, 3, 16, 16}).input({9, 4});
  crop.input({9}, ElementType::int32).integers({5, 6});
  EXPECT_EQ(crop.shapes(), "9x3x5x6");
}

}  // namespace
}  // namespace ridgeline::testing
