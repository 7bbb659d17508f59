// The end of every command: its answer as text, JSON, CSV or Markdown on standard output, with
// pictures and other files beside it. A form is made only if it is asked for.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "cli/command.h"
#include "plots/figure.h"

namespace ridgeline::cli {

using Form = std::function<void(std::ostream&)>;

// A file that an option names; "-" is standard output.
struct AnswerFile {
  const char* option;
  Form content;
};

struct Answer {
  const char* name = "answer";  // of the files that --format writes: "roofline"
  Form text;
  Form json = {}, csv = {}, markdown = {};  // with --json, --csv, --md
  std::vector<AnswerFile> files = {};
  std::vector<std::string> beside_csv = {};  // lines for which the other forms have a place
};

// Before any work: whether the files that these options name can be written, and whether standard
// output is asked to hold one thing only.
void check_answer_files(const Options& options, const std::vector<const char*>& names);

void write_answer(const Answer& answer, const Options& options, Console& console);

// Pictures: an option per renderer, --svg and its like, and --format for several at once. {} in
// `help` is the title of the renderer.
void add_picture_options(OptionsDescription& options, const char* help);
std::vector<const char*> picture_options();
std::vector<AnswerFile> picture_files(const std::function<Figure()>& figure);

// The lines of notes, as they stand beside a table.
std::vector<std::string> as_notes(const std::vector<std::string>& notes);

}  // namespace ridgeline::cli
