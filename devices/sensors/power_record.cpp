// Time may step back in a log (a clock was set): such an interval counts for nothing, and a note
// says so. Readings that miss a channel leave that channel's neighbours to span the gap.
#include "devices/sensors/power_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/units.h"
#include "devices/catalog/catalog.h"

namespace ridgeline {
namespace {

constexpr double stuck_s = 5;  // of the same reading, while others move

struct Trace {
  std::vector<double> times_s, values_w;
  std::size_t missing = 0;
};

double between(double at, double t0, double v0, double t1, double v1) {
  return t1 > t0 ? v0 + (v1 - v0) * (at - t0) / (t1 - t0) : v1;
}

// A channel within the window; its ends are interpolated from the neighbours outside.
Trace trace_of(const PowerRecord& record, std::size_t channel, std::optional<double> from_s,
               std::optional<double> to_s) {
  Trace whole;
  for (const PowerSample& sample : record.samples) {
    if (std::isnan(sample.power_w[channel])) {
      ++whole.missing;
      continue;
    }
    whole.times_s.push_back(sample.time_s);
    whole.values_w.push_back(sample.power_w[channel]);
  }
  if (!from_s && !to_s) return whole;
  Trace part;
  part.missing = whole.missing;
  const auto add = [&](double time_s, double value_w) {
    part.times_s.push_back(time_s);
    part.values_w.push_back(value_w);
  };
  for (std::size_t i = 0; i < whole.times_s.size(); ++i) {
    const double t = whole.times_s[i], v = whole.values_w[i];
    const bool has_last = i > 0;
    const double t0 = has_last ? whole.times_s[i - 1] : t,
                 v0 = has_last ? whole.values_w[i - 1] : v;
    if (from_s && t0 < *from_s && t > *from_s) add(*from_s, between(*from_s, t0, v0, t, v));
    if (to_s && t0 < *to_s && t > *to_s) add(*to_s, between(*to_s, t0, v0, t, v));
    if ((!from_s || t >= *from_s) && (!to_s || t <= *to_s)) add(t, v);
  }
  return part;
}

struct Area {
  double joules = 0, seconds = 0;
  int steps_back = 0;
};

Area area_of(const Trace& trace) {
  Area area;
  for (std::size_t i = 1; i < trace.times_s.size(); ++i) {
    const double dt = trace.times_s[i] - trace.times_s[i - 1];
    if (dt < 0) {
      ++area.steps_back;
      continue;
    }
    area.joules += dt * (trace.values_w[i] + trace.values_w[i - 1]) / 2;
    area.seconds += dt;
  }
  return area;
}

ChannelPower channel_power(const PowerChannel& channel, const Trace& trace, const Area& area) {
  ChannelPower power;
  power.label = channel.label;
  power.in_sum = channel.in_sum;
  power.readings = trace.values_w.size();
  power.missing = trace.missing;
  if (trace.values_w.empty()) return power;
  const auto [least, most] = std::ranges::minmax(trace.values_w);
  power.min_w = least;
  power.max_w = most;
  double sum = 0;
  for (const double value : trace.values_w) sum += value;
  power.mean_w = area.seconds > 0 ? area.joules / area.seconds
                                  : sum / static_cast<double>(trace.values_w.size());
  power.energy_j = area.joules;
  return power;
}

void note_stuck(const std::vector<Trace>& traces, const PowerRecord& record,
                std::vector<std::string>& notes) {
  const auto moves = [](const Trace& trace) {
    return std::ranges::any_of(trace.values_w,
                               [&](double value) { return value != trace.values_w.front(); });
  };
  if (std::ranges::none_of(traces, moves)) return;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    if (traces[i].times_s.size() < 10 || moves(traces[i])) continue;
    const double seconds = traces[i].times_s.back() - traces[i].times_s.front();
    if (seconds < stuck_s || traces[i].values_w.front() == 0) continue;
    notes.push_back(fmt::format("{} read {} throughout while others moved: is its sensor stuck?",
                                record.channels[i].label,
                                format_si(traces[i].values_w.front(), "W")));
  }
}

}  // namespace

