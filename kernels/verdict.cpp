// Statistics of a series and the rules that turn them into status and note.
// A reading above theory is a fault of the measurement, never a record.
#include "kernels/verdict.h"

#include <fmt/format.h>

#include <cmath>

#include "base/statistics.h"
#include "base/units.h"

namespace ridgeline {
namespace {

void add(std::string& note, const std::string& text) { note += note.empty() ? text : "; " + text; }

}  // namespace

std::string change_text(double change) {
  if (change < 0) return "fell by " + format_percent(-change);
  if (change < 1) return "rose by " + format_percent(change);
  return fmt::format("rose to {:.1f} times its first value", 1 + change);
}

Verdict judge(const SampleSeries& series, Theory theory) {
  Verdict verdict;
  if (series.rates.empty()) return verdict;
  verdict.rate = median_estimate(series.rates, Source::measured);
  if (!series.clocks.empty()) {
    verdict.clock_hz = median_estimate(series.clocks, Source::measured);
    if (theory.per_hz)
      verdict.theory =
          Estimate{*theory.per_hz * verdict.clock_hz->value, *theory.per_hz * verdict.clock_hz->low,
                   *theory.per_hz * verdict.clock_hz->high, Source::datasheet};
  }
  if (theory.rate) verdict.theory = exact(*theory.rate, Source::datasheet);
  const Estimate& rate = *verdict.rate;
  if (verdict.theory) {
    const double share = rate.value / verdict.theory->value;
    // Beyond both intervals: a disturbed clock probe is noise, a wrong count is not. The interval
    // of a few readings says nothing.
    if (series.rates.size() >= 5 && rate.low > impossible_above * verdict.theory->high) {
      verdict.status = Status::impossible;
      add(verdict.note, format_percent(share) +
                            " of theory: the clock changed under the probe, or the theory is "
                            "not that of this processor");
    } else if (share > impossible_above) {
      add(verdict.note, format_percent(share) + " of theory, within the noise of the clock");
    } else if (share < low_below) {
      add(verdict.note, "only " + format_percent(share) + " of theory");
    }
  }
  const double half_width = (rate.high - rate.low) / 2 / rate.value;
  verdict.noisy = half_width > noisy_above;
  if (verdict.noisy) add(verdict.note, "noisy: " + format_half_width(half_width, 1));
  const double moved = drift(series.rates);
  verdict.drifted = std::abs(moved) > drift_above;
  if (verdict.drifted) add(verdict.note, "drifted: " + change_text(moved) + " during the run");
  const double clock_moved = drift(series.clocks);
  if (verdict.status == Status::ok && clock_moved < throttled_below - 1) {
    const bool as_fast_as_theory =
        verdict.theory && rate.value >= unthrottled_above * verdict.theory->value;
    if (as_fast_as_theory && moved >= -drift_above) {
      add(verdict.note, "the probed clock " + change_text(clock_moved) + ", the rate did not");
    } else {
      verdict.status = Status::throttled;
      add(verdict.note, "the clock " + change_text(clock_moved));
    }
  }
  const bool moved_surely = series.rates.size() >= drift_readings &&
                            (verdict.drifted || verdict.status == Status::throttled);
  verdict.unsteady =
      half_width > very_noisy_above || moved_surely || verdict.status == Status::impossible;
  if (series.warm_up)
    add(verdict.note, "of the warm-up: the run was stopped before its first round");
  return verdict;
}

}  // namespace ridgeline
