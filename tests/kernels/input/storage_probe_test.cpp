// Storage in a temporary folder with small files: rows, the page cache, and nothing left behind.
#include "kernels/input/storage_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <vector>

#include "base/error.h"
#include "kernels/input/read_set.h"
#include "kernels/input/scratch_file.h"
#include "kernels/steady_clock.h"
#include "tests/support/fake_system.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::input {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

SamplerWorld real_world(bool interrupted = false) {
  return {steady_seconds, [] { return OtherLoad{}; }, [=] { return interrupted; },
          [](double, double) {}};
}

class Storage : public ::testing::Test {
 protected:
  testing::TemporaryDirectory folder;

  StorageOptions small() {
    StorageOptions options;
    options.folder = folder.path();
    options.long_file_bytes = 16 << 20;
    options.samples = 20;
    options.sample_bytes = 10'001;  // not a multiple of any block size
    options.budget_s = 0.3;
    return options;
  }
  std::vector<std::string> left_over() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
      names.push_back(entry.path().filename());
    return names;
  }
  static std::string refusal(const StorageOptions& options) {
    try {
      check_folder(options);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::error);
      EXPECT_EQ(error.where(), options.folder);
      return error.cause();
    }
    return "none";
  }
};

TEST_F(Storage, GivesARowPerPatternAndNumberOfReaders) {
  ProfileMode mode;
  RowCounts counts;
  measure_storage(small(), real_world(), mode, counts);
  ASSERT_EQ(mode.storage.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) {
    const StorageRow& row = mode.storage[i];
    EXPECT_EQ(row.pattern, i < 3 ? "sequential" : "samples");
    EXPECT_EQ(row.readers, 1 << i % 3);
    EXPECT_EQ(row.bytes_per_read, i < 3 ? 4u << 20 : 10'001u);
    EXPECT_EQ(row.status, Status::ok);
    ASSERT_TRUE(row.bytes_per_s);
    EXPECT_GT(row.bytes_per_s->value, 1e4);
    EXPECT_EQ(row.bytes_per_s->source, Source::measured);
    const bool kept = row.note.find("page cache kept") != std::string::npos;
    EXPECT_EQ(kept, row.medium == "ram") << row.note;
  }
  EXPECT_TRUE(mode.conditions.complete);
  EXPECT_GE(mode.conditions.rounds, 3);
  EXPECT_THAT(left_over(), IsEmpty());
}

TEST_F(Storage, FilesThatLiveInMemoryAreSaidTo) {
  if (!std::filesystem::exists("/dev/shm")) GTEST_SKIP() << "no /dev/shm here";
  StorageOptions options = small();
  options.folder = "/dev/shm";
  ProfileMode mode;
  RowCounts counts;
  measure_storage(options, real_world(), mode, counts);
  EXPECT_EQ(mode.storage.front().medium, "ram");
  EXPECT_THAT(mode.storage.front().note, HasSubstr("the page cache kept 100 %"));
}

TEST_F(Storage, InterruptedLeavesNothingAndIsIncomplete) {
  ProfileMode mode;
  RowCounts counts;
  measure_storage(small(), real_world(true), mode, counts);
  EXPECT_FALSE(mode.conditions.complete);
  EXPECT_THAT(left_over(), IsEmpty());
}

TEST_F(Storage, FoldersThatWillNotDoAreFoundOutFirst) {
  StorageOptions options = small();
  EXPECT_EQ(refusal(options), "none");
  options.folder = folder.file("missing");
  EXPECT_EQ(refusal(options), "no such directory");
  folder.write("file", "");
  options.folder = folder.file("file");
  EXPECT_EQ(refusal(options), "is not a directory");
  options.folder = "/proc";
  EXPECT_EQ(refusal(options), "cannot be written, permission denied");
  options = small();
  options.sample_bytes = std::uint64_t{1} << 56;
  EXPECT_THAT(refusal(options), HasSubstr("are needed for temporary files"));
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_read);
  const testing::OrdinaryUser user;
  EXPECT_EQ(refusal(small()), "cannot be written, permission denied");
}

TEST_F(Storage, AFullDiskIsAnErrorThatLeavesNothing) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit = before;
  limit.rlim_cur = 1 << 20;  // a file size limit, in place of a full disk
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  ProfileMode mode;
  RowCounts counts;
  EXPECT_THROW(measure_storage(small(), real_world(), mode, counts), Error);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, ignored);
  EXPECT_THAT(left_over(), IsEmpty());
}

TEST_F(Storage, AWindowReadsEverythingOnceOrEndsWithItsTime) {
  const WritingTime time{5, [] { return false; }};
  auto samples = ReadSet::samples(folder.path(), 40, 5000, time);
  EXPECT_EQ(samples.reads(), 40u);
  EXPECT_EQ(samples.read(3, 60).bytes, 40 * 5000);
  EXPECT_EQ(samples.read(1, 0).bytes, 5000);
  auto file = ReadSet::long_file(folder.path(), 3 << 20, 1 << 20, time);
  EXPECT_EQ(file.reads(), 3u);
  EXPECT_EQ(file.read(2, 60).bytes, 3 << 20);
  // A medium too slow for the writing time is read as far as it was written.
  const WritingTime none{0, [] { return false; }};
  EXPECT_EQ(ReadSet::long_file(folder.path(), 3 << 20, 1 << 20, none).reads(), 1u);
  EXPECT_EQ(ReadSet::samples(folder.path(), 40, 5000, none).reads(), 8u);
}

TEST_F(Storage, AScratchFileHoldsWhatWasWritten) {
  ScratchFile file(folder.path());
  EXPECT_THAT(left_over(), IsEmpty());
  std::vector<std::byte> content(9000), read(9000);
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<std::byte>(i * 7);
  file.append(content);
  file.sync();
  file.drop_cache();
  file.read_whole(read);
  EXPECT_EQ(read, content);
  EXPECT_GE(file.cached_bytes().value_or(9000), 9000u);  // just read
}

}  // namespace
}  // namespace ridgeline::input
