// Three kinds of table from the same numbers. Every number of the main roof has its interval and
// source; the tables of several roofs or modes say theirs in a line below.
#include "report/energy_roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text_table.h"
#include "base/units.h"
#include "base/wrap.h"
#include "plots/figures/roofline.h"
#include "report/roofline.h"
#include "roofline/ceilings/names.h"

namespace ridgeline {
namespace {

constexpr int room_for_interval = 64;

std::string operation(const EnergyRoof& roof) { return is_integer(roof.dtype) ? "OP" : "FLOP"; }

std::string number_or_dash(const std::optional<Estimate>& estimate) {
  return estimate ? format_number(estimate->value) : "-";
}

std::string picojoule(double joule) { return format_number(joule * 1e12); }
std::string giga(double value) { return format_number(value / 1e9); }

std::string main_table(const EnergyRoofline& roofline, int width) {
  const EnergyRoof& roof = roofline.main_roof();
  TextTable table;
  table.columns = {{roof.name, Align::left, true}, {"value", Align::right}};
  const bool intervals = width >= room_for_interval;
  if (intervals) table.columns.push_back({"90 % interval", Align::right});
  table.columns.push_back({"source"});
  const auto add = [&](const char* name, const std::optional<Estimate>& value,
                       const std::string& unit) {
    if (!value) return;
    std::vector<std::string> cells{name, format_si(value->value, unit)};
    if (intervals) cells.push_back(interval_text(*value, unit));
    cells.emplace_back(to_string(value->source));
    table.rows.push_back(std::move(cells));
  };
  const std::string op = operation(roof), intensity = op + "/byte";
  add("peak", roof.flops_per_s, op + "/s");
  add("DRAM", roofline.bytes_per_s, "B/s");
  add(is_integer(roof.dtype) ? "energy per OP" : "energy per FLOP", roof.joule_per_flop, "J");
  add("energy per byte", roofline.joule_per_byte, "J");
  add("constant power", roofline.constant_power_w, "W");
  add("idle power", roofline.idle_power_w, "W");
  add("time balance", roof.time_balance, intensity);
  add("energy balance", roof.energy_balance, intensity);
  add("half efficiency", roof.half_efficiency_balance, intensity);
  add("highest efficiency", roof.limit_flop_per_joule, op + "/J");
  add("peak power", roof.peak_power_w, "W");
  return render_text(table, width) + "\n";
}

// "1.25 (1.29)": measured, and what the catalog had expected.
std::string beside(double measured, double expected) {
  return fmt::format("{} ({})", format_number(measured), format_number(expected));
}

// Measured numbers of each mode with the catalog's beside them; empty where it has none.
std::string expected_table(const std::vector<EnergyRoofline>& rooflines, int width) {
  TextTable table;
  table.columns = {{"mode", Align::left, true}, {"TFLOP/s", Align::right},
                   {"GB/s", Align::right},      {"pJ/op", Align::right},
                   {"pJ/B", Align::right},      {"const W", Align::right},
                   {"idle W", Align::right}};
  for (const EnergyRoofline& roofline : rooflines) {
    if (!roofline.expected) continue;
    const ExpectedEnergy& expected = *roofline.expected;
    const EnergyRoof& roof = roofline.main_roof();
    table.rows.push_back(
        {roofline.mode.label, beside(1e-12 * roof.flops_per_s.value, 1e-12 * expected.flops_per_s),
         beside(1e-9 * roofline.bytes_per_s.value, 1e-9 * expected.bytes_per_s),
         beside(1e12 * roof.joule_per_flop.value, 1e12 * expected.joule_per_flop),
         beside(1e12 * roofline.joule_per_byte.value, 1e12 * expected.joule_per_byte),
         beside(roofline.constant_power_w.value, expected.constant_power_w),
         roofline.idle_power_w && expected.idle_power_w
             ? beside(roofline.idle_power_w->value, *expected.idle_power_w)
             : ""});
  }
  if (table.rows.empty()) return "";
  drop_columns(table, width, {"idle W", "GB/s", "TFLOP/s"});
  return "\n" + render_text(table, width) +
         paragraph("measured, and in brackets what the catalog's model expects of the mode", width);
}

std::string race_text(const std::optional<Estimate>& ratio) {
  if (!ratio) return "yes";
  return fmt::format("{} {}×", ratio->value > 1 ? "yes" : "no", format_number(ratio->value, 2));
}

// All roofs: how the unit and the data type move the bounds.
std::string roofs_table(const EnergyRoofline& roofline, int width) {
  if (roofline.roofs.size() < 2) return "";
  TextTable table;
  table.columns = {
      {"roof", Align::left, true}, {"peak", Align::right},   {"pJ/op", Align::right},
      {"time", Align::right},      {"energy", Align::right}, {"half", Align::right},
      {"Gop/J", Align::right},     {"peak W", Align::right}, {"race to halt", Align::right}};
  std::set<Source> sources;
  for (const EnergyRoof& roof : roofline.roofs) {
    table.rows.push_back(
        {roof.name, format_si(roof.flops_per_s.value, operation(roof) + "/s"),
         picojoule(roof.joule_per_flop.value), format_number(roof.time_balance.value),
         number_or_dash(roof.energy_balance), format_number(roof.half_efficiency_balance.value),
         giga(roof.limit_flop_per_joule.value), format_number(roof.peak_power_w.value),
         race_text(roof.race_to_halt)});
    sources.insert(roof.joule_per_flop.source);
  }
  drop_columns(table, width, {"race to halt", "half", "peak W", "pJ/op", "peak"});
  return render_text(table, width) +
         paragraph("time, energy, half: balance points in FLOP/byte; energy per operation: " +
                       sources_text(sources),
                   width) +
         "\n";
}

std::string race_sentence(const EnergyRoofline& roofline) {
  const EnergyRoof& roof = roofline.main_roof();
  const EnergyTerms& terms = roof.terms;
  if (!roof.race_to_halt) return "race to halt: yes, bytes cost nothing but time";
  const double rest_w = terms.joule_per_flop * terms.flops_per_s + terms.constant_power_w;
  const double memory_w = terms.joule_per_byte * terms.bytes_per_s;
  const Estimate& ratio = *roof.race_to_halt;
  std::string text = fmt::format(
      "race to halt: {}, arithmetic at its peak and constant power take {}, memory at "
      "its peak {}: {} times",
      ratio.value > 1 ? "yes" : "no", format_si(rest_w, "W"), format_si(memory_w, "W"),
      format_number(ratio.value));
  if (ratio.low < ratio.high)
    text += fmt::format(" ({} … {})", format_number(ratio.low), format_number(ratio.high));
  if ((ratio.low > 1) != (ratio.high > 1)) text += ", so not certain";
  return text +
         (ratio.value > 1
              ? "; at these clocks the fastest run is also the cheapest"
              : "; at these clocks a run that is bound by arithmetic may still spend most of "
                "its energy on memory");
}

std::string cap_sentence(const EnergyRoofline& roofline) {
  const EnergyRoof& roof = roofline.main_roof();
  if (!roof.terms.cap_w) return "";
  const std::string cap = "cap of " + format_si(*roof.terms.cap_w, "W") + ": ";
  if (!roof.capped) return cap + "above the peak power, slows nothing down";
  return cap + "slows kernels down " +
         (std::isinf(roof.capped->high)
              ? fmt::format("from {} FLOP/byte on", format_number(roof.capped->low))
              : fmt::format("from {} to {} FLOP/byte", format_number(roof.capped->low),
                            format_number(roof.capped->high)));
}

}  // namespace

std::string energy_heading(const EnergyRoofline& roofline, int width) {
  const std::string stamp = stamp_text(roofline);
  return printable(
      (stamp.empty() ? "" : paragraph(stamp, width)) +
      paragraph(roofline.machine + "; mode: " + mode_text(roofline.mode) + "; " +
                    (roofline.profile.empty() ? "predicted time and energy" : roofline.profile),
                width));
}

std::string energy_tables(const EnergyRoofline& roofline, int width) {
  std::string text = main_table(roofline, width) + roofs_table(roofline, width) +
                     paragraph(race_sentence(roofline), width);
  if (const std::string cap = cap_sentence(roofline); !cap.empty()) text += paragraph(cap, width);
  return printable(text + expected_table({roofline}, width));
}

std::string energy_modes_table(const std::vector<EnergyRoofline>& rooflines, int width) {
  TextTable table;
  table.columns = {{"mode"},
                   {"SMs", Align::right},
                   {"GPU", Align::right},
                   {"peak", Align::right},
                   {"DRAM", Align::right},
                   {"pJ/op", Align::right},
                   {"pJ/B", Align::right},
                   {"const W", Align::right},
                   {"time", Align::right},
                   {"energy", Align::right},
                   {"half", Align::right},
                   {"Gop/J", Align::right},
                   {"peak W", Align::right},
                   {"race to halt", Align::right}};
  for (const EnergyRoofline& roofline : rooflines) {
    const EnergyRoof& roof = roofline.main_roof();
    const OperatingPoint& point = roofline.mode;
    table.rows.push_back(
        {point.label, point.gpu_units ? std::to_string(*point.gpu_units) : "-",
         point.gpu_hz ? format_hz(*point.gpu_hz) : "-",
         format_si(roof.flops_per_s.value, operation(roof) + "/s"),
         format_si(roofline.bytes_per_s.value, "B/s"), picojoule(roof.joule_per_flop.value),
         picojoule(roofline.joule_per_byte.value), format_number(roofline.constant_power_w.value),
         format_number(roof.time_balance.value), number_or_dash(roof.energy_balance),
         format_number(roof.half_efficiency_balance.value), giga(roof.limit_flop_per_joule.value),
         format_number(roof.peak_power_w.value), race_text(roof.race_to_halt)});
  }
  drop_columns(table, width,
               {"SMs", "GPU", "race to halt", "DRAM", "pJ/B", "pJ/op", "peak", "half"});
  const EnergyRoofline& first = rooflines.front();
  const EnergyRoof& roof = first.main_roof();
  return render_text(table, width) +
         paragraph(
             fmt::format("{}; time, energy, half: balance points in FLOP/byte. Sources: peak "
                         "{}, DRAM {}, energy per operation {}, per byte {}, constant power {}",
                         roof.name, to_string(roof.flops_per_s.source),
                         to_string(first.bytes_per_s.source), to_string(roof.joule_per_flop.source),
                         to_string(first.joule_per_byte.source),
                         to_string(first.constant_power_w.source)),
             width) +
         expected_table(rooflines, width);
}

}  // namespace ridgeline
