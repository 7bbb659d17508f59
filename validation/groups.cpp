// Keys are compared as spelt in the table, the clocks of a mode within a read-back's tolerance.
#include "validation/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/mode_request.h"
#include "devices/modes/mode_space.h"

namespace ridgeline {
namespace {

bool near(std::optional<double> a, std::optional<double> b) {
  constexpr double tolerance = 0.05;
  if (!a || !b) return a.has_value() == b.has_value();
  return std::abs(*a - *b) <= tolerance * std::max(*a, *b);
}

std::optional<double> cpu_clock(const OperatingPoint& point) {
  return point.cpu_hz.empty() ? std::nullopt : std::optional(point.cpu_hz.front());
}

bool near(const OperatingPoint& a, const OperatingPoint& b) {
  return a.gpu_units == b.gpu_units && a.cpu_cores == b.cpu_cores && near(a.gpu_hz, b.gpu_hz) &&
         near(a.memory_hz, b.memory_hz) && near(cpu_clock(a), cpu_clock(b));
}

// Repeats of one run are equal in all but the source.
GroupKey run_key(const Observation& row) {
  GroupKey key = group_key(row);
  key.source.clear();
  return key;
}

}  // namespace

GroupKey network_key(const Observation& row) {
  return {row.source,
          row.device,
          row.network,
          row.options,
          std::string(to_string(row.dtype)),
          row.conditions.runtime,
          row.task,
          0};
}

GroupKey group_key(const Observation& row) {
  GroupKey key = network_key(row);
  key.batch = row.batch;
  return key;
}

std::string describe(const GroupKey& key) {
  std::string text = key.network;
  if (!key.options.empty()) text += " " + key.options;
  if (key.batch > 0) text += fmt::format(" batch {}", key.batch);
  text += fmt::format(" {} {}", key.dtype, to_string(key.runtime));
  if (key.task != Task::inference) text += fmt::format(" {}", to_string(key.task));
  return fmt::format("{} on {}, {}", text, key.device, key.source);
}

Observation as_asked(Observation row) {
  OperatingPoint& point = row.conditions.point;
  if (point.label.find("gpu=") == std::string::npos) return row;
  if (const auto hz = parse_mode_request(point.label, "mode").gpu_hz) point.gpu_hz = hz;
  return row;
}

std::vector<std::string> mode_names(std::span<const Observation> rows) {
  // Per run and label the first row of each different point.
  std::map<std::pair<GroupKey, std::string>, std::vector<const OperatingPoint*>> points;
  std::vector<std::pair<const OperatingPoint*, std::vector<const OperatingPoint*>*>> own;
  for (const Observation& row : rows) {
    const OperatingPoint& point = row.conditions.point;
    auto& known = points[{run_key(row), point.label}];
    const auto same = std::find_if(known.begin(), known.end(), [&](const OperatingPoint* other) {
      return near(point, *other);
    });
    own.emplace_back(same == known.end() ? &point : *same, &known);
    if (same == known.end()) known.push_back(&point);
  }
  std::vector<std::string> names;
  for (const auto& [point, known] : own)
    names.push_back(known->size() == 1 ? point->label : point->label + " " + request_text(*point));
  return names;
}

std::map<GroupKey, Indices> group_by(GroupKey (*key)(const Observation&),
                                     std::span<const Observation> rows) {
  std::map<GroupKey, Indices> groups;
  for (std::size_t i = 0; i < rows.size(); ++i) groups[key(rows[i])].push_back(i);
  return groups;
}

std::vector<Indices> find_replicates(std::span<const Observation> rows,
                                     std::span<const std::string> modes) {
  std::map<std::pair<GroupKey, std::string>, Indices> sets;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    sets[{run_key(rows[i]), modes[i]}].push_back(i);
  }
  std::vector<Indices> repeated;
  for (auto& [key, indices] : sets)
    if (indices.size() > 1) repeated.push_back(std::move(indices));
  return repeated;
}

}  // namespace ridgeline
