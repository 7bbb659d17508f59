// `ridgeline validate --on` end to end: a board that is slower than the catalog says is calibrated
// on some rows, and the fitted model scored on others.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/json.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"
#include "tests/support/schema_validator.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

using Words = std::vector<std::string>;

constexpr const char* board = "jetson-agx-orin-64gb";
constexpr double slower = 1.4;  // than predicted

// Made-up truth: what the catalog's model predicts for the run, times a constant.
double true_ms(const std::string& mode, const std::string& network, int batch) {
  const ProcessResult result = run_ridgeline({"explain", network, "--on", board, "--mode", mode,
                                              "--batch", std::to_string(batch), "--dtype", "fp16",
                                              "--runtime", "torch-eager", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return 1e3 * slower * parse_json(result.out, "output").at("time_s").at("value").get<double>();
}

class ValidateOn : public ::testing::Test {
 protected:
  static std::string row(const std::string& mode, const std::string& network, int batch) {
    return fmt::format("lab,{},{},{},{},fp16,torch-eager,inference,{},\n", board, mode, network,
                       batch, true_ms(mode, network, batch));
  }

  void SetUp() override {
    const std::string header =
        "source,device,mode,model,batch,dtype,runtime,task,time_ms,power_w\n";
    known_ = row("MAXN", "resnet50", 8) + row("30W", "resnet50", 8) + row("MAXN", "vgg16", 4);
    other_ = row("50W", "resnet50", 8) + row("MAXN", "resnet18", 8) + row("15W", "resnet50", 8);
    folder_.write("probes.csv", header + known_);
    folder_.write("all.csv", header + known_ + other_ +
                                 "lab,jetson-orin-nano-8gb,15W,resnet50,8,fp16,torch-eager,"
                                 "inference,50,\n");
    const ProcessResult result =
        run_ridgeline({"calibrate", "--on", board, folder_.file("probes.csv"), "-o", model()});
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }

  std::string model() const { return folder_.file("my-board.json"); }

  ProcessResult validate(const Words& more) {
    Words words{"validate", folder_.file("all.csv")};
    words.insert(words.end(), more.begin(), more.end());
    return run_ridgeline(words);
  }

  Json json(Words more) {
    more.push_back("--json");
    const ProcessResult result = validate(more);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const Json document = parse_json(result.out, "validation");
    EXPECT_THAT(schema_violations(document, "validation.schema.json"), IsEmpty());
    return document;
  }

  TemporaryDirectory folder_;
  std::string known_, other_;
};

TEST_F(ValidateOn, AFittedModelIsScoredOnOtherRows) {
  const Json fitted = json({"--on", model()});
  EXPECT_EQ(fitted["on"]["name"], model());
  EXPECT_EQ(fitted["on"]["device"], board);
  EXPECT_EQ(fitted["on"]["fitted_to"], 3);
  EXPECT_EQ(fitted["rows"], 3);
  EXPECT_EQ(fitted["fitted"]["rows"].size(), 3U);
  std::vector<int> lines;
  for (const Json& scored : fitted["scored"]) lines.push_back(scored["line"].get<int>());
  EXPECT_EQ(lines, (std::vector<int>{5, 6, 7}));
  ASSERT_EQ(fitted["skipped"].size(), 1U);
  EXPECT_EQ(fitted["skipped"][0]["line"], 8);
  EXPECT_THAT(fitted["skipped"][0]["reason"].get<std::string>(),
              AllOf(HasSubstr("was measured on jetson-orin-nano-8gb"), HasSubstr(board)));

  // The catalog's own model is 1 - 1/1.4 off on every row; the fitted one has learned.
  const Json catalog = json({"--on", board});
  EXPECT_EQ(catalog["rows"], 6);
  EXPECT_EQ(catalog["on"]["fitted_to"], 0);
  EXPECT_EQ(catalog["fitted"]["rows"].size(), 0U);
  EXPECT_NEAR(catalog["time_mape"].get<double>(), 1 - 1 / slower, 0.01);
  EXPECT_LT(fitted["time_mape"].get<double>(), 0.8 * catalog["time_mape"].get<double>());
  EXPECT_LT(fitted["fitted"]["time_mape"].get<double>(), 0.7 * catalog["time_mape"].get<double>());

  // The same model makes the same prediction elsewhere.
  const ProcessResult explained =
      run_ridgeline({"explain", "resnet50", "--on", model(), "--mode", "50W", "--batch", "8",
                     "--dtype", "fp16", "--runtime", "torch-eager", "--json"});
  EXPECT_EQ(parse_json(explained.out, "explained").at("time_s").at("value"),
            fitted["scored"][0]["time_s"]["value"]);
}

TEST_F(ValidateOn, TextSaysWhatWasLeftOut) {
  const ProcessResult text = validate({"--on", model()});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  std::string unwrapped = text.out;
  std::replace(unwrapped.begin(), unwrapped.end(), '\n', ' ');
  EXPECT_THAT(unwrapped, HasSubstr("that was fitted to 3 rows"));
  EXPECT_THAT(unwrapped, HasSubstr("3 of these rows are in the table and not scored"));
  const ProcessResult csv = validate({"--on", model(), "--csv"});
  EXPECT_EQ(csv.exit_code, 0) << csv.err;
  EXPECT_THAT(csv.out, StartsWith("line,"));
  EXPECT_EQ(std::count(csv.out.begin(), csv.out.end(), '\n'), 4);
  EXPECT_THAT(csv.err, HasSubstr("not scored"));
}

TEST_F(ValidateOn, ProbesAreFittedOnTop) {
  const Json probed = json({"--on", model(), "--probes", "1"});
  EXPECT_EQ(probed["fitted"]["rows"].size(), 3U);
  EXPECT_EQ(probed["probe_rows"], 1);
  EXPECT_EQ(probed["rows"], 1);
}

TEST_F(ValidateOn, WrongUsage) {
  const ProcessResult both = validate({"--on", model(), "--cross-validate", "model"});
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_THAT(both.err, HasSubstr("--on"));
  const ProcessResult profile =
      validate({"--on", source_file("tests/data/profiles/example_cpu.json")});
  EXPECT_EQ(profile.exit_code, 2);
  EXPECT_THAT(profile.err, HasSubstr("write --profile"));
  EXPECT_EQ(validate({"--on", "no-such-board"}).exit_code, 2);
  EXPECT_EQ(validate({"--on", folder_.file("none.json")}).exit_code, 1);
}

}  // namespace
}  // namespace ridgeline::testing
