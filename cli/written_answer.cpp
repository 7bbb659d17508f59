// All contents are made before the first file is written: a failure leaves nothing half done.
#include "cli/written_answer.h"

#include <fmt/format.h>

#include <ostream>
#include <utility>

#include "base/atomic_file.h"

namespace ridgeline::cli {
namespace {}  // namespace

void check_answer_files(const Options& options, const std::vector<const char*>& names) {
  bool taken = flag(options, "json") || flag(options, "csv");
  for (const char* name : names) {
    const std::string path = options.text_or_empty(name);
    if (path == "-" && taken)
      throw usage_error(fmt::format("--{}", name),
                        "standard output cannot hold both the picture and the data",
                        fmt::format("give --{} a file name", name));
    taken = taken || path == "-";
    if (!path.empty() && path != "-") check_file_can_be_written(path);
  }
}

ExitCode write_answer(const WrittenAnswer& answer, const Options& options, Console& console) {
  std::vector<std::pair<std::string, std::string>> files;  // path, content
  for (const AnswerFile& file : answer.files)
    if (const std::string path = options.text_or_empty(file.option); !path.empty())
      files.emplace_back(path, file.content());
  bool is_answered = false;
  for (const auto& [path, content] : files) {
    if (path == "-") {
      console.out << content;
      is_answered = true;
    } else {
      write_file_atomically(path, content);
    }
  }
  if (!is_answered)
    console.out << (flag(options, "json")  ? answer.json()
                    : flag(options, "csv") ? answer.csv()
                                           : answer.text());
  if (flag(options, "csv"))
    for (const std::string& note : answer.notes) console.talk("note: " + note);
  for (const auto& file : files)
    if (file.first != "-") console.talk("wrote " + file.first);
  return ExitCode::ok;
}

}  // namespace ridgeline::cli
