// Options of workloads: which are accepted, which are rejected, and the messages.
// The command line is tested in tests/cli/workloads_test.cpp.
#include "workloads/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "base/error.h"
#include "workloads/registry.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;

// The line of the error, which must be a usage error.
std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "nothing was refused";
}

std::string refused(const char* name, const char* options) {
  return refusal([&] { build_workload(name, parse_options(options)); });
}

TEST(WorkloadOptions, AreReadAsMeasurementTablesHaveThem) {
  const WorkloadOptions options = parse_options("seq=512;attention=eager");
  EXPECT_EQ(options.seq, 512);
  EXPECT_EQ(options.attention, AttentionForm::eager);
  EXPECT_EQ(parse_options("image=1200;").image, 1200);
  EXPECT_EQ(parse_options("logits=none").logits, Logits::none);
  EXPECT_EQ(parse_options(""), WorkloadOptions());
  const WorkloadOptions all =
      parse_options("batch=4;image=64;seq=8;context=2k;phase=decode;dtype=fp16;classes=10");
  EXPECT_EQ(all.batch, 4);
  EXPECT_EQ(all.context, 2000);
  EXPECT_EQ(all.phase, Phase::decode);
  EXPECT_EQ(all.dtype, ElementType::fp16);
  EXPECT_EQ(all.classes, 10);
}

TEST(WorkloadOptions, HaveDefaults) {
  const Settings settings = resolve(workload_named("gpt2"), {});
  EXPECT_EQ(settings.batch, 1);
  EXPECT_EQ(settings.seq, 128);
  EXPECT_EQ(settings.phase, Phase::prefill);
  EXPECT_EQ(settings.attention, AttentionForm::fused);
  EXPECT_EQ(settings.dtype, ElementType::fp32);
  EXPECT_FALSE(settings.given);
  EXPECT_EQ(resolve(workload_named("inception_v3"), {}).image, 299);
  EXPECT_EQ(resolve(workload_named("ssd_resnet34"), {}).classes, 81);
}

TEST(WorkloadOptions, NonsenseIsOneLine) {
  const auto one = [](WorkloadOption option, const char* text) {
    return refusal([&] {
      WorkloadOptions options;
      set_option(options, option, text);
    });
  };
  EXPECT_EQ(one(WorkloadOption::batch, "0"), "--batch 0: must be from 1 to 1048576");
  EXPECT_EQ(one(WorkloadOption::batch, "1099511627776"),
            "--batch 1099511627776: must be from 1 to 1048576");
  EXPECT_THAT(one(WorkloadOption::batch, "-1"), HasSubstr("--batch -1: \"-1\" is not a count"));
  EXPECT_THAT(one(WorkloadOption::seq, "many"), HasSubstr("\"many\" is not a count"));
  EXPECT_EQ(one(WorkloadOption::dtype, "fp23"),
            "--dtype fp23: a network cannot be built in this type (use one of fp64, fp32, fp16, "
            "bf16, fp8, int8)");
  EXPECT_EQ(one(WorkloadOption::dtype, "tf32"),
            "--dtype tf32: tf32 is how a runtime computes on fp32, no tensor is stored in it (use "
            "fp32)");
  EXPECT_EQ(one(WorkloadOption::phase, "both"),
            "--phase both: no such phase (use prefill or decode)");
  EXPECT_EQ(one(WorkloadOption::attention, "flash"),
            "--attention flash: no such form of attention (use fused or eager)");
  EXPECT_EQ(one(WorkloadOption::logits, "first"),
            "--logits first: no such choice of logits (use all or last or none)");
  EXPECT_THAT(refusal([] { parse_options("length=3"); }),
              HasSubstr("option 'length=3': is not key=value with a key of a workload (keys are "
                        "batch, image, seq"));
}

TEST(WorkloadOptions, ThatANetworkDoesNotHaveAreNamed) {
  EXPECT_EQ(refused("resnet50", "seq=128"),
            "--seq: resnet50 has no such option (it has --batch, --image, --dtype, --precision, "
            "--classes)");
  EXPECT_EQ(refused("bert_base", "phase=prefill"),
            "--phase: bert_base has no such option (it has --batch, --seq, --attention, --dtype, "
            "--precision)");
  EXPECT_EQ(refused("lenet5", "image=64"),
            "--image: lenet5 has no such option (it has --batch, --dtype, --precision, --classes)");
  EXPECT_EQ(refused("swin_t", "attention=fused"),
            "--attention: swin_t has no such option (it has --batch, --image, --dtype, "
            "--precision, --classes)");
}

