// `ridgeline roofline`: the picture and the numbers of a measured profile or of a device on paper.
// Options in, calls, output; choosing and drawing live in roofline/ and plots/.
#include "cli/requests/roofline.h"

#include <algorithm>
#include <cstdlib>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/csv.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "plots/figures/energy.h"
#include "plots/figures/energy_panels.h"
#include "plots/figures/roofline.h"
#include "plots/figures/roofline_panels.h"
#include "plots/renderers/svg.h"
#include "plots/renderers/svg_panels.h"
#include "plots/renderers/svg_stack.h"
#include "plots/renderers/terminal.h"
#include "plots/renderers/terminal_stack.h"
#include "report/energy_roofline.h"
#include "report/roofline.h"
#include "roofline/ceilings/energy_roofline.h"
#include "roofline/ceilings/roofline.h"

namespace ridgeline::cli {
namespace {

using Words = std::vector<std::string>;

void declare_roofline(OptionsDescription& options) {
  options.add_text("svg", "FILE", "write the picture as SVG; - is standard output");
  options.add_integer("threads", "N",
                      "use the CPU rows with N threads; default: the most that were measured");
  options.add_text("dtype", "DTYPE",
                   "data type of the main roof, with which points are compared; default: fp32");
  options.add_list("point", "NAME=FLOP:BYTES[:SECONDS]",
                   "place a kernel by its counts and, where known, its time; may be repeated");
  options.add_flag("all", "every kernel and direction, not only the fastest of each");
  options.add_flag(
      "energy",
      "performance, energy efficiency and power over intensity, with their balance points");
  options.add_text(
      "mode", "MODE",
      "mode to draw: a label such as 30W or, of a device, caps such as gpu=612MHz,sm=8; default: "
      "the profile's first, the device's own default");
  options.add_text("modes", "MODES",
                   "several modes as small multiples: all, or labels such as 15W,30W");
  options.add_text(
      "jetpack", "RELEASE",
      "modes and clocks of a device with this release, for example 5; default: the newest");
  options.add_integer("width", "COLUMNS", "width of the text; default: that of the terminal");
}

RooflineOptions roofline_options(const Options& options) {
  RooflineOptions chosen;
  if (options.has("threads")) chosen.threads = options.integer("threads");
  if (options.has("dtype")) {
    const auto& word = options.text("dtype");
    chosen.dtype = parse_token<DType>(word);
    if (!chosen.dtype)
      throw usage_error("--dtype", quote(word) + " is not a data type",
                        "write for example fp64, fp32, bf16 or int8");
  }
  chosen.all = flag(options, "all");
  if (options.has("point"))
    for (const std::string& text : options.list("point"))
      chosen.points.push_back(parse_given_point(text));
  return chosen;
}

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

std::string text_for_people(const Roofline& roofline, const Figure& figure,
                            const TerminalStyle& style) {
  std::string heading = roofline_heading(roofline, style.width) + "\n";
  std::string tables = roofline_tables(roofline, style.width);
  if (!style.utf8) {
    heading = to_ascii(heading);
    tables = to_ascii(tables);
  }
  const std::string plot = terminal_plot(figure, style);
  return heading + (plot.empty() ? "" : plot + "\n") + tables;
}

int text_width(const Options& options, const Console& console) {
  if (!options.has("width")) return std::max(1, console.width);
  const int width = options.integer("width");
  if (width < 1 || width > 1000)
    throw usage_error("--width", std::to_string(width) + " is not a number from 1 to 1000");
  return width;
}

// What the command prints, in each of its forms.
struct Output {
  std::string svg, json, csv, text;
};

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

Output several(const std::vector<Roofline>& rooflines, const TerminalStyle& style) {
  std::string stamps;
  for (const Roofline& roofline : rooflines)
    if (const std::string stamp = stamp_text(roofline); !stamp.empty())
      stamps += roofline.mode.label + ": " + stamp + "\n";
  const std::string text = stamps + rooflines.front().machine +
                           (on_paper(rooflines.front()) ? "; datasheet\n\n" : "\n\n") +
                           roofline_modes_table(rooflines, style.width);
  return {svg(roofline_panels(rooflines)), json_of_modes(rooflines, "ridgeline.rooflines/1"),
          csv_of_modes(rooflines), style.utf8 ? text : to_ascii(text)};
}

Output several(const std::vector<EnergyRoofline>& rooflines, const TerminalStyle& style) {
  const EnergyRoofline& first = rooflines.front();
  const std::string text = first.machine +
                           (first.profile.empty() ? "; time and energy on paper\n\n" : "\n\n") +
                           energy_modes_table(rooflines, style.width);
  return {svg(energy_panels(rooflines)), json_of_modes(rooflines, "ridgeline.energy_rooflines/1"),
          csv_of_modes(rooflines), style.utf8 ? text : to_ascii(text)};
}

Output single(const Roofline& roofline, const TerminalStyle& style) {
  const Figure figure = roofline_figure(roofline);
  return {svg(figure), dump_json(to_json(roofline)), to_csv(roofline),
          text_for_people(roofline, figure, style)};
}

Output single(const EnergyRoofline& roofline, const TerminalStyle& style) {
  const FigureStack stack = energy_figure(roofline);
  const std::string plot = terminal_plot(stack, style);
  const std::string heading = energy_heading(roofline, style.width) + "\n";
  const std::string tables = energy_tables(roofline, style.width);
  return {svg(stack), dump_json(to_json(roofline)), to_csv(roofline),
          (style.utf8 ? heading : to_ascii(heading)) + (plot.empty() ? "" : plot + "\n") +
              (style.utf8 ? tables : to_ascii(tables))};
}

template <class AnyRoofline>
Output output_of(const std::vector<AnyRoofline>& rooflines, const Options& options,
                 const TerminalStyle& style) {
  return options.has("modes") ? several(rooflines, style) : single(rooflines.front(), style);
}

Output asked_output(const Options& options, const Console& console) {
  const Words words = positional(options);
  const std::string word = words.empty() ? "" : words.front();
  const TerminalStyle style{text_width(options, console), locale_is_utf8(), console.color};
  const RooflineOptions chosen = roofline_options(options);
  if (!flag(options, "energy"))
    return output_of(asked_rooflines(word, options, chosen, console), options, style);
  for (const char* other : {"point", "all"})
    if (other == std::string("all") ? chosen.all : !chosen.points.empty())
      throw usage_error(std::string("--") + other, "cannot be combined with --energy",
                        "leave one of them out");
  return output_of(asked_energy_rooflines(word, options, chosen, console), options, style);
}

ExitCode run_roofline(const Options& options, Console& console) {
  const Output output = asked_output(options, console);
  const std::string svg_path = options.has("svg") ? options.text("svg") : "";
  const bool data = flag(options, "json") || flag(options, "csv");
  if (svg_path == "-" && data)
    throw usage_error("--svg", "standard output cannot hold both the picture and the data",
                      "give --svg a file name");

  if (svg_path == "-") {
    console.out << output.svg;
    return ExitCode::ok;
  }
  if (!svg_path.empty()) write_file_atomically(svg_path, output.svg);
  console.out << (flag(options, "json")  ? output.json
                  : flag(options, "csv") ? output.csv
                                         : output.text);
  if (!svg_path.empty()) console.talk("wrote " + svg_path);
  return ExitCode::ok;
}

}  // namespace

Command roofline_command() {
  return {.name = "roofline",
          .summary = "draw the roofline of a measured profile, or of a device on paper",
          .positional = "[PROFILE|DEVICE]",
          .max_positional = 1,
          .description =
              "Draws the compute roofs, memory slopes, ridge points and sweep points of a profile "
              "and lists their values; without PROFILE the newest one of this machine. Each roof "
              "is the fastest kernel of its unit and data type, each slope the fastest direction "
              "of its memory level; --all shows every one. Integer types count OP/s. With DEVICE, "
              "a name of the catalog, the ceilings are those of the datasheet in the mode asked "
              "for: rates, multiprocessors and clock, bus and memory clock; the bandwidth that a "
              "slow GPU clock lets through is fitted. --modes draws several modes side by side. "
              "--energy adds what a FLOP, a byte and a second cost: efficiency and power over "
              "intensity, balance points, and whether the fastest run is also the cheapest.",
          .examples = {{"roofline", "the newest profile of this machine"},
                       {"roofline profile.json --svg roof.svg", "the picture for a paper"},
                       {"roofline --point gemm=2e9:48MB:11ms --dtype fp32",
                        "where a kernel stands under its roof"},
                       {"roofline jetson-agx-orin-64gb --mode 30W", "a device on paper, in a mode"},
                       {"roofline jetson-orin-nano-8gb --modes all --svg modes.svg",
                        "all stock modes as small multiples"},
                       {"roofline jetson-agx-orin-64gb --mode 30W --energy",
                        "efficiency and power of a device on paper"},
                       {"roofline --json", "every number with interval and source"}},
          .add_options = declare_roofline,
          .run = run_roofline};
}

}  // namespace ridgeline::cli
