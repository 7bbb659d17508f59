// Sorts and sums rows; stage names come from the paths that exporters write. Counts nothing.
#include "analyzer/analysis/groups.h"

#include <algorithm>
#include <map>

#include "analyzer/graph/module_path.h"
#include "base/json.h"

namespace ridgeline {
namespace {

std::optional<double> key(const Work& work, const std::optional<double>& flop_per_byte,
                          const std::optional<double>& time_s, RowOrder order) {
  switch (order) {
    case RowOrder::time:
      return time_s;
    case RowOrder::flops:
      return total_operations(work);
    case RowOrder::bytes:
      return total_bytes(work);
    case RowOrder::macs:
      return work.macs;
    case RowOrder::intensity:
      return flop_per_byte;
    case RowOrder::graph:
    case RowOrder::name:
      break;
  }
  return std::nullopt;
}

std::optional<double> intensity_of(const AnalysisRow& row) { return intensity(row); }
std::optional<double> intensity_of(const RowGroup& group) {
  return group.is_lower_bound ? std::nullopt : intensity(group.work);
}

template <class Row>
bool precedes(const Row& a, const Row& b, RowOrder order) {
  if (order == RowOrder::name) return a.name < b.name;
  return key(a.work, intensity_of(a), a.time_s, order) >
         key(b.work, intensity_of(b), b.time_s, order);
}

template <class Row>
void sort_by(std::vector<Row>& rows, RowOrder order) {
  if (order == RowOrder::graph) return;
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const Row& a, const Row& b) { return precedes(a, b, order); });
}

using Path = std::vector<std::string>;

// "/layer1/layer1.0/conv1/Conv" → layer1, layer1.0, conv1, Conv
Path split(const std::string& name) {
  Path path;
  std::string part;
  for (const char c : name + "/") {
    if (c != '/') {
      part += c;
    } else if (!part.empty()) {
      path.push_back(part);
      part.clear();
    }
  }
  return path;
}

bool has_digit(const std::string& text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Leading parts that every path shares are uninformative; the last part is the layer itself.
std::size_t shared_parts(const std::vector<Path>& paths) {
  std::size_t shared = static_cast<std::size_t>(-1);
  for (const Path& path : paths) {
    std::size_t same = 0;
    const std::size_t limit = std::min({shared, path.size(), paths.front().size()});
    while (same < limit && path[same] == paths.front()[same]) ++same;
    shared = std::min({shared, same, path.empty() ? 0 : path.size() - 1});
  }
  return paths.empty() ? 0 : shared;
}

std::string stage_of_path(const Path& path, std::size_t shared) {
  std::string stage;
  for (std::size_t i = shared; i + 1 < path.size(); ++i) {
    stage += (stage.empty() ? "" : "/") + path[i];
    if (has_digit(path[i])) return stage;
  }
  // No numbered part: take the outermost.
  return shared + 1 < path.size() ? path[shared] : "";
}

// In a training step, the gradient of weights takes the image size of the gradient it is computed
// from, its last input.
std::string picture_size(const AnalysisRow& row) {
  if (row.pass == Pass::optimizer) return std::string(to_string(Pass::optimizer));
  const bool is_gradient = row.pass == Pass::backward_weights && !row.inputs.empty();
  if (!is_gradient && row.outputs.empty()) return "unknown size";
  const Tensor& picture = is_gradient ? *row.inputs.back() : *row.outputs.front();
  if (picture.source == ShapeSource::unknown) return "unknown size";
  const Shape& shape = picture.shape;
  if (shape.size() < 3) return "no picture";
  return to_string(Shape(shape.begin() + 2, shape.end()));
}

std::vector<std::string> stages(const std::vector<AnalysisRow>& rows) {
  std::vector<Path> paths;
  for (const AnalysisRow& row : rows)
    if (row.standing == Standing::counted) paths.push_back(split(row.name));
  const std::size_t shared = shared_parts(paths);
  const auto with_path = std::count_if(paths.begin(), paths.end(), [&](const Path& path) {
    return !stage_of_path(path, shared).empty();
  });
  const bool use_paths = 2 * static_cast<std::size_t>(with_path) > paths.size();
  std::vector<std::string> names;
  for (const AnalysisRow& row : rows) {
    std::string name =
        use_paths ? stage_of_path(split(row.name), shared)
                  : (row.standing == Standing::counted ? picture_size(row) : "before the run");
    names.push_back(name.empty() ? "outside" : std::move(name));
  }
  return names;
}

// Of the file that the kernels came from, if it is known; otherwise of the names themselves.
std::string module_name(const AnalysisRow& row) {
  std::string module = row.module;
  if (module.empty())
    for (const std::string& part : module_of_name(row.name))
      module += (module.empty() ? "" : "/") + part;
  return module.empty() ? "outside" : module;
}

std::string group_name(const AnalysisRow& row, Grouping grouping, const std::string* stage) {
  if (stage != nullptr) return *stage;
  return grouping == Grouping::op ? row.op : module_name(row);
}

}  // namespace

void sort_rows(std::vector<AnalysisRow>& rows, RowOrder order) { sort_by(rows, order); }

std::vector<const AnalysisRow*> sorted_rows(const std::vector<AnalysisRow>& rows, RowOrder order) {
  std::vector<const AnalysisRow*> sorted;
  sorted.reserve(rows.size());
  for (const AnalysisRow& row : rows) sorted.push_back(&row);
  if (order == RowOrder::graph) return sorted;
  std::stable_sort(sorted.begin(), sorted.end(), [&](const AnalysisRow* a, const AnalysisRow* b) {
    return precedes(*a, *b, order);
  });
  return sorted;
}

void sort_groups(std::vector<RowGroup>& groups, RowOrder order) { sort_by(groups, order); }

std::vector<RowGroup> group_rows(const std::vector<AnalysisRow>& rows, Grouping grouping) {
  const std::vector<std::string> stage_names =
      grouping == Grouping::stage ? stages(rows) : std::vector<std::string>();
  std::vector<RowGroup> groups;
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string name =
        group_name(rows[i], grouping, stage_names.empty() ? nullptr : &stage_names[i]);
    const auto [place, is_new] = places.try_emplace(name, groups.size());
    if (is_new) groups.push_back({name, 0, {}, false});
    RowGroup& group = groups[place->second];
    ++group.layers;
    group.work += rows[i].work;
    group.is_lower_bound = group.is_lower_bound || !rows[i].unsized.empty();
    if (rows[i].time_s) group.time_s = group.time_s.value_or(0) + *rows[i].time_s;
  }
  return groups;
}

Json groups_to_json(const std::vector<RowGroup>& groups, Rules rules) {
  return array_of(groups, [&](const RowGroup& group) {
    Json json = {{"name", group.name}, {"layers", group.layers}};
    add_amounts(json, group.work, rules);
    json["intensity"] = nullable(intensity_of(group));
    if (group.time_s) json["time_s"] = *group.time_s;
    return json;
  });
}

}  // namespace ridgeline
