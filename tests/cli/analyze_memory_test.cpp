// `ridgeline analyze` on models with gigabytes of weights: counted in full, in little memory.
// The weights are zeros, mostly holes in the file, so that the test does not fill a disk.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "base/json.h"
#include "tests/support/large_model.h"
#include "tests/support/process.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::testing {
namespace {

constexpr long limit_kib = 50 * 1024;

void expect_little_memory(const std::string& path, int layers) {
  const ProcessResult result = run_ridgeline({"analyze", path, "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(parse_json(result.out, "stdout")["totals"]["weight_bytes"],
            layers * std::int64_t{1024 * 1024 * 4});
  rusage own{};
  getrusage(RUSAGE_SELF, &own);
  if (is_sanitized() || own.ru_maxrss >= limit_kib)
    GTEST_SKIP() << "memory cannot be told: the test itself takes " << own.ru_maxrss << " KiB";
  EXPECT_LT(result.max_resident_kib, limit_kib);
}

TEST(AnalyzeMemory, TwoGigabytesInTheModel) {
  const TemporaryDirectory folder;
  write_large_model(folder.file("raw.onnx"), 520, Weights::hole);
  expect_little_memory(folder.file("raw.onnx"), 520);
}

TEST(AnalyzeMemory, TwoGigabytesBesideTheModel) {
  const TemporaryDirectory folder;
  write_large_external_model(folder.file("external.onnx"), "weights.bin", 520);
  expect_little_memory(folder.file("external.onnx"), 520);
}

// The system's page cache must not count as the program's memory, as it would with a mapped file.
TEST(AnalyzeMemory, WeightsThatTheSystemHasInMemory) {
  const TemporaryDirectory folder;
  write_large_model(folder.file("raw.onnx"), 64, Weights::written);
  expect_little_memory(folder.file("raw.onnx"), 64);
}

}  // namespace
}  // namespace ridgeline::testing
