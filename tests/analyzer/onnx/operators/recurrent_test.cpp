// Recurrent layers: every layout and direction, lengths stored in the file, missing biases.
// MACs are those of the gates: g·H·(I + H) per direction, step and sample.
#include <gtest/gtest.h>

#include "tests/analyzer/onnx/operators/one_node.h"

namespace ridgeline::testing {
namespace {

TEST(RecurrentRule, LayoutsAndDirections) {
  const OneNode lstm = OneNode("LSTM")
                           .input({8, 2, 256})
                           .weight({1, 1024, 256})
                           .weight({1, 1024, 256})
                           .weight({1, 2048})
                           .with("hidden_size", 256)
                           .outputs(3);
  EXPECT_EQ(lstm.shapes(), "8x1x2x256, 1x2x256, 1x2x256");
  EXPECT_EQ(lstm.macs(), 8. * 2 * 4 * 256 * (256 + 256));
  EXPECT_TRUE(lstm.op<Recurrent>().bias);
  EXPECT_FALSE(lstm.op<Recurrent>().peepholes);

  const OneNode gru = OneNode("GRU")
                          .input({2, 8, 5})
                          .weight({2, 9, 5})
                          .weight({2, 9, 3})
                          .with("direction", "bidirectional")
                          .with("layout", 1)
                          .with("hidden_size", 3)
                          .outputs(2);
  EXPECT_EQ(gru.shapes(), "2x8x2x3, 2x2x3");
  EXPECT_EQ(gru.op<Recurrent>().directions, 2);
  EXPECT_EQ(gru.op<Recurrent>().steps, 8);
  EXPECT_FALSE(gru.op<Recurrent>().bias);

  EXPECT_EQ(OneNode("RNN").input({4, 1, 5}).weight({1, 3, 5}).weight({1, 3, 3}).shapes(),
            "4x1x1x3");
}

TEST(RecurrentRule, KnownLengthsAreTheSteps) {
  OneNode lstm = OneNode("LSTM").input({10, 2, 4}).weight({1, 12, 4}).weight({1, 12, 3});
  EXPECT_EQ(lstm.left_out().integers({3, 7}).op<Recurrent>().steps, 7);
  EXPECT_TRUE(OneNode("LSTM")
                  .input({10, 2, 4})
                  .weight({1, 12, 4})
                  .weight({1, 12, 3})
                  .left_out()
                  .left_out()
                  .left_out()
                  .left_out()
                  .weight({1, 9})
                  .op<Recurrent>()
                  .peepholes);
}

TEST(RecurrentRule, WeightsThatDoNotFit) {
  EXPECT_NE(OneNode("LSTM").input({10, 2, 4}).weight({1, 12, 5}).weight({1, 12, 3}).error(),
            "no error");
  EXPECT_NE(OneNode("LSTM").input({10, 2, 4}).weight({2, 12, 4}).weight({2, 12, 3}).error(),
            "no error");
  EXPECT_NE(OneNode("GRU")
                .input({10, 2, 4})
                .weight({1, 9, 4})
                .weight({1, 9, 3})
                .with("direction", "sideways")
                .error(),
            "no error");
}

TEST(RecurrentRule, Quantized) {
  const OneNode lstm = OneNode::contrib("DynamicQuantizeLSTM")
                           .input({8, 2, 16})
                           .weight({1, 16, 32}, ElementType::int8)
                           .weight({1, 8, 32}, ElementType::int8)
                           .outputs(3);
  EXPECT_EQ(lstm.shapes(), "8x1x2x8, 1x2x8, 1x2x8");
  EXPECT_EQ(lstm.layer().parts.at(1).dtype, DType::int8);
  EXPECT_EQ(lstm.macs(), 8. * 2 * 4 * 8 * (16 + 8));
}

}  // namespace
}  // namespace ridgeline::testing
