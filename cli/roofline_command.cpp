// `ridgeline roofline`: the picture and the numbers of a measured profile.
// Options in, calls, output; choosing and drawing live in roofline/ and plots/.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/profile.h"
#include "cli/command.h"
#include "cli/profile_store.h"
#include "plots/roofline_figure.h"
#include "plots/roofline_tables.h"
#include "plots/svg.h"
#include "plots/terminal.h"
#include "roofline/roofline.h"

namespace ridgeline::cli {
namespace {

namespace po = boost::program_options;

using Words = std::vector<std::string>;

void add_options(OptionsDescription& options) {
  auto add = options.add_options();
  add("svg", po::value<std::string>()->value_name("FILE"),
      "write the picture as SVG; - is standard output");
  add("threads", po::value<int>()->value_name("N"),
      "use the CPU rows with N threads; default: the most that were measured");
  add("dtype", po::value<std::string>()->value_name("DTYPE"),
      "data type of the main roof, with which points are compared; default: fp32");
  add("point", po::value<Words>()->value_name("NAME=FLOP:BYTES[:SECONDS]"),
      "place a kernel by its counts and, where known, its time; may be repeated");
  add("all", po::bool_switch(), "every kernel and direction, not only the fastest of each");
  add("mode", po::value<std::string>()->value_name("LABEL"),
      "mode of the profile to draw; default: its first");
  add("width", po::value<int>()->value_name("COLUMNS"),
      "width of the text; default: that of the terminal");
}

// The last part of the path; bytes that are not UTF-8 would make the JSON and the SVG invalid.
std::string display_name(const std::string& path) {
  const Json name = std::filesystem::path(path).filename().string();
  return Json::parse(name.dump(-1, ' ', false, Json::error_handler_t::replace)).get<std::string>();
}

RooflineOptions roofline_options(const Options& options, const std::string& path) {
  RooflineOptions chosen;
  chosen.profile = display_name(path);
  if (options.count("threads")) chosen.threads = options["threads"].as<int>();
  if (options.count("dtype")) {
    const auto& word = options["dtype"].as<std::string>();
    chosen.dtype = parse_token<DType>(word);
    if (!chosen.dtype)
      throw usage_error("--dtype", quote(word) + " is not a data type",
                        "write for example fp64, fp32, bf16 or int8");
  }
  chosen.all = flag(options, "all");
  if (options.count("point"))
    for (const std::string& text : options["point"].as<Words>())
      chosen.points.push_back(parse_given_point(text));
  return chosen;
}

const ProfileMode& choose_mode(const Profile& profile, const Options& options,
                               const Console& console) {
  if (!options.count("mode")) {
    if (profile.modes.size() > 1)
      console.talk("the profile has " + std::to_string(profile.modes.size()) +
                   " modes, this is the first; choose another with --mode");
    return profile.modes.front();
  }
  const auto& label = options["mode"].as<std::string>();
  std::string known;
  for (const ProfileMode& mode : profile.modes) {
    if (mode.mode.label == label) return mode;
    known += (known.empty() ? "" : ", ") + mode.mode.label;
  }
  throw usage_error("--mode", "the profile has no mode " + quote(label), "it has " + known);
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
  if (!options.count("width")) return std::max(1, console.width);
  const int width = options["width"].as<int>();
  if (width < 1 || width > 1000)
    throw usage_error("--width", std::to_string(width) + " is not a number from 1 to 1000");
  return width;
}

ExitCode run(const Options& options, Console& console) {
  const Words words = positional(options);
  const std::string path = words.empty() ? require_newest_profile() : words.front();
  const TerminalStyle style{text_width(options, console), locale_is_utf8(), console.color};
  const Profile profile = load_profile(path);
  const Roofline roofline = roofline_of(choose_mode(profile, options, console), profile.machine,
                                        roofline_options(options, path));
  const Figure figure = roofline_figure(roofline);
  const std::string svg_path = options.count("svg") ? options["svg"].as<std::string>() : "";
  const bool data = flag(options, "json") || flag(options, "csv");
  if (svg_path == "-" && data)
    throw usage_error("--svg", "standard output cannot hold both the picture and the data",
                      "give --svg a file name");

  if (svg_path == "-") {
    console.out << svg(figure);
    return ExitCode::ok;
  }
  if (!svg_path.empty()) write_file_atomically(svg_path, svg(figure));
  if (flag(options, "json"))
    console.out << dump_json(to_json(roofline));
  else if (flag(options, "csv"))
    console.out << to_csv(roofline);
  else
    console.out << text_for_people(roofline, figure, style);
  if (!svg_path.empty()) console.talk("wrote " + svg_path);
  return ExitCode::ok;
}

}  // namespace

Command roofline_command() {
  return {.name = "roofline",
          .summary = "draw the roofline of a measured profile",
          .positional = "[PROFILE]",
          .max_positional = 1,
          .description =
              "Draws the compute roofs, memory slopes, ridge points and sweep points of a profile "
              "and lists their values; without PROFILE the newest one of this machine. Each roof "
              "is the fastest kernel of its unit and data type, each slope the fastest direction "
              "of its memory level; --all shows every one. Integer types count OP/s.",
          .examples = {{"roofline", "the newest profile of this machine"},
                       {"roofline profile.json --svg roof.svg", "the picture for a paper"},
                       {"roofline --point gemm=2e9:48MB:11ms --dtype fp32",
                        "where a kernel stands under its roof"},
                       {"roofline --json", "every number with interval and source"}},
          .add_options = add_options,
          .run = run};
}

}  // namespace ridgeline::cli
