// `measure` and `kernel` end to end: small real measurements and every bad input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/json.h"
#include "base/profile.h"
#include "tests/support/process.h"
#include "tests/support/schema_validator.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline {
namespace {

using testing::ProcessResult;
using testing::ProcessSettings;
using testing::run_ridgeline;
using testing::TemporaryDirectory;

class Measure : public ::testing::Test {
 protected:
  TemporaryDirectory folder;
  ProcessSettings settings{{{"XDG_DATA_HOME", folder.file("data")}}, "", folder.path()};

  ProcessResult run(std::vector<std::string> arguments) {
    return run_ridgeline(arguments, settings);
  }
  // A loaded machine may disturb a run (exit code 4) or make a reading impossible (1): neither is a
  // fault of the program.
  static bool was_disturbed(const ProcessResult& result) {
    return result.exit_code == 4 && result.err.find("stored apart") != std::string::npos;
  }
  static bool had_impossible(const ProcessResult& result) {
    return result.exit_code == 1 && result.err.find("impossible") != std::string::npos;
  }
  void expect_one_line(const ProcessResult& result, int exit_code, const std::string& part) {
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
    EXPECT_EQ(result.out, "");
  }
};

TEST_F(Measure, WritesAValidProfileAndStoresIt) {
  const auto result =
      run({"measure", "--only", "fp64,l1,launch", "--budget", "3s", "-o", "p.json", "--json"});
  // The file is written in either case.
  ASSERT_TRUE(result.exit_code == 0 || was_disturbed(result) || had_impossible(result))
      << result.err;
  const Profile profile = load_profile(folder.file("p.json"));
  ASSERT_EQ(profile.modes.size(), 1u);
  EXPECT_FALSE(profile.modes[0].compute.empty());
  EXPECT_FALSE(profile.modes[0].memory.empty());
  EXPECT_TRUE(profile.modes[0].conditions.complete);
  const Json json = parse_json(result.out, "stdout");
  EXPECT_EQ(json.begin().key(), "schema");
  EXPECT_THAT(testing::schema_violations(json, "profile.schema.json"), ::testing::IsEmpty());
  ASSERT_TRUE(profile.modes[0].conditions.verdict);
  const bool disturbed = profile.modes[0].conditions.verdict->state == RunState::disturbed;
  EXPECT_EQ(disturbed, was_disturbed(result)) << result.err;
  EXPECT_EQ(json["modes"][0]["conditions"]["verdict"]["state"], disturbed ? "disturbed" : "quiet");
  if (disturbed) {
    EXPECT_NE(result.err.find("profiles/disturbed/partial/"), std::string::npos) << result.err;
    EXPECT_NE(result.err.find("to use it anyway: ridgeline roofline "), std::string::npos);
  } else if (result.exit_code == 0) {
    EXPECT_NE(result.err.find("profiles/partial/"), std::string::npos) << result.err;
  }
}

TEST_F(Measure, EveryRowHasAStatusAndUnsupportedOnesAReason) {
  run({"measure", "--only", "compute", "--budget", "2s", "-o", "p.json", "--quiet"});
  const Profile profile = load_profile(folder.file("p.json"));
  for (const ComputeRow& row : profile.modes[0].compute) {
    EXPECT_EQ(row.status == Status::unsupported, !row.flops_per_s.has_value()) << row.kernel;
    if (row.status == Status::unsupported) {
      EXPECT_NE(row.note, "") << row.kernel;
    }
    if (row.flops_per_s) {
      EXPECT_GT(row.flops_per_s->value, 0) << row.kernel;
    }
  }
}

TEST_F(Measure, ListsWithoutMeasuring) {
  const auto text = run({"measure", "--list"});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_NE(text.out.find("fork_join"), std::string::npos);
  const Json json = parse_json(run({"measure", "--list", "--json"}).out, "out");
  EXPECT_THAT(testing::schema_violations(json, "measure_plan.schema.json"), ::testing::IsEmpty());
  EXPECT_FALSE(json["rows"].empty());
  EXPECT_EQ(run({"measure", "--list", "--csv"}).out.find("section,kernel,what"), 0u);
}

TEST_F(Measure, StorageAndDecodeRunWhereTheyAreNamed) {
  const auto result = run({"measure", "--only", "storage,decode", "--path", folder.path(),
                           "--budget", "1s", "-o", "p.json", "--json"});
  ASSERT_TRUE(result.exit_code == 0 || was_disturbed(result)) << result.err;
  const Profile profile = load_profile(folder.file("p.json"));
  EXPECT_EQ(profile.modes[0].storage.size(), 6u);
  EXPECT_FALSE(profile.modes[0].decode.empty());
  EXPECT_TRUE(profile.modes[0].compute.empty());
  EXPECT_NE(profile.modes[0].conditions.started, "");
  EXPECT_THAT(testing::schema_violations(parse_json(result.out, "stdout"), "profile.schema.json"),
              ::testing::IsEmpty());
  EXPECT_NE(
      result.err.find(was_disturbed(result) ? "profiles/disturbed/input/" : "profiles/input/"),
      std::string::npos)
      << result.err;
  std::set<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    left.insert(entry.path().filename());
  EXPECT_THAT(left, ::testing::ElementsAre("data", "p.json"));

  const Json plan =
      parse_json(run({"measure", "--list", "--only", "storage,decode", "--json"}).out, "out");
  EXPECT_THAT(testing::schema_violations(plan, "measure_plan.schema.json"), ::testing::IsEmpty());
  EXPECT_EQ(plan["rows"][0]["section"], "storage");
}

TEST_F(Measure, BadPlacesForStorageAreOneLine) {
  expect_one_line(run({"measure", "--only", "storage", "--path", "no/such"}), 1,
                  "no such directory");
  expect_one_line(run({"measure", "--only", "storage", "--path", ""}), 2, "--path");
  expect_one_line(run({"measure", "--only", "decode", "--path", "."}), 2, "--only storage");
  expect_one_line(run({"measure", "--sample-bytes", "1kB"}), 2, "--only storage");
  expect_one_line(run({"measure", "--only", "storage", "--sample-bytes", "0"}), 2,
                  "--sample-bytes");
  expect_one_line(run({"measure", "--only", "storage", "--gpu"}), 2, "--gpu");
  expect_one_line(run({"measure", "--only", "decode", "--threads", "9999"}), 2, "cores");
}

TEST_F(Measure, CtrlCLeavesAValidProfileMarkedIncomplete) {
  const auto result = testing::run_shell(
      "timeout --preserve-status --signal=INT --foreground 2 '" + testing::tested_program() +
          "' measure --only fp32 --budget 60s -o i.json > out.txt",
      settings);
  EXPECT_TRUE(result.exit_code == 4 || result.err.find("impossible") != std::string::npos)
      << result.err;
  const Profile profile = load_profile(folder.file("i.json"));
  EXPECT_FALSE(profile.modes[0].conditions.complete);
}

// The whole plan, interrupted during its warm-up: what ran is stored and marked.
TEST_F(Measure, CtrlCInTheFirstSecondKeepsWhatRan) {
  const auto result =
      testing::run_shell("timeout --preserve-status --signal=INT --foreground 1 '" +
                             testing::tested_program() + "' measure --quick -o i.json > out.txt",
                         settings);
  EXPECT_TRUE(result.exit_code == 4 || had_impossible(result)) << result.err;
  const Profile profile = load_profile(folder.file("i.json"));
  const ProfileMode& mode = profile.modes[0];
  EXPECT_FALSE(mode.conditions.complete);
  EXPECT_EQ(mode.conditions.rows.left_out, 0);
  std::size_t measured = 0;
  for (const ComputeRow& row : mode.compute)
    if (row.flops_per_s) {
      ++measured;
      EXPECT_NE(row.note.find("of the warm-up"), std::string::npos) << row.kernel;
    }
  // A sanitized build may not reach the first kernel in that time.
  if (!testing::is_sanitized()) {
    EXPECT_GT(measured, 0u);
  }
}

TEST_F(Measure, BadInputIsOneLineAndTheUsageCode) {
  expect_one_line(run({"measure", "--only", "drma"}), 2, "'dram'");
  expect_one_line(run({"measure", "--only", ""}), 2, "--only");
  expect_one_line(run({"measure", "--threads", "9999"}), 2, "cores");
  expect_one_line(run({"measure", "--threads", "0"}), 2, "--threads 0");
  expect_one_line(run({"measure", "--threads", "two"}), 2, "two");
  expect_one_line(run({"measure", "--budget", "0s"}), 2, "--budget 0s");
  expect_one_line(run({"measure", "--budget", "1e-300s"}), 2, "--budget");
  expect_one_line(run({"measure", "--budget", "soon"}), 2, "soon");
  expect_one_line(run({"kernel", "read_avx999"}), 2, "no kernel has this name");
  expect_one_line(run({"kernel", "chase", "--threads", "9999"}), 2, "cores");
  expect_one_line(run({"kernel", "chase", "--iterations", "0"}), 2, "--iterations 0");
  expect_one_line(run({"kernel", "chase", "--bytes", "many"}), 2, "many");
}

TEST_F(Measure, OutputThatCannotBeWrittenIsFoundOutFirst) {
  expect_one_line(run({"measure", "-o", "no/such/folder/p.json"}), 1, "does not exist");
  expect_one_line(run({"measure", "-o", folder.path()}), 1, "directory");
}

TEST_F(Measure, APlaceForTheResultIsNeededBeforeMeasuring) {
  expect_one_line(run({"measure", "-o", ""}), 2, "--output");
  settings.environment = {{"XDG_DATA_HOME", ""}, {"HOME", ""}};
  expect_one_line(run({"measure"}), 1, "HOME");
}

TEST_F(Measure, PartialRunsAreStoredApart) {
  const auto result = run({"measure", "--only", "fp64", "--budget", "1s", "--csv"});
  EXPECT_NE(result.err.find("rounds in"), std::string::npos) << result.err;
  if (result.exit_code == 0 || was_disturbed(result)) {
    EXPECT_NE(result.err.find("/partial/"), std::string::npos) << result.err;
    EXPECT_TRUE(result.err.starts_with(result.exit_code == 0 ? "quiet: " : "disturbed: "))
        << result.err;
  }
}

TEST_F(Measure, NoMemoryForTheBuffersIsSaid) {
  expect_one_line(run({"kernel", "chase", "--bytes", "100TiB"}), 1, "no memory for the buffers");
}

TEST_F(Measure, RunsOneKernelWithExplicitSizes) {
  const auto result = run(
      {"kernel", "chase", "--iterations", "1000", "--bytes", "16KiB", "--samples", "2", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json json = parse_json(result.out, "stdout");
  EXPECT_THAT(testing::schema_violations(json, "kernel.schema.json"), ::testing::IsEmpty());
  EXPECT_EQ(json["iterations"], 1000);
  EXPECT_EQ(json["seconds"].size(), 2u);
  EXPECT_EQ(json["bytes"], 1000 * 16 * 8);
  EXPECT_EQ(run({"kernel"}).exit_code, 0);
  EXPECT_THAT(testing::schema_violations(parse_json(run({"kernel", "--json"}).out, "stdout"),
                                         "kernels.schema.json"),
              ::testing::IsEmpty());
}

}  // namespace
}  // namespace ridgeline
