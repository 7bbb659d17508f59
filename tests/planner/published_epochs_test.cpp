// Facts of the input pipeline taken from the published epochs of one board predict the other
// board's. The step is ridgeline's own prediction, so a wrong one counts against both.
#include "tests/support/published_epochs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analyzer/training/training.h"
#include "planner/training/pipeline.h"
#include "roofline/model/step.h"
#include "tests/roofline/modelled.h"

namespace ridgeline::testing {
namespace {

constexpr const char* xavier_nx = "jetson-xavier-nx";
constexpr const char* agx_xavier = "jetson-agx-xavier";
constexpr double published_minibatch = 16;

// Rows of 23 that must be close if each board is predicted with the facts of the other: with the
// measured step, and with ours, 0.99 of it on Xavier NX and 0.90 on AGX Xavier.
constexpr int close_rows_with_measured_step = 15;
constexpr int close_rows_across_boards = 14;

const Dataset& landmarks() { return known_dataset("gld23k").dataset; }
double minibatches() { return std::ceil(landmarks().samples / published_minibatch); }

struct Board {
  const char* device;
  const char* mode;
  double core_hz;
  int cores;
  double page_cache_bytes;
};

// The page cache of Xavier NX is a fact of the board (its catalog entry); AGX Xavier keeps all.
const Board boards[] = {{xavier_nx, "MODE_15W_6CORE", 1420.8e6, 6, 2.14e9},
                        {agx_xavier, "MAXN", 2265.6e6, 8, 27.9e9}};

const PublishedEpoch& find_row(const std::vector<PublishedEpoch>& rows, const Board& board,
                               const std::string& storage, int workers, bool first = false) {
  return *std::find_if(rows.begin(), rows.end(), [&](const PublishedEpoch& row) {
    return row.device == board.device && row.storage == storage && row.workers == workers &&
           row.first == first;
  });
}

// What the rows of one board alone say of loading.
struct LoadingFacts {
  InputPipeline pipeline;  // without medium
  std::map<std::string, FetchCost> media;
};

LoadingFacts facts_of(const std::vector<PublishedEpoch>& rows, const Board& board) {
  const auto seen = [&](const char* storage, int workers, bool first = false) -> const auto& {
    return find_row(rows, board, storage, workers, first);
  };
  LoadingFacts facts;
  InputPipeline& pipeline = facts.pipeline;
  // A worker keeps up on the SSD: its stall is the residual, of which a third is the queue.
  const double residual_s = *seen("ssd", 1).stall_s / minibatches();
  pipeline.queue_clocks = residual_s / 3 * board.core_hz;
  const double copy_s = residual_s * 2 / 3;
  pipeline.copy_bytes_per_s = published_minibatch * pipeline.tensor_bytes / copy_s;
  const auto device_s = [&](int workers) {
    const PublishedEpoch& row = seen("ssd", workers);
    return *row.time_s - *row.stall_s;
  };
  pipeline.device_slowdown = device_s(1) / device_s(0);

  // Fetches of all images, and the share of them that a later epoch repeats.
  const double missing =
      1 - random_order_hit_share(board.page_cache_bytes /
                                 (landmarks().samples * landmarks().bytes_per_sample));
  const double nvme_s =
      landmarks().samples * fetch_s(storage_medium("nvme").cost, landmarks().bytes_per_sample);
  std::map<std::string, double> fetch_all_s;
  for (const char* storage : {"hdd", "sd", "ssd"})
    fetch_all_s[storage] =
        missing > 0  // no SSD is slow enough to be seen beside a tenth of decoding
            ? nvme_s + (*seen(storage, 0).stall_s - *seen("ssd", 0).stall_s) / missing
            : *seen(storage, 0, true).time_s - *seen(storage, 0).time_s;
  const double decode_s =
      *seen("ssd", 0).stall_s - copy_s * minibatches() - missing * fetch_all_s["ssd"];
  pipeline.decode_clocks = decode_s / landmarks().samples * board.core_hz;

  double serial_share = 1;  // a disk has one arm; only first epochs with several workers say more
  if (missing == 0) {
    const double busy_s = device_s(1);
    const auto loading_s = [&](int workers) {
      return *seen("hdd", workers, true).stall_s + busy_s;  // workers set the pace
    };
    double serial_s = 0;
    for (const int workers : {2, 4})
      serial_s += (workers * loading_s(workers) - loading_s(1)) / (workers - 1) / 2;
    serial_share = serial_s / fetch_all_s["hdd"];
  }
  for (const auto& [storage, all_s] : fetch_all_s)
    facts.media[storage] = {INFINITY, all_s / landmarks().samples, serial_share};
  return facts;
}

double predicted_step_s(const Board& board) {
  WorkloadOptions options;
  options.batch = static_cast<std::int64_t>(published_minibatch);
  const Training training =
      train(build_workload("mobilenet_v3_large_dreamlab", options), {Optimizer::momentum});
  const NetworkLoad load =
      network_load(lower(training.graph, Runtime::torch_eager), Runtime::torch_eager);
  Conditions conditions;
  conditions.point = point_of(board.device, board.mode);
  conditions.runtime = Runtime::torch_eager;
  return StepModel(load, coefficients(model_of(board.device), Runtime::torch_eager))
      .at(conditions, false)
      .time_s;
}

PredictedEpoch predicted_epoch(const PublishedEpoch& row, const Board& board, double step_s,
                               const LoadingFacts& facts) {
  InputPipeline pipeline = facts.pipeline;
  pipeline.medium = facts.media.at(row.storage);
  pipeline.workers = row.workers;
  pipeline.core_hz = board.core_hz;
  pipeline.cores = board.cores;
  pipeline.free_memory_bytes = board.page_cache_bytes;
  const Epoch epoch =
      ridgeline::epoch(landmarks(), published_minibatch, step_s, pipeline, row.first);
  return {epoch.stall_s, epoch.time_s};
}

// Facts of `from` against the rows of `to`; all rows as text.
int close_rows_of(const std::vector<PublishedEpoch>& rows, const Board& from, const Board& to,
                  double step_s, std::string& text) {
  const LoadingFacts facts = facts_of(rows, from);
  int close = 0;
  for (const PublishedEpoch& row : rows) {
    if (row.device != to.device) continue;
    const PredictedEpoch predicted = predicted_epoch(row, to, step_s, facts);
    close += is_close(row, predicted);
    text += compared(row, predicted);
  }
  return close;
}

class PublishedEpochs : public ::testing::Test {
 protected:
  void SetUp() override {
    rows_ = published_epochs();
    if (rows_.empty()) GTEST_SKIP() << "RIDGELINE_DATA is not set, or has no hipc21_training.csv";
  }
  std::vector<PublishedEpoch> rows_;
};

// Compute is what an epoch without workers takes beyond its stall, whatever the medium.
double measured_step_s(const std::vector<PublishedEpoch>& rows, const Board& board) {
  const PublishedEpoch& row = find_row(rows, board, "ssd", 0);
  return (*row.time_s - *row.stall_s) / minibatches();
}

// The pipeline alone, with the measured step: what the loading model is worth, not ridgeline.
TEST_F(PublishedEpochs, LoadingOfOneBoardPredictsTheOther) {
  std::string text;
  int close = 0;
  for (const auto& [from, to] : {std::pair(boards[0], boards[1]), std::pair(boards[1], boards[0])})
    close += close_rows_of(rows_, from, to, measured_step_s(rows_, to), text);
  RecordProperty("close_rows", close);
  EXPECT_GE(close, close_rows_with_measured_step) << text;
}

// The same with the built-in facts, which were derived from both boards: these rows are not new to
// them, so this shows only that one set of facts can describe both.
TEST_F(PublishedEpochs, BuiltInFactsDescribeBothBoardsWithTheMeasuredStep) {
  LoadingFacts facts;
  facts.pipeline.decode_clocks = known_dataset("gld23k").decode_clocks;
  for (const char* storage : {"hdd", "sd", "ssd"})
    facts.media[storage] = storage_medium(storage).cost;
  const auto close_with = [&](double step_ratio, std::string& text) {
    int close = 0;
    for (const Board& board : boards)
      for (const PublishedEpoch& row : rows_) {
        if (row.device != board.device) continue;
        const double step_s = step_ratio * measured_step_s(rows_, board);
        const PredictedEpoch predicted = predicted_epoch(row, board, step_s, facts);
        close += is_close(row, predicted);
        text += compared(row, predicted);
      }
    return close;
  };
  std::string text;
  EXPECT_GE(close_with(1, text), 20) << text;
  // How good a predicted step must be for 16 rows.
  for (const double step_ratio : {0.94, 1.05})
    EXPECT_GE(close_with(step_ratio, text), 16) << step_ratio;
}

TEST_F(PublishedEpochs, OneBoardsFactsAndOurStepPredictTheOther) {
  std::string text;
  int close = 0;
  for (const auto& [from, to] : {std::pair(boards[0], boards[1]), std::pair(boards[1], boards[0])})
    close += close_rows_of(rows_, from, to, predicted_step_s(to), text);
  for (const Board& board : boards)
    text += std::string(board.device) + ": step " + std::to_string(1e3 * predicted_step_s(board)) +
            " ms, measured " + std::to_string(1e3 * measured_step_s(rows_, board)) + " ms\n";
  RecordProperty("close_rows", close);
  EXPECT_GE(close, close_rows_across_boards) << text;
}

// The built-in facts lie between those of the two boards, or within a tenth of them.
TEST_F(PublishedEpochs, BuiltInFactsAreThoseOfTheTwoBoards) {
  const LoadingFacts of_nx = facts_of(rows_, boards[0]), of_agx = facts_of(rows_, boards[1]);
  const auto expect_between = [](double value, double one, double other) {
    EXPECT_GE(value, 0.9 * std::min(one, other));
    EXPECT_LE(value, 1.1 * std::max(one, other));
  };
  const InputPipeline usual;
  expect_between(known_dataset("gld23k").decode_clocks, of_nx.pipeline.decode_clocks,
                 of_agx.pipeline.decode_clocks);
  expect_between(usual.queue_clocks, of_nx.pipeline.queue_clocks, of_agx.pipeline.queue_clocks);
  expect_between(usual.copy_bytes_per_s, of_nx.pipeline.copy_bytes_per_s,
                 of_agx.pipeline.copy_bytes_per_s);
  expect_between(usual.device_slowdown, of_nx.pipeline.device_slowdown,
                 of_agx.pipeline.device_slowdown);
  for (const char* storage : {"hdd", "sd", "ssd"})
    expect_between(fetch_s(storage_medium(storage).cost, landmarks().bytes_per_sample),
                   of_nx.media.at(storage).access_s, of_agx.media.at(storage).access_s);
  expect_between(storage_medium("hdd").cost.serial_share, of_agx.media.at("hdd").serial_share, 1);
}

}  // namespace
}  // namespace ridgeline::testing
