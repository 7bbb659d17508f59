// Files are replaced as a whole or not at all, and failures leave nothing behind.
// Permission tests are skipped for root.
#include "base/atomic_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <thread>

#include "base/text_file.h"
#include "tests/base/error_line.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::testing {
namespace {

namespace fs = std::filesystem;

std::size_t entries(const std::string& directory) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(directory), fs::directory_iterator()));
}

std::string write_error(const std::string& path, const std::string& content = "new") {
  return error_line([&] { write_file_atomically(path, content); });
}

TEST(AtomicFile, WritesAndReplaces) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("a.txt");
  write_file_atomically(path, "one");
  EXPECT_EQ(read_text_file(path), "one");
  const std::string long_text(3000000, 'x');
  write_file_atomically(path, long_text);
  EXPECT_EQ(read_text_file(path), long_text);
  write_file_atomically(path, "");
  EXPECT_EQ(read_text_file(path), "");
  EXPECT_EQ(entries(directory.path()), 1u);
}

TEST(AtomicFile, PermissionsFollowUmaskAndAreKept) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("a.txt");
  const mode_t mask = ::umask(0022);
  write_file_atomically(path, "one");
  ::umask(mask);
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0644u);
  ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
  write_file_atomically(path, "two");
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST(AtomicFile, FollowsSymbolicLinks) {
  const TemporaryDirectory directory;
  fs::create_directory(directory.file("real"));
  fs::create_symlink("real/target.txt", directory.file("link"));
  fs::create_symlink(directory.file("link"), directory.file("link2"));
  write_file_atomically(directory.file("link2"), "through");  // the target does not exist yet
  write_file_atomically(directory.file("link"), "again");
  EXPECT_TRUE(fs::is_symlink(directory.file("link")));
  EXPECT_EQ(read_text_file(directory.file("real/target.txt")), "again");
  EXPECT_EQ(entries(directory.file("real")), 1u);
  fs::create_symlink("loop", directory.file("loop"));
  EXPECT_NE(write_error(directory.file("loop")), "no error");
}

TEST(AtomicFile, DevicesAndPipesAreWrittenDirectly) {
  EXPECT_EQ(write_error("/dev/null"), "no error");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  const TemporaryDirectory directory;
  const std::string pipe = directory.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string received;
  std::thread reader([&] { received = read_text_file(pipe); });
  write_file_atomically(pipe, "through the pipe");
  reader.join();
  EXPECT_EQ(received, "through the pipe");
  EXPECT_TRUE(fs::is_fifo(pipe));
}

TEST(AtomicFile, ARedirectedStandardOutputKeepsWhatItHas) {
  const TemporaryDirectory directory;
  const std::string log = directory.file("log");
  const int saved = ::dup(STDOUT_FILENO);
  ASSERT_NE(std::freopen(log.c_str(), "w", stdout), nullptr);
  std::fputs("before\n", stdout);
  std::fflush(stdout);
  const std::string error = write_error("/dev/stdout", "data\n");
  ::dup2(saved, STDOUT_FILENO);
  ::close(saved);
  EXPECT_EQ(error, "no error");
  EXPECT_EQ(read_text_file(log), "before\ndata\n");
}

TEST(AtomicFile, FailuresNameThePathAndLeaveNothing) {
  const TemporaryDirectory directory;
  directory.write("file", "old");
  fs::create_directory(directory.file("folder"));
  const std::size_t before = entries(directory.path());
  const auto named = [&](const std::string& name, const std::string& cause) {
    EXPECT_EQ(write_error(directory.file(name)), directory.file(name) + ": " + cause);
  };
  named("folder", "is a directory (name a file in it)");
  named("none/a.txt", "no such directory (create it first)");
  named("none/", "no such directory (create it first)");
  named("file/a.txt", "a part of this path is not a directory");
  EXPECT_EQ(write_error(""), "not a file name (give a path to write to)");
  EXPECT_NE(write_error(directory.file(std::string(300, 'n'))), "no error");
  EXPECT_EQ(entries(directory.path()), before);
  EXPECT_EQ(read_text_file(directory.file("file")), "old");
}

TEST(AtomicFile, PermissionDenied) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  const TemporaryDirectory directory;
  directory.write("a.txt", "old");
  ASSERT_EQ(::chmod(directory.file("a.txt").c_str(), 0444), 0);
  EXPECT_EQ(write_error(directory.file("a.txt")),
            directory.file("a.txt") + ": cannot be written, permission denied");
  ASSERT_EQ(::chmod(directory.path().c_str(), 0555), 0);
  EXPECT_EQ(write_error(directory.file("b.txt")),
            directory.file("b.txt") + ": cannot be written, permission denied");
  ASSERT_EQ(::chmod(directory.path().c_str(), 0755), 0);
}

