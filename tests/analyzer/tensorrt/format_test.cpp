// Formats by pattern, with their padding, and tactics by the schools that name them.
#include "analyzer/tensorrt/format.h"

#include <gtest/gtest.h>

#include "analyzer/tensorrt/tactic.h"

namespace ridgeline::testing {
namespace {

using tensorrt::Format;
using tensorrt::Layout;
using tensorrt::padded_elements;
using tensorrt::parse_format;
using tensorrt::parse_tactic;

struct FormatCase {
  const char* phrase;
  ElementType type;
  Layout layout;
  std::int64_t channels, row;
  int spatial;
};

TEST(TensorrtFormat, PhrasesOfEveryVersion) {
  using T = ElementType;
  const FormatCase cases[] = {
      {"Row major linear FP32", T::fp32, Layout::linear, 1, 1, 2},
      {"Row major linear FP16 format", T::fp16, Layout::linear, 1, 1, 2},
      {"Row major linear FP32 format (kLINEAR)", T::fp32, Layout::linear, 1, 1, 2},
      {"Row major Int8 format", T::int8, Layout::linear, 1, 1, 2},
      {"Row major linear BOOL", T::boolean, Layout::linear, 1, 1, 2},
      {"Row major linear BFloat16 format", T::bf16, Layout::linear, 1, 1, 2},
      {"Row major linear FP8 format", T::fp8_e4m3fn, Layout::linear, 1, 1, 2},
      {"Row major linear Int4 format", T::int4, Layout::linear, 1, 1, 2},
      {"Two wide channel vectorized row major FP16 format", T::fp16, Layout::channel_vector, 2, 1,
       2},
      {"Four wide channel vectorized row major Int8 format", T::int8, Layout::channel_vector, 4, 1,
       2},
      {"Sixteen wide channel vectorized row major FP16 format", T::fp16, Layout::channel_vector, 16,
       1, 2},
      {"Thirty-two wide channel vectorized row major Int8 format", T::int8, Layout::channel_vector,
       32, 1, 2},
      {"Thirty-two wide channel vectorized row major Int8 format with 3 spatial dimensions.",
       T::int8, Layout::channel_vector, 32, 1, 3},
      {"Channel major FP32 format", T::fp32, Layout::channel_last, 1, 1, 2},
      {"Channel major FP16 format where channel % 8 == 0", T::fp16, Layout::channel_last, 8, 1, 2},
      {"Channel major FP16 format where channel % 8 == 0 with 3 spatial dimensions", T::fp16,
       Layout::channel_last, 8, 1, 3},
      {"Channel major FP16 format where channel == 4 and column stride % 32 == 0", T::fp16,
       Layout::channel_last, 4, 32, 2},
      {"Row major INT8 format where column stride % 64 == 0", T::int8, Layout::linear, 1, 64, 2},
      {"Float", T::fp32, Layout::linear, 1, 1, 2},
      {"Half", T::fp16, Layout::linear, 1, 1, 2},
      {"FP4E2M1", T::fp4_e2m1, Layout::linear, 1, 1, 2},
      {"Unknown format", T::unknown, Layout::unknown, 1, 1, 2},
      {"N/A due to dynamic shapes", T::unknown, Layout::unknown, 1, 1, 2},
      {"", T::unknown, Layout::unknown, 1, 1, 2},
  };
  for (const FormatCase& one : cases) {
    const Format format = parse_format(one.phrase);
    EXPECT_EQ(format, (Format{one.type, one.layout, one.channels, one.row, one.spatial}))
        << one.phrase;
  }
}

TEST(TensorrtFormat, PaddingCounts) {
  const Shape image{2, 3, 5, 7};
  EXPECT_EQ(padded_elements(image, parse_format("Half")), 2 * 3 * 5 * 7);
  EXPECT_EQ(padded_elements(image, parse_format("Thirty-two wide channel vectorized row major Int8 "
                                                "format")),
            2 * 32 * 5 * 7);
  EXPECT_EQ(
      padded_elements(image, parse_format("Channel major FP16 format where channel % 8 == 0")),
      2 * 8 * 5 * 7);
  EXPECT_EQ(padded_elements(image, parse_format("Row major FP16 format where column stride % 32 == "
                                                "0")),
            2 * 3 * 5 * 32);
  EXPECT_EQ(padded_elements({2, 3, 4, 5, 7},
                            parse_format("Channel major FP16 format where channel % 8 == 0 with 3 "
                                         "spatial dimensions")),
            2 * 8 * 4 * 5 * 7);
  EXPECT_EQ(padded_elements({3, 5, 7}, parse_format("Four wide channel vectorized row major Int8 "
                                                    "format")),
            4 * 5 * 7)
      << "without a batch, channels come first";
  EXPECT_EQ(padded_elements({2, 10}, parse_format("Thirty-two wide channel vectorized row major "
                                                  "Int8 format")),
            2 * 32);
  EXPECT_EQ(padded_elements({-1, 3}, parse_format("Half")), std::nullopt);
  EXPECT_EQ(padded_elements({1LL << 39, 1LL << 39}, parse_format("Half")), std::nullopt);
}

TEST(TensorrtTactic, NamesTellTypeTileAndUnits) {
  const auto xmma = parse_tactic(
      "sm80_xmma_fprop_implicit_gemm_f32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128x64x32_stage3_"
      "warpsize4x1x1_g1_tensor16x8x8");
  EXPECT_EQ(xmma.architecture, 80);
  EXPECT_EQ(xmma.dtype, DType::tf32);
  EXPECT_EQ(xmma.tile, (std::array{128, 64, 32}));
  EXPECT_EQ(xmma.tensor_cores, true);
  const auto ffma = parse_tactic(
      "sm80_xmma_fprop_implicit_gemm_f32f32_f32f32_f32_nchwkcrs_nchw_tilesize32x32x8_stage3_"
      "warpsize1x2x1_g1_ffma_t1r5s5");
  EXPECT_EQ(ffma.dtype, DType::fp32);
  EXPECT_EQ(ffma.tensor_cores, false);
  const auto mixed = parse_tactic(
      "sm80_xmma_fprop_implicit_gemm_interleaved_i8f16_i8i32_f32_nchw_vect_c_32kcrs_vect_c_32_nchw_"
      "vect_c_32_tilesize96x64x64_stage3_warpsize2x2x1_g1_tensor16x8x32");
  EXPECT_EQ(mixed.dtype, DType::int8);
  EXPECT_EQ(mixed.tensor_cores, true);
  const auto hopper = parse_tactic(
      "sm90_xmma_fprop_implicit_gemm_f16f16_f16f16_f16_nhwckrsc_nhwc_tilesize64x64x32_cgasize1x1x1_"
      "warpgroupsize1x1x1_g1_beta0");
  EXPECT_EQ(hopper.architecture, 90);
  EXPECT_EQ(hopper.tensor_cores, true);
  EXPECT_EQ(hopper.dtype, DType::fp16);
  const auto bf16 =
      parse_tactic("sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_tensor16x8x16");
  EXPECT_EQ(bf16.dtype, DType::bf16);
  const auto fp8 =
      parse_tactic("sm89_xmma_gemm_e4m3f16_e4m3f32_f32_tn_n_tilesize64x64x64_tensor16x8x32");
  EXPECT_EQ(fp8.dtype, DType::fp8);
}

TEST(TensorrtTactic, NamesOfLibraries) {
  const auto imma = parse_tactic("turing_fp16_i8816cudnn_int8_128x128_ldg16_relu_small_nt_v1");
  EXPECT_EQ(imma.dtype, DType::int8);
  EXPECT_EQ(imma.tensor_cores, true);
  EXPECT_EQ(imma.tile, (std::array{128, 128, 0}));
  const auto dp4a = parse_tactic("volta_fp32_icudnn_int8x4_128x32_relu_xregs_interior_nn_v1");
  EXPECT_EQ(dp4a.dtype, DType::int8);
  EXPECT_EQ(dp4a.tensor_cores, false);
  const auto half = parse_tactic("ampere_h16816cudnn_256x64_ldg8_relu_exp_stages_64x3_small_nhwc");
  EXPECT_EQ(half.dtype, DType::fp16);
  EXPECT_EQ(half.tensor_cores, true);
  const auto single = parse_tactic("ampere_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1");
  EXPECT_EQ(single.dtype, DType::fp32);
  EXPECT_EQ(single.tensor_cores, false);
  EXPECT_TRUE(single.winograd);
  const auto vector = parse_tactic("sm50_xmma_cublas_gemvx_f32f32_f32_f32_tn_n_int32_unit_n");
  EXPECT_EQ(vector.dtype, DType::fp32);
  EXPECT_EQ(vector.tensor_cores, false);
}

TEST(TensorrtTactic, OtherNamesSayNothing) {
  for (const char* name : {"", "__myl_MulSum_0xf51780477f7b66bae3896079c053d676", "sm_", "x_y_z"})
    EXPECT_EQ(parse_tactic(name), tensorrt::Tactic{}) << name;
}

}  // namespace
}  // namespace ridgeline::testing
