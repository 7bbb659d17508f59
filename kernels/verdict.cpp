// Statistics of a series and the rules that turn them into status and note.
// A reading above theory is a fault of the measurement, never a record.
#include "kernels/verdict.h"

#include <cmath>

#include "base/statistics.h"
#include "base/units.h"

namespace ridgeline {
namespace {

void add(std::string& note, const std::string& text) { note += note.empty() ? text : "; " + text; }

}  // namespace

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
  if (verdict.noisy) add(verdict.note, "noisy: ± " + format_percent(half_width, 1));
  const double moved = drift(series.rates);
  verdict.drifted = std::abs(moved) > drift_above;
  if (verdict.drifted)
    add(verdict.note, "drifted by " + format_percent(moved, 1) + " during the run");
  if (verdict.status == Status::ok && drift(series.clocks) < throttled_below - 1) {
    verdict.status = Status::throttled;
    add(verdict.note, "the clock fell by " + format_percent(-drift(series.clocks)));
  }
  return verdict;
}

}  // namespace ridgeline
