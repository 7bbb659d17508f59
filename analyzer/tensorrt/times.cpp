// The forms of trtexec, and the join. nsys has a file of its own (nsys_times.cpp).
#include "analyzer/tensorrt/times.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <unordered_map>
#include <utility>

#include "analyzer/tensorrt/kernels.h"
#include "analyzer/tensorrt/log_text.h"
#include "analyzer/tensorrt/nsys_times.h"
#include "base/error.h"
#include "base/json_scanner.h"
#include "base/text.h"
#include "base/text_file.h"

namespace ridgeline::tensorrt {
namespace {

constexpr double millisecond = 1e-3;

constexpr std::string_view how_to_time =
    "write them with trtexec --loadEngine=… --exportProfile=engine.profile.json "
    "--separateProfileRun";

double read_milliseconds(JsonScanner& scanner) {
  const double value = scanner.number();
  if (value < 0) scanner.fail("a negative time");
  return value * millisecond;
}

// --- JSON.

// Where a name ends: trtexec writes quotes and backslashes in it as they are, so the end is the
// quote before the next member or the end of the object.
std::size_t name_end(std::string_view text, std::size_t begin) {
  for (std::size_t at = text.find('"', begin); at != std::string_view::npos;
       at = text.find('"', at + 1)) {
    std::size_t next = at + 1;
    const auto skip_gap = [&] {
      while (next < text.size() && is_blank(text[next])) ++next;
    };
    skip_gap();
    if (next < text.size() && text[next] == '}') return at;
    if (next >= text.size() || text[next] != ',') continue;
    ++next;
    skip_gap();
    for (const std::string_view key :
         {"\"timeMs\"", "\"averageMs\"", "\"medianMs\"", "\"percentage\""})
      if (text.substr(next).starts_with(key)) return at;
  }
  return std::string_view::npos;
}

// One object of a list: the count, a layer, or the trace of one whole run.
struct TimesObject {
  std::optional<std::int64_t> count;
  std::optional<std::string> name;
  std::optional<double> total_s, mean_s, median_s, compute_s;
};

TimesObject read_times_object(JsonScanner& scanner, std::string_view text) {
  TimesObject object;
  scanner.object([&](std::string_view key) {
    if (key == "count") {
      object.count = scanner.integer();
    } else if (key == "name") {
      scanner.expect('"');
      const std::size_t begin = scanner.position(), end = name_end(text, begin);
      if (end == std::string_view::npos) scanner.fail("the text is cut off in a name");
      object.name = text.substr(begin, end - begin);
      scanner.seek(end + 1);
    } else if (key == "timeMs") {
      object.total_s = read_milliseconds(scanner);
    } else if (key == "averageMs") {
      object.mean_s = read_milliseconds(scanner);
    } else if (key == "medianMs") {
      object.median_s = read_milliseconds(scanner);
    } else if (key == "computeMs") {
      object.compute_s = read_milliseconds(scanner);
    } else {
      scanner.skip();
    }
  });
  return object;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<long>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

EngineTimes read_times_json(std::string_view text, const std::string& path) {
  EngineTimes times;
  std::vector<double> runs;
  JsonScanner scanner(text, path, text.find('['));
  scanner.array([&] {
    const TimesObject object = read_times_object(scanner, text);
    if (object.count) times.runs = *object.count;
    if (object.compute_s) runs.push_back(*object.compute_s);
    if (!object.name) return;
    const double count = static_cast<double>(std::max<std::int64_t>(1, times.runs.value_or(1)));
    if (!object.mean_s && !object.total_s) scanner.fail("a layer without a time");
    // Both are written with six digits; the total of many runs has more that count.
    const bool has_total = object.total_s && (times.runs || !object.mean_s);
    const double mean_s = has_total ? *object.total_s / count : *object.mean_s;
    times.layers.push_back({*object.name, mean_s, object.median_s, count});
  });
  if (!runs.empty()) {
    times.runs = static_cast<std::int64_t>(runs.size());
    times.run_s = median(std::move(runs));
  }
  return times;
}

// --- The log of trtexec.

std::optional<double> number_in(std::string_view word) {
  double value = 0;
  const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool is_whole = fault == std::errc() && end == word.data() + word.size();
  return is_whole && std::isfinite(value) && value >= 0 ? std::optional(value) : std::nullopt;
}

std::string_view cut_word(std::string_view& rest, bool from_end) {
  const auto trim = [&] {
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    while (rest.ends_with(' ')) rest.remove_suffix(1);
  };
  trim();
  const std::size_t gap = from_end ? rest.rfind(' ') : rest.find(' ');
  std::string_view word = rest;
  if (gap == std::string_view::npos) {
    rest = {};
  } else if (from_end) {
    word = rest.substr(gap + 1);
    rest = rest.substr(0, gap);
  } else {
    word = rest.substr(0, gap);
    rest = rest.substr(gap + 1);
  }
  trim();
  return word;
}

// Which columns a profile in a log has: names first up to TensorRT 8, last since; medians
// since 8.5.
struct LogColumns {
  bool name_last = false, has_median = false;
};

std::optional<LogColumns> columns_in(std::string_view heading) {
  const std::size_t layer = heading.find("Layer"), time = heading.find("Time");
  if (layer == std::string_view::npos || time == std::string_view::npos) return std::nullopt;
  return LogColumns{layer > time, heading.find("Median") != std::string_view::npos};
}

// Total, mean, median if there is one, percentage; and the name on the other side.
std::optional<LayerTime> log_row(std::string_view line, const LogColumns& columns, double runs) {
  const std::size_t count = columns.has_median ? 4 : 3;
  std::vector<double> numbers;
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = number_in(cut_word(line, !columns.name_last));
    if (!value) return std::nullopt;
    numbers.push_back(*value);
  }
  if (!columns.name_last) std::reverse(numbers.begin(), numbers.end());
  if (line.empty()) return std::nullopt;
  // The total has more digits than the mean.
  LayerTime time{std::string(line), numbers[0] * millisecond / std::max(runs, 1.0), {}, runs};
  if (columns.has_median) time.median_s = numbers[2] * millisecond;
  return time;
}

void read_log_profile(EngineTimes& times, std::string_view text, std::size_t at,
                      const std::string& path) {
  constexpr std::string_view mark = "=== Profile (";
  int runs = 0;
  const std::string_view digits = text.substr(at + mark.size(), 12);
  std::from_chars(digits.data(), digits.data() + digits.size(), runs);
  times.runs = runs;
  times.layers.clear();
  std::vector<std::string_view> lines = split(text.substr(at), '\n');
  std::optional<LogColumns> columns;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::string_view line = log_payload(lines[i]);
    if (!columns) {
      columns = columns_in(line);
      if (!columns) break;
      continue;
    }
    const auto row = log_row(line, *columns, runs);
    if (!row) break;
    if (row->name == "Total") return;
    times.layers.push_back(*row);
  }
  throw Error(path, "the log is cut off in the profile of layers", "record it again");
}

// "GPU Compute Time: min = 0.03 ms, max = …, mean = …, median = 0.0361328 ms, …"
std::optional<double> median_run(std::string_view text) {
  const std::size_t line = text.rfind("GPU Compute Time: min");
  if (line == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(line, text.find('\n', line) - line);
  constexpr std::string_view mark = "median = ";
  const std::size_t at = rest.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view number = rest.substr(at + mark.size());
  const auto value = number_in(number.substr(0, number.find(' ')));
  return value ? std::optional(*value * millisecond) : std::nullopt;
}

EngineTimes read_times_log(std::string_view text, const std::string& path) {
  EngineTimes times;
  // The last one, if the log holds several runs.
  const std::size_t profile = text.rfind("=== Profile (");
  if (profile != std::string_view::npos) read_log_profile(times, text, profile, path);
  times.run_s = median_run(text);
  constexpr std::string_view mark = "Selected Device: ";
  if (const std::size_t at = text.find(mark); at != std::string_view::npos)
    times.device = trimmed(text.substr(at + mark.size(), text.find('\n', at) - at - mark.size()));
  return times;
}

// --- The join.

// Names in the engine's file are escaped, those of trtexec's profile are not; other programs do.
std::string unescaped(std::string_view name) {
  std::string plain;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool is_escape = name[i] == '\\' && i + 1 < name.size() &&
                           (name[i + 1] == '"' || name[i + 1] == '\\' || name[i + 1] == '/');
    plain += name[is_escape ? ++i : i];
  }
  return plain;
}

class LayerNames {
 public:
  explicit LayerNames(const Engine& engine) {
    for (std::size_t i = 0; i < engine.layers.size(); ++i)
      places_[engine.layers[i].name].push_back(i);
    for (auto& [name, places] : places_) std::reverse(places.begin(), places.end());
  }

