// The draws carry all that is known; each run conditions them.
#include "validation/tuning.h"

#include <algorithm>
#include <utility>

namespace ridgeline {
namespace {

constexpr double most_surprise = 2;  // in sigmas

}  // namespace

std::vector<SettingDraws> learned(std::vector<SettingDraws> draws, std::size_t setting,
                                  const MeasuredSetting& measured, const RunNoise& noise) {
  const double sigmas = surprise(draws, setting, measured, noise);
  if (sigmas > most_surprise) draws = widened_draws(std::move(draws), sigmas / most_surprise);
  return given_run(draws, setting, measured, noise);
}

Tuning tune(std::vector<SettingDraws> draws, const TuningOptions& options,
            const SettingRunner& run) {
  Tuning tuning;
  tuning.draws = std::move(draws);
  std::vector<bool> measured(tuning.draws.size());
  const std::size_t most_runs =
      options.most_runs == 0 ? measured.size() : std::min(options.most_runs, measured.size());
  tuning.before = tuning.choice = decide(tuning.draws, options.goal);
  while (true) {
    const bool is_good = tuning.choice.regret <= options.regret;
    tuning.reached = is_good && measured[tuning.choice.setting];
    if (tuning.reached || tuning.runs.size() == most_runs) break;
    TuningRun next;
    if (is_good) {
      next.setting = tuning.choice.setting;
      next.regret_expected =
          expected_regret_after(tuning.draws, options.goal, next.setting, options.noise);
    } else {
      const auto chosen = choose_run(tuning.draws, options.goal, measured, options.noise);
      if (!chosen) break;
      next.setting = chosen->setting;
      next.regret_expected = chosen->regret_after;
    }
    const std::optional<MeasuredSetting> outcome = run(next.setting);
    if (!outcome) break;
    next.measured = *outcome;
    measured[next.setting] = true;
    tuning.draws = learned(std::move(tuning.draws), next.setting, *outcome, options.noise);
    next.choice = tuning.choice = decide(tuning.draws, options.goal);
    tuning.runs.push_back(next);
  }
  if (measured[tuning.choice.setting] || tuning.runs.empty()) return tuning;
  const std::vector<double> all = expected_losses(tuning.draws, options.goal);
  tuning.choice.setting = tuning.runs.front().setting;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (measured[i] && all[i] < all[tuning.choice.setting]) tuning.choice.setting = i;
  tuning.choice.regret = all[tuning.choice.setting];
  return tuning;
}

}  // namespace ridgeline
