// Memory of `explain` and `plan` end to end: what fits is shown, what is close is noted, what
// cannot fit is refused with exit code 3 and remedies that work.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "base/json.h"
#include "tests/support/process.h"
#include "tests/support/schema_validator.h"

namespace ridgeline::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

using Words = std::vector<std::string>;

Words with_words(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Json memory_json(const Words& words, const char* schema) {
  const ProcessResult result = run_ridgeline(with_words(words, {"--json"}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const Json json = parse_json(result.out, "output");
  EXPECT_THAT(schema_violations(json, schema), IsEmpty());
  return json;
}

// One line on stderr, nothing on stdout.
std::string refusal(const Words& words) {
  const ProcessResult result = run_ridgeline(words);
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  return result.err;
}

// The number after `words` in a message.
std::string number_after(const std::string& text, const std::string& words) {
  std::smatch match;
  if (!std::regex_search(text, match, std::regex(words + "([0-9]+)"))) return "";
  return match[1];
}

const Words train_on_nano{"plan", "--train", "resnet50", "--on", "jetson-nano"};

TEST(Memory, ATrainingStepBeyondTheBoardIsRefused) {
  const std::string text = refusal(with_words(train_on_nano, {"--batch", "256"}));
  EXPECT_THAT(text, AllOf(StartsWith("ridgeline: resnet50: a training step of batch 256"),
                          HasSubstr("Jetson Nano has"), HasSubstr("usable"),
                          HasSubstr("activations 2"), HasSubstr("the largest batch that fits is "),
                          HasSubstr("a device with more memory such as jetson-agx-")));
  // What it suggests can be planned.
  const std::string batch = number_after(text, "largest batch that fits is ");
  ASSERT_NE(batch, "");
  EXPECT_EQ(run_ridgeline(with_words(train_on_nano, {"--batch", batch})).exit_code, 0);
  const std::string possible = number_after(text, "that fits is [0-9]+, up to ");
  ASSERT_NE(possible, "");
  EXPECT_EQ(run_ridgeline(with_words(train_on_nano, {"--batch", possible})).exit_code, 0);
  refusal(with_words(train_on_nano, {"--batch", std::to_string(std::stoi(possible) + 1)}));
}

TEST(Memory, WeightsBeyondTheBoardAreRefused) {
  const std::string text =
      refusal({"explain", "opt-1.3b", "--on", "jetson-nano", "--runtime", "torch-eager"});
  EXPECT_THAT(text, AllOf(StartsWith("ridgeline: opt-1.3b: "), HasSubstr("weights 5.26 GB"),
                          HasSubstr("no batch fits"), HasSubstr("--dtype fp16, which may fit"),
                          HasSubstr("jetson-orin-n")));
  EXPECT_THAT(text, Not(HasSubstr("int8")));  // Nano has no units for it
  EXPECT_EQ(run_ridgeline({"explain", "opt-1.3b", "--on", "jetson-agx-orin-64gb"}).exit_code, 0);
}

TEST(Memory, TheLongestContextIsFound) {
  const Words decode{"explain", "opt-1.3b", "--on",      "jetson-orin-nano-8gb",
                     "--dtype", "fp16",     "--runtime", "tensorrt"};
  const std::string text =
      refusal(with_words(decode, {"--phase", "decode", "--context", "2047", "--batch", "32"}));
  const std::string batch = number_after(text, "largest batch that fits is ");
  ASSERT_NE(batch, "") << text;
  // 24 layers, keys and values of 2048 numbers of two bytes.
  const double cache = 24 * 2 * 2048 * 2 * 2048.0 * std::stod(batch);
  EXPECT_LT(cache, 4.5e9);
  EXPECT_GT(cache, 1.5e9);
  const std::string prompt = refusal({"explain", "opt-1.3b", "--on", "jetson-orin-nano-8gb",
                                      "--seq", "2048", "--batch", "1", "--free-memory", "6.5GB"});
  const std::string seq = number_after(prompt, "largest seq that fits is ");
  ASSERT_NE(seq, "") << prompt;
  EXPECT_EQ(run_ridgeline({"explain", "opt-1.3b", "--on", "jetson-orin-nano-8gb", "--seq", seq,
                           "--free-memory", "6.5GB"})
                .exit_code,
            0);
}

TEST(Memory, WhatFitsIsShown) {
  const Words explain{"explain", "resnet50", "--on", "jetson-orin-nano-8gb"};
  const ProcessResult text = run_ridgeline(explain);
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("memory: "));
  EXPECT_THAT(text.out, HasSubstr("weights 102 MB"));
  EXPECT_THAT(text.out, Not(HasSubstr("memory may not be enough")));
  const Json json = memory_json(explain, "explanation.schema.json");
  const Json& memory = json.at("memory");
  EXPECT_EQ(memory.at("verdict"), "fits");
  EXPECT_EQ(memory.at("parts").at("weights"), 4 * 25557032);
  double sum = memory.at("runtime").at("value").get<double>();
  for (const Json& part : memory.at("parts")) sum += part.get<double>();
  EXPECT_NEAR(memory.at("needed").at("value").get<double>(), sum, 0.01 * sum);
  EXPECT_EQ(memory.at("usable").at("source"), "assumed");

  const Json plan =
      memory_json({"plan", "resnet50", "--on", "jetson-orin-nano-8gb"}, "plan.schema.json");
  EXPECT_EQ(plan.at("memory").at("verdict"), "fits");
  EXPECT_EQ(plan.at("memory").at("usable"), memory.at("usable"));
}

TEST(Memory, CloseToTheLimitIsANote) {
  const Words close{"explain", "opt-1.3b", "--on", "jetson-nano", "--dtype", "fp16"};
  const Json json = memory_json(close, "explanation.schema.json");
  EXPECT_EQ(json.at("memory").at("verdict"), "tight");
  EXPECT_THAT(json.at("notes").dump(), HasSubstr("memory may not be enough"));
}

TEST(Memory, FreeMemoryWins) {
  const Words explain{"explain", "resnet50", "--on", "jetson-orin-nano-8gb", "--free-memory"};
  const std::string text = refusal(with_words(explain, {"300MB"}));
  EXPECT_THAT(text, AllOf(HasSubstr("--free-memory 300MB"), HasSubstr("free more memory")));
  EXPECT_EQ(run_ridgeline({"explain", "opt-1.3b", "--on", "jetson-nano", "--free-memory", "9GB"})
                .exit_code,
            0);
  EXPECT_EQ(run_ridgeline(with_words(explain, {"2.14"})).exit_code, 2);
  refusal({"plan", "resnet50", "--on", "jetson-orin-nano-8gb", "--free-memory", "300MB"});
  // With --train it is left for the page cache, beside the run.
  EXPECT_EQ(run_ridgeline({"plan", "--train", "resnet18", "--on", "jetson-xavier-nx",
                           "--free-memory", "2.14GB"})
                .exit_code,
            0);
}

TEST(Memory, VariantsThatDoNotFitAreLeftOut) {
  const Json plan =
      memory_json(with_words(train_on_nano, {"--batch", "4,1024"}), "plan.schema.json");
  EXPECT_EQ(plan.at("chosen").at("batch"), 4);
  EXPECT_THAT(plan.at("warnings").dump(), HasSubstr("batch 1024 in fp32 is left out: it needs "));
  const std::string text = refusal(with_words(train_on_nano, {"--batch", "512,1024"}));
  EXPECT_THAT(text, HasSubstr("a training step of batch 512"));
}

TEST(Memory, RemediesOfTrainingAreTried) {
  const std::string text =
      refusal({"plan", "--train", "resnet50", "--on", "jetson-orin-nano-8gb", "--batch", "128"});
  EXPECT_THAT(text, HasSubstr("--checkpoint"));
  EXPECT_EQ(run_ridgeline({"plan", "--train", "resnet50", "--on", "jetson-orin-nano-8gb", "--batch",
                           "128", "--checkpoint"})
                .exit_code,
            0);
}

TEST(Memory, BothNetworksCount) {
  const Words both{"plan",
                   "--train",
                   "resnet50",
                   "--infer",
                   "opt-1.3b",
                   "--rate",
                   "1/s",
                   "--latency",
                   "60s",
                   "--batch",
                   "1",
                   "--on",
                   "jetson-orin-nano-8gb"};
  const std::string text = refusal(with_words(both, {"--minibatch", "32"}));
  EXPECT_THAT(text, AllOf(HasSubstr("a training step of batch 32 in fp32 beside opt-1.3b needs"),
                          HasSubstr("weights 5.37 GB")));
  const Words small{"plan", "--train",   "resnet18", "--infer", "mobilenet_v2",        "--rate",
                    "20/s", "--latency", "150ms",    "--on",    "jetson-orin-nano-8gb"};
  const Json plan = memory_json(small, "plan.schema.json");
  EXPECT_GT(plan.at("memory").at("parts").at("gradients"), 0);
  EXPECT_GT(plan.at("memory").at("parts").at("weights"), 4 * 11.6e6 + 2 * 3.5e6);
}

}  // namespace
}  // namespace ridgeline::testing
