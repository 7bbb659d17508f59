// `ridgeline plan --train` end to end, alone and with --infer: every format, agreement with
// `explain --train`, and every error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "base/json.h"
#include "base/profile.h"
#include "base/text_file.h"
#include "base/text_table.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"
#include "tests/support/schema_validator.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

using Words = std::vector<std::string>;

Words training_with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

const Words train{"plan", "--train", "resnet18", "--on", "jetson-orin-nano-8gb"};
const Words facts{"--dataset", "50000x150kB", "--storage", "ssd", "--workers", "4"};
const Words both =
    training_with(train, {"--infer", "mobilenet_v2", "--rate", "20/s", "--latency", "150ms"});

Json training_json(const Words& words) {
  const ProcessResult result = run_ridgeline(training_with(words, {"--json"}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const Json json = parse_json(result.out, "output");
  EXPECT_THAT(schema_violations(json, "plan.schema.json"), IsEmpty());
  return json;
}

void expect_step_of_explain(const Json& step, const std::string& mode, const std::string& batch) {
  const ProcessResult result =
      run_ridgeline({"explain", "resnet18", "--train", "--on", "jetson-orin-nano-8gb", "--mode",
                     mode, "--batch", batch, "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json explained = parse_json(result.out, "output");
  for (const char* part : {"time_s", "power_w", "energy_j", "bound"})
    EXPECT_EQ(step.at(part), explained.at(part)) << part;
  EXPECT_EQ(
      step.at("energy_j").at("value").get<double>(),
      step.at("power_w").at("value").get<double>() * step.at("time_s").at("value").get<double>());
}

TEST(PlanTraining, TextSaysEpochsBoundAndWhatWasAssumed) {
  for (const Words& words : {training_with(training_with(train, facts),
                                           {"--epochs", "10", "--power", "12W", "--explain"}),
                             both}) {
    const ProcessResult result = run_ridgeline(training_with(words, {"--why", "25W"}));
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, StartsWith("mode"));
    EXPECT_THAT(result.out, HasSubstr("why not 25W"));
    std::istringstream lines(result.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 80) << line;
  }
  // Undo the line wrapping.
  std::string text =
      run_ridgeline(training_with(training_with(train, facts), {"--epochs", "3"})).out;
  for (std::size_t at = 0; (at = text.find("\n  ", at)) != std::string::npos;)
    text.replace(at, 3, " ");
  for (const char* part : {"mean epoch", "all 3: time", "data stall", "host, not hidden",
                           "bound by the device", "keep the device busy", "--dataset 50000x150kB",
                           "AGX Xavier: 1 ms per image", "note: --decode is not given"})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_THAT(text, Not(HasSubstr("a core clock of"))) << "it does not matter";
  // The core clock is named where the loaders hold the device up.
  const std::string waits =
      run_ridgeline(training_with(train, {"--dataset", "50000x150kB", "--storage", "ssd",
                                          "--workers", "1", "--epochs", "3"}))
          .out;
  EXPECT_THAT(waits, HasSubstr("bound by the input pipeline"));
  EXPECT_THAT(waits, HasSubstr("a core clock of"));
}

TEST(PlanTraining, AMinibatchIsThatOfExplain) {
  const Json plan = training_json(training_with(
      training_with(train, facts),
      {"--batch", "8,16", "--max-slowdown", "30%", "--epochs", "5", "--battery", "50Wh"}));
  const Json& chosen = plan.at("chosen");
  expect_step_of_explain(chosen, chosen.at("mode").at("request"),
                         std::to_string(chosen.at("batch").get<int>()));
  const Json& training = plan.at("training");
  EXPECT_EQ(training.at("dataset").at("samples"), 50000);
  EXPECT_EQ(training.at("storage").at("source"), "fitted");
  EXPECT_EQ(training.at("assumed").size(), 1U);  // decoding
  EXPECT_LE(training.at("training_energy_j").at("value").get<double>(), 50 * 3600);
  EXPECT_TRUE(plan.at("concurrent").is_null());
}

TEST(PlanTraining, BesideInferenceBothStepsAreThoseOfExplain) {
  const Json plan = training_json(training_with(both, {"--power", "14W", "--jitter", "2ms"}));
  const Json& training = plan.at("concurrent").at("training");
  const std::string mode = plan.at("chosen").at("mode").at("request");
  expect_step_of_explain(training, mode, std::to_string(training.at("minibatch").get<int>()));
  EXPECT_LE(plan.at("concurrent").at("latency_s").at("value").get<double>(), 0.15);
  EXPECT_LE(plan.at("concurrent").at("mean_power_w").at("value").get<double>(), 14);
  EXPECT_TRUE(plan.at("training").is_null());
  const Json fed =
      training_json(training_with(both, {"--dataset", "1Mx150kB", "--storage", "hdd", "--workers",
                                         "1", "--filter", "cores=4", "--minibatch", "4"}));
  EXPECT_GT(fed.at("concurrent").at("lost_to_input").get<double>(), 0);
}

TEST(PlanTraining, StorageOfAProfile) {
  const TemporaryDirectory folder;
  Profile profile = load_profile(source_file("tests/data/profiles/example_cpu.json"));
  const auto rate = [](double value) { return exact(value, Source::measured); };
  profile.modes[0].storage = {
      {"sequential", "ext4", "ssd", 1, 1 << 20, Status::ok, "", rate(400e6)},
      {"samples", "ext4", "ssd", 1, 100000, Status::ok, "", rate(50e6)}};
  profile.modes[0].decode = {
      {"jpeg", "libjpeg-turbo 2.1.5", 500, 375, 100000, 1, Status::ok, "", rate(2e-3), rate(3e9)}};
  const std::string path = folder.path() + "/board.json";
  save_profile(profile, path);
  const Json plan = training_json(training_with(
      train, {"--dataset", "50000x200kB", "--workers", "4", "--storage", path, "--strict"}));
  const Json& training = plan.at("training");
  EXPECT_EQ(training.at("storage").at("source"), "measured");
  EXPECT_NEAR(training.at("decode").at("clocks").get<double>(), 12e6, 1);
  EXPECT_TRUE(training.at("epochs").is_null());
  const std::string without = source_file("tests/data/profiles/example_cpu.json");
  const ProcessResult none = run_ridgeline(training_with(train, {"--storage", without}));
  EXPECT_EQ(none.exit_code, 4);
  EXPECT_THAT(none.err, HasSubstr("ridgeline measure --only storage"));
}

TEST(PlanTraining, TablesPicturesAndBlocks) {
  const TemporaryDirectory folder;
  const std::string svg = folder.path() + "/plan.svg", block = folder.path() + "/custom.conf";
  for (const Words& words : {training_with(train, facts), both}) {
    const ProcessResult result = run_ridgeline(training_with(
        words, {"--csv", "--filter", "emc=max,cores=4", "--svg", svg, "--nvpmodel", block}));
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, StartsWith("mode,label,stock,reach"));
    EXPECT_THAT(result.out, HasSubstr("trained_samples_per_s"));
    std::istringstream lines(result.out);
    int chosen = 0;
    for (std::string line; std::getline(lines, line);) chosen += line.ends_with(",true");
    EXPECT_EQ(chosen, 1);
    EXPECT_THAT(read_text_file(svg), StartsWith("<svg"));
    EXPECT_THAT(read_text_file(block), StartsWith("< POWER_MODEL ID="));
  }
}

TEST(PlanTraining, WithoutAnAnswerOrWithoutFacts) {
  const ProcessResult slow =
      run_ridgeline(training_with(training_with(train, facts), {"--epoch-time", "1s"}));
  EXPECT_EQ(slow.exit_code, 3);
  EXPECT_THAT(slow.err, HasSubstr("relax epoch-time to"));
  EXPECT_EQ(run_ridgeline(training_with(both, {"--power", "3W"})).exit_code, 3);
  const ProcessResult strict =
      run_ridgeline(training_with(training_with(train, facts), {"--strict"}));
  EXPECT_EQ(strict.exit_code, 4);
  EXPECT_THAT(strict.err, HasSubstr("--decode is not given"));
  EXPECT_EQ(run_ridgeline(training_with(both, {"--strict"})).exit_code, 4);
  const Json plan = training_json(train);
  EXPECT_EQ(plan.at("training").at("assumed").size(), 4U);
  EXPECT_EQ(plan.at("training").at("workers"), 0);
}

// What a named dataset says is not assumed, and images that nothing resizes set the network's.
TEST(PlanTraining, DatasetsByName) {
  const Json landmarks = training_json(training_with(
      train, {"--dataset", "gld23k", "--storage", "ssd", "--workers", "2", "--strict"}));
  const Json& dataset = landmarks.at("training").at("dataset");
  EXPECT_EQ(dataset.at("samples"), 23080);
  EXPECT_NEAR(dataset.at("bytes_per_sample").get<double>(), 121.3e3, 100);
  EXPECT_FALSE(dataset.at("in_memory").get<bool>());

  const Words small =
      training_with(train, {"--dataset", "cifar10", "--storage", "hdd", "--workers", "0"});
  const Json images = training_json(small);
  EXPECT_EQ(images.at("training").at("first").at("hit_share"), 1);
  EXPECT_EQ(images.at("training").at("first").at("time_s"),
            images.at("training").at("later").at("time_s"));
  const Json given = training_json(training_with(small, {"--image", "32"}));
  EXPECT_EQ(images.at("chosen"), given.at("chosen"));
  const std::string notes = images.at("warnings").dump();
  EXPECT_THAT(notes, HasSubstr("as --image 32"));
  EXPECT_THAT(given.at("warnings").dump(), Not(HasSubstr("as --image 32")));
  const std::string text = run_ridgeline(small).out;
  EXPECT_THAT(text, HasSubstr("the loader holds the dataset in memory"));
  EXPECT_THAT(text, Not(HasSubstr("page cache")));
}

TEST(PlanTraining, ThePageCacheIsWhatTheBoardKeepsUnlessItIsGiven) {
  const Words words{"plan",
                    "--train",
                    "mobilenet_v3_large_dreamlab",
                    "--on",
                    "jetson-xavier-nx",
                    "--dataset",
                    "gld23k",
                    "--storage",
                    "hdd",
                    "--workers",
                    "1",
                    "--stock-only"};
  const Json board = training_json(words).at("training");
  EXPECT_EQ(board.at("page_cache").at("bytes"), 2.14e9);
  EXPECT_LT(board.at("later").at("hit_share").get<double>(), 0.5);
  const Json given = training_json(training_with(words, {"--free-memory", "3GB"})).at("training");
  EXPECT_EQ(given.at("page_cache").at("bytes"), 3e9);
  EXPECT_EQ(given.at("later").at("hit_share"), 1);
}

// Small networks on small images: an epoch takes seconds to minutes, the host sets the pace of
// LeNet, and neither depends on storage.
TEST(PlanTraining, SmallNetworksOnTheirDatasets) {
  struct Small {
    const char *network, *dataset;
    double samples;
  };
  for (const Small& small :
       {Small{"lenet5_dreamlab", "mnist", 60000}, Small{"lenet5", "mnist", 60000},
        Small{"resnet18_dreamlab", "cifar10", 50000}, Small{"resnet18", "cifar10", 50000}})
    for (const char* device : {"jetson-xavier-nx", "jetson-agx-xavier"}) {
      const Json plan =
          training_json({"plan", "--train", small.network, "--on", device, "--dataset",
                         small.dataset, "--workers", "2", "--stock-only", "--minimize", "time"});
      const Json& training = plan.at("training");
      const double step_s = plan.at("chosen").at("time_s").at("value");
      const double epoch_s = training.at("later").at("time_s");
      EXPECT_GT(epoch_s, small.samples / 16 * step_s) << small.network << " on " << device;
      EXPECT_GT(epoch_s, 5) << small.network << " on " << device;
      EXPECT_LT(epoch_s, 1200) << small.network << " on " << device;
      // Beside the step, a minibatch of such images costs the process a few milliseconds.
      EXPECT_LT(training.at("residual_s").get<double>(), 10e-3);
      if (std::string(small.dataset) == "mnist") {
        EXPECT_THAT(training.at("bound").get<std::string>(), AnyOf("host", "input"));
      }
    }
}

struct BadTraining {
  Words words;
  const char* says;
};

TEST(PlanTraining, BadInputIsOneLine) {
  const BadTraining table[] = {
      {training_with(train, {"--dataset", "many"}),
       "samples × bytes of one, for example 50000x150kB"},
      {training_with(train, {"--dataset", "cifar"}), "did you mean cifar10?"},
      {training_with(train, {"--dataset", "50000x150"}),
       "the unit is missing (write 150kB or 150MB)"},
      {training_with(train, {"--dataset", "50000x"}), "the bytes of one sample are missing"},
      {training_with(train, {"--dataset", "0x150kB"}), "is not a number of samples"},
      {training_with(train, {"--storage", "sdd"}), "did you mean"},
      {training_with(train, {"--storage", "no/such.json"}), "no/such.json"},
      {training_with(train, {"--decode", "3ms"}), "the clock of the core is missing"},
      {training_with(train, {"--decode", "3@2GHz"}), "the unit is missing"},
      {training_with(train, {"--workers", "-1"}), "--workers"},
      {training_with(train, {"--epochs", "0"}), "must be more than zero"},
      {training_with(train, {"--epoch-time", "10"}), "the unit is missing (write 10ms or 10s)"},
      {training_with(train, {"--training-time", "1h"}), "needs --epochs"},
      {training_with(train, {"--battery", "50Wh"}), "--epochs 10"},
      {training_with(train, {"--latency", "10ms"}), "needs --infer"},
      {training_with(train, {"--runtime", "tensorrt"}), "does not train"},
      {training_with(train, {"resnet50"}), "cannot stand beside --train"},
      {training_with(train, {"--infer", "mobilenet_v2", "--latency", "50ms"}),
       "write for example --rate"},
      {training_with(train, {"--infer", "mobilenet_v2", "--rate", "60/s"}),
       "needs a limit of latency"},
      {training_with(both, {"--epochs", "3"}), "has no meaning beside --infer"},
      {training_with(both, {"--workers", "3"}), "needs --dataset"},
      {training_with(both, {"--jitter", "90ms"}), "contradicts rate, jitter and batch"},
      {training_with(both, {"--fps", "30"}), "cannot be combined with --rate"},
      {{"plan", "resnet18", "--workers", "4"}, "needs --train"},
      {{"plan", "resnet18", "--optimizer", "adam"}, "needs --train"},
      {{"plan", "--train", "resnet1", "--on", "jetson-orin-nano-8gb"}, "resnet18"},
  };
  for (const BadTraining& bad : table) {
    const ProcessResult result = run_ridgeline(bad.words);
    EXPECT_THAT(result.exit_code, AnyOf(1, 2)) << bad.says;
    EXPECT_THAT(result.err, HasSubstr(bad.says));
    EXPECT_THAT(result.out, IsEmpty());
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
}

}  // namespace
}  // namespace ridgeline::testing
