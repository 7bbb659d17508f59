// Decision: which of several settings to use, and which run would be most informative. Settings
// are known by joint draws; what a draw comes from (a model, a made-up case) does not matter here.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace ridgeline {

// One setting that may be chosen: a mode, or threads and batch. Draws are logarithms, and draw i is
// the same machine in every setting.
struct SettingDraws {
  double samples = 1;         // of one step
  std::vector<double> time;   // ln s of one step
  std::vector<double> power;  // ln W; empty in every setting if power is not known
};

struct DecisionGoal {
  bool energy = false;                   // minimise energy per sample instead of time
  std::optional<double> latency_s = {};  // limits of one step
  std::optional<double> power_w = {};
};

// Loss of each setting in each draw, setting by setting: its cost per sample over that of the best
// setting that keeps the limits, minus 1. A setting that breaks a limit counts as one that costs
// twice the best. If no setting keeps them, the loss is the excess over the least breach.
std::vector<double> losses(std::span<const SettingDraws> settings, const DecisionGoal& goal);

// The mean over the draws, by setting.
std::vector<double> expected_losses(std::span<const SettingDraws> settings,
                                    const DecisionGoal& goal);

struct Decision {
  std::size_t setting = 0;
  double regret = 0;  // expected loss, the least of all settings
};

Decision decide(std::span<const SettingDraws> settings, const DecisionGoal& goal);

// Share of the draws in which a setting keeps the limits.
double limits_hold(const SettingDraws& setting, const DecisionGoal& goal);

// How well a run shows what its setting takes: one sigma of the logarithms.
struct RunNoise {
  double time = 0.03;
  double power = 0.03;
};

struct MeasuredSetting {
  double time_s = 0;
  std::optional<double> power_w = {};
};

// The draws given a run. Linear in the logarithms, which is exact if they are normal: each draw
// moves by its covariance with the measured quantity. The same draws and run give the same result.
std::vector<SettingDraws> given_run(std::span<const SettingDraws> settings, std::size_t run,
                                    const MeasuredSetting& measured, const RunNoise& noise = {});

// How far a run is from what the draws expect, in sigmas; the larger of time and power.
double surprise(std::span<const SettingDraws> settings, std::size_t run,
                const MeasuredSetting& measured, const RunNoise& noise = {});

// The draws with `factor` times the distance from their means.
std::vector<SettingDraws> widened_draws(std::vector<SettingDraws> settings, double factor);

// Expected regret of the decision that follows a run of this setting, over the outcomes that the
// draws expect. Never more than decide() says now, but for the randomness of the draws.
double expected_regret_after(std::span<const SettingDraws> settings, const DecisionGoal& goal,
                             std::size_t run, const RunNoise& noise = {});

struct NextRun {
  std::size_t setting = 0;
  double regret_now = 0;
  double regret_after = 0;  // expected
};

// Of the settings that are not `measured`, the one whose run lowers the expected regret most. If no
// run lowers it, the one that is most often the best. Nothing if all are measured.
std::optional<NextRun> choose_run(std::span<const SettingDraws> settings, const DecisionGoal& goal,
                                  const std::vector<bool>& measured, const RunNoise& noise = {});

}  // namespace ridgeline
