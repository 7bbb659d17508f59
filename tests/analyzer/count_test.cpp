// Work of each kind of Op, against numbers computed by hand.
// Bytes of layers are in count_bytes_test.cpp.
#include "analyzer/count/count.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace ridgeline::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Work count(const Op& op, DType dtype = DType::fp32) {
  return count_part({op, dtype}, default_weights());
}

FlopCount matrix(double flop, DType dtype = DType::fp32) { return {Unit::matrix, dtype, flop}; }
FlopCount vector(double flop, DType dtype = DType::fp32) { return {Unit::vector, dtype, flop}; }

Convolution first_of_resnet() {
  return {.batch = 1,
          .in_channels = 3,
          .out_channels = 64,
          .kernel = {7, 7},
          .in_spatial = {224, 224},
          .out_spatial = {112, 112}};
}

TEST(Count, Convolution) {
  const Work work = count(first_of_resnet());
  EXPECT_EQ(work.macs, 118013952);
  EXPECT_THAT(work.flop, ElementsAre(matrix(236027904)));
  EXPECT_EQ(work.transcendentals, 0);
}

TEST(Count, ConvolutionWithBiasAddsOnePerOutput) {
  Convolution op = first_of_resnet();
  op.bias = true;
  EXPECT_THAT(count(op).flop, ElementsAre(vector(802816), matrix(236027904)));
  EXPECT_EQ(count(op).macs, 118013952);
}

TEST(Count, ConvolutionsOfOneAndThreeDimensions) {
  EXPECT_EQ(count(Convolution{.batch = 2,
                              .in_channels = 4,
                              .out_channels = 5,
                              .kernel = {3},
                              .in_spatial = {10},
                              .out_spatial = {12}})
                .macs,
            2 * 5 * 12 * 4 * 3);
  EXPECT_EQ(count(Convolution{.batch = 2,
                              .in_channels = 4,
                              .out_channels = 6,
                              .groups = 2,
                              .kernel = {3, 2, 2},
                              .in_spatial = {4, 5, 4},
                              .out_spatial = {2, 4, 3}})
                .macs,
            2 * 6 * 24 * 2 * 12);
}

TEST(Count, DepthwiseConvolutionIsForVectorUnits) {
  Convolution op{.batch = 1,
                 .in_channels = 32,
                 .out_channels = 64,
                 .groups = 32,
                 .kernel = {3, 3},
                 .in_spatial = {8, 8},
                 .out_spatial = {8, 8}};
  EXPECT_EQ(count(op).macs, 64 * 64 * 9);
  EXPECT_THAT(count(op).flop, ElementsAre(vector(2 * 64 * 64 * 9)));
  op.groups = 16;  // two channels per group: a dot product again
  EXPECT_THAT(count(op).flop, ElementsAre(matrix(2 * 64 * 64 * 9 * 2)));
  op.groups = op.in_channels = 1;  // a grey image
  EXPECT_THAT(count(op).flop, ElementsAre(matrix(2 * 64 * 64 * 9)));
}

// Each input position is spread over the window; counting output positions would give stride² times
// as much.
TEST(Count, TransposedConvolutionCountsInputPositions) {
  const Convolution op{.batch = 1,
                       .in_channels = 3,
                       .out_channels = 4,
                       .kernel = {3, 3},
                       .in_spatial = {6, 7},
                       .out_spatial = {14, 16},
                       .transposed = true,
                       .bias = true};
  EXPECT_EQ(count(op).macs, 4536);
  EXPECT_THAT(count(op).flop, ElementsAre(vector(4 * 14 * 16), matrix(9072)));
}

TEST(Count, GroupedTransposedConvolution) {
  EXPECT_EQ(count(Convolution{.batch = 2,
                              .in_channels = 8,
                              .out_channels = 12,
                              .groups = 4,
                              .kernel = {2, 2},
                              .in_spatial = {5, 5},
                              .out_spatial = {10, 10},
                              .transposed = true})
                .macs,
            2 * 8 * 25 * 3 * 4);
}

