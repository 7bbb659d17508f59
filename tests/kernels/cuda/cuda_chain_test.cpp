// Chains of pointers: one cycle through all lines, in no order that a prefetcher could guess, and a
// kernel that restarts them finds its lines in L2, which the simulated GPU notices.
#include <gtest/gtest.h>

#include <set>

#include "kernels/cuda/bench.h"
#include "kernels/cuda/chain.h"
#include "kernels/cuda/plan.h"
#include "tests/kernels/cuda/measured.h"

namespace ridgeline::testing {
namespace {

using cuda::Chain;

TEST(CudaChain, IsOneCycleThroughAllLines) {
  for (const std::uint64_t lines : {2u, 4u, 64u, 128u, 1024u, 8192u, 65536u}) {
    const Chain chain{lines};
    std::vector<bool> seen(lines);
    std::uint64_t line = 0;
    for (std::uint64_t i = 0; i < lines; ++i) {
      ASSERT_LT(line, lines);
      ASSERT_FALSE(seen[line]) << lines << " lines, step " << i;
      seen[line] = true;
      line = chain.next(line);
    }
    EXPECT_EQ(line, 0u) << lines;
  }
}

TEST(CudaChain, NeighboursAreFarApart) {
  const Chain chain{65536};
  std::uint64_t near = 0;
  std::set<std::uint64_t> strides;
  for (std::uint64_t line = 0; line < 4096; ++line) {
    const std::uint64_t next = chain.next(line);
    near += next > line - 16 && next < line + 16;
    strides.insert(next - line);
  }
  EXPECT_LT(near, 8u);
  EXPECT_GT(strides.size(), 1000u);
}

TEST(CudaChain, LinesOfPagesDifferInTheirPlace) {
  const Chain chain{512, Chain::page_bytes};
  EXPECT_EQ(chain.bytes(), std::uint64_t{1} << 30);
  std::set<std::uint64_t> places;
  for (std::uint64_t line = 0; line < chain.lines; ++line) {
    EXPECT_EQ(chain.place(line) / Chain::page_bytes, line);
    places.insert(chain.place(line) % Chain::page_bytes);
  }
  EXPECT_EQ(places.size(), chain.lines);
  EXPECT_EQ(Chain{64}.place(3), 384u);
}

TEST(CudaChain, LevelsAreThoseOfTheCaches) {
  cuda::DeviceFacts facts;
  facts.l1_bytes = 128 << 10;
  facts.l2_bytes = 4 << 20;
  const auto level = [&](std::uint64_t bytes) { return cuda::level_of({bytes / 128}, facts); };
  EXPECT_EQ(level(64 << 10), Level::l1);
  EXPECT_EQ(level(128 << 10), std::nullopt);
  EXPECT_EQ(level(256 << 10), Level::l2);
  EXPECT_EQ(level(2 << 20), Level::l2);
  EXPECT_EQ(level(4 << 20), std::nullopt);
  EXPECT_EQ(level(8 << 20), std::nullopt);
  EXPECT_EQ(level(16 << 20), Level::dram);
  EXPECT_EQ(cuda::level_of({512, Chain::page_bytes}, facts), std::nullopt);
}

// A launch goes on where the last one stopped. Set back to its start each time, a chain through
// DRAM is a chain through L2.
TEST(CudaChain, AChainThatBeginsAnewIsNoChainThroughDram) {
  const Board board = agx_orin();
  const Chain chain{(32u << 20) / Chain::line_bytes};
  const auto time_of = [&](bool anew) {
    TestGpu gpu(board);
    const cuda::DeviceBuffer data(gpu, chain.bytes()), stamps(gpu, 4096);
    cuda::fill_chain(gpu, data, chain);
    cuda::Setup setup;
    setup.kernel = cuda::find_kernel("chase");
    setup.grid = {1, 32};
    setup.set_bytes = chain.bytes();
    setup.repeats = 64;
    double seconds = 0;
    for (int i = 0; i < 4; ++i) {
      if (anew) {
        const auto start = reinterpret_cast<std::uint64_t>(data.data());
        gpu.upload(static_cast<std::byte*>(data.data()) + 8, &start, 8);
      }
      seconds = cuda::run_once(gpu, setup, data, stamps).seconds;
    }
    return seconds / setup.work();
  };
  EXPECT_NEAR(time_of(false) / board.dram_latency_s, 1, 0.01);
  EXPECT_NEAR(time_of(true) * board.clock_hz / board.l2_latency_cycles, 1, 0.01);
}

TEST(CudaChain, FullRunsHaveALadderAndQuickOnesItsSteps) {
  TestGpu gpu(agx_orin());
  const auto steps = [&](bool quick) {
    std::vector<std::uint64_t> bytes;
    for (const cuda::PlannedTrial& trial :
         cuda::plan({.quick = quick, .only = {"latency"}}, gpu.facts(),
                    [&](const cuda::Kernel& kernel) { return gpu.support(kernel); }))
      bytes.push_back(trial.chain.bytes());
    return bytes;
  };
  EXPECT_EQ(steps(true), (std::vector<std::uint64_t>{16 << 10, 2 << 20, 32 << 20, 1 << 30}));
  EXPECT_EQ(steps(false).size(), 14u);  // 8 KiB to 32 MiB, and one line in each page
}

// Followed in memory, line by line and page by page.
TEST(CudaChain, AsWrittenItVisitsEveryLineOnce) {
  for (const Chain& chain : {Chain{256}, Chain{16384}, Chain{16, Chain::page_bytes}}) {
    TestGpu gpu(agx_orin());
    const cuda::DeviceBuffer data(gpu, chain.bytes());
    cuda::fill_chain(gpu, data, chain);
    EXPECT_EQ(cuda::chain_position(gpu, data), 0u);
    const auto base = reinterpret_cast<std::uint64_t>(data.data());
    std::set<std::uint64_t> seen;
    std::uint64_t at = base;
    for (std::uint64_t i = 0; i < chain.lines; ++i) {
      ASSERT_TRUE(at >= base && at + 8 <= base + chain.bytes()) << i;
      ASSERT_TRUE(seen.insert(at).second) << i;
      gpu.download(&at, reinterpret_cast<void*>(at), sizeof at);
    }
    EXPECT_EQ(at, base);
    EXPECT_EQ(*seen.rbegin(), base + chain.place(chain.lines - 1));
  }
}

}  // namespace
}  // namespace ridgeline::testing
