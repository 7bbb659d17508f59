// One table per kind of row, each as wide as the terminal allows.
// Values have three digits; intervals are spelled out rather than as ±, since they are not even.
#include "report/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <vector>

#include "base/text_table.h"
#include "base/units.h"
#include "base/wrap.h"
#include "plots/figures/roofline.h"
#include "plots/figures/roofline_panels.h"
#include "roofline/ceilings/names.h"

namespace ridgeline {
namespace {

constexpr int room_for_rate_interval = 56, room_for_source = 68, room_for_kernel = 78;

template <class Ceiling>
std::string name_text(const Ceiling& ceiling) {
  return ceiling.name + (ceiling.status == Status::throttled ? " *" : "");
}

struct CeilingRow {
  std::string name, value, interval, source, kernel;
};

std::string ceiling_table(const std::string& title, const std::vector<CeilingRow>& ceilings,
                          int width) {
  if (ceilings.empty()) return "";
  TextTable table;
  table.columns = {{title, Align::left, true}, {"value", Align::right}};
  if (width >= room_for_rate_interval) table.columns.push_back({"90 % interval", Align::right});
  if (width >= room_for_source) table.columns.push_back({"source"});
  const bool has_kernels = std::any_of(ceilings.begin(), ceilings.end(),
                                       [](const CeilingRow& row) { return !row.kernel.empty(); });
  if (width >= room_for_kernel && has_kernels)
    table.columns.push_back({"kernel", Align::left, true});
  for (const CeilingRow& ceiling : ceilings) {
    std::vector<std::string> cells{ceiling.name, ceiling.value, ceiling.interval, ceiling.source,
                                   ceiling.kernel};
    cells.resize(table.columns.size());
    table.rows.push_back(std::move(cells));
  }
  return render_text(table, width) + "\n";
}

std::string roof_table(const Roofline& roofline, int width) {
  std::vector<CeilingRow> rows;
  for (const Roof& roof : roofline.roofs) {
    const std::string_view unit = rate_unit(roof.dtype);
    rows.push_back({name_text(roof), format_si(roof.flops_per_s.value, unit),
                    interval_text(roof.flops_per_s, unit),
                    std::string(to_string(roof.flops_per_s.source)), roof.kernel});
  }
  return ceiling_table("roof", rows, width);
}

std::string slope_table(const Roofline& roofline, int width) {
  std::vector<CeilingRow> rows;
  for (const Slope& slope : roofline.slopes)
    rows.push_back({name_text(slope), format_si(slope.bytes_per_s.value, "B/s"),
                    interval_text(slope.bytes_per_s, "B/s"),
                    std::string(to_string(slope.bytes_per_s.source)), slope.kernel});
  return ceiling_table("slope", rows, width);
}

// Roofs down, the chosen slope of each level across; the main slope alone where space is scarce.
std::string ridge_table(const Roofline& roofline, int width) {
  if (roofline.ridges.empty()) return "";
  std::vector<std::size_t> across;
  for (std::size_t s = 0; s < roofline.slopes.size(); ++s)
    if (width >= room_for_rate_interval ? roofline.slopes[s].chosen : s == roofline.main_slope)
      across.push_back(s);
  if (across.empty()) return "";
  TextTable table;
  table.columns.push_back({"ridge [FLOP/byte]", Align::left, true});
  for (const std::size_t s : across)
    table.columns.push_back({roofline.slopes[s].name, Align::right});
  double widest = 0;
  std::set<Source> sources;
  for (std::size_t r = 0; r < roofline.roofs.size(); ++r) {
    if (!roofline.roofs[r].chosen) continue;
    std::vector<std::string> cells{name_text(roofline.roofs[r])};
    for (const std::size_t s : across) {
      cells.emplace_back();
      for (const Ridge& ridge : roofline.ridges)
        if (ridge.roof == r && ridge.slope == s) {
          const Estimate& at = ridge.flop_per_byte;
          cells.back() = format_number(at.value);
          widest = std::max({widest, at.high / at.value - 1, 1 - at.low / at.value});
          sources.insert(at.source);
        }
    }
    table.rows.push_back(std::move(cells));
  }
  const std::string note =
      widest > 0 ? fmt::format("{}, {} {}", sources_text(sources),
                               widest > 1 ? "some 90 % intervals" : "90 % intervals within",
                               format_half_width(widest, 1))
                 : sources_text(sources);
  return render_text(table, width) + (display_width(note) <= width ? note + "\n" : "") + "\n";
}

std::string bound_text(const Point& point, const Roofline& roofline) {
  if (!point.bound) return "";
  return *point.bound == BoundBy::memory ? "memory (" + roofline.slopes[*point.slope].name + ")"
                                         : "compute (" + roofline.roofs[*point.roof].name + ")";
}

std::string point_table(const Roofline& roofline, int width) {
  TextTable table;
  table.columns = {{"kernel", Align::left, true}, {"FLOP/byte", Align::right},
                   {"attainable", Align::right},  {"achieved", Align::right},
                   {"of roof", Align::right},     {"bound by", Align::left, true}};
  for (const Point& point : roofline.points) {
    if (point.kind != PointKind::given) continue;
    const std::string_view unit = rate_unit(point.dtype);
    const auto rate = [&](const std::optional<Estimate>& estimate) {
      return estimate ? format_si(estimate->value, unit) : std::string("-");
    };
    table.rows.push_back(
        {point.name, format_number(point.flop_per_byte.value), rate(point.attainable_flops_per_s),
         rate(point.flops_per_s),
         point.fraction_of_roof ? format_percent(point.fraction_of_roof->value) : "-",
         bound_text(point, roofline)});
  }
  return table.rows.empty() ? "" : render_text(table, width) + "\n";
}

std::string sweep_line(const Roofline& roofline) {
  int count = 0, impossible = 0;
  double least = 0, most = 0;
  for (const Point& point : roofline.points) {
    if (point.kind != PointKind::sweep || !point.fraction_of_roof) continue;
    if (point.status == Status::impossible) {
      ++impossible;
      continue;
    }
    const double fraction = point.fraction_of_roof->value;
    least = count == 0 ? fraction : std::min(least, fraction);
    most = std::max(most, fraction);
    ++count;
  }
  std::string text;
  if (count > 0)
    text = fmt::format("measured sweep: {} points at {} to {} of the roof\n", count,
                       format_percent(least), format_percent(most));
  if (impossible > 0)
    text += fmt::format("sweep points above their roof, not valid: {}\n", impossible);
  return text;
}

std::string notes(const Roofline& roofline, int width) {
  std::string out;
  const auto add = [&](const std::string& name, Status status, const std::string& note) {
    if (status == Status::impossible)
      out += paragraph(name + ": impossible" + (note.empty() ? "" : ", " + note), width);
    else if (status == Status::throttled)
      out += paragraph("* " + name + ": throttled" + (note.empty() ? "" : ", " + note), width);
    else if (!note.empty())
      out += paragraph(name + ": " + note, width);
  };
  for (const Roof& roof : roofline.roofs) add(roof.name, roof.status, roof.note);
  for (const Slope& slope : roofline.slopes) add(slope.name, slope.status, slope.note);
  for (const Point& point : roofline.points) add(point.name, point.status, point.note);
  for (const LeftOut& row : roofline.left_out)
    out += paragraph("left out: " + left_out_text(row), width);
  if (!roofline.complete) out += paragraph("incomplete: the measurement was stopped early", width);
  return out;
}

}  // namespace

std::string roofline_tables(const Roofline& roofline, int width) {
  std::string text = roof_table(roofline, width) + slope_table(roofline, width) +
                     ridge_table(roofline, width) + point_table(roofline, width);
  const std::string sweep = sweep_line(roofline);
  std::istringstream sweep_lines(sweep);
  for (std::string line; std::getline(sweep_lines, line);) text += paragraph(line, width);
  text += notes(roofline, width);
  while (text.size() > 1 && text.compare(text.size() - 2, 2, "\n\n") == 0) text.pop_back();
  return printable(text);
}

std::string roofline_heading(const Roofline& roofline, int width) {
  std::set<int> threads;
  for (const Roof& roof : roofline.roofs) threads.insert(roof.threads);
  for (const Slope& slope : roofline.slopes) threads.insert(slope.threads);
  std::string text = roofline.machine + "; mode: " + mode_text(roofline.mode);
  if (is_datasheet(roofline)) return printable(paragraph(text + "; datasheet", width));
  if (threads.size() == 1)
    text += fmt::format("; {} thread{}", *threads.begin(), *threads.begin() == 1 ? "" : "s");
  text += "; " + roofline.date.substr(0, 10) + "; " + roofline.profile;
  const std::string stamp = stamp_text(roofline);
  return printable((stamp.empty() ? "" : paragraph(stamp, width)) + paragraph(text, width));
}

std::string interval_text(const Estimate& estimate, std::string_view unit) {
  if (estimate.low == estimate.high) return "-";
  std::string low = format_si(estimate.low, unit);
  const std::string high = format_si(estimate.high, unit);
  const auto low_unit = low.find(' '), high_unit = high.find(' ');
  if (low_unit != std::string::npos && high_unit != std::string::npos &&
      low.substr(low_unit) == high.substr(high_unit))
    low.resize(low_unit);
  return low + " … " + high;
}

std::string roofline_modes_table(const std::vector<Roofline>& rooflines, int width) {
  std::vector<DType> dtypes;
  for (const Roofline& roofline : rooflines)
    for (const Roof* roof : compared_roofs(roofline))
      if (std::find(dtypes.begin(), dtypes.end(), roof->dtype) == dtypes.end())
        dtypes.push_back(roof->dtype);
  std::sort(dtypes.begin(), dtypes.end());
  TextTable table;
  table.columns = {
      {"mode"}, {"SMs", Align::right}, {"GPU", Align::right}, {"memory", Align::right}};
  for (const DType dtype : dtypes)
    table.columns.push_back({upper_case(to_string(dtype)), Align::right});
  table.columns.push_back({"DRAM peak", Align::right});
  table.columns.push_back({"usable", Align::right});
  table.columns.push_back({"ridge", Align::right});
  for (const Roofline& roofline : rooflines) {
    const OperatingPoint& point = roofline.mode;
    std::vector<std::string> row{point.label,
                                 point.gpu_units ? std::to_string(*point.gpu_units) : "-",
                                 point.gpu_hz ? format_hz(*point.gpu_hz) : "-",
                                 point.memory_hz ? format_hz(*point.memory_hz) : "-"};
    const auto roofs = compared_roofs(roofline);
    for (const DType dtype : dtypes) {
      const auto found = std::find_if(roofs.begin(), roofs.end(),
                                      [&](const Roof* roof) { return roof->dtype == dtype; });
      row.push_back(found == roofs.end() ? "-" : short_rate((*found)->flops_per_s.value));
    }
    const Slope* peak = dram_peak(roofline);
    const Slope* main = main_slope(roofline);
    row.push_back(peak ? format_si(peak->bytes_per_s.value, "B/s") : "-");
    row.push_back(main && main->bytes_per_s.source == Source::fitted
                      ? format_si(main->bytes_per_s.value, "B/s")
                      : "-");
    row.push_back(main && roofline.main_roof
                      ? format_number(main_rate(roofline) / main->bytes_per_s.value)
                      : "-");
    table.rows.push_back(std::move(row));
  }
  drop_columns(table, width,
               {"BF16", "INT4", "memory", "TF32", "GPU", "DRAM peak", "FP8", "SMs", "usable"});
  return render_text(table, width);
}

}  // namespace ridgeline