TEST(Count, DeformableConvolutionInterpolatesEveryTap) {
  const Convolution op{.batch = 1,
                       .in_channels = 8,
                       .out_channels = 16,
                       .kernel = {3, 3},
                       .in_spatial = {5, 5},
                       .out_spatial = {5, 5},
                       .deformable = true};
  EXPECT_THAT(count(op).flop, ElementsAre(vector(8 * 25 * 9 * 7), matrix(2 * 16 * 25 * 8 * 9)));
}

TEST(Count, MatMul) {
  EXPECT_EQ(count(MatMul{.m = 197, .n = 768, .k = 768}).macs, 116195328);
  EXPECT_THAT(count(MatMul{.m = 197, .n = 768, .k = 768}).flop, ElementsAre(matrix(232390656)));
  EXPECT_EQ(count(MatMul{.batch = 12, .m = 128, .n = 128, .k = 64}).macs, 12582912);
  EXPECT_THAT(count(MatMul{.m = 0, .n = 4, .k = 4}).flop, IsEmpty());
}

TEST(Count, GemmWithBiasAndScalings) {
  const MatMul op{.m = 3, .n = 5, .k = 7, .bias = true, .scalings = 2};
  EXPECT_EQ(count(op).macs, 105);
  EXPECT_THAT(count(op).flop, ElementsAre(vector(15 + 2 * 15), matrix(210)));
}

TEST(Count, IntegerProductsAreIntegerOperations) {
  const MatMul op{.m = 2, .n = 3, .k = 4, .bias = true};
  EXPECT_THAT(count(op, DType::int8).flop,
              ElementsAre(vector(6, DType::int32), matrix(48, DType::int8)));
  EXPECT_EQ(total_flop(count(op, DType::int8)), 0);
  EXPECT_EQ(total_integer_ops(count(op, DType::int8)), 54);
}

TEST(Count, MatrixUnitsHaveNoWideIntegers) {
  const Op op = MatMul{};
  for (const DType dtype : {DType::int16, DType::int32})
    EXPECT_EQ(compute_unit(op, dtype), Unit::vector) << to_string(dtype);
  for (const DType dtype : {DType::fp64, DType::fp32, DType::tf32, DType::fp16, DType::bf16,
                            DType::fp8, DType::int8, DType::int4})
    EXPECT_EQ(compute_unit(op, dtype), Unit::matrix) << to_string(dtype);
  EXPECT_EQ(compute_unit(Elementwise{}, DType::fp16), Unit::vector);
}

// The encoder with its pooler: 12·(12·S·H² + 2·S²·H) + H² with S = 128, H = 768.
TEST(Count, BertBaseByItsParts) {
  const std::int64_t length = 128, width = 768;
  double macs = count(MatMul{.m = 1, .n = width, .k = width}).macs;
  for (int layer = 0; layer < 12; ++layer) {
    for (int projection = 0; projection < 4; ++projection)
      macs += count(MatMul{.m = length, .n = width, .k = width}).macs;
    macs += count(Attention{.q_heads = 12,
                            .kv_heads = 12,
                            .q_length = length,
                            .kv_length = length,
                            .qk_dimension = 64,
                            .v_dimension = 64})
                .macs;
    macs += count(MatMul{.m = length, .n = 4 * width, .k = width}).macs;
    macs += count(MatMul{.m = length, .n = width, .k = 4 * width}).macs;
  }
  EXPECT_EQ(macs, 11174215680);
}

struct FunctionCost {
  Function function;
  double flop, transcendentals;
};

