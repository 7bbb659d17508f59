// The building blocks of benches: thread team, page buffers, pointer chains.
#include "kernels/cpu/team.h"

#include <gtest/gtest.h>

#include <set>

#include "devices/machine/topology.h"
#include "kernels/cpu/page_buffer.h"

namespace ridgeline::cpu {
namespace {

TEST(Team, RunsEachJobOnceOnEachThread) {
  const Topology topology = read_topology();
  Team team(topology.cpus);
  for (int threads = 1; threads <= team.size(); ++threads) {
    std::vector<int> counts(topology.cpus.size(), 0);
    for (int i = 0; i < 100; ++i)
      team.run(threads, [&](int thread) { ++counts[static_cast<std::size_t>(thread)]; });
    for (int thread = 0; thread < team.size(); ++thread)
      EXPECT_EQ(counts[static_cast<std::size_t>(thread)], thread < threads ? 100 : 0);
  }
}

TEST(Team, MembersThatSleptWakeUpAgain) {
  const Topology topology = read_topology();
  Team team(topology.cpus);
  std::atomic<int> runs = 0;
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    team.run(team.size(), [&](int) { ++runs; });
  }
  EXPECT_EQ(runs, 3 * team.size());
}

TEST(Barrier, NobodyPassesBeforeAllHaveArrived) {
  const Topology topology = read_topology();
  Team team(topology.cpus);
  Barrier barrier(team.size());
  std::atomic<int> arrived = 0;
  std::atomic<bool> early = false;
  team.run(team.size(), [&](int) {
    for (int round = 1; round <= 50; ++round) {
      ++arrived;
      barrier.wait();
      if (arrived < round * team.size()) early = true;
      barrier.wait();
    }
  });
  EXPECT_FALSE(early);
}

TEST(PageBuffer, IsAlignedWritableAndMovable) {
  PageBuffer buffer(5000);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % (2u << 20), 0u);
  fill_random(buffer.data(), buffer.size(), 1);
  PageBuffer other = std::move(buffer);
  EXPECT_EQ(other.size(), 5000u);
  const float* values = reinterpret_cast<const float*>(other.data());
  for (int i = 0; i < 1250; ++i) {
    EXPECT_GE(std::abs(values[i]), 0.25f);
    EXPECT_LT(std::abs(values[i]), 1.0f);
  }
}

TEST(PageBuffer, RefusesMoreThanTheAddressSpace) {
  EXPECT_ANY_THROW(PageBuffer(std::size_t{1} << 62));
}

TEST(PointerChain, IsOneCycleThroughAllLines) {
  for (const std::size_t lines : {1u, 2u, 3u, 64u, 1000u}) {
    PageBuffer buffer(lines * 64);
    void* const start = make_pointer_chain(buffer.data(), lines * 64, 64, 7);
    std::set<void*> seen;
    void* position = start;
    do {
      EXPECT_TRUE(seen.insert(position).second);
      position = *static_cast<void**>(position);
    } while (position != start);
    EXPECT_EQ(seen.size(), lines);
  }
}

}  // namespace
}  // namespace ridgeline::cpu
