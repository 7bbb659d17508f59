// The contents of all files are made before the first is written: a failure leaves nothing half
// done.
#include "cli/answer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <ostream>
#include <sstream>
#include <system_error>
#include <utility>

#include "base/atomic_file.h"
#include "base/text.h"
#include "base/text_table.h"
#include "plots/renderers/renderers.h"

namespace ridgeline::cli {

namespace {

// "--svg plan.png" would write SVG under a wrong name.
void check_ending(const std::string& option, const std::string& path) {
  const auto own = std::find_if(renderers().begin(), renderers().end(),
                                [&](const Renderer& renderer) { return renderer.name == option; });
  if (own == renderers().end()) return;
  for (const std::string_view other : {".png", ".jpg", ".jpeg", ".pdf", ".gif", ".svg", ".html"})
    if (lower(path).ends_with(other) && !own->ending.ends_with(other)) {
      const auto right =
          std::find_if(renderers().begin(), renderers().end(),
                       [&](const Renderer& renderer) { return renderer.ending == other; });
      throw usage_error(fmt::format("--{} {}", option, path),
                        fmt::format("--{} writes {}, not {}", option, own->title, other.substr(1)),
                        right == renderers().end()
                            ? fmt::format("name a file that ends in {}", own->ending)
                            : fmt::format("write --{} {}, or name a file that ends in {}",
                                          right->name, path, own->ending));
    }
}

// The forms that --format may name beside the renderers.
constexpr std::array<std::string_view, 2> data_formats{"csv", "json"};

// "svg, png, …, csv, json".
std::string known_formats() {
  std::string known;
  for (const Renderer& renderer : renderers()) known += fmt::format("{}, ", renderer.name);
  return known + fmt::format("{}", fmt::join(data_formats, ", "));
}

std::string ending_of(const std::string& format) {
  for (const Renderer& renderer : renderers())
    if (format == renderer.name) return std::string(renderer.ending);
  return "." + format;
}

std::vector<std::string> formats(const Options& options) {
  return split_words(options.text_or_empty("format"));
}

// Whether every word of --format is a form, and whether there is a folder for them.
void check_formats(const Options& options) {
  if (!options.has("format")) {
    refuse(options, "output", "goes with --format", "write for example --format svg,png -o out");
    return;
  }
  for (const std::string& word : formats(options)) {
    const bool is_drawn =
        std::any_of(renderers().begin(), renderers().end(),
                    [&](const Renderer& renderer) { return word == renderer.name; });
    if (!is_drawn &&
        std::find(data_formats.begin(), data_formats.end(), word) == data_formats.end())
      throw usage_error("--format", quote(word) + " is not a form",
                        "choose among " + known_formats());
  }
  if (formats(options).empty())
    throw usage_error("--format", "is empty", "write for example --format svg,png -o out");
  if (options.text_or_empty("output").empty())
    throw usage_error("--format", "needs a folder", "add -o out");
}

void create_folder(const std::string& path) {
  std::error_code failure;
  std::filesystem::create_directories(path, failure);
  if (failure) throw Error(path, "cannot be made: " + failure.message(), "name another folder");
}

}  // namespace

void check_answer_files(const Options& options, const std::vector<const char*>& names) {
  bool taken = flag(options, "json") || flag(options, "csv");
  for (const char* name : names) {
    const std::string path = options.text_or_empty(name);
    if (path == "-" && taken)
      throw usage_error(fmt::format("--{}", name),
                        "standard output cannot hold both the picture and the data",
                        fmt::format("give --{} a file name", name));
    taken = taken || path == "-";
    check_ending(name, path);
    if (!path.empty() && path != "-") check_file_can_be_written(path);
  }
  // "output" is an option of other commands too.
  if (std::find(names.begin(), names.end(), std::string_view(renderers().front().name)) !=
      names.end())
    check_formats(options);
}

void write_answer(const Answer& answer, const Options& options, Console& console) {
  std::vector<std::pair<std::string, std::string>> files;  // path, content
  for (const AnswerFile& file : answer.files) {
    const std::string path = options.text_or_empty(file.option);
    if (path.empty()) continue;
    std::ostringstream content;
    file.content(content);
    files.emplace_back(path, std::move(content).str());
  }
  for (const std::string& format : formats(options)) {
    std::ostringstream content;
    if (format == "csv" || format == "json") (format == "csv" ? answer.csv : answer.json)(content);
    for (const AnswerFile& file : answer.files)
      if (format == file.option) file.content(content);
    const std::filesystem::path folder = options.text("output");
    files.emplace_back((folder / (answer.name + ending_of(format))).string(),
                       std::move(content).str());
  }
  if (options.has("format")) create_folder(options.text("output"));
  bool is_answered = false;
  for (const auto& [path, content] : files) {
    if (path == "-") {
      console.out << content;
      is_answered = true;
    } else {
      write_file_atomically(path, content);
    }
  }
  if (!is_answered) {
    const Form& form = flag(options, "json")  ? answer.json
                       : flag(options, "csv") ? answer.csv
                       : flag(options, "md")  ? answer.markdown
                                              : answer.text;
    // Text is for people, and its names come from files; programs read the other forms, and a
    // terminal may still show them.
    const bool is_text = &form == &answer.text || &form == &answer.markdown;
    if (is_text || console.out_is_terminal) {
      std::ostringstream content;
      form(content);
      console.out << printable(content.view(), console.color ? Colors::kept : Colors::removed);
    } else {
      form(console.out);
    }
  }
  if (flag(options, "csv"))
    for (const std::string& line : answer.beside_csv) console.talk(line);
  for (const auto& file : files)
    if (file.first != "-") console.talk("wrote " + file.first);
}

void add_picture_options(OptionsDescription& options, const char* help) {
  for (const Renderer& renderer : renderers())
    options.add_text(renderer.name, "FILE", fmt::format(fmt::runtime(help), renderer.title));
  options.add_text("format", "FORMATS",
                   "write several forms at once into the folder of -o: " + known_formats());
  options.add_text("output,o", "FOLDER", "folder for --format; made where it is missing");
}

std::vector<const char*> picture_options() {
  std::vector<const char*> names;
  for (const Renderer& renderer : renderers()) names.push_back(renderer.name);
  return names;
}

std::vector<AnswerFile> picture_files(const std::function<Figure()>& figure) {
  std::vector<AnswerFile> files;
  for (const Renderer& renderer : renderers())
    files.push_back({renderer.name, [figure, render = renderer.render](std::ostream& out) {
                       out << render(figure());
                     }});
  return files;
}

std::vector<std::string> as_notes(const std::vector<std::string>& notes) {
  std::vector<std::string> lines;
  for (const std::string& note : notes) lines.push_back("note: " + note);
  return lines;
}

}  // namespace ridgeline::cli
