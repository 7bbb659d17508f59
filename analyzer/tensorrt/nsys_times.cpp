// Columns are found by their titles, which differ between reports and versions.
#include "analyzer/tensorrt/nsys_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <map>
#include <optional>
#include <vector>

#include "base/csv.h"
#include "base/error.h"
#include "base/text.h"

namespace ridgeline::tensorrt {
namespace {

constexpr std::string_view time_titles[] = {"Total Proj Time", "Total Time", "Duration"};

// Where the line with the titles begins; nsys prints sentences before it.
std::size_t heading_at(std::string_view text) {
  for (std::size_t line = 0; line < text.size();) {
    const std::size_t end = std::min(text.find('\n', line), text.size());
    const std::string_view titles = text.substr(line, end - line);
    const bool has_time = std::ranges::any_of(time_titles, [&](std::string_view title) {
      return titles.find(title) != std::string_view::npos;
    });
    if (has_time && titles.find(',') != std::string_view::npos) return line;
    line = end + 1;
  }
  return std::string_view::npos;
}

// Position of the column whose title begins like one of these, the first that is there.
std::optional<std::size_t> column(const std::vector<std::string>& titles,
                                  std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    for (std::size_t i = 0; i < titles.size(); ++i)
      if (titles[i] == name || titles[i].starts_with(std::string(name) + " (")) return i;
  return std::nullopt;
}

// "Total Time (us)": nanoseconds unless the title says otherwise.
double unit_of(const std::string& title) {
  if (title.ends_with("(s)") || title.ends_with("(sec)")) return 1;
  if (title.ends_with("(ms)") || title.ends_with("(msec)")) return 1e-3;
  if (title.ends_with("(us)") || title.ends_with("(usec)")) return 1e-6;
  return 1e-9;
}

double cell_number(const CsvRow& row, std::size_t column, const std::string& path) {
  std::string text = column < row.cells.size() ? row.cells[column] : "";
  std::erase(text, ',');  // of thousands
  double value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size() || !std::isfinite(value) ||
      value < 0)
    throw Error(fmt::format("{}: line {}", path, row.line), quote(text) + " is not a time");
  return value;
}

// NVTX ranges have the name of their domain in front: "TensorRT:conv1 + relu1".
std::string range_name(const std::string& name) {
  for (const std::string_view domain : {"TensorRT:", ":"})
    if (name.starts_with(domain)) return name.substr(domain.size());
  return name;
}

struct Sum {
  double time_s = 0, instances = 0;
  std::optional<double> median_s;
};

}  // namespace

bool is_nsys_csv(std::string_view text) { return heading_at(text) != std::string_view::npos; }

EngineTimes read_nsys_times(std::string_view text, const std::string& path) {
  const auto rows = parse_csv(text.substr(heading_at(text)), path);
  const std::vector<std::string>& titles = rows.front().cells;
  const auto range = column(titles, {"NVTX Range", "Range"});
  const auto name = range ? range : column(titles, {"Name", "Kernel Name"});
  const auto total = column(titles, {"Total Proj Time", "Total Time", "Duration"});
  const auto count = column(titles, {"NVTX Inst", "Range Instances", "Instances", "Count"});
  const auto middle = column(titles, {"Proj Med", "Med"});
  if (!name || !total)
    throw Error(path, "a CSV without the columns Name and Total Time",
                "write it with nsys stats --report cuda_gpu_kern_sum --format csv");
  std::vector<std::string> order;
  std::map<std::string, Sum> sums;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const CsvRow& row = rows[i];
    if (*name >= row.cells.size()) continue;
    const std::string word = range ? range_name(row.cells[*name]) : row.cells[*name];
    const auto [place, is_new] = sums.try_emplace(word);
    if (is_new) order.push_back(word);
    Sum& sum = place->second;
    sum.time_s += cell_number(row, *total, path) * unit_of(titles[*total]);
    // Kernels of one range are rows of their own; a trace has one row per launch.
    if (!count)
      sum.instances += 1;
    else if (range)
      sum.instances = std::max(sum.instances, cell_number(row, *count, path));
    else
      sum.instances += cell_number(row, *count, path);
    if (middle && is_new) sum.median_s = cell_number(row, *middle, path) * unit_of(titles[*middle]);
  }
  EngineTimes times;
  times.are_kernels = !range;
  for (const std::string& word : order) {
    const Sum& sum = sums.at(word);
    const double instances = std::max(sum.instances, 1.0);
    times.layers.push_back({word, sum.time_s / instances, sum.median_s, instances});
  }
  return times;
}

void join_kernels(KernelTimes& joined, const Engine& engine, const EngineTimes& times) {
  // A kernel's name is that of the tactic with something behind it; the longest tactic counts.
  std::vector<std::vector<std::size_t>> launchers(times.layers.size());
  std::size_t matched = 0;
  double runs = 0;  // the fewest launches per layer
  for (std::size_t i = 0; i < times.layers.size(); ++i) {
    std::size_t longest = 0;
    for (std::size_t j = 0; j < engine.layers.size(); ++j) {
      const std::string& tactic = engine.layers[j].tactic;
      if (tactic.empty() || tactic.size() < longest) continue;
      if (times.layers[i].name.find(tactic) == std::string::npos) continue;
      if (tactic.size() > longest) launchers[i].clear();
      longest = tactic.size();
      launchers[i].push_back(j);
    }
    if (launchers[i].empty()) continue;
    ++matched;
    const double per_layer = times.layers[i].instances / static_cast<double>(launchers[i].size());
    runs = runs == 0 ? per_layer : std::min(runs, per_layer);
  }
  if (matched == 0)
    throw Error(times.path,
                "times of another engine than " + engine.path +
                    ": none of its kernels is a tactic of the engine",
                "export layers and times of the same engine");
  runs = std::max(1.0, std::floor(runs));
  joined.runs = static_cast<std::int64_t>(runs);
  std::size_t sharing = 0;
  for (std::size_t i = 0; i < times.layers.size(); ++i) {
    const LayerTime& kernel = times.layers[i];
    const double time_s = kernel.mean_s * kernel.instances / runs;
    joined.total_s += time_s;
    if (launchers[i].size() == 1) {
      auto& layer = joined.mean_s[launchers[i].front()];
      layer = layer.value_or(0) + time_s;
    } else if (launchers[i].empty()) {
      joined.other_s += time_s;
    } else {
      joined.shared_s += time_s;
      sharing += launchers[i].size();
    }
  }
  if (sharing > 0)
    joined.notes.push_back(
        fmt::format("{} layers share kernels, whose times are not divided among them; NVTX ranges "
                    "tell them apart (nsys stats --report nvtx_gpu_proj_sum)",
                    sharing));
}

}  // namespace ridgeline::tensorrt
