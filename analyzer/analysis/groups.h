// Sorts the rows of an Analysis, or sums them by operator, stage or module of the network. Every
// row is in exactly one group of operators, stages or outermost modules, so these add up to the
// totals.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/analysis/analysis.h"

namespace ridgeline {

enum class RowOrder { graph, flops, bytes, macs, intensity, name, time };

template <>
struct TokenTable<RowOrder> {
  static constexpr std::string_view noun = "order";
  static constexpr std::array<std::pair<RowOrder, std::string_view>, 7> rows{
      {{RowOrder::graph, "graph"},
       {RowOrder::flops, "flops"},
       {RowOrder::bytes, "bytes"},
       {RowOrder::macs, "macs"},
       {RowOrder::intensity, "intensity"},
       {RowOrder::name, "name"},
       {RowOrder::time, "time"}}};
};

enum class Grouping { op, stage, module };

template <>
struct TokenTable<Grouping> {
  static constexpr std::string_view noun = "grouping";
  static constexpr std::array<std::pair<Grouping, std::string_view>, 3> rows{
      {{Grouping::op, "op"}, {Grouping::stage, "stage"}, {Grouping::module, "module"}}};
};

struct RowGroup {
  std::string name;
  std::size_t layers = 0;
  Work work;
  bool is_lower_bound = false;        // bytes of some tensors are unknown
  std::optional<double> time_s = {};  // of the rows that have one
  std::size_t depth = 0;              // of a module: 0 for the outermost; sums include those inside
};

inline constexpr std::size_t default_module_depth = 2;

// Largest first (names alphabetically); ties keep graph order.
void sort_rows(std::vector<AnalysisRow>& rows, RowOrder order);
std::vector<const AnalysisRow*> sorted_rows(const std::vector<AnalysisRow>& rows, RowOrder order);

// In order of first appearance. A stage is the beginning of a layer's path up to the first numbered
// part ("layer1", "encoder/layer.3"), or the image size if names are not paths ("56x56"). Modules
// are a tree, every module before those inside it, `module_depth` levels of it; siblings are in
// `order`.
std::vector<RowGroup> group_rows(const std::vector<AnalysisRow>& rows, Grouping grouping,
                                 std::size_t module_depth = default_module_depth,
                                 RowOrder order = RowOrder::graph);

// The module that a row belongs to, from the file or from its name: "/layer1/layer1.0/conv1/Conv"
// is in "layer1.0.conv1". Empty if neither has one.
std::string module_path(const AnalysisRow& row);

Json groups_to_json(const std::vector<RowGroup>& groups, Rules rules);

}  // namespace ridgeline
