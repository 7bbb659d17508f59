// Whole runs on simulated boards, quick and full: every row is the board's truth within 1 %, or it
// says that it is not.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "tests/kernels/cuda/measured.h"

namespace ridgeline::testing {
namespace {

using ::testing::IsEmpty;

constexpr double tolerance = 0.01;

struct BoardRun {
  int rows = 0;
  std::vector<std::string> wrong;   // off by more than 1 %, and nothing is said about it
  std::vector<std::string> marked;  // status or note
};

void compare(BoardRun& run, const std::string& what, Status status, const std::string& note,
             const std::optional<Estimate>& found, double truth) {
  if (status == Status::unsupported) return;
  ++run.rows;
  const double ratio = found ? found->value / truth : 0;
  const std::string text =
      fmt::format("{} {:.4f} of {:.4g} ({}: {})", what, ratio, truth, to_string(status), note);
  // A share of the bus that a board cannot reach is a remark on the board, not on the measurement.
  const bool remark = note.starts_with("only ") && note.ends_with(" of theory");
  const bool said = status != Status::ok || (!note.empty() && !remark);
  if (said)
    run.marked.push_back(text);
  else if (std::abs(ratio - 1) > tolerance)
    run.wrong.push_back(text);
}

// Where arithmetic takes every issue slot, the loop around it takes some of them: up to 0.8 %, as
// docs/cuda-kernels.md shows.
double compute_truth(const Board& board, const KernelProgram& program) {
  const double cycles_per_s = board.facts.multiprocessors * board.clock_hz;
  const double issued = board.issue_per_cycle * program.flop() /
                        (program.instructions + program.near_accesses + program.other) *
                        cycles_per_s;
  const double fed = program.near_accesses > 0 ? board.near_bytes_per_cycle * program.flop() /
                                                     (512 * program.near_accesses) * cycles_per_s
                                               : issued;
  return std::min({board.flops_per_s(program.pipe), issued, fed});
}

BoardRun compared(const Board& board, const ProfileMode& mode) {
  BoardRun run;
  for (const ComputeRow& row : mode.compute)
    if (row.status != Status::unsupported) {
      const double truth = compute_truth(board, program_of(row.kernel));
      compare(run, row.kernel, row.status, row.note, row.flops_per_s, truth);
      if (row.sustained)
        compare(run, row.kernel + " held", row.status, row.note, row.sustained->rate, truth);
    }
  for (const MemoryRow& row : mode.memory) {
    const double truth = row.level == Level::dram ? board.dram(row.direction, row.allocation)
                         : row.level == Level::l2 ? board.l2_bytes_per_s()
                                                  : board.near_bytes_per_s();
    compare(run, row.kernel + " " + row.allocation, row.status, row.note, row.bytes_per_s, truth);
    if (row.sustained)
      compare(run, row.kernel + " held", row.status, row.note, row.sustained->rate, truth);
  }
  for (const SweepRow& row : mode.sweep)
    compare(run, row.kernel, row.status, row.note, row.bytes_per_s,
            board.sweep_bytes_per_s(row.fma_per_element));
  for (const LatencyRow& row : mode.latency) {
    const bool pages = row.kernel == "chase_pages";
    compare(run, fmt::format("{} {}", row.kernel, row.working_set_bytes), row.status, row.note,
            row.time_s, board.load_latency_s(row.working_set_bytes, pages ? 2 << 20 : 128, !pages));
  }
  for (const LaunchRow& row : mode.launch)
    compare(run, row.kind, row.status, row.note, row.time_s,
            row.kind == "async_launch" ? board.launch_s
            : row.kind == "graph_node" ? board.node_s
                                       : board.launch_s + board.start_s);
  for (const TransferRow& row : mode.transfer) {
    const double speed = row.kind == "host_to_device"   ? board.to_device_bytes_per_s
                         : row.kind == "device_to_host" ? board.to_host_bytes_per_s
                                                        : board.both_bytes_per_s;
    compare(run, row.kind + " " + row.host_memory, row.status, row.note, row.bytes_per_s,
            speed * (row.host_memory == "pinned" ? 1 : board.pageable_share));
  }
  return run;
}

// A board whose shared memory is too slow for its tensor cores: what a matrix product can reach is
// below the roof, and the roof stays where it is.
TEST(CudaFedRoof, IsWhatSharedMemoryAllows) {
  Board board = agx_orin();
  board.near_bytes_per_cycle = 44;
  TestGpu gpu(board);
  const ProfileMode mode = measured(gpu, {.only = {"mma_fp16", "fed_fp16", "fed_int8"}});
  const double cycles_per_s = board.facts.multiprocessors * board.clock_hz;
  // Eight times 512 bytes for 32 products.
  const double fed_fp16 = 44.0 / (8 * 512) * 32 * 4096 * cycles_per_s;
  EXPECT_NEAR(row_of(mode, "fed_fp16_32").flops_per_s->value / fed_fp16, 1, tolerance);
  EXPECT_NEAR(row_of(mode, "fed_int8_32").flops_per_s->value / (2 * fed_fp16), 1, tolerance);
  const auto roof = std::ranges::find_if(mode.compute, [](const ComputeRow& row) {
    return row.kernel.starts_with("mma_fp16_") && row.roof;
  });
  ASSERT_NE(roof, mode.compute.end());
  EXPECT_NEAR(roof->flops_per_s->value / board.flops_per_s("mma_fp16"), 1, tolerance);
  EXPECT_FALSE(row_of(mode, "fed_fp16_32").roof);
}

class CudaBoards : public ::testing::TestWithParam<std::tuple<std::size_t, bool>> {
 protected:
  const Board& board() const { return all_boards()[std::get<0>(GetParam())]; }
  bool quick() const { return std::get<1>(GetParam()); }
  double longest_s() const { return quick() ? 45 : 300; }
};

TEST_P(CudaBoards, EveryRowIsTheTruthOfTheBoard) {
  TestGpu gpu(board());
  const ProfileMode mode = measured(gpu, {.quick = quick()});
  const BoardRun run = compared(board(), mode);
  EXPECT_THAT(run.wrong, IsEmpty());
  EXPECT_THAT(run.marked, IsEmpty());
  EXPECT_GT(run.rows, quick() ? 20 : 30);
  EXPECT_TRUE(mode.conditions.complete);
  for (const Warning& warning : mode.conditions.warnings) ADD_FAILURE() << warning.text;
  EXPECT_LT(gpu.now_s(), longest_s());
}

// The committed noise is one of many. RIDGELINE_NOISE_SEEDS=20 tries that many others.
TEST(CudaNoise, OtherSeedsAreTrueOrMarkedToo) {
  const char* const wanted = std::getenv("RIDGELINE_NOISE_SEEDS");
  const int seeds = wanted ? std::atoi(wanted) : 1;
  for (int seed = 1; seed <= seeds; ++seed)
    for (Board board : all_boards())
      for (const bool quick : {true, false}) {
        if (!wanted && !quick) continue;
        board.noise_seed = static_cast<std::uint64_t>(1000 * seed);
        TestGpu gpu(board);
        const ProfileMode mode = measured(gpu, {.quick = quick});
        const BoardRun run = compared(board, mode);
        const std::string where =
            fmt::format("seed {}, {}, {}", seed, board.facts.name, quick ? "quick" : "full");
        EXPECT_THAT(run.wrong, IsEmpty()) << where;
        EXPECT_THAT(run.marked, IsEmpty()) << where;
        EXPECT_LT(gpu.now_s(), quick ? 45 : 300) << where;
      }
}

// Surroundings that change: nothing wrong is published without a word.
void expect_true_or_marked(const Board& board, std::size_t least_true) {
  for (const bool quick : {false, true}) {
    TestGpu gpu(board);
    const ProfileMode mode = measured(gpu, {.quick = quick}, {.cap_hz = board.clock_hz});
    const BoardRun run = compared(board, mode);
    EXPECT_THAT(run.wrong, IsEmpty());
    EXPECT_GE(static_cast<std::size_t>(run.rows) - run.marked.size(), least_true);
    EXPECT_LT(gpu.now_s(), quick ? 45 : 300);
  }
}

TEST(CudaSurroundings, AHotBoardIsTrueOrMarked) {
  Board board = orin_nano();
  board.heat = {.ambient_c = 60, .kelvin_per_w = 3.2, .time_constant_s = 8};
  expect_true_or_marked(board, 3);
  TestGpu gpu(board);
  const ProfileMode mode = measured(gpu, {}, {.cap_hz = board.clock_hz});
  EXPECT_GT(mode.conditions.rows.throttled, 0) << "it does get hot";
}

TEST(CudaSurroundings, ANeighbourIsTrueOrMarked) {
  for (Board board : {agx_orin(), ada_card()}) {
    board.neighbour = {.share = 0.5, .period_s = 0.7, .busy_s = 0.2};
    expect_true_or_marked(board, 20);
  }
}

TEST(CudaSurroundings, ALazyMemoryClockIsTrueOrMarked) {
  Board board = agx_orin();
  board.memory_governor = {.lowest = 0.3, .rise_s = 0.06, .fall_s = 0.01};
  expect_true_or_marked(board, 30);
}

std::string board_name(const ::testing::TestParamInfo<std::tuple<std::size_t, bool>>& info) {
  const std::string names[] = {"AgxOrin", "OrinNano", "XavierNx", "AdaCard", "HopperCard", "Thor"};
  return names[std::get<0>(info.param)] + (std::get<1>(info.param) ? "Quick" : "Full");
}

INSTANTIATE_TEST_SUITE_P(All, CudaBoards,
                         ::testing::Combine(::testing::Values(0u, 1u, 2u, 3u, 4u, 5u),
                                            ::testing::Bool()),
                         board_name);

}  // namespace
}  // namespace ridgeline::testing