PowerSummary summarize(const PowerRecord& record, std::optional<double> from_s,
                       std::optional<double> to_s) {
  PowerSummary summary;
  summary.source = record.source;
  summary.notes = record.notes;
  std::vector<Trace> traces;
  int steps_back = 0;
  for (std::size_t i = 0; i < record.channels.size(); ++i) {
    traces.push_back(trace_of(record, i, from_s, to_s));
    const Area area = area_of(traces.back());
    ChannelPower power = channel_power(record.channels[i], traces.back(), area);
    summary.seconds = std::max(summary.seconds, area.seconds);
    if (from_s && to_s) summary.seconds = *to_s - *from_s;
    if (i < record.counted_j.size() && record.counted_j[i]) {
      power.energy_j = *record.counted_j[i];
      if (summary.seconds > 0) power.mean_w = power.energy_j / summary.seconds;
    } else if (from_s && to_s && area.seconds > 0) {
      power.energy_j = power.mean_w * summary.seconds;  // the ends beyond the readings, too
    }
    summary.readings = std::max(summary.readings, power.readings);
    steps_back = std::max(steps_back, area.steps_back);
    if (power.readings > 0 && power.min_w < 0)
      summary.notes.push_back(
          fmt::format("{} read below zero, down to {}: an idle rail of a coarse "
                      "sensor; the sign is kept",
                      power.label, format_si(power.min_w, "W")));
    if (power.missing > 0)
      summary.notes.push_back(
          fmt::format("{} could not be read {} times", power.label, power.missing));
    summary.channels.push_back(std::move(power));
  }
  if (summary.readings == 0)
    throw Error(record.source, "no power was read", "check the sensor, or the log",
                ExitCode::incomplete);
  if (steps_back > 0)
    summary.notes.push_back(fmt::format("time steps back {} time{}: these intervals are left out",
                                        steps_back, steps_back == 1 ? "" : "s"));
  note_stuck(traces, record, summary.notes);
  summary.sampler_share = summary.seconds > 0 ? record.sampler_cpu_s / summary.seconds : 0;

  // The sum of the rails at each moment, for its own extremes.
  PowerRecord sums{record.source, {{"total", true}}, {}, {}};
  double square = 0;
  std::size_t summed = 0;
  for (const PowerChannel& channel : record.channels)
    if (channel.in_sum) {
      ++summed;
      square += channel.step_w * channel.step_w;
      summary.lag_s = std::max(summary.lag_s, channel.lag_s);
    }
  if (summed == 0) return summary;
  summary.step_w = std::sqrt(square);
  for (const PowerSample& sample : record.samples) {
    double total = 0;
    for (std::size_t i = 0; i < record.channels.size(); ++i)
      if (record.channels[i].in_sum) total += sample.power_w[i];  // NaN stays NaN
    sums.samples.push_back({sample.time_s, {total}});
  }
  const Trace trace = trace_of(sums, 0, from_s, to_s);
  ChannelPower total = channel_power(sums.channels[0], trace, area_of(trace));
  if (total.readings > 0) {
    total.missing = 0;
    total.energy_j = 0;
    for (const ChannelPower& power : summary.channels)
      if (power.in_sum) total.energy_j += power.energy_j;
    if (summary.seconds > 0) total.mean_w = total.energy_j / summary.seconds;
    summary.total = std::move(total);
  }
  return summary;
}

bool mark_summed_rails(std::vector<PowerChannel>& channels) {
  const auto has = [&](const std::string& label) {
    return std::ranges::find(channels, label, &PowerChannel::label) != channels.end();
  };
  std::size_t most = 0;
  std::vector<std::string> labels;
  for (const catalog::IndexRow& row : catalog::index()) {
    if (!row.id.starts_with("jetson")) continue;
    const catalog::Device device = catalog::load(row.id);
    std::size_t common = 0;
    std::vector<std::string> summed;
    bool all = true;
    for (const catalog::Rail& rail : device.rails) {
      common += has(rail.name) ? 1 : 0;
      if (!rail.in_sum) continue;
      summed.push_back(rail.name);
      all = all && has(rail.name);
    }
    if (!all || summed.empty() || common <= most) continue;
    most = common;
    labels = summed;
  }
  for (PowerChannel& channel : channels)
    channel.in_sum = std::ranges::find(labels, channel.label) != labels.end();
  return !labels.empty();
}

}  // namespace ridgeline
