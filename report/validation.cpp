// The text has the totals first, then the scores by key, the worst rows and what was skipped.
#include "report/validation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/csv.h"
#include "base/text_table.h"
#include "base/units.h"
#include "base/wrap.h"

namespace ridgeline {
namespace {

constexpr std::size_t worst_shown = 8;
constexpr std::size_t skipped_shown = 8;

std::string percent(const std::optional<double>& fraction) {
  return fraction ? format_percent(*fraction, 1) : "-";
}

std::string signed_percent(const std::optional<double>& fraction) {
  if (!fraction) return "-";
  return (*fraction < 0 ? "−" : "+") + fmt::format("{:.1f} %", std::abs(*fraction) * 100);
}

std::string number_or_nothing(const std::optional<double>& value) {
  return value ? fmt::format("{:.2f}", *value) : "-";
}

std::string counted(int count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string csv_cell(const std::optional<double>& value) {
  return value ? csv_number(*value) : std::string();
}

class ValidationText {
 public:
  ValidationText(const Validation& validation, int width)
      : validation_(validation), width_(width) {}

  std::string run() {
    heading();
    verdict();
    for (const auto& [key, scores] : validation_.by)
      if (scores.size() > 1) table_by(key, scores);
    worst();
    skipped();
    return std::move(out_);
  }

 private:
  void paragraph(const std::string& text) { out_ += wrap(text, width_) + "\n"; }

  void item(const std::string& text) { out_ += "  " + wrap(text, width_, 4, 2) + "\n"; }

  void fact(const char* name, const std::string& text) {
    out_ += fmt::format("  {:<8}", name) + wrap(text, width_, 10, 10) + "\n";
  }

  void heading() {
    const ValidationOptions& options = validation_.options;
    const Score& total = validation_.total;
    std::string probes = "no probes";
    if (!options.probe_modes.empty())
      probes = fmt::format("probed at {}", fmt::join(options.probe_modes, " and "));
    else if (options.probes > 0)
      probes = counted(options.probes, "probe", "probes") + " per group";
    std::string text =
        fmt::format("{}: {} in {}, {}", validation_.file, counted(total.rows, "row", "rows"),
                    counted(total.groups, "group", "groups"), probes);
    if (!validation_.probes.empty())
      text += fmt::format(" ({} that are not scored)",
                          counted(static_cast<int>(validation_.probes.size()), "row", "rows"));
    if (!validation_.skipped.empty())
      text += fmt::format("; {} skipped", validation_.skipped.size());
    if (!validation_.filter.empty())
      text += fmt::format("; where {}", fmt::join(validation_.filter, ", "));
    paragraph(text);
    for (const std::string& note : validation_.notes) paragraph(note);
    out_ += "\n";
  }

  void verdict() {
    const Score& total = validation_.total;
    if (total.rows == 0) return paragraph("No row could be scored.");
    fact("time", fmt::format("MAPE {}, bias {}; the 90 % interval holds {} of the rows, median "
                             "half-width {}",
                             percent(total.time_mape), signed_percent(total.time_bias),
                             percent(total.time_coverage), percent(total.time_half_width)));
    quantity("power", total.power_mape, total.power_bias, total.power_coverage,
             total.power_half_width);
    quantity("energy", total.energy_mape, total.energy_bias, total.energy_coverage,
             total.energy_half_width);
    if (total.kendall_tau)
      fact("modes", fmt::format("Kendall τ of their order by time {}, over {}",
                                number_or_nothing(total.kendall_tau),
                                counted(total.ranked_groups, "group", "groups")));
    if (total.energy_regret_mean)
      fact("choice",
           fmt::format("the mode of least predicted energy costs {} more than the best (at most "
                       "{}), and is the best in {} of {}",
                       percent(total.energy_regret_mean), percent(total.energy_regret_max),
                       percent(total.best_mode_hit),
                       counted(total.choice_groups, "group", "groups")));
    if (validation_.noise.sets > 0) {
      std::string text = fmt::format("{} differ by {} in time",
                                     counted(validation_.noise.sets, "repeated run",
                                             "repeated "
                                             "runs"),
                                     percent(validation_.noise.time));
      if (validation_.noise.power)
        text += fmt::format(" and {} in power", percent(validation_.noise.power));
      fact("noise", text);
    }
    for (const BoardOffset& offset : validation_.board_offsets)
      fact("board", fmt::format("{} adds {} W to {}, estimated from {}", offset.source,
                                format_number(offset.power_w), offset.device,
                                counted(offset.probes, "probe", "probes")));
  }

  void quantity(const char* name, const std::optional<double>& mape,
                const std::optional<double>& bias, const std::optional<double>& coverage,
                const std::optional<double>& half_width) {
    if (!mape) return;
    fact(name,
         fmt::format("MAPE {}, bias {}; the 90 % interval holds {} of {}, median half-width "
                     "{}",
                     percent(mape), signed_percent(bias), percent(coverage),
                     counted(validation_.total.power_rows, "row", "rows"), percent(half_width)));
  }

  void table_by(const std::string& key, const std::vector<std::pair<std::string, Score>>& scores) {
    const auto any = [&](auto member) {
      return std::any_of(scores.begin(), scores.end(),
                         [&](const auto& row) { return (row.second.*member).has_value(); });
    };
    const bool has_power = any(&Score::power_mape), has_tau = any(&Score::kendall_tau),
               has_regret = any(&Score::energy_regret_mean);
    TextTable table{{{key, Align::left, true},
                     {"rows", Align::right},
                     {"time", Align::right},
                     {"bias", Align::right},
                     {"in 90 %", Align::right}},
                    {}};
    if (has_power)
      for (const char* title : {"power", "energy"}) table.columns.push_back({title, Align::right});
    if (has_tau) table.columns.push_back({"τ", Align::right});
    if (has_regret) table.columns.push_back({"regret", Align::right});
    for (const auto& [value, score] : scores) {
      std::vector<std::string> cells{value, std::to_string(score.rows), percent(score.time_mape),
                                     signed_percent(score.time_bias), percent(score.time_coverage)};
      if (has_power) {
        cells.push_back(percent(score.power_mape));
        cells.push_back(percent(score.energy_mape));
      }
      if (has_tau) cells.push_back(number_or_nothing(score.kendall_tau));
      if (has_regret) cells.push_back(percent(score.energy_regret_mean));
      table.rows.push_back(std::move(cells));
    }
    out_ += "\n" + render_text(table, width_);
  }

  void worst() {
    if (validation_.rows.empty()) return;
    TextTable table{{{"worst: line", Align::right},
                     {"net", Align::left, true},
                     {"batch", Align::right},
                     {"dtype"},
                     {"mode", Align::left, true},
                     {"measured", Align::right},
                     {"predicted", Align::right},
                     {"error", Align::right}},
                    {}};
    for (const std::size_t i : worst_rows(validation_, worst_shown)) {
      const ScoredRow& row = validation_.rows[i];
      const Observation& measured = row.observation;
      table.rows.push_back(
          {std::to_string(measured.line), measured.network, std::to_string(measured.batch),
           std::string(to_string(measured.dtype)), row.mode, format_seconds(measured.time_s),
           format_seconds(row.forecast.time_s.value), signed_percent(time_error(row))});
    }
    out_ += "\n" + render_text(table, width_);
  }

  // Rows with the same reason in one line, the most frequent first.
  void skipped() {
    if (validation_.skipped.empty()) return;
    std::vector<std::pair<std::string, std::vector<int>>> reasons;
    for (const SkippedRow& row : validation_.skipped) {
      auto found = std::find_if(reasons.begin(), reasons.end(),
                                [&](const auto& one) { return one.first == row.reason; });
      if (found == reasons.end()) found = reasons.insert(found, {row.reason, {}});
      found->second.push_back(row.line);
    }
    std::stable_sort(reasons.begin(), reasons.end(), [](const auto& a, const auto& b) {
      return a.second.size() > b.second.size();
    });
    out_ += "\nskipped\n";
    for (std::size_t i = 0; i < std::min(reasons.size(), skipped_shown); ++i) {
      const auto& [reason, lines] = reasons[i];
      std::string where = fmt::format("line {}", lines.front());
      if (lines.size() > 1) where += fmt::format(" and {} more", lines.size() - 1);
      item(fmt::format("{}: {}", where, reason));
    }
    if (reasons.size() > skipped_shown)
      item(fmt::format("… and {} other reasons (--json lists every row)",
                       reasons.size() - skipped_shown));
  }

  const Validation& validation_;
  int width_;
  std::string out_;
};

}  // namespace

std::string validation_text(const Validation& validation, int width) {
  return ValidationText(validation, width).run();
}

std::string validation_csv(const Validation& validation) {
  std::string csv = csv_row({"line",
                             "source",
                             "device",
                             "mode",
                             "model",
                             "options",
                             "batch",
                             "dtype",
                             "runtime",
                             "task",
                             "bound",
                             "measured_time_s",
                             "time_s",
                             "time_low_s",
                             "time_high_s",
                             "time_error",
                             "measured_power_w",
                             "power_w",
                             "power_low_w",
                             "power_high_w",
                             "measured_energy_j",
                             "energy_j"});
  for (const ScoredRow& row : validation.rows) {
    const Observation& measured = row.observation;
    const Forecast& predicted = row.forecast;
    const auto part = [](const std::optional<Estimate>& estimate, double Estimate::*member) {
      return estimate ? csv_number((*estimate).*member) : std::string();
    };
    csv += csv_row({std::to_string(measured.line),
                    measured.source,
                    measured.device,
                    row.mode,
                    measured.network,
                    measured.options,
                    std::to_string(measured.batch),
                    std::string(to_string(measured.dtype)),
                    std::string(to_string(measured.conditions.runtime)),
                    std::string(to_string(measured.task)),
                    std::string(to_string(predicted.bound)),
                    csv_number(measured.time_s),
                    csv_number(predicted.time_s.value),
                    csv_number(predicted.time_s.low),
                    csv_number(predicted.time_s.high),
                    csv_number(time_error(row)),
                    csv_cell(measured.power_w),
                    part(predicted.power_w, &Estimate::value),
                    part(predicted.power_w, &Estimate::low),
                    part(predicted.power_w, &Estimate::high),
                    csv_cell(row.energy_j()),
                    part(predicted.energy_j, &Estimate::value)});
  }
  return csv;
}

}  // namespace ridgeline
