// The end of a command that answers: pictures and other files first, then text, --json or --csv on
// standard output, then what is to be said beside them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/command.h"

namespace ridgeline::cli {

struct AnswerFile {
  const char* option = "svg";  // that names the file; "-" is standard output
  std::function<std::string()> content;
};

struct WrittenAnswer {
  std::vector<AnswerFile> files;
  std::function<std::string()> text, json, csv;
  std::vector<std::string> notes;  // text and JSON have them; beside CSV they are talk
};

// Before any work: whether the files that these options name can be written, and whether standard
// output is asked to hold one thing only.
void check_answer_files(const Options& options, const std::vector<const char*>& names);

ExitCode write_answer(const WrittenAnswer& answer, const Options& options, Console& console);

}  // namespace ridgeline::cli