TEST(Count, ElementwiseFunctions) {
  for (const FunctionCost& known :
       std::initializer_list<FunctionCost>{{Function::add, 1, 0},
                                           {Function::power, 1, 1},
                                           {Function::where, 1, 0},
                                           {Function::relu, 1, 0},
                                           {Function::sigmoid, 4, 1},
                                           {Function::hard_sigmoid, 4, 0},
                                           {Function::tanh, 5, 1},
                                           {Function::hard_swish, 5, 0},
                                           {Function::swish, 5, 1},
                                           {Function::erf, 8, 1},
                                           {Function::gelu, 11, 1},
                                           {Function::exp, 1, 1},
                                           {Function::quantize, 3, 0},
                                           {Function::dequantize, 2, 0},
                                           {Function::adam, 12, 1}}) {
    const Work work = count(Elementwise{known.function, 100});
    EXPECT_THAT(work.flop, ElementsAre(vector(100 * known.flop))) << to_string(known.function);
    EXPECT_EQ(work.transcendentals, 100 * known.transcendentals) << to_string(known.function);
  }
  EXPECT_THAT(count(Elementwise{Function::cast, 100}).flop, IsEmpty());
  EXPECT_THAT(count(Elementwise{Function::add, 7}, DType::int32).flop,
              ElementsAre(vector(7, DType::int32)));
}

TEST(Count, Reduce) {
  const auto flop = [](Reduction kind) { return total_flop(count(Reduce{kind, 100, 10})); };
  EXPECT_EQ(flop(Reduction::sum), 90);
  EXPECT_EQ(flop(Reduction::max), 90);
  EXPECT_EQ(flop(Reduction::min), 90);
  EXPECT_EQ(flop(Reduction::product), 90);
  EXPECT_EQ(flop(Reduction::arg), 90);
  EXPECT_EQ(flop(Reduction::mean), 100);  // one division per result
  EXPECT_EQ(flop(Reduction::l1), 190);
  EXPECT_EQ(flop(Reduction::sum_square), 190);
  EXPECT_EQ(flop(Reduction::l2), 200);
  EXPECT_EQ(flop(Reduction::log_sum), 100);
  EXPECT_EQ(flop(Reduction::log_sum_exp), 90 + 90 + 100 + 100 + 10 + 10);
  EXPECT_EQ(count(Reduce{Reduction::log_sum_exp, 100, 10}).transcendentals, 110);
  EXPECT_EQ(count(Reduce{Reduction::l2, 100, 10}).transcendentals, 10);
  EXPECT_THAT(count(Reduce{Reduction::sum, 0, 10}).flop, IsEmpty());
}

TEST(Count, Softmax) {
  EXPECT_THAT(count(Softmax{1000, false}).flop, ElementsAre(vector(5000)));
  EXPECT_EQ(count(Softmax{1000, true}).transcendentals, 1000);
}

TEST(Count, Normalize) {
  const auto flop = [](Normalize op) {
    op.elements = 600;
    op.rows = 6;
    return total_flop(count(op));
  };
  EXPECT_EQ(flop({.kind = Normalization::batch}), 1200);
  EXPECT_EQ(flop({.kind = Normalization::batch, .training = true}), 4206);
  EXPECT_EQ(flop({.kind = Normalization::layer}), 4206);
  EXPECT_EQ(flop({.kind = Normalization::layer, .affine = false}), 3006);
  EXPECT_EQ(flop({.kind = Normalization::group}), 4206);
  EXPECT_EQ(flop({.kind = Normalization::instance}), 4206);
  EXPECT_EQ(flop({.kind = Normalization::mean_variance}), 3006);
  EXPECT_EQ(flop({.kind = Normalization::rms}), 2406);
  EXPECT_EQ(flop({.kind = Normalization::lp}), 1806);
  // Five squares summed: 1 + 4, then scale, bias, power, division.
  EXPECT_EQ(flop({.kind = Normalization::local_response, .window = 5}), 600 * 9);
  EXPECT_EQ(
      count(Normalize{.kind = Normalization::layer, .elements = 600, .rows = 6}).transcendentals,
      6);
  EXPECT_EQ(
      count(Normalize{.kind = Normalization::batch, .elements = 600, .rows = 6}).transcendentals,
      0);
}

