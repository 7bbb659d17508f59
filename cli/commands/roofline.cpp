// `ridgeline roofline`: the picture and the numbers of a measured profile or of a datasheet.
// Parses, computes, writes; the rooflines are made in roofline/, the pictures in plots/.
#include "cli/requests/roofline.h"

#include <algorithm>
#include <cstdlib>
#include <ostream>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "base/csv.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/answer.h"
#include "plots/figures/energy.h"
#include "plots/figures/overlay.h"
#include "plots/figures/roofline.h"
#include "plots/figures/roofline_panels.h"
#include "plots/renderers/terminal.h"
#include "report/energy_roofline.h"
#include "report/roofline.h"
#include "roofline/ceilings/energy_roofline.h"
#include "roofline/ceilings/roofline.h"

namespace ridgeline::cli {
namespace {

// As the C library decides it: the first of these that is set counts.
bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (!value || !*value) continue;
    std::string word(value);
    std::transform(word.begin(), word.end(), word.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return word.find("utf-8") != std::string::npos || word.find("utf8") != std::string::npos;
  }
  return false;
}

int text_width(const Options& options, const Console& console) {
  if (!options.has("width")) return std::max(1, console.width);
  const int width = options.integer("width");
  if (width < 1 || width > 1000)
    throw usage_error("--width", std::to_string(width) + " is not a number from 1 to 1000");
  return width;
}

// With a leading column that says the mode.
template <class AnyRoofline>
std::string csv_of_modes(const std::vector<AnyRoofline>& rooflines) {
  std::string csv;
  for (const AnyRoofline& roofline : rooflines) {
    std::istringstream lines(to_csv(roofline));
    std::string line;
    std::getline(lines, line);
    if (csv.empty()) csv = "mode," + line + "\n";
    std::string label = csv_row({roofline.mode.label});
    label.resize(label.find_last_not_of("\r\n") + 1);
    while (std::getline(lines, line)) csv += label + "," + line + "\n";
  }
  return csv;
}

// Several modes in one document.
template <class AnyRoofline>
std::string json_of_modes(const std::vector<AnyRoofline>& rooflines, const char* schema) {
  return dump_json({{"schema", schema},
                    {"machine", rooflines.front().machine},
                    {"rooflines", array_of(rooflines, [](const AnyRoofline& roofline) {
                       return to_json(roofline);
                     })}});
}

std::string for_locale(std::string text, const TerminalStyle& style) {
  return style.utf8 ? text : to_ascii(text);
}

std::string text_of_modes(const std::vector<Roofline>& rooflines, const TerminalStyle& style) {
  std::string stamps;
  for (const Roofline& roofline : rooflines)
    if (const std::string stamp = stamp_text(roofline); !stamp.empty())
      stamps += roofline.mode.label + ": " + stamp + "\n";
  return for_locale(stamps + rooflines.front().machine +
                        (is_datasheet(rooflines.front()) ? "; datasheet\n\n" : "\n\n") +
                        roofline_modes_table(rooflines, style.width),
                    style);
}

std::string text_of_modes(const std::vector<EnergyRoofline>& rooflines,
                          const TerminalStyle& style) {
  const EnergyRoofline& first = rooflines.front();
  return for_locale(first.machine +
                        (first.profile.empty() ? "; predicted time and energy\n\n" : "\n\n") +
                        energy_modes_table(rooflines, style.width),
                    style);
}

// Heading, plot and tables.
std::string text_of(const Roofline& roofline, const TerminalStyle& style) {
  const std::string plot = terminal_plot(roofline_figure(roofline), style);
  return for_locale(roofline_heading(roofline, style.width) + "\n", style) +
         (plot.empty() ? "" : plot + "\n") +
         for_locale(roofline_tables(roofline, style.width), style);
}

std::string text_of(const EnergyRoofline& roofline, const TerminalStyle& style) {
  const std::string plot = terminal_plot(energy_figure(roofline), style);
  return for_locale(energy_heading(roofline, style.width) + "\n", style) +
         (plot.empty() ? "" : plot + "\n") +
         for_locale(energy_tables(roofline, style.width), style);
}

Figure figure_of(const Roofline& roofline) { return roofline_figure(roofline); }
Figure figure_of(const EnergyRoofline& roofline) { return energy_figure(roofline); }
Figure figure_of(const std::vector<Roofline>& all, bool overlay) {
  return overlay ? roofline_overlay(all) : roofline_panels(all);
}
Figure figure_of(const std::vector<EnergyRoofline>& all, bool overlay) {
  return overlay ? energy_overlay(all) : energy_panels(all);
}

// Of one roofline, or of all in one document where that has a schema.
template <class AnyRoofline>
Answer answer_of(const std::vector<AnyRoofline>& rooflines, const char* schema_of_several,
                 bool overlay, const TerminalStyle& style) {
  const AnyRoofline& first = rooflines.front();
  const bool several = schema_of_several != nullptr;
  Answer answer;
  answer.name = std::is_same_v<AnyRoofline, EnergyRoofline> ? "energy_roofline" : "roofline";
  answer.text = [&, several](std::ostream& out) {
    out << (several ? text_of_modes(rooflines, style) : text_of(first, style));
  };
  answer.json = [&, several, schema_of_several](std::ostream& out) {
    out << (several ? json_of_modes(rooflines, schema_of_several) : dump_json(to_json(first)));
  };
  answer.csv = [&, several](std::ostream& out) {
    out << (several ? csv_of_modes(rooflines) : to_csv(first));
  };
  answer.files = picture_files(
      [&, several, overlay] { return several ? figure_of(rooflines, overlay) : figure_of(first); });
  return answer;
}

ExitCode run_roofline(const Options& options, Console& console) {
  check_answer_files(options, picture_options());
  const RooflineRequest request = roofline_request(options);
  const TerminalStyle style{text_width(options, console), locale_is_utf8(), console.color};
  const bool several = request.several();
  if (request.energy) {
    const auto rooflines = energy_rooflines_for(request, console);
    write_answer(answer_of(rooflines, several ? "ridgeline.energy_rooflines/1" : nullptr,
                           request.overlay, style),
                 options, console);
  } else {
    const auto rooflines = rooflines_for(request, console);
    write_answer(
        answer_of(rooflines, several ? "ridgeline.rooflines/1" : nullptr, request.overlay, style),
        options, console);
  }
  return ExitCode::ok;
}

}  // namespace

