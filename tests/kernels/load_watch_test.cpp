// The load watch on a made-up /proc: steal time, time of other processes, and their names.
#include "kernels/load_watch.h"

#include <gtest/gtest.h>

#include "tests/support/temporary_directory.h"

namespace ridgeline {
namespace {

struct FakeProc {
  testing::TemporaryDirectory folder;
  SystemRoot root{folder.path() + "/"};

  // Ticks of CPU 0 and 1: user time, idle, steal; and of this process.
  void stat(int user0, int user1, int idle, int steal, int own) const {
    const auto cpu = [&](const char* name, int user) {
      return std::string(name) + " " + std::to_string(user) + " 0 0 " + std::to_string(idle) +
             " 0 0 0 " + std::to_string(steal) + " 0 0\n";
    };
    folder.write("proc/stat", cpu("cpu ", user0 + user1) + cpu("cpu0", user0) + cpu("cpu1", user1) +
                                  "intr 1 2 3\nctxt 5\n");
    folder.write("proc/self/stat",
                 "1 (ridge (line)) R 0 0 0 0 0 0 0 0 0 0 " + std::to_string(own) + " 0 0 0 20 0\n");
  }
  void process(int pid, const std::string& name, int ticks) const {
    folder.write("proc/" + std::to_string(pid) + "/stat",
                 std::to_string(pid) + " (" + name + ") R 0 0 0 0 0 0 0 0 0 0 " +
                     std::to_string(ticks) + " 0 0 0 20 0\n");
  }
};

TEST(LoadWatch, OwnTimeIsNotOtherLoad) {
  FakeProc proc;
  proc.stat(100, 100, 100, 0, 50);
  LoadWatch watch({0, 1}, proc.root);
  proc.stat(200, 200, 100, 0, 250);
  const OtherLoad load = watch.since_last();
  EXPECT_NEAR(load.other_fraction, 0, 1e-12);
  EXPECT_NEAR(load.steal_fraction, 0, 1e-12);
}

TEST(LoadWatch, CountsStealAndOthersOnTheMeasuredCpusOnly) {
  FakeProc proc;
  proc.stat(0, 0, 0, 0, 0);
  LoadWatch one({0}, proc.root);
  LoadWatch both({0, 1}, proc.root);
  proc.stat(50, 90, 40, 10, 50);
  const OtherLoad first = one.since_last();
  EXPECT_NEAR(first.other_fraction, 0, 1e-12);
  EXPECT_NEAR(first.steal_fraction, 10.0 / 100, 1e-12);
  const OtherLoad all = both.since_last();
  EXPECT_NEAR(all.other_fraction, 90.0 / 240, 1e-12);
  EXPECT_NEAR(all.steal_fraction, 20.0 / 240, 1e-12);
  EXPECT_NEAR(both.since_last().other_fraction, 0, 1e-12);
}

TEST(LoadWatch, NamesTheBusiestProcess) {
  FakeProc proc;
  proc.stat(0, 0, 0, 0, 0);
  proc.process(41, "idle thing", 5);
  proc.process(42, "a (very) busy one", 10);
  LoadWatch watch({0, 1}, proc.root);
  EXPECT_EQ(watch.busiest_process(), "");
  proc.stat(300, 300, 0, 0, 300);
  proc.process(42, "a (very) busy one", 250);
  proc.process(43, "new", 20);
  EXPECT_EQ(watch.busiest_process(), "'a (very) busy one' (pid 42)");
}

TEST(LoadWatch, AMissingProcIsNoLoad) {
  FakeProc proc;
  LoadWatch watch({0, 1}, proc.root);
  EXPECT_EQ(watch.since_last().other_fraction, 0);
  EXPECT_EQ(watch.busiest_process(), "");
}

TEST(LoadWatch, ReadsTheRealSystem) {
  LoadWatch watch({0});
  const OtherLoad load = watch.since_last();
  EXPECT_GE(load.other_fraction, 0);
  EXPECT_LE(load.steal_fraction, 1);
}

}  // namespace
}  // namespace ridgeline