TEST(Count, Pool) {
  EXPECT_THAT(count(Pool{Pooling::max, 100, 9}).flop, ElementsAre(vector(800)));
  EXPECT_THAT(count(Pool{Pooling::average, 100, 9}).flop, ElementsAre(vector(900)));
  EXPECT_THAT(count(Pool{Pooling::lp, 100, 9}).flop, ElementsAre(vector(1800)));
  EXPECT_THAT(count(Pool{Pooling::max, 100, 1}).flop, IsEmpty());
  // A window over the whole image is a mean.
  EXPECT_EQ(count(Pool{Pooling::average, 64, 49}).flop,
            count(Reduce{Reduction::mean, 64 * 49, 64}).flop);
}

TEST(Count, AttentionHasProductsAndSoftmax) {
  Attention op{.batch = 2,
               .q_heads = 8,
               .kv_heads = 2,
               .q_length = 10,
               .kv_length = 20,
               .qk_dimension = 64,
               .v_dimension = 32};
  const double scores = 2 * 8 * 10 * 20;
  EXPECT_EQ(count(op).macs, scores * 96);
  EXPECT_THAT(count(op, DType::fp16).flop,
              ElementsAre(vector(5 * scores, DType::fp16), matrix(2 * scores * 96, DType::fp16)));
  EXPECT_EQ(count(op).transcendentals, scores);
  op.additive_mask = true;
  EXPECT_THAT(count(op).flop, ElementsAre(vector(6 * scores), matrix(2 * scores * 96)));
}

TEST(Count, CausalAttentionIsCountedInFullAndTellsWhatIsMasked) {
  Attention op{.q_heads = 1, .q_length = 4, .kv_length = 6, .qk_dimension = 3, .v_dimension = 2};
  EXPECT_EQ(causally_masked_macs(op), 0);
  op.causal = true;
  EXPECT_EQ(count(op).macs, 4 * 6 * 5);
  EXPECT_EQ(causally_masked_macs(op), 6 * 5);  // 3 + 2 + 1 + 0 keys
  EXPECT_EQ(causally_masked_macs(Softmax{}), 0);
}

TEST(Count, LstmOfTwoLayersOverEightSteps) {
  const Recurrent layer{.cell = Cell::lstm, .steps = 8, .input = 256, .hidden = 256};
  EXPECT_EQ(2 * count(layer).macs, 8388608);
}

TEST(Count, RecurrentCellsByHand) {
  const double cells = 2 * 5 * 3 * 16;  // directions, steps, batch, hidden
  Recurrent op{.directions = 2, .steps = 5, .batch = 3, .input = 8, .hidden = 16, .bias = true};
  op.cell = Cell::lstm;
  EXPECT_EQ(count(op).macs, cells * 4 * 24);
  // 8 biases; three sigmoids, two tanh, three multiplications, one addition.
  EXPECT_THAT(count(op).flop,
              ElementsAre(vector(cells * (8 + 12 + 10 + 4)), matrix(cells * 8 * 24)));
  EXPECT_EQ(count(op).transcendentals, cells * 5);
  op.peepholes = true;
  EXPECT_THAT(count(op).flop,
              ElementsAre(vector(cells * (8 + 12 + 10 + 4 + 6)), matrix(cells * 8 * 24)));
  op.peepholes = false;
  op.projection = 4;  // the state that each step takes, and the product that makes it
  EXPECT_EQ(count(op).macs, cells * (4 * (8 + 4) + 4));
  op.projection = 0;
  op.cell = Cell::gru;
  EXPECT_THAT(count(op).flop, ElementsAre(vector(cells * (6 + 8 + 5 + 5)), matrix(cells * 6 * 24)));
  op.cell = Cell::rnn;
  op.bias = false;
  EXPECT_THAT(count(op).flop, ElementsAre(vector(cells * 5), matrix(cells * 2 * 24)));
}