Command roofline_command() {
  return {
      .name = "roofline",
      .summary = "draw the roofline of a measured profile or of a catalog device",
      .positional = "[PROFILE|DEVICE]",
      .max_positional = 1,
      .description =
          "Draws the compute roofs, memory slopes, ridge points and sweep points of a profile and "
          "lists their values; without PROFILE the newest one of this machine. Each roof is the "
          "fastest kernel of its unit and data type, each slope the fastest direction of its "
          "memory level; --all shows every one. Integer types count OP/s. With DEVICE, the "
          "ceilings are datasheet values for the mode: rate × multiprocessors × clock, bus × "
          "memory clock; the bandwidth that a slow GPU clock lets through is fitted. --modes draws "
          "several modes side by side. --energy adds the energy per FLOP and byte and the constant "
          "power: efficiency and power over intensity, balance points, and whether the fastest run "
          "also uses the least energy.",
      .examples = {{"roofline", "the newest profile of this machine"},
                   {"roofline profile.json --svg roof.svg", "a figure for a paper"},
                   {"roofline --point gemm=2e9:48MB:11ms --dtype fp32",
                    "place a kernel under its roof"},
                   {"roofline jetson-agx-orin-64gb --mode 30W", "datasheet roofline in one mode"},
                   {"roofline jetson-orin-nano-8gb --modes all --svg modes.svg",
                    "all stock modes as small multiples"},
                   {"roofline jetson-agx-orin-64gb --modes all --overlay --format svg,png -o out",
                    "all stock modes in one plot, in two formats"},
                   {"roofline jetson-agx-orin-64gb --mode 30W --energy",
                    "efficiency and power of a catalog device"},
                   {"roofline --json", "every number with interval and source"}},
      .add_options = add_roofline_options,
      .run = run_roofline};
}

}  // namespace ridgeline::cli