TEST(WorkloadOptions, NumbersOutOfRangeAreRefusedHoweverTheyCame) {
  WorkloadOptions options;
  options.batch = 0;
  EXPECT_EQ(refusal([&] { build_workload("resnet18", options); }),
            "--batch 0: must be from 1 to 1048576");
  options.batch = std::int64_t{1} << 40;
  EXPECT_EQ(refusal([&] { build_workload("resnet18", options); }),
            "--batch 1099511627776: must be from 1 to 1048576");
  WorkloadOptions text;
  text.dtype = ElementType::string;
  EXPECT_EQ(refusal([&] { build_workload("resnet18", text); }),
            "--dtype string: a network cannot be built in this type");
}

TEST(WorkloadOptions, PhasesHaveTheirOwnLengths) {
  EXPECT_EQ(refused("gpt2", "phase=decode;seq=8"),
            "--seq 8: a decode step has one token (--context says how many are in the cache)");
  EXPECT_EQ(refused("gpt2", "context=8"),
            "--context 8: a prompt has nothing in the cache (add --phase decode, or use --seq)");
  EXPECT_EQ(refused("gpt2", "seq=1025"),
            "gpt2: 1025 tokens: the model has 1024 positions (give a --seq of at most 1024)");
  EXPECT_EQ(refused("opt-1.3b", "phase=decode;context=2048"),
            "opt-1.3b: a context of 2048 and one token more: the model has 2048 positions (give a "
            "--context of at most 2047, or a --prompt and --generate of at most 2048 together)");
  EXPECT_NO_THROW(build_workload("gpt2", parse_options("seq=1024")));
}

TEST(WorkloadOptions, ImagesThatDoNotFitAreRefused) {
  EXPECT_EQ(refused("alexnet", "image=32"),
            "alexnet: an image of 32x32 is too small: 'features.12' has a window of 3x3 and only "
            "1x1 to see (give a larger --image)");
  EXPECT_THAT(refused("inception_v3", "image=70"), HasSubstr("inception_v3: an image of 70x70 is"));
  EXPECT_THAT(refused("unet", "image=100"), HasSubstr("unet: an image of 100x100 is too small"));
  EXPECT_EQ(refused("vit_b_16", "image=230"),
            "vit_b_16: an image of 230x230 does not divide into patches of 16x16 (give an --image "
            "that is a multiple of 16)");
  EXPECT_THAT(refused("maxvit_t", "image=256"), HasSubstr("do not divide into windows of 7x7"));
  EXPECT_THAT(refused("yolov8n", "image=100"), HasSubstr("cannot join"));
}

TEST(WorkloadOptions, SizesBeyondCountingAreRefused) {
  EXPECT_THAT(refused("vgg16", "batch=1048576;image=1048576"),
              HasSubstr("more than can be counted (ask for a smaller size)"));
  EXPECT_THAT(refused("vit_b_16", "image=1048576;attention=eager"), HasSubstr("can be counted"));
}

TEST(Workloads, UnknownNamesGetTheNearest) {
  EXPECT_EQ(refusal([] { build_workload("resnet5"); }),
            "workload 'resnet5': no network and no file has this name (did you mean resnet50?)");
  EXPECT_THAT(refusal([] { build_workload("llama3.2-1bb"); }), HasSubstr("mean llama-3.2-1b?"));
  EXPECT_THAT(
      refusal([] { build_workload("resnet"); }),
      HasSubstr("did you mean resnet18, resnet34, resnet50, resnet101 or resnet18_dreamlab?"));
  EXPECT_EQ(refusal([] { build_workload("qqqqqqqq"); }),
            "workload 'qqqqqqqq': no network and no file has this name ('ridgeline workloads' "
            "lists the names)");
  EXPECT_FALSE(find_workload("resnet"));
  EXPECT_EQ(find_workload("Llama3.2-1B")->name, "llama-3.2-1b");  // in any case and punctuation
  EXPECT_EQ(find_workload("ResNet-50")->name, "resnet50");
  EXPECT_EQ(find_workload("resnet50")->family, "resnet");
}

TEST(Workloads, EveryRowSaysWhereItComesFrom) {
  for (const Workload& workload : all_workloads()) {
    EXPECT_FALSE(workload.source.empty()) << workload.name;
    EXPECT_THAT(std::string(workload.address), ::testing::StartsWith("https://")) << workload.name;
    EXPECT_FALSE(workload.family.empty()) << workload.name;
    EXPECT_TRUE(workload.options.has(WorkloadOption::batch)) << workload.name;
    EXPECT_TRUE(workload.options.has(WorkloadOption::dtype)) << workload.name;
    EXPECT_TRUE(!workload.options.has(WorkloadOption::image) || workload.image > 0);
    EXPECT_TRUE(!workload.options.has(WorkloadOption::classes) || workload.classes > 0);
  }
}

}  // namespace
}  // namespace ridgeline::testing
