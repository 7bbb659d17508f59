// The contents of all files are made before the first is written: a failure leaves nothing half
// done.
#include "cli/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <sstream>
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
    if (lower(path).ends_with(other) && other != own->ending)
      throw usage_error(
          fmt::format("--{} {}", option, path),
          fmt::format("{} is written, not {}", own->title, other.substr(1)),
          fmt::format("name a file that ends in {}; rsvg-convert makes PNG of SVG", own->ending));
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