TEST(AtomicFile, ADiskThatFillsUpKeepsTheOldFile) {
  EXPECT_EQ(write_error("/dev/full"), "/dev/full: cannot be written, the disk is full");
  // A file size limit stands in for a full disk: the write stops halfway.
  const TemporaryDirectory directory;
  directory.write("a.txt", "old");
  rlimit original{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &original), 0);
  const rlimit small{65536, original.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string line = write_error(directory.file("a.txt"), std::string(1000000, 'x'));
  ::setrlimit(RLIMIT_FSIZE, &original);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(line.find(directory.file("a.txt") + ": cannot be written, "), 0u) << line;
  EXPECT_EQ(read_text_file(directory.file("a.txt")), "old");
  EXPECT_EQ(entries(directory.path()), 1u);
}

// Also as root, and also where the kernel's own protection is off. Changing owners needs root.
TEST(AtomicFile, AnotherUsersLinkInASharedFolderIsNotFollowed) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make another user's link";
  constexpr uid_t stranger = 54321;
  const TemporaryDirectory directory;
  directory.write("victim", "old");
  fs::create_directory(directory.file("shared"));
  ASSERT_EQ(::chmod(directory.file("shared").c_str(), 01777), 0);
  const std::string link = directory.file("shared/out.svg");
  fs::create_symlink(directory.file("victim"), link);
  write_file_atomically(link, "mine");  // one's own link is followed
  ASSERT_EQ(::lchown(link.c_str(), stranger, stranger), 0);
  const std::string refused =
      link +
      ": is another user's symbolic link in a shared folder (choose another name, or remove "
      "the link)";
  EXPECT_EQ(write_error(link, "theirs"), refused);
  EXPECT_EQ(error_line([&] { check_file_can_be_written(link); }), refused);
  EXPECT_EQ(read_text_file(directory.file("victim")), "mine");
  // A link to a device and one behind a link of one's own are no better.
  fs::create_symlink("/dev/null", directory.file("shared/null"));
  ASSERT_EQ(::lchown(directory.file("shared/null").c_str(), stranger, stranger), 0);
  EXPECT_NE(write_error(directory.file("shared/null")), "no error");
  fs::create_symlink(link, directory.file("shared/mine"));
  EXPECT_NE(write_error(directory.file("shared/mine")), "no error");
  // Nor is one that stands for a folder.
  fs::create_directory(directory.file("elsewhere"));
  const std::string folder = directory.file("shared/folder");
  fs::create_symlink(directory.file("elsewhere"), folder);
  EXPECT_EQ(write_error(folder + "/own.svg"), "no error");
  ASSERT_EQ(::lchown(folder.c_str(), stranger, stranger), 0);
  EXPECT_EQ(write_error(folder + "/out.svg"),
            folder +
                "/out.svg: leads through another user's symbolic link in a shared folder (choose "
                "another name, or remove the link)");
  EXPECT_FALSE(fs::exists(directory.file("elsewhere/out.svg")));
  // The folder's owner may leave links, and a folder of one's own is not shared.
  ASSERT_EQ(::chown(directory.file("shared").c_str(), stranger, stranger), 0);
  EXPECT_EQ(write_error(link, "owner's"), "no error");
  ASSERT_EQ(::chown(directory.file("shared").c_str(), 0, 0), 0);
  ASSERT_EQ(::chmod(directory.file("shared").c_str(), 0755), 0);
  EXPECT_EQ(write_error(link, "not shared"), "no error");
}

TEST(AtomicFile, SharedMemoryHoldsFilesAndNoDevices) {
  const std::string path = "/dev/shm/ridgeline-test-" + std::to_string(::getpid());
  if (::access("/dev/shm", W_OK) != 0) GTEST_SKIP() << "no /dev/shm";
  write_file_atomically(path, "one");
  write_file_atomically(path, "two");
  EXPECT_EQ(read_text_file(path), "two");
  fs::remove(path);
}

TEST(TextFile, IsLimited) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("long.json");
  directory.write("long.json", "[");
  fs::resize_file(path, max_text_bytes + 1);  // sparse: no block is written
  EXPECT_EQ(error_line([&] { read_text_file(path); }), path + ": larger than 64 MiB");
  EXPECT_EQ(read_text_file(path, max_piped_model_bytes).size(), max_text_bytes + 1);
  directory.write("short", std::string(100, 'x'));
  EXPECT_EQ(read_text_file(directory.file("short"), 100).size(), 100u);
  EXPECT_NE(error_line([&] { read_text_file(directory.file("short"), 99); }), "no error");
  // A pipe has no size: it is read until it is too long.
  const std::string pipe = directory.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] { write_file_atomically(pipe, std::string(200, 'x')); });
  EXPECT_NE(error_line([&] { read_text_file(pipe, 150); }), "no error");
  writer.join();
}

}  // namespace
}  // namespace ridgeline::testing