TEST(Count, Resize) {
  const auto flop = [](Interpolation kind, int axes, std::int64_t samples = 1) {
    return total_flop(count(Resize{kind, axes, 100, samples}));
  };
  EXPECT_EQ(flop(Interpolation::nearest, 2), 0);
  EXPECT_EQ(flop(Interpolation::linear, 0), 0);
  EXPECT_EQ(flop(Interpolation::linear, 1), 300);
  EXPECT_EQ(flop(Interpolation::linear, 2), 700);
  EXPECT_EQ(flop(Interpolation::linear, 3), 1500);
  EXPECT_EQ(flop(Interpolation::linear, 4), 3000);
  EXPECT_EQ(flop(Interpolation::cubic, 2), 3100);
  EXPECT_EQ(flop(Interpolation::linear, 2, 4), 400 * 8);
}

TEST(Count, SortScatterAndFourierTransform) {
  EXPECT_EQ(total_flop(count(Sort{.rows = 3, .elements = 100, .kept = 8})), 900);
  EXPECT_EQ(total_flop(count(Sort{.rows = 3, .elements = 100, .kept = 1})), 300);
  EXPECT_EQ(total_flop(count(Scatter{.updates = 50, .reduces = true})), 50);
  EXPECT_THAT(count(Scatter{.updates = 50}).flop, IsEmpty());
  EXPECT_EQ(total_flop(count(FourierTransform{.batch = 2, .length = 1024})), 5 * 2 * 1024 * 10);
  EXPECT_EQ(total_flop(count(FourierTransform{.batch = 2, .length = 1024, .real = true})),
            5 * 1024 * 10);
  EXPECT_THAT(count(FourierTransform{.length = 1}).flop, IsEmpty());
}

TEST(Count, MovingIsNotComputing) {
  for (const Op& op : {Op(Gather{100}), Op(Copy{}), Op(View{}), Op(Unknown{"no rule"})})
    EXPECT_EQ(count(op), Work{});
}

TEST(Count, WeightsCanBeOverridden) {
  OpWeights weights = default_weights();
  weights.softmax = {7, 2};
  const Work work = count_part({Softmax{10, false}, DType::fp32}, weights);
  EXPECT_THAT(work.flop, ElementsAre(vector(70)));
  EXPECT_EQ(work.transcendentals, 20);
}

RC_GTEST_PROP(CountProperty, WorkIsLinearInTheBatch, ()) {
  const auto size = [] { return *rc::gen::inRange<std::int64_t>(1, 50); };
  const std::int64_t batch = size(), heads = size(), length = size(), width = size();
  const std::vector<Op> one{
      Convolution{.in_channels = heads,
                  .out_channels = width,
                  .kernel = {3, 3},
                  .in_spatial = {length, length},
                  .out_spatial = {length, length},
                  .bias = true},
      MatMul{.m = length, .n = width, .k = heads, .bias = true},
      Attention{.q_heads = heads,
                .q_length = length,
                .kv_length = length,
                .qk_dimension = width,
                .v_dimension = width},
      Recurrent{.steps = length, .input = width, .hidden = heads, .bias = true}};
  std::vector<Op> many = one;
  std::get<Convolution>(many[0]).batch = batch;
  std::get<MatMul>(many[1]).batch = batch;
  std::get<Attention>(many[2]).batch = batch;
  std::get<Recurrent>(many[3]).batch = batch;
  for (std::size_t i = 0; i < one.size(); ++i) {
    const Work single = count(one[i]), all = count(many[i]);
    RC_ASSERT(all.macs == single.macs * static_cast<double>(batch));
    RC_ASSERT(all.transcendentals == single.transcendentals * static_cast<double>(batch));
    RC_ASSERT(all.flop.size() == single.flop.size());
    for (std::size_t j = 0; j < all.flop.size(); ++j)
      RC_ASSERT(all.flop[j].flop == single.flop[j].flop * static_cast<double>(batch));
  }
}

}  // namespace
}  // namespace ridgeline::testing
