// Parsing of NAME=VALUE options; a name may hold any character, so the last '=' divides.
// Values are checked for sense here, for fit with the model by the importer.
#include "cli/requests/model_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/nearest.h"
#include "base/text.h"
#include "base/units.h"
#include "workloads/options.h"

namespace ridgeline::cli {
namespace {

using Words = std::vector<std::string>;

Words words_of(const Options& options, const char* name) {
  return options.has(name) ? options.list(name) : Words();
}

struct NamedValue {
  std::string name, value;
};

NamedValue split(const std::string& text, const std::string& where, const char* example) {
  const auto at = text.rfind('=');
  if (at == std::string::npos || at == 0)
    throw usage_error(where, "needs a name and a value",
                      fmt::format("write for example {}", example));
  return {text.substr(0, at), text.substr(at + 1)};
}

std::optional<std::int64_t> parse_dimension(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size() || value < 0 ||
      value > max_dimension)
    return std::nullopt;
  return value;
}

std::int64_t dimension_option(const std::string& text, const std::string& where,
                              std::int64_t least) {
  const auto value = parse_dimension(text);
  if (!value || *value < least)
    throw usage_error(where, fmt::format("{} is not a number from {} to 2^40", quote(text), least));
  return *value;
}

Shape parse_shape(const std::string& text, const std::string& where) {
  Shape shape;
  if (text == "scalar") return shape;
  std::string_view rest = text;
  for (;;) {
    const auto end = rest.find_first_of("x,");
    const auto value = parse_dimension(rest.substr(0, end));
    if (!value)
      throw usage_error(where, quote(text) + " is not a shape", "write for example 1x3x224x224");
    shape.push_back(*value);
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  if (!checked_element_count(shape)) throw usage_error(where, "more elements than can be counted");
  return shape;
}

template <class Value>
void insert_once(std::map<std::string, Value>& map, const std::string& name, Value value,
                 const std::string& where) {
  if (!map.emplace(name, std::move(value)).second)
    throw usage_error(where, quote(name) + " is given twice");
}

void read_trips(const Options& options, onnx::ImportOptions& import) {
  for (const std::string& text : words_of(options, "trips")) {
    const std::string where = "--trips " + text;
    const NamedValue entry = text.find('=') == std::string::npos
                                 ? NamedValue{"", text}
                                 : split(text, where, "--trips loop_1=12");
    insert_once(import.trips, entry.name, dimension_option(entry.value, where, 0), where);
  }
}

// The files in a path's folder that a mistyped path may have meant.
std::string hint(const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path given(path);
  const fs::path folder = given.has_parent_path() ? given.parent_path() : fs::path(".");
  std::vector<std::string> names;
  std::error_code fault;
  for (fs::directory_iterator entry(folder, fault), end; !fault && entry != end;
       entry.increment(fault))
    if (entry->path().extension() == ".onnx") names.push_back(entry->path().filename().string());
  std::sort(names.begin(), names.end());
  if (const auto near = nearest(given.filename().string(), names))
    return "did you mean " + quote((given.parent_path() / *near).string()) + "?";
  return "MODEL is the path of an ONNX file";
}

}  // namespace

void add_model_options(OptionsDescription& options) {
  options.add_text("batch", "N", "dimension 0 of every input; default: as in the file");
  options.add_list("shape", "NAME=1x3x640x640", "shape of an input; may be repeated");
  options.add_list("dim", "NAME=N", "size of a free dimension that has a name; may be repeated");
  options.add_text("assume-dim", "N", "size of every dimension that is still free then");
  options.add_text("branch", "then|else",
                   "branch of an If that is counted; default: the one with more FLOP");
  options.add_list(
      "trips", "[NAME=]N",
      "trips of a loop, or of all loops, whose number depends on data; may be repeated");
}

std::int64_t count_option(const Options& options, const char* name, std::int64_t least,
                          std::int64_t fallback) {
  if (!options.has(name)) return fallback;
  const auto& text = options.text(name);
  return dimension_option(text, fmt::format("--{} {}", name, text), least);
}

std::optional<std::int64_t> batch_option(const Options& options) {
  WorkloadOptions parsed;
  if (options.has("batch")) set_option(parsed, WorkloadOption::batch, options.text("batch"));
  return parsed.batch;
}

onnx::ImportOptions import_options(const Options& options) {
  onnx::ImportOptions import;
  import.batch = batch_option(options);
  if (options.has("assume-dim")) import.assumed_dim = count_option(options, "assume-dim", 0, 1);
  for (const std::string& text : words_of(options, "shape")) {
    const std::string where = "--shape " + text;
    const NamedValue entry = split(text, where, "--shape input=1x3x224x224");
    insert_once(import.shapes, entry.name, parse_shape(entry.value, where), where);
  }
  for (const std::string& text : words_of(options, "dim")) {
    const std::string where = "--dim " + text;
    const NamedValue entry = split(text, where, "--dim sequence=128");
    insert_once(import.dims, entry.name, dimension_option(entry.value, where, 0), where);
  }
  read_trips(options, import);
  if (options.has("branch")) {
    const auto& word = options.text("branch");
    if (word != "then" && word != "else")
      throw usage_error("--branch " + word, quote(word) + " is not one of then, else");
    import.branch = word == "then" ? onnx::Branch::then_branch : onnx::Branch::else_branch;
  }
  return import;
}

onnx::ModelFile open_model(const std::string& path) {
  std::error_code fault;
  if (!std::filesystem::exists(path, fault) && !fault)
    throw Error(path, "no such file", hint(path));
  return onnx::ModelFile(path);
}

}  // namespace ridgeline::cli
