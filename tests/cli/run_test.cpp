// `ridgeline run` as a user runs it: forms, tables, timelines, and what is refused. Networks are
// executed where LibTorch is part of the build.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/text_file.h"
#include "tests/support/libtorch.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"
#include "tests/support/schema_validator.h"
#include "tests/support/temporary_directory.h"
#include "validation/measurement_table.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(RunCommand, RefusesWhatItCannotRun) {
  EXPECT_EQ(run_ridgeline({"run"}).exit_code, 2);
  EXPECT_EQ(run_ridgeline({"run", "lenet5", "--threads", "0"}).exit_code, 2);
  EXPECT_EQ(run_ridgeline({"run", "lenet5", "--seconds", "soon"}).exit_code, 2);
  EXPECT_EQ(run_ridgeline({"run", "lenet5", "--optimizer", "adam"}).exit_code, 2);
  const ProcessResult large = run_ridgeline({"run", "vgg16", "--batch", "100000"});
  EXPECT_EQ(large.exit_code, 3);
  EXPECT_THAT(large.err, HasSubstr("of memory"));
}

// An engine is refused before anything tries to open it; 'explain' has the tools for that.
TEST(RunCommand, RefusesEnginesAndNamesTheCommandThatRunsThem) {
  const TemporaryDirectory folder;
  folder.write("net.engine", std::string("ftrt\0\0\0\0", 8));
  const ProcessResult engine = run_ridgeline({"run", folder.file("net.engine")});
  EXPECT_EQ(engine.exit_code, 1);
  EXPECT_THAT(engine.err, HasSubstr("'ridgeline explain " + folder.file("net.engine")));
  const ProcessResult kernels =
      run_ridgeline({"run", source_file("tests/data/tensorrt/toy.graph.json")});
  EXPECT_EQ(kernels.exit_code, 1);
  EXPECT_THAT(kernels.err, HasSubstr("'ridgeline explain --times'"));
}

TEST(RunCommand, ExecutesANetworkAndKeepsARow) {
  if (!has_torch()) GTEST_SKIP() << "built without LibTorch";
  const TemporaryDirectory folder;
  const std::string table = folder.path() + "/runs.csv", trace = folder.path() + "/trace.json";
  ProcessSettings settings;
  settings.environment["XDG_DATA_HOME"] = folder.path() + "/store";
  for (const bool trains : {false, true}) {
    std::vector<std::string> words = {"run",       "lenet5",  "--batch", "2",
                                      "--seconds", "0.05",    "--json",  "--table",
                                      table,       "--trace", trace};
    if (trains) words.emplace_back("--train");
    const ProcessResult result = run_ridgeline(words, settings);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const Json json = Json::parse(result.out);
    EXPECT_THAT(schema_violations(json, "run.schema.json"), IsEmpty());
    EXPECT_GT(json["time_s"]["value"], 0);
    EXPECT_EQ(json["predicted_s"], Json());
    bool has_backward = false;
    for (const Json& layer : json["layers"]) has_backward |= layer["phase"] == "backward";
    EXPECT_EQ(has_backward, trains);
  }
  EXPECT_GT(Json::parse(read_text_file(trace))["traceEvents"].size(), 10U);
  const MeasurementTable rows = read_measurement_table(table);
  EXPECT_THAT(rows.skipped, IsEmpty());
  ASSERT_EQ(rows.rows.size(), 2U);
  EXPECT_EQ(rows.rows[0].batch, 2);
  EXPECT_EQ(rows.rows[1].task, Task::training);
}

}  // namespace
}  // namespace ridgeline::testing