  // The next layer of this name; nothing if all have been taken.
  std::optional<std::size_t> take(const std::string& name) {
    for (const std::string& spelling : {name, unescaped(name)}) {
      const auto found = places_.find(spelling);
      if (found == places_.end() || found->second.empty()) continue;
      const std::size_t place = found->second.back();
      found->second.pop_back();
      return place;
    }
    return std::nullopt;
  }

 private:
  std::unordered_map<std::string_view, std::vector<std::size_t>> places_;
};

[[noreturn]] void refuse_other_engine(const Engine& engine, const EngineTimes& times,
                                      const std::string& what) {
  const bool marked = std::ranges::any_of(times.layers, [](const LayerTime& layer) {
    return layer.name.find(" [profile ") != std::string::npos;
  });
  throw Error(times.path, fmt::format("times of another engine than {}: {}", engine.path, what),
              marked ? "choose the optimisation profile with --opt-profile"
                     : "export layers and times of the same engine");
}

void join_layers(KernelTimes& joined, const Engine& engine, const EngineTimes& times) {
  LayerNames names(engine);
  for (const LayerTime& time : times.layers) {
    const auto place = names.take(time.name);
    if (!place && time.mean_s > 0)
      refuse_other_engine(engine, times, "it has no layer " + quote(time.name));
    if (!place) continue;
    joined.mean_s[*place] = time.mean_s;
    joined.median_s[*place] = time.median_s;
    joined.total_s += time.mean_s;
  }
  // Layers that do nothing may be missing.
  std::vector<std::string> missing;
  std::size_t working = 0;
  for (std::size_t i = 0; i < engine.layers.size(); ++i) {
    if (is_idle(engine.layers[i])) continue;
    ++working;
    if (!joined.mean_s[i]) missing.push_back(engine.layers[i].name);
  }
  if (missing.empty()) return;
  constexpr std::size_t tolerated = 10;  // one in ten
  if (missing.size() * tolerated > working)
    refuse_other_engine(engine, times,
                        fmt::format("{} of {} layers have no time in it, such as {}",
                                    missing.size(), working, quote(missing.front())));
  joined.notes.push_back(fmt::format("{} layer{} without a time in {}, such as {}", missing.size(),
                                     missing.size() == 1 ? "" : "s", times.path,
                                     quote(missing.front())));
}

}  // namespace

