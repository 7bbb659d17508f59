// Tuning: run, learn, decide, until the expected regret of the decision is below a limit. The loop
// alone; the caller supplies the runs (a network on this machine, rows of a table).
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "validation/decision.h"

namespace ridgeline {

struct TuningOptions {
  DecisionGoal goal = {};
  double regret = 0.03;       // limit of the expected regret
  std::size_t most_runs = 0;  // 0: as many as there are settings
  RunNoise noise = {};
};

struct TuningRun {
  std::size_t setting = 0;
  MeasuredSetting measured;
  double regret_expected = 0;  // after the run, as expected before it
  Decision choice;             // after the run
};

struct Tuning {
  Decision before;  // any run
  std::vector<TuningRun> runs;
  Decision choice;                  // a setting that was measured, if any was
  bool reached = false;             // the limit
  std::vector<SettingDraws> draws;  // given the runs
};

// The draws given a run. A run that is further off than the draws allow shows that they are too
// sure of themselves: they are widened first.
std::vector<SettingDraws> learned(std::vector<SettingDraws> draws, std::size_t setting,
                                  const MeasuredSetting& measured, const RunNoise& noise = {});

// Nothing: no more runs, such as after an interruption.
using SettingRunner = std::function<std::optional<MeasuredSetting>(std::size_t setting)>;

// Ends with a run of the chosen setting, so that what it takes is measured.
Tuning tune(std::vector<SettingDraws> draws, const TuningOptions& options,
            const SettingRunner& run);

}  // namespace ridgeline
