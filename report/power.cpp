// Watts of rails have the digits of their sensors: milliwatts at most.
#include "report/power.h"

#include <fmt/format.h>

#include <cmath>

#include "base/csv.h"
#include "base/json.h"
#include "base/text_table.h"
#include "base/units.h"
#include "base/wrap.h"

namespace ridgeline {
namespace {

constexpr double lags_of_a_window = 3;  // below which a window is mostly lag

std::string watt_text(double watt) { return fmt::format("{:.3f} W", watt); }

std::string joule_text(double joule) {
  return joule >= 100 ? fmt::format("{:.1f} J", joule) : fmt::format("{:.3f} J", joule);
}

std::vector<std::string> power_cells(const ChannelPower& power, const char* role) {
  if (power.readings == 0) return {power.label, role, "unreadable"};
  return {power.label,
          role,
          watt_text(power.mean_w),
          watt_text(power.min_w),
          watt_text(power.max_w),
          joule_text(power.energy_j)};
}

Json channel_json(const ChannelPower& power) {
  const bool read = power.readings > 0;
  const auto value = [&](double number) { return read ? Json(number) : Json(); };
  return {{"label", power.label},          {"in_sum", power.in_sum},
          {"readings", power.readings},    {"missing", power.missing},
          {"mean_w", value(power.mean_w)}, {"min_w", value(power.min_w)},
          {"max_w", value(power.max_w)},   {"energy_j", value(power.energy_j)}};
}

}  // namespace

void judge_window(PowerReport& report) {
  PowerSummary& summary = report.summary;
  const bool counts = !report.record.counted_j.empty() && report.record.counted_j.front();
  if (summary.lag_s <= 0 || counts) return;
  if (summary.seconds < summary.lag_s)
    summary.notes.push_back(
        fmt::format("the time is shorter than the {} over which the sensor averages: its energy is "
                    "mostly that of what was before; repeat the work for several seconds",
                    format_seconds(summary.lag_s)));
  else if (summary.seconds < lags_of_a_window * summary.lag_s)
    summary.notes.push_back(
        fmt::format("the time is less than {} averages of the sensor ({} each): its energy is "
                    "uncertain; repeat the work for several seconds",
                    lags_of_a_window, format_seconds(summary.lag_s)));
}

std::string power_text(const PowerReport& report, int width) {
  const PowerSummary& summary = report.summary;
  std::string text = fmt::format("{}: {}, {} readings of each\n", summary.source,
                                 format_seconds(summary.seconds), summary.readings);
  if (!report.command.empty()) {
    std::string line;
    for (const std::string& word : report.command) line += (line.empty() ? "" : " ") + word;
    text += "while this ran: " + printable(line) + '\n';
  }
  TextTable table{{{"rail"},
                   {""},
                   {"mean", Align::right},
                   {"min", Align::right},
                   {"max", Align::right},
                   {"energy", Align::right}},
                  {}};
  std::size_t summed = 0;
  for (const ChannelPower& power : summary.channels) {
    summed += power.in_sum ? 1 : 0;
    table.rows.push_back(power_cells(power, power.in_sum ? "counts" : summary.total ? "part" : ""));
  }
  if (summary.total && summed > 1) table.rows.push_back(power_cells(*summary.total, "sum"));
  text += '\n' + render_text(table, width) + '\n';
  if (summary.step_w > 0)
    text += fmt::format("readings of the total are {} apart and {} late\n",
                        format_si(summary.step_w, "W"), format_seconds(summary.lag_s));
  if (report.record.sampler_cpu_s > 0)
    text += fmt::format("reading took {} of one core\n", format_percent(summary.sampler_share));
  for (const std::string& note : summary.notes) text += paragraph(note, width);
  return text;
}

std::string power_json(const PowerReport& report) {
  const PowerSummary& summary = report.summary;
  Json run;
  if (!report.command.empty())
    run = {{"command", Json(report.command)}, {"begin_s", report.begin_s}, {"end_s", report.end_s}};
  return dump_json({{"schema", PowerReport::schema},
                    {"source", summary.source},
                    {"seconds", summary.seconds},
                    {"readings", summary.readings},
                    {"rails", array_of(summary.channels, channel_json)},
                    {"total", summary.total ? channel_json(*summary.total) : Json()},
                    {"step_w", summary.step_w},
                    {"lag_s", summary.lag_s},
                    {"sampler_share", summary.sampler_share},
                    {"run", run},
                    {"notes", Json(summary.notes)}});
}

std::string power_csv(const PowerReport& report) {
  TextTable table{{{"time_s"}}, {}};
  for (const PowerChannel& channel : report.record.channels)
    table.columns.push_back({channel.label + "_w"});
  if (report.summary.total) table.columns.push_back({"total_w"});
  for (const PowerSample& sample : report.record.samples) {
    std::vector<std::string> cells{fmt::format("{:.6f}", sample.time_s)};
    double total = 0;
    for (std::size_t i = 0; i < sample.power_w.size(); ++i) {
      const double power = sample.power_w[i];
      cells.push_back(std::isnan(power) ? "" : csv_number(power));
      if (report.record.channels[i].in_sum) total += power;
    }
    if (report.summary.total) cells.push_back(std::isnan(total) ? "" : csv_number(total));
    table.rows.push_back(std::move(cells));
  }
  return render_csv(table);
}

}  // namespace ridgeline
