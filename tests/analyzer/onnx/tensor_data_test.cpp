// Elements of small tensors: every element type, as raw bytes and in its typed field.
// Expected values are written out, not computed by a second decoder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "analyzer/onnx/model_file.h"
#include "base/error.h"
#include "tests/support/onnx_builder.h"

namespace ridgeline::testing {
namespace {

using onnx::Contents;
using onnx::ModelFile;
using ::testing::HasSubstr;

std::optional<Contents> contents_of(const TensorBuilder& tensor) {
  OnnxBuilder model;
  model.node("Constant", {}, {"c"}).attribute("value", tensor);
  const ModelFile file(model.bytes(), "model.onnx");
  return file.contents(*file.model().graph.nodes[0].attributes[0].tensor);
}

TensorBuilder list(ElementType type, std::int64_t count) { return {"t", type, {count}}; }

TEST(TensorData, Integers) {
  const Contents signed_values = {1, -2, 0};
  for (const ElementType type : {ElementType::int64, ElementType::int32, ElementType::int16,
                                 ElementType::int8, ElementType::int4, ElementType::int2})
    EXPECT_EQ(contents_of(list(type, 3).ints({1, -2, 0})), signed_values) << to_string(type);
  const Contents unsigned_values = {1, 2, 3};
  for (const ElementType type : {ElementType::uint64, ElementType::uint32, ElementType::uint16,
                                 ElementType::uint8, ElementType::uint4, ElementType::uint2})
    EXPECT_EQ(contents_of(list(type, 3).ints({1, 2, 3})), unsigned_values) << to_string(type);
}

TEST(TensorData, ExtremesOf64BitsAreExact) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  const Contents expected = {static_cast<long double>(most), static_cast<long double>(least)};
  EXPECT_EQ(contents_of(list(ElementType::int64, 2).ints({most, least})), expected);
  EXPECT_EQ(contents_of(list(ElementType::int64, 2).int64_data({most, least})), expected);
  const Contents all_ones = {static_cast<long double>(std::numeric_limits<std::uint64_t>::max())};
  EXPECT_EQ(contents_of(list(ElementType::uint64, 1).ints({-1})), all_ones);
}

TEST(TensorData, NibblesStartInTheLowBits) {
  EXPECT_EQ(contents_of(list(ElementType::uint4, 3).raw_data("\x21\x03")), (Contents{1, 2, 3}));
  EXPECT_EQ(contents_of(list(ElementType::int4, 3).int32_data({0xF1, 8})), (Contents{1, -1, -8}));
  EXPECT_EQ(contents_of(list(ElementType::uint2, 5).int32_data({0xE4, 1})),
            (Contents{0, 1, 2, 3, 1}));
}

TEST(TensorData, FloatingTypes) {
  EXPECT_EQ(contents_of(list(ElementType::fp32, 2).floats({0.5, -3})), (Contents{0.5, -3}));
  EXPECT_EQ(contents_of(list(ElementType::fp64, 2).floats({0.1, -3})), (Contents{0.1, -3}));
  EXPECT_EQ(contents_of(list(ElementType::fp16, 4).ints({0x3C00, 0xC100, 0x0001, 0x7BFF})),
            (Contents{1, -2.5, std::ldexp(1.0L, -24), 65504}));
  EXPECT_EQ(contents_of(list(ElementType::bf16, 2).ints({0x3F80, 0xC040})), (Contents{1, -3}));
}

// Values from the tables in onnx's "Float stored in 8 bits" and the OCP specifications.
TEST(TensorData, FloatsOfEightAndFewerBits) {
  EXPECT_EQ(contents_of(list(ElementType::fp8_e4m3fn, 4).ints({0x38, 0x7E, 0xC0, 0x01})),
            (Contents{1, 448, -2, std::ldexp(1.0L, -9)}));
  EXPECT_EQ(contents_of(list(ElementType::fp8_e4m3fnuz, 3).ints({0x40, 0x7F, 0x01})),
            (Contents{1, 240, std::ldexp(1.0L, -10)}));
  EXPECT_EQ(contents_of(list(ElementType::fp8_e5m2, 3).ints({0x3C, 0x7B, 0x01})),
            (Contents{1, 57344, std::ldexp(1.0L, -16)}));
  EXPECT_EQ(contents_of(list(ElementType::fp8_e5m2fnuz, 3).ints({0x40, 0x7F, 0x01})),
            (Contents{1, 57344, std::ldexp(1.0L, -17)}));
  EXPECT_EQ(contents_of(list(ElementType::fp8_e8m0, 3).ints({127, 128, 0})),
            (Contents{1, 2, std::ldexp(1.0L, -127)}));
  EXPECT_EQ(contents_of(list(ElementType::fp4_e2m1, 5).ints({1, 2, 7, 9, 15})),
            (Contents{0.5, 1, 6, -0.5, -6}));
}

TEST(TensorData, InfinitiesAndNans) {
  const auto first = [](ElementType type, std::int64_t code) {
    return contents_of(list(type, 1).ints({code})).value().at(0).value();
  };
  EXPECT_TRUE(std::isinf(first(ElementType::fp16, 0x7C00)));
  EXPECT_TRUE(std::isnan(first(ElementType::fp16, 0x7C01)));
  EXPECT_TRUE(std::isnan(first(ElementType::fp8_e4m3fn, 0x7F)));
  EXPECT_TRUE(std::isnan(first(ElementType::fp8_e4m3fnuz, 0x80)));
  EXPECT_TRUE(std::isinf(first(ElementType::fp8_e5m2, 0xFC)));
  EXPECT_TRUE(std::isnan(first(ElementType::fp8_e5m2fnuz, 0x80)));
  EXPECT_TRUE(std::isnan(first(ElementType::fp8_e8m0, 255)));
}

TEST(TensorData, TypedFields) {
  EXPECT_EQ(contents_of(list(ElementType::fp32, 2).float_data({1.5F, -2})), (Contents{1.5, -2}));
  EXPECT_EQ(contents_of(list(ElementType::fp64, 1).double_data({0.1})), (Contents{0.1}));
  EXPECT_EQ(contents_of(list(ElementType::int32, 2).int32_data({7, -7})), (Contents{7, -7}));
  EXPECT_EQ(contents_of(list(ElementType::int8, 2).int32_data({7, -7})), (Contents{7, -7}));
  EXPECT_EQ(contents_of(list(ElementType::boolean, 2).int32_data({0, 1})), (Contents{0, 1}));
  EXPECT_EQ(contents_of(list(ElementType::fp16, 1).int32_data({0x3C00})), (Contents{1}));
  EXPECT_EQ(contents_of(list(ElementType::uint32, 1).uint64_data({4000000000})),
            (Contents{4000000000}));
}

TEST(TensorData, ValuesOfATypedFieldMayStandAlone) {
  // Two unpacked int64_data fields, as old writers have them, then a packed one.
  TensorBuilder tensor = list(ElementType::int64, 4);
  std::string bytes = tensor.bytes() + std::string("\x38\x05\x38\x06", 4);
  bytes += std::string("\x3A\x02\x07\x08", 4);
  std::string attribute = std::string("\x0A\x05value\x2A", 8) + static_cast<char>(bytes.size());
  attribute += bytes;
  std::string node = std::string("\x2A", 1) + static_cast<char>(attribute.size()) + attribute;
  std::string graph = std::string("\x0A", 1) + static_cast<char>(node.size()) + node;
  std::string model = std::string("\x3A", 1) + static_cast<char>(graph.size()) + graph;
  const ModelFile file(model, "model.onnx");
  EXPECT_EQ(file.contents(*file.model().graph.nodes[0].attributes[0].tensor),
            (Contents{5, 6, 7, 8}));
}

TEST(TensorData, ScalarsAndEmptyTensors) {
  EXPECT_EQ(contents_of(TensorBuilder("t", ElementType::int64, {}).ints({9})), (Contents{9}));
  EXPECT_EQ(contents_of(TensorBuilder("t", ElementType::int64, {0})), Contents{});
}

TEST(TensorData, WhatIsNotANumberOrTooLargeHasNoContents) {
  EXPECT_EQ(contents_of(list(ElementType::string, 1).string_data({"a"})), std::nullopt);
  EXPECT_EQ(contents_of(list(ElementType::complex64, 1).float_data({1, 2})), std::nullopt);
  const auto most = static_cast<std::int64_t>(onnx::max_contents);
  EXPECT_TRUE(contents_of(list(ElementType::int8, most).zeros()));
  EXPECT_EQ(contents_of(list(ElementType::int8, most + 1).zeros()), std::nullopt);
}

TEST(TensorData, ValuesThatAreFewerThanTheirLengthAllowedAreAnError) {
  // Three bytes could be three values, but the first two are continued: it is one value.
  try {
    contents_of(list(ElementType::int64, 2).int64_data({1 << 20}));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("tensor \"t\": 2 of int64 needs 16 bytes"));
  }
}

}  // namespace
}  // namespace ridgeline::testing