EngineTimes read_times(std::string_view text, const std::string& path) {
  EngineTimes times;
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  const std::string_view begin =
      first == std::string_view::npos ? std::string_view() : text.substr(first);
  const std::size_t second = begin.find_first_not_of(" \t\r\n", 1);
  const bool is_json = begin.starts_with('[') && second != std::string_view::npos &&
                       (begin[second] == '{' || begin[second] == ']');
  if (is_json)
    times = read_times_json(text, path);
  else if (is_nsys_csv(text))
    times = read_nsys_times(text, path);
  else
    times = read_times_log(text, path);
  if (times.layers.empty() && !times.run_s)
    throw Error(path, "no times of layers or runs in this file", std::string(how_to_time));
  times.path = path;
  return times;
}

EngineTimes read_times_file(const std::string& path) {
  return read_times(read_text_file(path), path);
}

KernelTimes join_times(const Engine& engine, const std::vector<EngineTimes>& times) {
  KernelTimes joined;
  joined.mean_s.resize(engine.layers.size());
  joined.median_s.resize(engine.layers.size());
  bool has_layers = false;
  for (const EngineTimes& one : times) {
    joined.files.push_back(one.path);
    if (joined.device.empty()) joined.device = one.device;
    if (one.run_s) joined.run_s = one.run_s;
    if (one.layers.empty()) {
      if (!joined.runs) joined.runs = one.runs;
      continue;
    }
    if (has_layers)
      throw Error(one.path, "a second file with times of layers", "give one such file");
    has_layers = true;
    joined.runs = one.runs;
    if (one.are_kernels)
      join_kernels(joined, engine, one);
    else
      join_layers(joined, engine, one);
  }
  if (joined.device.empty()) joined.device = engine.device;
  return joined;
}

}  // namespace ridgeline::tensorrt
