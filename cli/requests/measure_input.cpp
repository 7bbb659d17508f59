// Words and options → what kernels/input/ is to measure.
#include "cli/requests/measure_input.h"

#include <fmt/format.h>
#include <strings.h>

#include <sstream>

#include "base/error.h"
#include "base/units.h"
#include "kernels/input/jpeg.h"
#include "kernels/input/photo.h"

namespace ridgeline::cli {
namespace {

constexpr std::uint64_t least_sample = 1, most_sample = std::uint64_t{64} << 20;

bool is(const std::string& word, const char* name) { return strcasecmp(word.c_str(), name) == 0; }

void refuse_without_storage(const Options& options, const char* name) {
  if (options.has(name))
    throw usage_error(std::string("--") + name, "is for storage", "add --only storage");
}

input::StorageOptions parse_storage(const Options& options) {
  input::StorageOptions storage = input::usual_storage_options(flag(options, "quick"));
  if (options.has("path")) storage.folder = options.text("path");
  if (storage.folder.empty()) throw usage_error("--path", "needs a directory");
  if (options.has("sample-bytes")) {
    const auto& text = options.text("sample-bytes");
    storage.sample_bytes = parse_bytes(text, "--sample-bytes " + text);
    if (storage.sample_bytes < least_sample || storage.sample_bytes > most_sample)
      throw usage_error("--sample-bytes " + text, "must be 1 byte to 64 MiB");
  }
  return storage;
}

}  // namespace

void add_input_options(OptionsDescription& options) {
  options.add_text(
      "path", "DIR",
      "where storage is measured, with temporary files (default: the current directory)");
  options.add_text("sample-bytes", "SIZE",
                   "size of the small files that storage is measured with (default: 150kB)");
}

std::vector<std::string> split_words(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');)
    if (!word.empty()) words.push_back(word);
  return words;
}

MeasureWords measure_words(const Options& options) {
  MeasureWords words;
  if (!options.has("only")) return words;
  words.all = false;
  for (const std::string& word : split_words(options.text("only"))) {
    if (is(word, "storage"))
      words.storage = true;
    else if (is(word, "decode"))
      words.decode = true;
    else
      words.kernels.push_back(word);
  }
  if (words.parts() == 0)
    throw usage_error("--only", "needs a word", "see 'ridgeline measure --list'");
  if (flag(options, "gpu") && !words.any_kernel())
    throw usage_error("--gpu", "--only names nothing of a GPU", "leave --gpu out");
  return words;
}

double part_budget_s(const Options& options, const MeasureWords& words) {
  if (!options.has("budget")) return 0;
  const auto& text = options.text("budget");
  const double budget_s = parse_seconds(text, "--budget " + text);
  if (budget_s < 1)
    throw usage_error("--budget " + text, "no time to measure anything", "give at least 1s");
  return budget_s / words.parts();
}

input::MeasureOptions parse_input(const Options& options, const MeasureWords& words,
                                  const std::vector<int>& threads) {
  const double budget_s = part_budget_s(options, words);
  input::MeasureOptions wanted;
  if (words.storage) {
    wanted.storage = parse_storage(options);
    if (budget_s > 0) wanted.storage->budget_s = budget_s;
  } else {
    refuse_without_storage(options, "path");
    refuse_without_storage(options, "sample-bytes");
  }
  if (words.decode)
    wanted.decode = {threads, budget_s > 0 ? budget_s : flag(options, "quick") ? 5 : 20};
  return wanted;
}

std::vector<ListedTrial> list_input(const input::MeasureOptions& wanted, const MeasureWords& words,
                                    const std::vector<int>& threads) {
  std::vector<ListedTrial> rows;
  const std::string unasked = words.all ? "runs only where --only names it" : "";
  if (wanted.storage || words.all) {
    const std::uint64_t sample =
        wanted.storage ? wanted.storage->sample_bytes : input::default_sample_bytes;
    for (const int readers : input::reader_counts)
      rows.push_back({"storage", "sequential", "one long file", readers, unasked});
    for (const int readers : input::reader_counts)
      rows.push_back({"storage", "samples",
                      "files of " + format_si(static_cast<double>(sample), "B"), readers, unasked});
  }
  if (wanted.decode || words.all)
    for (const int count : threads)
      rows.push_back({"decode", "jpeg",
                      fmt::format("{}x{} pixels", input::photo_width, input::photo_height), count,
                      input::why_no_jpeg().empty() ? unasked : input::why_no_jpeg()});
  return rows;
}

}  // namespace ridgeline::cli
