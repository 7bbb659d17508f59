// Variants of one network: as requested, with another batch or type, and rejected ones.
#include "workloads/network_variants.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace ridgeline::testing {
namespace {

TEST(NetworkVariants, AreMadeOnce) {
  NetworkVariants variants({.word = "resnet18"});
  const NetworkVariant& given = variants.as_given(Runtime::tensorrt);
  EXPECT_EQ(given.batch, 1);
  EXPECT_EQ(given.dtype, DType::fp32);
  EXPECT_EQ(&variants.as_given(Runtime::tensorrt), &given);
  EXPECT_EQ(&variants.with(1, DType::fp32, Runtime::tensorrt), &given);
  const NetworkVariant& other = variants.with(8, DType::fp16, Runtime::tensorrt);
  EXPECT_EQ(other.batch, 8);
  EXPECT_EQ(other.dtype, DType::fp16);
  EXPECT_EQ(&variants.with(8, DType::fp16, Runtime::tensorrt), &other);
}

TEST(NetworkVariants, EachRuntimeHasItsKernels) {
  NetworkVariants variants({.word = "resnet18"});
  EXPECT_LT(variants.as_given(Runtime::tensorrt).demands.size(),
            variants.as_given(Runtime::torch_eager).demands.size());
}

TEST(NetworkVariants, StartFromTheRequest) {
  NetworkVariants variants({.word = "resnet18", .batch = 4, .dtype = DType::int8});
  EXPECT_EQ(variants.as_given(Runtime::tensorrt).batch, 4);
  EXPECT_EQ(variants.as_given(Runtime::tensorrt).dtype, DType::int8);
}

TEST(NetworkVariants, TrainingIsAStepOfIt) {
  NetworkVariants forward({.word = "resnet18"});
  NetworkVariants training({.word = "resnet18"}, TrainingOptions{});
  EXPECT_GT(training.as_given(Runtime::torch_eager).demands.size(),
            forward.as_given(Runtime::torch_eager).demands.size());
}

TEST(NetworkRequests, OptionsOfTheOtherKindAreRefused) {
  NetworkRequest request{.word = "resnet18"};
  request.reading.dims["seq"] = 3;
  EXPECT_THROW(load_network(request), Error);
  request.shares_options = true;
  EXPECT_NO_THROW(load_network(request));
  EXPECT_THROW(load_network({.word = "resnet18", .dtype = DType::tf32}), Error);
  EXPECT_THROW(load_network({.word = "gone.onnx", .dtype = DType::fp16}), Error);
}

}  // namespace
}  // namespace ridgeline::testing
