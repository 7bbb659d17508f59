// Sorts and sums rows; stage names come from the paths that exporters write. Counts nothing.
#include "analyzer/analysis/groups.h"

#include <algorithm>
#include <map>

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
Path split(std::string_view name, char separator) {
  Path path;
  std::string part;
  for (const char c : std::string(name) + separator) {
    if (c != separator) {
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
  // A square picture before its channels: the layout with channels last.
  if (shape.size() == 4 && shape[1] == shape[2] && shape[2] != shape[3])
    return to_string(Shape(shape.begin() + 1, shape.end() - 1));
  return to_string(Shape(shape.begin() + 2, shape.end()));
}

// The path of a row: its module and the layer itself, or its name.
Path path_of(const AnalysisRow& row) {
  if (row.module.empty()) return split(row.name, '/');
  Path path = split(row.module, row.module.find('/') == std::string::npos ? '.' : '/');
  path.push_back(row.name);
  return path;
}

std::vector<std::string> stages(const std::vector<AnalysisRow>& rows) {
  std::vector<Path> paths;
  for (const AnalysisRow& row : rows)
    if (row.standing == Standing::counted) paths.push_back(path_of(row));
  const std::size_t shared = shared_parts(paths);
  const auto with_path = std::count_if(paths.begin(), paths.end(), [&](const Path& path) {
    return !stage_of_path(path, shared).empty();
  });
  const bool use_paths = 2 * static_cast<std::size_t>(with_path) > paths.size();
  std::vector<std::string> names;
  for (const AnalysisRow& row : rows) {
    std::string name =
        use_paths ? stage_of_path(path_of(row), shared)
                  : (row.standing == Standing::counted ? picture_size(row) : "before the run");
    names.push_back(name.empty() ? "outside" : std::move(name));
  }
  return names;
}

// A module in a sequence repeats the name of the sequence: layer1, layer1.0, conv → layer1.0.conv
std::string joined_modules(const Path& path) {
  std::string module, last;
  for (const std::string& part : path) {
    if (!last.empty() && part.starts_with(last + "."))
      module.resize(module.size() - last.size());
    else if (!module.empty())
      module += ".";
    module += part;
    last = part;
  }
  return module;
}

void add_row(RowGroup& group, const AnalysisRow& row) {
  ++group.layers;
  group.work += row.work;
  group.is_lower_bound = group.is_lower_bound || !row.unsized.empty();
  if (row.time_s) group.time_s = group.time_s.value_or(0) + *row.time_s;
}

// Modules and what is inside them.
class ModuleTree {
 public:
  ModuleTree(const std::vector<AnalysisRow>& rows, std::size_t depth) {
    std::vector<Path> paths;
    for (const AnalysisRow& row : rows) paths.push_back(split(module_path(row), '.'));
    const std::size_t shared = shared_modules(paths);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Path& path = paths[i];
      std::size_t at = root;
      if (path.size() <= shared) at = child_of(at, "outside", 0);
      for (std::size_t part = shared; part < path.size() && part < shared + depth; ++part) {
        at = child_of(at, path[part], part - shared);
        add_row(nodes_[at].group, rows[i]);
      }
      if (path.size() <= shared) add_row(nodes_[at].group, rows[i]);
    }
  }

  // Every module before those inside it.
  std::vector<RowGroup> groups(RowOrder order) const {
    std::vector<RowGroup> list;
    append(list, root, order);
    return list;
  }

 private:
  struct Node {
    RowGroup group;
    std::vector<std::size_t> children;
  };

  static constexpr std::size_t root = 0;

  // Leading modules that all rows inside any module share: the network itself.
  static std::size_t shared_modules(const std::vector<Path>& paths) {
    const Path* first = nullptr;
    std::size_t shared = 0;
    for (const Path& path : paths) {
      if (path.empty()) continue;
      if (first == nullptr) {
        first = &path;
        shared = path.size();
      }
      std::size_t same = 0;
      while (same < std::min(shared, path.size()) && path[same] == (*first)[same]) ++same;
      shared = same;
    }
    return shared;
  }

  std::size_t child_of(std::size_t parent, const std::string& name, std::size_t depth) {
    const std::string path = parent == root ? name : nodes_[parent].group.name + "." + name;
    const auto [place, is_new] = places_.try_emplace(path, nodes_.size());
    if (is_new) {
      nodes_.push_back({{path, 0, {}, false, {}, depth}, {}});
      nodes_[parent].children.push_back(place->second);
    }
    return place->second;
  }

  void append(std::vector<RowGroup>& list, std::size_t node, RowOrder order) const {
    std::vector<std::size_t> children = nodes_[node].children;
    if (order != RowOrder::graph)
      std::stable_sort(children.begin(), children.end(), [&](std::size_t a, std::size_t b) {
        return precedes(nodes_[a].group, nodes_[b].group, order);
      });
    for (const std::size_t child : children) {
      list.push_back(nodes_[child].group);
      append(list, child, order);
    }
  }

  std::vector<Node> nodes_{1};
  std::map<std::string, std::size_t> places_;
};

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

std::string module_path(const AnalysisRow& row) {
  if (row.module.find('/') != std::string::npos) return joined_modules(split(row.module, '/'));
  if (!row.module.empty()) return row.module;
  const std::string name = row.name.substr(0, row.name.find(" + "));
  // Networks known by name call a layer by its module.
  if (name.find('/') == std::string::npos) return name.find('.') == std::string::npos ? "" : name;
  Path path = split(name, '/');
  path.pop_back();
  return joined_modules(path);
}

std::vector<RowGroup> group_rows(const std::vector<AnalysisRow>& rows, Grouping grouping,
                                 std::size_t module_depth, RowOrder order) {
  if (grouping == Grouping::module) return ModuleTree(rows, module_depth).groups(order);
  const std::vector<std::string> stage_names =
      grouping == Grouping::stage ? stages(rows) : std::vector<std::string>();
  std::vector<RowGroup> groups;
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string& name = grouping == Grouping::op ? rows[i].op : stage_names[i];
    const auto [place, is_new] = places.try_emplace(name, groups.size());
    if (is_new) groups.push_back({name, 0, {}, false, {}, 0});
    add_row(groups[place->second], rows[i]);
  }
  sort_by(groups, order);
  return groups;
}

Json groups_to_json(const std::vector<RowGroup>& groups, Rules rules) {
  return array_of(groups, [&](const RowGroup& group) {
    Json json = {{"name", group.name}, {"depth", group.depth}, {"layers", group.layers}};
    add_amounts(json, group.work, rules);
    json["intensity"] = nullable(intensity_of(group));
    if (group.time_s) json["time_s"] = *group.time_s;
    return json;
  });
}

}  // namespace ridgeline
